// SPDX-License-Identifier: MIT
// a * b + c, low or high half, unsigned and signed, against products of 64 bits: corners against each other, single bits (all
// 1024 partial products), and random words.
#include <qwengpu/circuit/multiplier.hpp>

#include "support/catch.hpp"
#include "support/sweep.hpp"

using namespace qwengpu;
using namespace qwengpu::test;
using circuit::word;

namespace {

// Bits: low half, high half, signed.
constexpr std::uint64_t low = 1, high = 2, low_signed = 5, high_signed = 6, off = 0;
constexpr std::uint64_t kinds[] = {low, high, low_signed, high_signed, off};

std::uint64_t multiplied(const case_values& v) {
    const std::uint64_t unsigned_product = v[0] * v[1];
    const std::int64_t x = static_cast<std::int32_t>(v[0]), y = static_cast<std::int32_t>(v[1]);
    const std::uint64_t product = (v[3] & 4U) != 0 ? static_cast<std::uint64_t>(x * y) : unsigned_product;
    const std::uint64_t half = (v[3] & 2U) != 0 ? product >> 32 : product;
    return v[3] == off ? 0 : (half + v[2]) & 0xffffffffU;
}

struct multiplier_bench {
    circuit_bench bench{circuit::multiply_levels};
    word a, b, c, kind, out;

    multiplier_bench()
        : a(bench.input("a", 32)), b(bench.input("b", 32)), c(bench.input("c", 32)), kind(bench.input("kind", 3)), out(bench.output("out", 32)) {
        circuit::multiply(bench.net, 0, "mul", a, b, c, {kind[0], kind[1], kind[2]}, out);
    }

    template <class R, class Make>
    sweep_result check(std::size_t count, const Make& make) {
        circuit_runner<R> runner(bench, sweep_columns);
        return sweep(runner, {a, b, c, kind}, out, count, make, multiplied);
    }
};

}  // namespace

TEMPLATE_TEST_CASE("corners multiplied with each other", "[circuit]", nn::fp32, nn::bf16) {
    const auto& words = corner_words();
    const auto found = multiplier_bench().check<TestType>(4 * corner_pairs(), [&](std::size_t i) {
        const auto pair = corner_pair(i / 4);
        return case_values{pair[0], pair[1], words[i * 7 % words.size()], kinds[i % 4]};
    });
    INFO(found.first_wrong);
    CHECK(found.wrong == 0);
}

TEMPLATE_TEST_CASE("every partial product by itself", "[circuit]", nn::fp32, nn::bf16) {
    const auto found = multiplier_bench().check<TestType>(4 * 1024, [](std::size_t i) {
        return case_values{std::uint64_t{1} << (i / 4 % 32), std::uint64_t{1} << (i / 128), 0, kinds[i % 4]};
    });
    INFO(found.first_wrong);
    CHECK(found.wrong == 0);
}

TEMPLATE_TEST_CASE("random products, some with the multiplier off", "[circuit]", nn::fp32, nn::bf16) {
    choices choose(4);
    const auto found = multiplier_bench().check<TestType>(5000, [&](std::size_t i) {
        const bool interesting = i % 2 != 0;
        const auto any = [&] { return interesting ? choose.interesting_word() : choose.word(); };
        return case_values{any(), any(), any(), kinds[i % 9 == 0 ? 4 : choose.below(4)]};
    });
    INFO(found.first_wrong);
    CHECK(found.wrong == 0);
}

TEMPLATE_TEST_CASE("words of ones, whose columns are as full as they can be", "[circuit]", nn::fp32, nn::bf16) {
    // Runs of ones from bit `from` on, for both factors and the addend.
    const auto found = multiplier_bench().check<TestType>(4 * 32 * 32, [](std::size_t i) {
        const auto ones_from = [](std::size_t from) { return (0xffffffffULL << from) & 0xffffffffULL; };
        return case_values{ones_from(i / 4 % 32), ones_from(i / 128), 0xffffffffULL, kinds[i % 4]};
    });
    INFO(found.first_wrong);
    CHECK(found.wrong == 0);
}
