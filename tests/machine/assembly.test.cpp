// SPDX-License-Identifier: MIT
// Programs as text and back: the lines by hand, random programs through both directions, and complaints with their place.
#include <qwengpu/machine/assembly.hpp>

#include <cstdint>
#include <string>

#include "support/catch.hpp"
#include "support/random_program.hpp"

namespace {

using namespace qwengpu::machine;

std::string complaint(const std::string& text) {
    try {
        (void)assemble(text);
    } catch (const qwengpu::error& e) {
        return e.what();
    }
    return "";
}

}  // namespace

TEST_CASE("lines of assembly become the block they say") {
    const program p = assemble(
        "; the sum of a and b\n"
        "block entry:\n"
        "    t1 = add.shl2 c[13], %thread   ; the address\n"
        "    t2 = load [t1] if !R2 else R3\n"
        "    t3 = mul.hi.s t2, #-5, R3\n"
        "    t4 = cmp.le.s R3, t3, and !R2 -> R5\n"
        "    branch 1 if t4\n"
        "block 1: store [R4] = R9 if !R4\n"
        "         next entry\n");
    REQUIRE(p.blocks.size() == 2);

    machine_block first;
    first.ports = {2, 3, 0, 0};
    first.dest = {0, 0, 0, 5};
    first.special = special_register::thread;
    first.next = first.taken = 1;
    first.has_branch = true;
    first.s1 = {alu_op::add, source::constant, source::special, source::zero, 2, 13};
    first.mem.op = memory_op::load;
    first.mem.load_address = source::t1;
    first.mem.load_guard = source::r0;
    first.mem.load_else = source::r1;
    first.s3 = {alu_op::mul, source::t2, source::imm, source::r1, 3, 0xfffb};
    first.s4 = {alu_op::cmp, source::r1, source::t3, source::r0, 0x5b, 0};
    first.mem.cond = source::t4;
    first.mem.sense = true;
    CHECK(p.blocks[0] == first);

    machine_block second;
    second.ports = {4, 9, 0, 0};
    second.has_store = second.mem.store_guarded = true;
    second.mem.store_address = second.mem.cond = source::r0;
    second.mem.store_data = source::r1;
    CHECK(p.blocks[1] == second);
}

TEST_CASE("lines of atomics, collectives and barriers, and a block far away") {
    const std::string text =
        "block 0:\n    lane_major\n    t2 = load.byte_word.private [R1] if R2 -> R4\n    t3 = insert t2, R3, R1\n"
        "    store.byte.private [R1] = t3 if R2\n    next 1\n"
        "block 1:\n    t1 = add R5, R6\n    t2 = shuffle R7, t1 -> R8\n    next 20\n"
        "block 20:\n    t2 = ballot !R1 -> R2\n    next 21\n"
        "block 21:\n    t1 = add R2, R3\n    t2 = match R3 -> R4\n    barrier 3, count 2\n    next 0\n";
    const program p = assemble(text);
    REQUIRE(p.blocks.size() == 22);
    CHECK(disassemble(p) == text);
    CHECK(p.blocks[0].lane_major);
    CHECK(p.blocks[0].mem.op == memory_op::load_byte_word);
    CHECK(p.blocks[0].mem.store_size == access_size::byte);
    CHECK(p.blocks[0].mem.is_private);
    CHECK(p.blocks[1].ports == std::array<std::uint8_t, 4>{7, 5, 6, 0});
    CHECK(p.blocks[1].s1.a == source::r1);
    CHECK(p.blocks[2] == no_block);
    CHECK(p.blocks[20].mem.load_sense);
    CHECK(p.blocks[21].ports == std::array<std::uint8_t, 4>{3, 2, 0, 0});
    CHECK(p.blocks[21].mem.barrier_count == 2);
    CHECK(disassemble(p.blocks[21]) == std::vector<std::string>{"t1 = add R2, R3", "t2 = match R3 -> R4", "barrier 3, count 2", "next 0"});
}

