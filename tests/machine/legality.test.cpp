// SPDX-License-Identifier: MIT
// Each rule of "Legal blocks" with a block that breaks it and nothing else.
#include <qwengpu/machine/legality.hpp>

#include <functional>
#include <string>
#include <vector>

#include "support/catch.hpp"

namespace {

using namespace qwengpu::machine;
using enum source;

/// A legal block that uses everything but a store.
machine_block legal_block() {
    machine_block b;
    b.ports = {1, 2, 0, 0};
    b.dest = {3, 4, 5, 6};
    b.special = special_register::tid_x;
    b.next = 1;
    b.taken = 2;
    b.has_branch = true;
    b.s1 = {alu_op::add, r0, special, zero, 2, 0};
    b.mem.op = memory_op::load;
    b.mem.load_address = t1;
    b.s3 = {alu_op::mul, t2, imm, r1, 0, 3};
    b.s4 = {alu_op::cmp, t3, constant, r0, mod::cmp_lt | mod::cmp_and, 12};
    b.mem.cond = t4;
    return b;
}

using found = std::vector<std::string>;

/// What is wrong with a legal block after a change.
found after(const std::function<void(machine_block&)>& change, machine_block b = legal_block()) {
    change(b);
    return violations(b);
}

}  // namespace

TEST_CASE("a legal block has no violation") {
    CHECK(violations(legal_block()).empty());
    CHECK(violations(machine_block{}).empty());
}

TEST_CASE("sources and operands") {
    CHECK(after([](auto& b) { b.s1.b = t2; b.special = {}; }) == found{"stage 1: add: operand b is not available in that stage"});
    CHECK(after([](auto& b) { b.s3.c = t4; b.ports[1] = 0; }) == found{"stage 3: mul: operand c is not available in that stage"});
    CHECK(after([](auto& b) { b.mem.load_address = imm; }) == found{"load: address is not available in that stage"});
    CHECK(after([](auto& b) { b.mem.load_guard = t3; }) == found{"load: guard is not available in that stage"});
    CHECK(after([](auto& b) { b.mem.cond = constant; }) == found{"condition is not available in that stage"});
    CHECK(after([](auto& b) { b.s1.c = r0; }) == found{"stage 1: add: operand c is not used and must be zero"});
    CHECK(after([](auto& b) { b.s4.mod = mod::cmp_lt; }) == found{"stage 4: cmp: operand c is not used and must be zero"});
    CHECK(after([](auto& b) { b.s4.a = static_cast<source>(13); }) == found{"stage 4: cmp: operand a names no source (13)"});
    CHECK(after([](auto& b) { b.mem.store_data = r0; }) == found{"store: data is not used and must be zero"});
}

TEST_CASE("what is named must be used, and what is used must be named") {
    CHECK(after([](auto& b) { b.ports[3] = 9; }) == found{"port R3 is not used and must name register 0"});
    CHECK(after([](auto& b) { b.special = {}; }) == found{"special is read but none is named"});
    CHECK(after([](auto& b) { b.s1.b = r0; }) == found{"special is not used and must be none"});
    CHECK(after([](auto& b) { b.s1.imm = 1; }) == found{"stage 1: add: imm is not used and must be 0"});
    CHECK(after([](auto& b) { b.has_branch = false; b.mem.cond = zero; }) == found{"taken is not used and must be 0"});
    CHECK(after([](auto& b) { b.has_branch = false; b.taken = 0; }) == found{"condition is not used and must be zero"});
    CHECK(after([](auto& b) { b.s4 = {}; b.dest[3] = 0; }) == found{"t4 is read but stage 4 has no instruction"});
    CHECK(after([](auto& b) { b.mem.op = {}; b.mem.load_address = zero; }) == found{"t2 is read but stage 2 does nothing"});
    CHECK(after([](auto& b) { b.mem.store_guarded = true; }) == found{"store: guarded, but there is no store"});
}

