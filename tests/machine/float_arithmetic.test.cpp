// SPDX-License-Identifier: MIT
// Float instructions against the host's FPU under its four rounding modes, bit for bit: all pairs of corner values and random
// operands, with every combination of what mod says; comparisons against the host's own operators.
#include <qwengpu/machine/instruction_table.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

#include "support/catch.hpp"
#include "support/choices.hpp"
#include "support/float_corners.hpp"
#include "support/float_words.hpp"
#include "support/host_alu.hpp"
#include "support/host_float.hpp"

namespace {

using namespace qwengpu::machine;
namespace test = qwengpu::test;
using u32 = std::uint32_t;

constexpr alu_op all_ops[] = {alu_op::fcmp, alu_op::fmin, alu_op::fmax, alu_op::fma, alu_op::fadd,
                              alu_op::fmul, alu_op::i2f,  alu_op::f2i,  alu_op::fround};

/// Values of mod with a meaning.
std::vector<unsigned> mods_of(alu_op op) {
    std::vector<unsigned> mods;
    for (unsigned m = 0; m < 256; ++m) {
        const bool idle_inversion = op == alu_op::fcmp && (m & 0x30) == 0 && (m & 0x40) != 0;
        const bool no_high_word = op == alu_op::f2i && (m & 0x40) == 0 && (m & 0x80) != 0;
        if ((m & ~unsigned{find_instruction(op)->mod_bits}) == 0 && !idle_inversion && !no_high_word) mods.push_back(m);
    }
    return mods;
}

void check(alu_op op, u32 a, u32 b, u32 c, unsigned m) {
    const u32 wanted = test::host_result(static_cast<unsigned>(op), a, b, c, m), made = evaluate(op, a, b, c, static_cast<std::uint8_t>(m));
    if (made != wanted)
        FAIL(std::hex << find_instruction(op)->name << " of " << a << ", " << b << ", " << c << " with mod " << m << ": " << made << ", not " << wanted);
}

/// An addend near the product or sum, so that the sum cancels.
u32 third_operand(test::choices& choose, alu_op op, u32 a, u32 b) {
    if (op == alu_op::fadd && choose.percent(30)) return test::near_opposite(choose, a);
    if (op != alu_op::fma || choose.percent(60)) return test::any_float(choose);
    return test::near_opposite(choose, test::host_float(23, static_cast<unsigned>(choose.below(4)), a, b, 0));
}

void check_random(alu_op op, int count, std::uint64_t seed) {
    test::choices choose(seed);
    const auto mods = mods_of(op);
    const auto operand = [&] { return op == alu_op::i2f ? choose.word() >> choose.below(32) : test::any_float(choose); };
    for (int i = 0; i < count; ++i) {
        const u32 a = operand(), b = operand();
        check(op, a, b, third_operand(choose, op, a, b), mods[static_cast<std::size_t>(choose.below(static_cast<int>(mods.size())))]);
    }
}

void check_pairs(alu_op op, const std::vector<u32>& corners) {
    const auto mods = mods_of(op);
    std::size_t turn = 0;
    for (const u32 a : corners)
        for (const u32 b : corners)
            for (unsigned i = 0; i < 4; ++i, ++turn)
                check(op, a, b, corners[turn * 7 % corners.size()], mods[turn % mods.size()]);
}

}  // namespace

TEST_CASE("float instructions are the host's on random operands") {
    for (const alu_op op : all_ops) check_random(op, 100'000, static_cast<std::uint64_t>(op));
    SUCCEED();
}

TEST_CASE("float instructions are the host's on all pairs of corners") {
    for (const alu_op op : all_ops) check_pairs(op, test::many_float_corners(60));
    SUCCEED();
}

TEST_CASE("float instructions are the host's on ten million operands and 500 corners each", "[.heavy]") {
    for (const alu_op op : all_ops) check_random(op, 10'000'000, 1000 + static_cast<std::uint64_t>(op));
    for (const alu_op op : all_ops) check_pairs(op, test::many_float_corners(500));
    SUCCEED();
}

TEST_CASE("float values with a name of their own") {
    const auto value = [](alu_op op, u32 a, u32 b, u32 c, unsigned m) { return evaluate(op, a, b, c, static_cast<std::uint8_t>(m)); };
    CHECK(value(alu_op::fma, 0x7f800000, 0, 0, 0) == 0x7fffffff);           // inf * 0
    CHECK(value(alu_op::fadd, 0x3f800000, 0, 0xbf800000, 0) == 0);          // 1 - 1
    CHECK(value(alu_op::fadd, 0x3f800000, 0, 0xbf800000, 2) == 0x80000000); // rounded down
    CHECK(value(alu_op::fadd, 0x7fc00001, 0, 0, 8) == 0);                   // a clamped NaN
    CHECK(value(alu_op::fmul, 0x00800000, 0x3f000000, 0, 4) == 0);          // a subnormal result, flushed
    CHECK(value(alu_op::fmin, 0, 0x80000000, 0, 0) == 0x80000000);
    CHECK(value(alu_op::fmax, 0x7fc00000, 0xbf800000, 0, 0) == 0xbf800000);
    CHECK(value(alu_op::f2i, 0x7fc00000, 0, 0, 0xc8) == 0);                 // NaN
    CHECK(value(alu_op::fround, 0x40200000, 0, 0, 8) == 0x3f800000);        // 2.5, clamped
    CHECK(value(alu_op::f2i, 0xbf800000, 0, 0, 0) == 0);                    // -1 as unsigned
    static_assert(floats::fma(0x40000000, 0x40400000, 0x3f800000, 0) == 0x40e00000);  // 2 * 3 + 1
}
