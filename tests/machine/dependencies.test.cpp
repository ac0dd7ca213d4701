// SPDX-License-Identifier: MIT
// Which ports the slots of a block depend on, for blocks whose answer is plain.
#include <qwengpu/machine/dependencies.hpp>

#include <array>

#include <qwengpu/machine/assembly.hpp>

#include "support/catch.hpp"

namespace {

using namespace qwengpu::machine;

machine_block block_of(const char* lines) { return assemble(std::string("block 0: ") + lines).blocks[0]; }

constexpr port_set p0 = 1, p1 = 2, p2 = 4, p3 = 8;

}  // namespace

TEST_CASE("slots, their stages and registers") {
    const machine_block b = block_of("t1 = add R1, #1 -> R7\n t4 = shl R2, R1 -> R9\n branch 0 if t4\n");
    CHECK(register_of(b, slot::w1) == 7);
    CHECK(register_of(b, slot::w4) == 9);
    CHECK(register_of(b, slot::branch) == 0);
    CHECK(stage_of(slot::w3) == 3);
    CHECK(stage_of(slot::store) == 0);
    CHECK(slot_of(1) == slot::w1);
    CHECK(slot_of(4) == slot::w4);
    const std::array<bool, slot_count> there{true, false, true, false, false, true};
    for (std::size_t i = 0; i < all_slots.size(); ++i) CHECK(present(b, all_slots[i]) == there[i]);
}

TEST_CASE("dependencies go through earlier stages and the load") {
    const machine_block b = block_of(
        "t1 = add R1, #4 -> R10\n"
        "t2 = load [t1] if R2 else R3 -> R11\n"
        "t3 = mul t2, c[13], 0\n"
        "t4 = add t3, R4 -> R12\n");
    CHECK(dependencies(b, slot::w1) == p0);
    CHECK(dependencies(b, slot::w2) == (p0 | p1 | p2));
    CHECK(dependencies(b, slot::w3) == (p0 | p1 | p2));
    CHECK(dependencies(b, slot::w4) == (p0 | p1 | p2 | p3));
    CHECK(depends_on_load(b, slot::w4));
    CHECK(depends_on_load(b, slot::w2));
    CHECK_FALSE(depends_on_load(b, slot::w1));
}

TEST_CASE("store and branch depend on all they use") {
    const machine_block guarded = block_of("store [R1] = R2 if R3\n");
    CHECK(dependencies(guarded, slot::store) == (p0 | p1 | p2));
    const machine_block free = block_of("store [R1] = R2\n branch 0 if R3\n");
    CHECK(dependencies(free, slot::store) == (p0 | p1));
    CHECK(dependencies(free, slot::branch) == p2);
    const machine_block special = block_of("t1 = add %tid.x, R1\n branch 0 if t1\n");
    CHECK(dependencies(special, slot::branch) == (p0 | special_port));
}

TEST_CASE("constants and what an instruction does not read are no dependency") {
    machine_block b = block_of("t1 = add c[3], #3 -> R1\n");
    CHECK(dependencies(b, slot::w1) == 0);
    b.ports[2] = 5;
    b.s1.c = source::r2;  // add has two operands
    CHECK(dependencies(b, slot::w1) == 0);
}

TEST_CASE("the rest of the dependencies counts present slots only") {
    const machine_block b = block_of(
        "t1 = add R1, #1 -> R1\n"
        "t3 = mul R2, R3, 0\n"
        "t4 = add t1, %laneid -> R2\n"
        "branch 0 if R3\n");
    const std::array<port_set, slot_count> expected{p0 | p2 | special_port, p0 | special_port, p0 | special_port, p0, p0, p0};
    CHECK(rest_of_dependencies(b) == expected);
}
