// SPDX-License-Identifier: MIT
// Carry look-ahead: all sums of 4 and of 8 bits, corners and random sums of 32 and 64 bits, carries over any distance, units
// that are off, and columns whose digits are only partly wanted.
#include <qwengpu/circuit/adder.hpp>

#include "support/catch.hpp"
#include "support/sweep.hpp"

using namespace qwengpu;
using namespace qwengpu::test;
using circuit::linear;
using circuit::word;

namespace {

/// a + b + carry, if it is on.
struct adder_bench {
    circuit_bench bench{3};
    word a, b, carry, on, out;

    explicit adder_bench(int bits)
        : a(bench.input("a", bits)), b(bench.input("b", bits)), carry(bench.input("carry", 1)), on(bench.input("on", 1)), out(bench.output("out", bits)) {
        circuit::add_words(bench.net, 0, "add", a, b, carry[0], on[0], out);
    }

    template <class R, class Make>
    sweep_result check(std::size_t count, const Make& make) {
        circuit_runner<R> runner(bench, sweep_columns);
        const std::uint64_t mask = a.size() == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << a.size()) - 1;
        return sweep(runner, {a, b, carry, on}, out, count, make,
                     [&](const case_values& v) { return v[3] != 0 ? (v[0] + v[1] + v[2]) & mask : 0; });
    }
};

}  // namespace

TEMPLATE_TEST_CASE("all sums of four bits", "[circuit]", nn::fp32, nn::bf16) {
    const auto found = adder_bench(4).check<TestType>(1024, [](std::size_t i) { return case_values{i & 15, (i >> 4) & 15, (i >> 8) & 1, i >> 9}; });
    INFO(found.first_wrong);
    CHECK(found.wrong == 0);
}

TEMPLATE_TEST_CASE("all sums of eight bits", "[circuit]", nn::fp32, nn::bf16) {
    const auto found = adder_bench(8).check<TestType>(1 << 17, [](std::size_t i) { return case_values{i & 255, (i >> 8) & 255, i >> 16, 1}; });
    INFO(found.first_wrong);
    CHECK(found.wrong == 0);
}

TEMPLATE_TEST_CASE("corners of 32-bit sums against each other, with and without carry", "[circuit]", nn::fp32, nn::bf16) {
    const auto found = adder_bench(32).check<TestType>(2 * corner_pairs(), [](std::size_t i) {
        const auto pair = corner_pair(i / 2);
        return case_values{pair[0], pair[1], i % 2, 1};
    });
    INFO(found.first_wrong);
    CHECK(found.wrong == 0);
}

TEMPLATE_TEST_CASE("random sums, one in eight with the adder off", "[circuit]", nn::fp32, nn::bf16) {
    for (const int bits : {12, 32, 64}) {
        choices choose(static_cast<std::uint64_t>(bits));
        const std::uint64_t mask = bits == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << bits) - 1;
        const auto any = [&] { return ((std::uint64_t{choose.interesting_word()} << 32) | choose.interesting_word()) & mask; };
        const auto found = adder_bench(bits).check<TestType>(3000, [&](std::size_t i) {
            return case_values{any(), any(), static_cast<std::uint64_t>(choose.below(2)), i % 8 != 0};
        });
        INFO(bits << " bits: " << found.first_wrong);
        CHECK(found.wrong == 0);
    }
}

TEMPLATE_TEST_CASE("a carry runs from any bit to any other", "[circuit]", nn::fp32, nn::bf16) {
    // a has ones in bits [from, to), and b a one in bit `from`: the sum is a one in bit `to`, or nothing after the last.
    adder_bench adder(32);
    circuit_runner<TestType> runner(adder.bench);
    for (unsigned from = 0; from < 32; ++from) {
        for (unsigned to = from + 1; to <= 32; ++to) {
            runner.clear();
            runner.set(adder.on, 1);
            runner.set(adder.a, (std::uint64_t{1} << to) - (std::uint64_t{1} << from));
            runner.set(adder.b, std::uint64_t{1} << from);
            runner.run();
            CHECK(runner.get(adder.out) == (to < 32 ? std::uint64_t{1} << to : 0));
        }
    }
}

TEMPLATE_TEST_CASE("columns of any two bits, of whose sum only the wanted nibbles are written", "[circuit]", nn::fp32, nn::bf16) {
    circuit_bench bench{3};
    const auto a = bench.input("a", 8), b = bench.input("b", 8), wanted = bench.input("wanted", 2);
    const auto out = bench.output("out", 8);
    circuit::addition sum;
    for (std::size_t i = 0; i < 8; ++i) {
        sum.columns.push_back(linear(a[i]) + linear(b[i]));
        sum.bits.push_back({{out[i], 1.0F}});
    }
    sum.enable = linear(1.0);
    sum.wanted = {wanted[0], wanted[1]};
    circuit::add_columns(bench.net, 0, "sum", sum);
    circuit_runner<TestType> runner(bench, sweep_columns);
    choices choose(5);
    const auto found = sweep(
        runner, {a, b, wanted}, out, 4000,
        [&](std::size_t i) { return case_values{choose.word() & 255, choose.word() & 255, i % 4}; },
        [](const case_values& v) { return (v[0] + v[1]) & ((v[2] & 1) * 15 + (v[2] >> 1) * 240); });
    INFO(found.first_wrong);
    CHECK(found.wrong == 0);
}

TEST_CASE("an adder that is off adds exactly nothing, whatever stands at its door", "[circuit]") {
    adder_bench adder(32);
    circuit_runner<nn::fp32> runner(adder.bench);
    choices choose(7);
    for (int i = 0; i < 200; ++i) {
        runner.clear();
        runner.set(adder.a, choose.word());
        runner.set(adder.b, choose.word());
        runner.set(adder.carry, 1);
        runner.run();
        for (const auto s : adder.out) REQUIRE(runner.level(s) == 0.0F);
    }
}
