// SPDX-License-Identifier: MIT
// Ten million random operands, and all pairs of 500 corners, for every instruction of stage 3 on its circuits, against the host's
// arithmetic and its FPU in all rounding modes. QWENGPU_SWEEP sets another number of random operands.
#include <qwengpu/stage/alu_stages.hpp>

#include "support/alu_bench.hpp"
#include "support/batch_runner.hpp"
#include "support/catch.hpp"
#include "support/float_words.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdlib>
#include <iostream>
#include <string>
#include <vector>

using namespace qwengpu;
using namespace qwengpu::test;

namespace {

constexpr std::size_t corner_count = 500;

/// Floats at all the places where arithmetic changes: exponents around the subnormals, half of them, one, the significand's
/// width, the integers' ends and overflow, each with the significands at both ends, in the middle and beside it.
std::vector<std::uint32_t> float_corner_words() {
    constexpr std::array<std::uint32_t, 25> exponents{0, 1, 2, 23, 24, 25, 64, 102, 103, 104, 126, 127, 128, 149, 150, 151, 157, 158, 159, 189, 190, 191, 253, 254, 255};
    constexpr std::array<std::uint32_t, 10> fractions{0, 1, 2, 0x2aaaaa, 0x3fffff, 0x400000, 0x400001, 0x555555, 0x7ffffe, 0x7fffff};
    std::vector<std::uint32_t> words;
    for (const auto e : exponents)
        for (const auto f : fractions)
            for (const auto sign : {0U, 0x80000000U}) words.push_back(sign | e << 23 | f);
    return words;
}

/// Words at the ends of what integer arithmetic does: powers of two and their neighbours, negated too, patterns, small numbers.
std::vector<std::uint32_t> integer_corner_words() {
    std::vector<std::uint32_t> words = corner_words();
    for (unsigned k = 0; k < 32; ++k)
        for (const std::uint32_t x : {(1U << k) - 2, (1U << k) - 1, 1U << k, (1U << k) + 1, ~(1U << k), 0U - (1U << k), 0x55555555U >> k, 0xffffffffU >> k, 3U << k, 0xffffffffU << k}) words.push_back(x);
    for (std::uint32_t k = 0; words.size() < corner_count; ++k) words.push_back(k * 0x9e3779b9U);
    return words;
}

const std::vector<std::uint32_t>& corners_of(const host_operation& op) {
    static const std::vector<std::uint32_t> floats = float_corner_words(), integers = integer_corner_words();
    const bool real = (op.code >= 13 && op.code <= 15) || (op.code >= 21 && op.name != "i2f");
    return real ? floats : integers;
}

std::size_t random_count() {
    const char* text = std::getenv("QWENGPU_SWEEP");
    return text == nullptr ? 10'000'000 : std::stoull(text);
}

sweep_result sweep_corner_pairs(alu_bench& alu, batch_runner& runner, const host_operation& op, choices& choose) {
    const auto& words = corners_of(op);
    return sweep_alu(alu, runner, words.size() * words.size(), choose, [&](std::size_t i) {
        return alu_case{op.code, legal_mod(op, choose.word()), words[i / words.size()], words[i % words.size()], words[static_cast<std::size_t>(choose.below(static_cast<int>(words.size())))]};
    });
}

sweep_result sweep_random_words(alu_bench& alu, batch_runner& runner, const host_operation& op, choices& choose) {
    const bool shifts = op.code >= 3 && op.code <= 5, real = &corners_of(op) == &corners_of(host_operations[20]);
    return sweep_alu(alu, runner, random_count(), choose, [&](std::size_t i) {
        const auto any = [&] { return real && choose.percent(80) ? any_float(choose) : choose.percent(50) ? choose.word() : choose.interesting_word(); };
        alu_case k{op.code, legal_mod(op, choose.word()), any(), shifts && i % 2 != 0 ? static_cast<std::uint32_t>(choose.below(40)) : any(), any()};
        const std::uint32_t near = static_cast<std::uint32_t>(choose.below(5)) - 2;
        if (op.name == "fma" && i % 4 == 1) k.c = (host_float(23, 0, k.a, k.b, 0) ^ 0x80000000U) + near;  // cancels
        if (op.name == "fadd" && i % 4 == 1) k.c = (k.a ^ 0x80000000U) + near;
        return k;
    });
}

}  // namespace

TEST_CASE("ten million operands of every instruction on the circuits of stage 3, and all pairs of 500 corners", "[stage][.heavy]") {
    alu_bench alu(true);
    batch_runner runner(alu.bench);
    std::vector<host_operation> order(host_operations.rbegin(), host_operations.rend());  // floats first
    for (const auto& op : order) {
        REQUIRE(corners_of(op).size() == corner_count);
        choices choose(7000 + op.code);
        const auto begin = std::chrono::steady_clock::now();
        const auto pairs = sweep_corner_pairs(alu, runner, op, choose), random = sweep_random_words(alu, runner, op, choose);
        const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
        std::cout << op.name << ": " << pairs.cases << " pairs of corners, " << pairs.wrong << " wrong; " << random.cases << " random operands, " << random.wrong << " wrong; "
                  << took.count() << " s\n" << std::flush;
        INFO(op.name << ": " << pairs.first_wrong << random.first_wrong);
        CHECK(pairs.wrong + random.wrong == 0);
    }
}
