// SPDX-License-Identifier: MIT
// The bits of blocks: patterns written by hand from docs/machine.md, every field at its place, round trips of random
// blocks, and refusals.
#include <qwengpu/machine/encoding.hpp>

#include <cstdint>
#include <string>

#include "support/catch.hpp"
#include "support/random_program.hpp"

namespace {

using namespace qwengpu::machine;
using u64 = std::uint64_t;

/// R4 = c[14][R1]: an address, a guarded load, a multiply-add, and a loop on the sum.
machine_block dot_step() {
    machine_block b;
    b.ports = {1, 2, 3, 0};
    b.dest = {1, 0, 3, 0};
    b.special = special_register::laneid;
    b.next = 9;
    b.taken = 5;
    b.has_branch = true;
    b.s1 = {alu_op::add, source::r0, source::imm, source::zero, 0, 0xfffc};
    b.mem.op = memory_op::load;
    b.mem.load_address = source::r0;
    b.mem.load_guard = source::r1;
    b.mem.load_sense = true;
    b.mem.load_else = source::special;
    b.s3 = {alu_op::mul, source::t2, source::constant, source::r2, 0, 14};
    b.s4 = {alu_op::cmp, source::t1, source::zero, source::zero, mod::cmp_gt | mod::is_signed, 0};
    b.mem.cond = source::t4;
    b.mem.sense = true;
    return b;
}

std::string reason(const encoded_block& groups) {
    try {
        (void)decode(groups);
    } catch (const qwengpu::error& e) {
        CHECK(e.id() == "machine.encoding");
        return e.message();
    }
    return "";
}

bool decodes_to(const encoded_block& groups, const machine_block& block) {
    try {
        return decode(groups) == block;
    } catch (const qwengpu::error&) {
        return false;
    }
}

}  // namespace

TEST_CASE("a block of every stage, bit by bit") {
    const encoded_block groups = encode(dot_step());
    // R0..R3 = 1 2 3 0, D1..D4 = 1 0 3 0, next 9, special 4, valid
    CHECK(groups[0] == (u64{0x0321} | u64{0x0301} << 16 | u64{9} << 32 | u64{4} << 42 | u64{1} << 45));
    // taken 5; BR, W3 and W1 are there; from BR on everything (R0 R1 R2 special), from W3 on the same, W1 needs R0 only
    const u64 every = 0x17;
    CHECK(groups[1] == (u64{5} | u64{1} << 10 | u64{1} << 13 | u64{1} << 15 | every << 16 | every << 21 | every << 26 |
                        every << 31 | u64{1} << 36 | u64{1} << 41));
    CHECK(groups[2] == (u64{1} | u64{1} << 6 | u64{5} << 10 | u64{0xfffc} << 26));
    CHECK(groups[3] == (u64{1} | u64{1} << 4 | u64{2} << 8 | u64{1} << 12 | u64{7} << 13 | u64{11} << 26 | u64{1} << 30));
    CHECK(groups[4] == (u64{16} | u64{9} << 6 | u64{6} << 10 | u64{3} << 14 | u64{14} << 26));
    CHECK(groups[5] == (u64{6} | u64{8} << 6 | u64{0x0c} << 18));
}

TEST_CASE("a store, bit by bit") {
    machine_block b;
    b.ports = {0, 0, 0, 15};
    b.has_store = true;
    b.mem.store_address = source::t1;
    b.mem.store_data = source::r3;
    b.mem.store_guarded = true;
    b.mem.cond = source::t3;
    b.s1 = {alu_op::lop, source::constant, source::zero, source::zero, 0xf0, 13};
    b.s3 = {alu_op::popc, source::r3};
    b.next = 1023;
    const encoded_block groups = encode(b);
    CHECK(groups[0] == (u64{0xf000} | u64{1023} << 32 | u64{1} << 45));
    CHECK(groups[1] == (u64{1} << 11 | u64{8} << 16 | u64{8} << 21));
    CHECK(groups[2] == (u64{2} | u64{6} << 6 | u64{0xf0} << 18 | u64{13} << 26));
    CHECK(groups[3] == (u64{8} << 17 | u64{4} << 21 | u64{1} << 25 | u64{10} << 26));
    CHECK(groups[4] == (u64{17} | u64{4} << 6));
    CHECK(groups[5] == 0);
}