TEST_CASE("ops and their modes") {
    CHECK(after([](auto& b) { b.s4.op = static_cast<alu_op>(33); b.s4.c = zero; b.mem.cond = t3; }) ==
          found{"stage 4: no instruction has op 33"});
    CHECK(after([](auto& b) { b.s1.op = alu_op::mul; b.s1.mod = 0; }) == found{"stage 1: mul works in stage 3 only"});
    CHECK(after([](auto& b) { b.s3.mod = 4; }) == found{"stage 3: mul: mod has bits that mean nothing"});
    CHECK(after([](auto& b) { b.s1.mod = 5; }) == found{"stage 1: add: a difference has no shift"});
    CHECK(after([](auto& b) { b.s4.mod = mod::cmp_not_c; b.s4.c = zero; }) ==
          found{"stage 4: cmp: inverts operand c but does not combine with it"});
    CHECK(after([](auto& b) { b.mem.op = static_cast<memory_op>(11); }).at(0) == "load: no memory operation has that number");
}

TEST_CASE("fields in the range of the machine") {
    constexpr sizes tiny{.lanes = 2, .warps = 2, .registers = 4, .words = 8, .constants = 16, .blocks = 16};
    machine_block b;
    b.s1 = {alu_op::add, r0, constant, zero, 0, 16};
    b.ports[0] = 4;
    b.dest[0] = 5;
    b.next = 16;
    CHECK(violations<tiny>(b) == found{"stage 1: add: there is no such row of constants", "port R0: there is no register 4",
                                       "D1: there is no register 5", "next: there is no block 16"});
    CHECK(violations(b).empty());
    CHECK(after([](auto& c) { c.taken = 1024; }) == found{"taken: there is no block 1024"});
    CHECK(after([](auto& c) { c.special = static_cast<special_register>(7); }) ==
          found{"special: there is no such special register"});
}

TEST_CASE("registers written are distinct, and not still needed") {
    CHECK(after([](auto& b) { b.dest[2] = 3; }) == found{"D3 writes the same register as D1"});
    CHECK(after([](auto& b) { b.dest[3] = 1; }) ==
          found{"D4 overwrites register 1, which D3 still depends on", "D4 overwrites register 1, which D2 still depends on",
                "D4 overwrites register 1, which D1 still depends on"});
    CHECK(after([](auto& b) { b.dest[1] = 1; }) == found{"D2 overwrites register 1, which D1 still depends on"});
    CHECK(after([](auto& b) { b.dest[0] = 1; }).empty());
    CHECK(after([](auto& b) { b.dest[2] = 2; }).empty());
}

TEST_CASE("a load feeds a slot, and where there is a store too, only that") {
    CHECK(after([](auto& b) { b.s3.a = r1; b.dest[1] = 0; }) == found{"the load feeds no slot"});
    CHECK(after([](auto& b) { b.dest = {}; }).empty());
    CHECK(after([](auto& b) { b.has_store = true; }) == found{"where a block loads and stores, only the store may depend on the load, unless it is lane-major"});
    machine_block copy;
    copy.ports = {1, 2, 3, 0};
    copy.mem.op = memory_op::load_byte_word;
    copy.mem.load_address = copy.mem.store_address = r0;
    copy.s4 = {alu_op::insert, t2, r1, r0, 0, 0};
    copy.mem.store_data = t4;
    copy.mem.store_size = access_size::byte;
    copy.has_store = true;
    copy.s3 = {alu_op::add, r2, r0, zero, 0, 0};
    copy.dest[2] = 1;
    CHECK(violations(copy).empty());
    copy.dest[3] = 2;
    CHECK(violations(copy) == found{"where a block loads and stores, only the store may depend on the load, unless it is lane-major"});
}

namespace {

/// R5 = old word at R1; the word plus R2 is stored.
machine_block atomic() {
    machine_block b;
    b.ports = {1, 2, 0, 0};
    b.mem.op = memory_op::load;
    b.mem.load_address = b.mem.store_address = r0;
    b.s3 = {alu_op::add, t2, r1, zero, 0, 0};
    b.mem.store_data = t3;
    b.has_store = b.lane_major = true;
    b.dest[1] = 5;
    return b;
}

found after_atomic(const std::function<void(machine_block&)>& change) { return after(change, atomic()); }

machine_block collective() {
    machine_block b;
    b.ports = {1, 2, 0, 0};
    b.mem.op = memory_op::shuffle;
    b.mem.load_address = r1;
    b.dest[1] = 3;
    return b;
}

found after_collective(const std::function<void(machine_block&)>& change) { return after(change, collective()); }

}  // namespace

