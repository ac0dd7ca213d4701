// SPDX-License-Identifier: MIT
// The reciprocal that starts a division: all 1024 entries of its table with the leading one at every position, against a
// division of whole numbers; never above 2^32 / a, and close to it.
#include <qwengpu/circuit/reciprocal.hpp>

#include "support/catch.hpp"
#include "support/sweep.hpp"

using namespace qwengpu;
using namespace qwengpu::test;

namespace {

/// As docs/machine.md says it: the leading one at p, f the ten bits below it.
std::uint64_t expected_reciprocal(std::uint64_t a) {
    if (a == 0) return 0;
    unsigned p = 31;
    while (((a >> p) & 1U) == 0) --p;
    const std::uint64_t f = (p >= 10 ? a >> (p - 10) : a << (10 - p)) % 1024;
    const std::uint64_t t = 2097152 / (1025 + f);
    return p <= 21 ? t << (21 - p) : t >> (p - 21);
}

struct reciprocal_bench {
    circuit_bench bench{circuit::reciprocal_levels};
    circuit::word a, on, out;

    reciprocal_bench() : a(bench.input("a", 32)), on(bench.input("on", 1)), out(bench.output("out", 32)) {
        circuit::reciprocal(bench.net, 0, "rcp", a, on[0], out);
    }

    template <class R, class Make>
    sweep_result check(std::size_t count, const Make& make) {
        circuit_runner<R> runner(bench, sweep_columns);
        return sweep(runner, {a, on}, out, count, make, [](const case_values& v) { return v[1] != 0 ? expected_reciprocal(v[0]) : 0; });
    }
};

}  // namespace

TEMPLATE_TEST_CASE("every entry of the table at every position", "[circuit]", nn::fp32, nn::bf16) {
    // Where fewer than ten bits lie below the leading one, the same word comes up more than once.
    const auto found = reciprocal_bench().check<TestType>(32 * 1024, [](std::size_t i) {
        const std::uint64_t one_and_f = 1024 + i % 1024;
        const std::size_t p = i / 1024;
        return case_values{p >= 10 ? one_and_f << (p - 10) : one_and_f >> (10 - p), 1};
    });
    INFO(found.first_wrong);
    CHECK(found.wrong == 0);
}

TEMPLATE_TEST_CASE("reciprocals of corners and of random words, some of them off", "[circuit]", nn::fp32, nn::bf16) {
    choices choose(6);
    const auto& words = corner_words();
    const auto found = reciprocal_bench().check<TestType>(6000, [&](std::size_t i) {
        if (i < words.size()) return case_values{words[i], 1};
        return case_values{i % 2 != 0 ? choose.word() : choose.interesting_word(), i % 9 != 0 ? 1U : 0U};
    });
    INFO(found.first_wrong);
    CHECK(found.wrong == 0);
}

TEST_CASE("a reciprocal is never too large, and off by less than one part in 256 while it has the bits", "[circuit]") {
    reciprocal_bench rcp;
    circuit_runner<nn::fp32> runner(rcp.bench);
    choices choose(8);
    for (int i = 0; i < 2000; ++i) {
        const std::uint64_t a = std::uint64_t{choose.word()} >> choose.below(32);
        if (a == 0) continue;
        runner.clear();
        runner.set(rcp.a, a);
        runner.set(rcp.on, 1);
        runner.run();
        const std::uint64_t r = runner.get(rcp.out);
        CAPTURE(a, r);
        CHECK(a * r <= std::uint64_t{1} << 32);
        if (a < (std::uint64_t{1} << 21)) CHECK(a * r * 256 > (std::uint64_t{1} << 32) * 255);
    }
}
