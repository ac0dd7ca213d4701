// SPDX-License-Identifier: MIT
// Comparison of words: all pairs of four and of eight bits, corners and random pairs of 32, as unsigned and as signed numbers,
// and pairs that differ in one bit only.
#include <qwengpu/circuit/comparer.hpp>

#include "support/catch.hpp"
#include "support/sweep.hpp"

using namespace qwengpu;
using namespace qwengpu::test;
using circuit::word;

namespace {

constexpr std::uint64_t off = 0, as_unsigned = 1, as_signed = 2;

struct comparer_bench {
    circuit_bench bench{2};
    word a, b, kind, out;

    explicit comparer_bench(int bits) : a(bench.input("a", bits)), b(bench.input("b", bits)), kind(bench.input("kind", 2)) {
        const auto c = circuit::compare(bench.net, 0, "compare", a, b, kind[0], kind[1]);
        out = {bench.look_at(c.less), bench.look_at(c.equal)};
    }

    /// 1 less, 2 equal, 0 greater or off, of a and b taken as numbers of this many bits.
    [[nodiscard]] std::uint64_t expected(const case_values& v) const {
        if (v[2] == off) return 0;
        const auto as_number = [&](std::uint64_t x) {
            const bool negative = v[2] == as_signed && ((x >> (a.size() - 1)) & 1U) != 0;
            return static_cast<std::int64_t>(x) - (negative ? std::int64_t{1} << a.size() : 0);
        };
        const auto x = as_number(v[0]), y = as_number(v[1]);
        return x < y ? 1 : x == y ? 2 : 0;
    }

    template <class R, class Make>
    sweep_result check(std::size_t count, const Make& make) {
        circuit_runner<R> runner(bench, sweep_columns);
        return sweep(runner, {a, b, kind}, out, count, make, [&](const case_values& v) { return expected(v); });
    }
};

}  // namespace

TEMPLATE_TEST_CASE("all pairs of four bits compared", "[circuit]", nn::fp32, nn::bf16) {
    const auto found = comparer_bench(4).check<TestType>(3 << 8, [](std::size_t i) { return case_values{i & 15, (i >> 4) & 15, i >> 8}; });
    INFO(found.first_wrong);
    CHECK(found.wrong == 0);
}

TEMPLATE_TEST_CASE("all pairs of eight bits compared", "[circuit]", nn::fp32, nn::bf16) {
    const auto found = comparer_bench(8).check<TestType>(3 << 16, [](std::size_t i) { return case_values{i & 255, (i >> 8) & 255, i >> 16}; });
    INFO(found.first_wrong);
    CHECK(found.wrong == 0);
}

TEMPLATE_TEST_CASE("corners of 32 bits compared with each other", "[circuit]", nn::fp32, nn::bf16) {
    const auto found = comparer_bench(32).check<TestType>(2 * corner_pairs(), [](std::size_t i) {
        const auto pair = corner_pair(i / 2);
        return case_values{pair[0], pair[1], 1 + i % 2};
    });
    INFO(found.first_wrong);
    CHECK(found.wrong == 0);
}

TEMPLATE_TEST_CASE("random words compared, and words that differ in one bit or not at all", "[circuit]", nn::fp32, nn::bf16) {
    choices choose(3);
    const auto found = comparer_bench(32).check<TestType>(6000, [&](std::size_t i) {
        const std::uint32_t a = choose.interesting_word();
        const std::uint32_t near = a ^ (choose.percent(80) ? 1U << choose.below(32) : 0U);
        return case_values{a, i % 2 != 0 ? near : choose.word(), 1 + static_cast<std::uint64_t>(choose.below(2))};
    });
    INFO(found.first_wrong);
    CHECK(found.wrong == 0);
}
