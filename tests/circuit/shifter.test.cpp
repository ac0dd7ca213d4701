// SPDX-License-Identifier: MIT
// Shifts to the left, to the right, and to the right with the sign: every amount from 0 to 40 and large ones, on patterns and on
// random words. A shift by 32 or more leaves nothing, or the sign in all bits.
#include <qwengpu/circuit/shifter.hpp>

#include "support/catch.hpp"
#include "support/sweep.hpp"

using namespace qwengpu;
using namespace qwengpu::test;
using circuit::word;

namespace {

constexpr std::uint64_t off = 0, left = 1, right = 2, arithmetic = 4;
constexpr std::uint64_t ways[] = {left, right, arithmetic, off};

std::uint64_t shifted(const case_values& v) {
    const auto a = static_cast<std::uint32_t>(v[0]);
    const std::uint64_t by = v[1] < 32 ? v[1] : 32;
    switch (v[2]) {
        case left: return (std::uint64_t{a} << by) & 0xffffffffU;
        case right: return std::uint64_t{a} >> by;
        case arithmetic: return static_cast<std::uint32_t>(std::int64_t{static_cast<std::int32_t>(a)} >> by);
        default: return 0;
    }
}

struct shifter_bench {
    circuit_bench bench{3};
    word a, b, way, out;

    shifter_bench() : a(bench.input("a", 32)), b(bench.input("b", 32)), way(bench.input("way", 3)), out(bench.output("out", 32)) {
        circuit::shift(bench.net, 0, "shift", a, b, {way[0], way[1], way[2]}, out);
    }

    template <class R, class Make>
    sweep_result check(std::size_t count, const Make& make) {
        circuit_runner<R> runner(bench, sweep_columns);
        return sweep(runner, {a, b, way}, out, count, make, shifted);
    }
};

}  // namespace

TEMPLATE_TEST_CASE("all corners shifted by 0 to 40, every way", "[circuit]", nn::fp32, nn::bf16) {
    const auto& words = corner_words();
    const auto found = shifter_bench().check<TestType>(words.size() * 41 * 4, [&](std::size_t i) {
        return case_values{words[i / 164], i / 4 % 41, ways[i % 4]};
    });
    INFO(found.first_wrong);
    CHECK(found.wrong == 0);
}

TEMPLATE_TEST_CASE("amounts with one bit above the fifth, and all corners as amounts", "[circuit]", nn::fp32, nn::bf16) {
    choices choose(1);
    const auto found = shifter_bench().check<TestType>(6000, [&](std::size_t i) {
        const auto& words = corner_words();
        const std::uint32_t high = i % 2 != 0 ? 1U << choose.between(5, 31) | static_cast<std::uint32_t>(choose.below(32)) : words[i / 2 % words.size()];
        return case_values{choose.interesting_word(), high, ways[choose.below(3)]};
    });
    INFO(found.first_wrong);
    CHECK(found.wrong == 0);
}

TEMPLATE_TEST_CASE("random words shifted", "[circuit]", nn::fp32, nn::bf16) {
    choices choose(2);
    const auto found = shifter_bench().check<TestType>(6000, [&](std::size_t) {
        return case_values{choose.word(), static_cast<std::uint64_t>(choose.below(40)), ways[choose.below(4)]};
    });
    INFO(found.first_wrong);
    CHECK(found.wrong == 0);
}