TEST_CASE("an atomic on a byte of local memory, bit by bit") {
    machine_block b;
    b.ports = {1, 2, 0, 0};
    b.has_store = b.lane_major = true;
    b.mem.op = memory_op::load_byte_word;
    b.mem.load_address = b.mem.store_address = source::r0;
    b.mem.store_data = source::t3;
    b.mem.store_size = access_size::byte;
    b.mem.is_private = b.mem.barrier = true;
    b.mem.barrier_id = 5;
    b.mem.barrier_count = 9;
    b.s3 = {alu_op::insert, source::t2, source::r1, source::r0, 1, 0};
    const encoded_block groups = encode(b);
    CHECK(groups[0] == (u64{0x21} | u64{1} << 45 | u64{1} << 46));
    CHECK(groups[1] == (u64{1} << 11 | u64{0x13} << 16 | u64{0x13} << 21));
    CHECK(groups[3] == (u64{6} | u64{1} << 4 | u64{1} << 17 | u64{10} << 21 | u64{2} << 31 | u64{1} << 33 | u64{1} << 34 | u64{5} << 35 |
                        u64{9} << 38));
    CHECK(groups[4] == (u64{11} | u64{9} << 6 | u64{2} << 10 | u64{1} << 14 | u64{1} << 18));
    CHECK(decode(groups) == b);
    CHECK(encode(no_block) == encoded_block{});
}

TEST_CASE("an empty block is its header only") {
    machine_block b;
    b.next = 3;
    CHECK(encode(b) == encoded_block{u64{3} << 32 | u64{1} << 45, 0, 0, 0, 0, 0});
}

TEST_CASE("blocks come back from their bits") {
    CHECK(decode(encode(dot_step())) == dot_step());
    int blocks = 0;
    for (std::uint64_t seed = 0; seed < 300; ++seed)
        for (const machine_block& b : qwengpu::test::random_launch(seed).program.blocks) {
            if (!b.valid) continue;
            const encoded_block groups = encode(b);
            for (const u64 group : groups) REQUIRE(group >> group_bits == 0);
            REQUIRE(decode(groups) == b);
            ++blocks;
        }
    CHECK(blocks > 2000);
}

TEST_CASE("no bit of the groups can change unseen") {
    const encoded_block good = encode(dot_step());
    for (std::size_t g = 0; g < good.size(); ++g)
        for (int bit = 0; bit < 64; ++bit) {
            encoded_block changed = good;
            changed[g] ^= u64{1} << bit;
            INFO("group " << g << ", bit " << bit);
            CHECK_FALSE(decodes_to(changed, dot_step()));
        }
}

TEST_CASE("decoding refuses what encoding does not make") {
    CHECK(reason(encode(dot_step())).empty());
    CHECK(reason({}).find("valid") != std::string::npos);
    auto reserved = encode(dot_step());
    reserved[0] |= u64{1} << 47;
    CHECK(reason(reserved).find("group H has reserved bits") != std::string::npos);
    auto dependencies = encode(dot_step());
    dependencies[1] &= ~(u64{1} << 16);
    CHECK(reason(dependencies).find("group U") != std::string::npos);
    auto source12 = encode(dot_step());
    source12[5] |= u64{12} << 6;
    CHECK(reason(source12).find("stage 4: cmp: operand a names no source (12)") != std::string::npos);
    auto unknown_op = encode(dot_step());
    unknown_op[5] = 30;
    CHECK(reason(unknown_op).find("stage 4: no instruction has op 30") != std::string::npos);
}

TEST_CASE("a smaller machine refuses the larger one's registers and blocks") {
    constexpr sizes tiny{.lanes = 2, .warps = 2, .registers = 4, .words = 8, .constants = 16, .blocks = 16};
    machine_block b;
    b.next = 16;
    CHECK_THROWS_AS(decode<tiny>(encode(b)), qwengpu::error);
    b.next = 15;
    CHECK(decode<tiny>(encode(b)) == b);
}