TEST_CASE("every instruction has a line of its own") {
    machine_block b;
    b.ports = {1, 2, 3, 0};
    const auto line = [&b](alu_op op, source x, source y, source z, unsigned m, int imm = 0) {
        b.s3 = {op, x, y, z, static_cast<std::uint8_t>(m), static_cast<std::uint16_t>(imm)};
        return stage_line(b, 3);
    };
    using enum source;
    CHECK(line(alu_op::add, r0, r1, zero, 0) == "t3 = add R1, R2");
    CHECK(line(alu_op::add, r0, r1, zero, 3) == "t3 = add.shl3 R1, R2");
    CHECK(line(alu_op::add, r0, imm, zero, 4, 7) == "t3 = add.sub R1, #7");
    CHECK(line(alu_op::lop, r0, r1, r2, 0x96) == "t3 = lop.0x96 R1, R2, R3");
    CHECK(line(alu_op::shl, r0, imm, zero, 0, 31) == "t3 = shl R1, #31");
    CHECK(line(alu_op::shr, constant, r1, zero, 0, 20) == "t3 = shr c[20], R2");
    CHECK(line(alu_op::sar, t1, t2, zero, 0) == "t3 = sar t1, t2");
    CHECK(line(alu_op::cmp, r0, r1, zero, 5) == "t3 = cmp.ne R1, R2");
    CHECK(line(alu_op::cmp, r0, r1, r2, 0x6e) == "t3 = cmp.ge.s R1, R2, or !R3");
    CHECK(line(alu_op::cmp, r0, r1, r2, 0x30) == "t3 = cmp.never R1, R2, xor R3");
    CHECK(line(alu_op::sel, r0, zero, r2, 0) == "t3 = sel R1, 0, R3");
    CHECK(line(alu_op::min, r0, r1, zero, 8) == "t3 = min.s R1, R2");
    CHECK(line(alu_op::max, r0, r1, zero, 0) == "t3 = max R1, R2");
    CHECK(line(alu_op::mul, r0, r1, r2, 0) == "t3 = mul R1, R2, R3");
    CHECK(line(alu_op::mul, r0, r1, zero, 3) == "t3 = mul.hi.s R1, R2, 0");
    CHECK(line(alu_op::popc, r0, zero, zero, 0) == "t3 = popc R1");
    CHECK(line(alu_op::clz, r0, zero, zero, 0) == "t3 = clz R1");
    CHECK(line(alu_op::brev, r0, zero, zero, 0) == "t3 = brev R1");
    CHECK(line(alu_op::rcp, r0, zero, zero, 0) == "t3 = rcp R1");
    CHECK(line(alu_op::add, r0, r1, r2, 0x0a) == "t3 = add.shl2.carry R1, R2, R3");
    CHECK(line(alu_op::add, r0, r1, r2, 0x0c) == "t3 = add.sub.carry R1, R2, R3");
    CHECK(line(alu_op::prmt, r0, r1, r2, 0) == "t3 = prmt R1, R2, R3");
    CHECK(line(alu_op::insert, r0, r1, r2, 1) == "t3 = insert.half R1, R2, R3");
    CHECK(line(alu_op::funnel, r0, r1, r2, 1) == "t3 = funnel.left R1, R2, R3");
    CHECK(line(alu_op::fcmp, r0, r1, r2, 0xd9) == "t3 = fcmp.lt.nan.ftz R1, R2, and !R3");
    CHECK(line(alu_op::fmin, r0, r1, zero, 0x0c) == "t3 = fmin.nan.ftz R1, R2");
    CHECK(line(alu_op::fma, r0, r1, r2, 0x3f) == "t3 = fma.rp.ftz.sat.negp.negc R1, R2, R3");
    CHECK(line(alu_op::fadd, r0, zero, r2, 0x21) == "t3 = fadd.rz.negc R1, R3");
    CHECK(line(alu_op::fmul, r0, r1, zero, 0x02) == "t3 = fmul.rm R1, R2");
    CHECK(line(alu_op::i2f, r0, r1, zero, 0x48) == "t3 = i2f.s.wide R1, R2");
    CHECK(line(alu_op::f2i, r0, zero, zero, 0xc5) == "t3 = f2i.rz.ftz.wide.hi R1");
    CHECK(line(alu_op::fround, r0, zero, zero, 0x0b) == "t3 = fround.rp.sat R1");
    CHECK(line(alu_op::none, zero, zero, zero, 0).empty());
    b.dest[2] = 6;
    CHECK(stage_line(b, 3) == "t3 = none -> R6");
}

TEST_CASE("disassembled programs assemble to programs that read the same") {
    for (std::uint64_t seed = 0; seed < 300; ++seed) {
        const std::string text = disassemble(qwengpu::test::random_launch(seed).program);
        const program again = assemble(text);
        REQUIRE(disassemble(again) == text);
        const program third = assemble(disassemble(again));
        REQUIRE(third.blocks == again.blocks);
    }
}

TEST_CASE("a listing names the PTX lines") {
    program p = assemble("block 0: t1 = add R1, #1 -> R1\n store [R2] = t1\n");
    p.notes.resize(1);
    p.notes[0].stages[0].ptx_line = 12;
    p.notes[0].store.ptx_line = 14;
    CHECK(disassemble(p) ==
          "block 0:\n"
          "    t1 = add R1, #1 -> R1  ; PTX line 12\n"
          "    store [R2] = t1  ; PTX line 14\n"
          "    next exit\n");
}

TEST_CASE("complaints about assembly name line and column") {
    CHECK(complaint("block 0:\n  t1 = ad R1, R2\n") == "2:10: there is no instruction 'ad' [machine.assembly]");
    CHECK(complaint("t1 = add R1, R2\n") == "1:1: a program begins with 'block NAME:' [machine.assembly]");
    CHECK(complaint("block 0: next five\n") == "1: there is no block 'five' [machine.assembly]");
    CHECK(complaint("block 0: t1 = add R1\n").find("here should be ','") != std::string::npos);
    CHECK(complaint("block 0: t1 = add R16, R1\n").find("from 0 to 15") != std::string::npos);
    CHECK(complaint("block 0: t1 = add.hi R1, R1\n").find("add has no form 'hi'") != std::string::npos);
    CHECK(complaint("block 0: t1 = add #1, #2\n").find("one immediate") != std::string::npos);
    CHECK(complaint("block 0: store [#4] = R1\n").find("no immediate") != std::string::npos);
    CHECK(complaint("block 0: t1 = add %tid.x, %tid.y\n").find("one special register") != std::string::npos);
    CHECK(complaint("block 0: t1 = add R1, R2 R3\n").find("should end here") != std::string::npos);
    CHECK(complaint("block 0: t1 = lop.0x80 R1, R2, R3\n t3 = add R4, R5\n").find("four registers") != std::string::npos);
    CHECK(complaint("block 0: t1 = popc R1\n").find("popc works in stage 3 only") != std::string::npos);
}
