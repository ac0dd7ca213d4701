// SPDX-License-Identifier: MIT
// Units of one level: ones, leading zeros, reversal, and all 256 functions of three bits. Words with one bit, runs of ones from
// either end, corners, and random words.
#include <qwengpu/circuit/bit_counts.hpp>

#include "support/catch.hpp"
#include "support/sweep.hpp"

#include <bit>

using namespace qwengpu;
using namespace qwengpu::test;
using circuit::word;

namespace {

using unit = void (*)(circuit::network&, int, const word&, const circuit::linear&, const word&);

/// Single bits, runs of ones from the lowest and from the highest bit, corners, then random words; every eighth time off.
struct words_to_count {
    choices choose{11};
    case_values operator()(std::size_t i) {
        const std::uint64_t on = i % 8 != 7 ? 1 : 0;
        const auto& corners = corner_words();
        if (i < 32) return {std::uint64_t{1} << i, 1};
        if (i < 65) return {(std::uint64_t{1} << (i - 32)) - 1, 1};
        if (i < 97) return {(0xffffffffULL << (i - 65)) & 0xffffffffULL, 1};
        if (i < 97 + corners.size()) return {corners[i - 97], 1};
        return {i % 2 != 0 ? choose.word() : choose.interesting_word(), on};
    }
};

template <class R, class Expected>
sweep_result check(unit build, const Expected& expected) {
    circuit_bench bench{1};
    const auto a = bench.input("a", 32), on = bench.input("on", 1), out = bench.output("out", 32);
    build(bench.net, 0, a, on[0], out);
    circuit_runner<R> runner(bench, sweep_columns);
    words_to_count make;
    return sweep(runner, {a, on}, out, 8000, make, [&](const case_values& v) {
        return v[1] != 0 ? std::uint64_t{expected(static_cast<std::uint32_t>(v[0]))} : 0;
    });
}

std::uint32_t reversed(std::uint32_t x) {
    std::uint32_t r = 0;
    for (int i = 0; i < 32; ++i, x >>= 1) r = r << 1 | (x & 1U);
    return r;
}

}  // namespace

TEMPLATE_TEST_CASE("ones are counted", "[circuit]", nn::fp32, nn::bf16) {
    const auto found = check<TestType>(circuit::count_ones, [](std::uint32_t x) { return static_cast<std::uint32_t>(std::popcount(x)); });
    INFO(found.first_wrong);
    CHECK(found.wrong == 0);
}

TEMPLATE_TEST_CASE("leading zeros are counted", "[circuit]", nn::fp32, nn::bf16) {
    const auto found = check<TestType>(circuit::count_leading_zeros, [](std::uint32_t x) { return static_cast<std::uint32_t>(std::countl_zero(x)); });
    INFO(found.first_wrong);
    CHECK(found.wrong == 0);
}

TEMPLATE_TEST_CASE("bits are reversed", "[circuit]", nn::fp32, nn::bf16) {
    const auto found = check<TestType>(circuit::reverse_bits, reversed);
    INFO(found.first_wrong);
    CHECK(found.wrong == 0);
}

TEMPLATE_TEST_CASE("all functions of three bits, on all triples and on random words", "[circuit]", nn::fp32, nn::bf16) {
    circuit_bench bench{1};
    const auto a = bench.input("a", 32), b = bench.input("b", 32), c = bench.input("c", 32), table = bench.input("table", 8), on = bench.input("on", 1);
    const auto out = bench.output("out", 32);
    circuit::look_up(bench.net, 0, a, b, c, table, on[0], out);
    circuit_runner<TestType> runner(bench, sweep_columns);
    choices choose(12);
    // 0xf0f0f0f0, 0xcccccccc, 0xaaaaaaaa hold every triple of bits four times.
    const auto found = sweep(
        runner, {a, b, c, table, on}, out, 8 * 256,
        [&](std::size_t i) {
            if (i < 256) return case_values{0xf0f0f0f0U, 0xccccccccU, 0xaaaaaaaaU, i, 1};
            return case_values{choose.word(), choose.word(), choose.word(), i % 256, i % 7 != 0 ? 1U : 0U};
        },
        [](const case_values& v) {
            std::uint64_t r = 0;
            for (unsigned i = 0; i < 32; ++i) {
                const auto row = ((v[0] >> i) & 1U) * 4 + ((v[1] >> i) & 1U) * 2 + ((v[2] >> i) & 1U);
                r |= ((v[3] >> row) & 1U) << i;
            }
            return v[4] != 0 ? r : 0;
        });
    INFO(found.first_wrong);
    CHECK(found.wrong == 0);
}

TEMPLATE_TEST_CASE("the leading one of all words of eight bits", "[circuit]", nn::fp32, nn::bf16) {
    circuit_bench bench{1};
    const auto a = bench.input("a", 8), out = bench.output("lead", 8);
    for (std::size_t i = 0; i < 8; ++i) bench.net.gate(0, circuit::leading(a, i), {{out[i], 1.0F}});
    circuit_runner<TestType> runner(bench, sweep_columns);
    const auto found = sweep(
        runner, {a}, out, 256, [](std::size_t i) { return case_values{i}; }, [](const case_values& v) { return std::bit_floor(v[0]); });
    INFO(found.first_wrong);
    CHECK(found.wrong == 0);
}