TEST_CASE("lane-major blocks load and store one word and write one register before the store") {
    CHECK(violations(atomic()).empty());
    CHECK(after_atomic([](auto& b) { b.dest[1] = 0; }).empty());
    CHECK(after_atomic([](auto& b) { b.mem.store_address = r1; }) == found{"lane-major, but it does not load and store one word"});
    CHECK(after_atomic([](auto& b) { b.dest[2] = 6; }) == found{"a lane-major block writes one register at most"});
    CHECK(after_atomic([](auto& b) { b.dest[1] = 2; }) == found{"D2 overwrites register 2, which the store still depends on"});
    CHECK(after_atomic([](auto& b) { b.dest[1] = 1; }) == found{"D2 overwrites register 1, which the store still depends on"});
    CHECK(after_atomic([](auto& b) { b.has_branch = true; b.mem.cond = t3; }) == found{"a lane-major block has no branch"});
}

TEST_CASE("collectives read R0 and leave it alone") {
    CHECK(violations(collective()).empty());
    CHECK(after_collective([](auto& b) { b.dest[1] = 1; }) == found{"D2 writes the register that the collective reads"});
    CHECK(after_collective([](auto& b) { b.dest[1] = 2; }).empty());
    CHECK(after_collective([](auto& b) { b.dest[1] = 0; }) == found{"the collective feeds no slot"});
    CHECK(after_collective([](auto& b) { b.mem.load_guard = r1; }) == found{"load: guard is not used and must be zero"});
    CHECK(after_collective([](auto& b) { b.mem.load_sense = true; }) == found{"load: sense is not used and must be 0"});
    CHECK(after_collective([](auto& b) { b.mem.op = memory_op::ballot; b.ports[1] = 0; }) == found{"load: address is not used and must be zero"});
    CHECK(after_collective([](auto& b) { b.mem.op = memory_op::ballot; b.mem.load_address = zero; b.ports[1] = 0; b.mem.load_sense = true; }).empty());
}

TEST_CASE("barriers, privacy and sizes") {
    const auto barrier = [](const std::function<void(machine_block&)>& change) {
        machine_block b;
        b.mem.barrier = true;
        b.mem.barrier_id = 7;
        b.mem.barrier_count = 2;
        return after(change, b);
    };
    CHECK(barrier([](auto&) {}).empty());
    CHECK(barrier([](auto& b) { b.mem.barrier_id = 8; }) == found{"barrier: there is no barrier 8"});
    CHECK(barrier([](auto& b) { b.mem.barrier = false; }) == found{"barrier: id and count are not used and must be 0"});
    CHECK(barrier([](auto& b) { b.has_branch = true; }) == found{"a block with a barrier has no branch"});
    CHECK(barrier([](auto& b) { b.next = 1023; }).at(0).find("does not go to exit") != std::string::npos);
    CHECK(barrier([](auto& b) { b.mem.is_private = true; }) == found{"private, but there is no load and no store"});
    CHECK(barrier([](auto& b) { b.mem.store_size = access_size::half; }) == found{"store: size is not used and must be 0"});
    CHECK(after([](auto& b) { b.mem.is_private = true; }).empty());
    CHECK(violations(no_block).empty());
    CHECK(after([](auto& b) { b.valid = false; }) == found{"a block that is not valid says something"});
}

TEST_CASE("programs") {
    program p;
    CHECK(violations(p) == found{"the program has no block"});
    p.blocks.resize(1024);
    CHECK(violations(p) == found{"the program has 1024 blocks, the machine holds 1023"});
    p.blocks.resize(2);
    p.blocks[1].ports[0] = 1;
    p.literals = {{12, 5}, {13, 6}, {128, 7}};
    CHECK(violations(p) == found{"block 1: port R0 is not used and must name register 0",
                                 "a literal wants row 12 of the constants", "a literal wants row 128 of the constants"});
    try {
        require_legal(p);
        FAIL("an illegal program passed");
    } catch (const qwengpu::error& e) {
        CHECK(e.id() == "machine.illegal");
        CHECK(e.message().find("block 1: port R0") != std::string::npos);
    }
}
