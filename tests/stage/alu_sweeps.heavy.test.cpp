// SPDX-License-Identifier: MIT
// Ten million random operands, and all pairs of 500 corners, for every instruction of stage 3 on its circuits, against the host's
// arithmetic and its FPU in all rounding modes. QWENGPU_SWEEP sets another number of random operands.
#include <qwengpu/stage/alu_stages.hpp>

#include "support/alu_bench.hpp"
#include "support/batch_runner.hpp"
#include "support/catch.hpp"
#include "support/float_corners.hpp"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <iostream>
#include <string>
#include <vector>

using namespace qwengpu;
using namespace qwengpu::test;

namespace {

constexpr std::size_t corner_count = 500;

/// Words at the ends of what integer arithmetic does: powers of two and their neighbours, negated too, patterns, small numbers.
std::vector<std::uint32_t> integer_corner_words() {
    std::vector<std::uint32_t> words = corner_words();
    for (unsigned k = 0; k < 32; ++k)
        for (const std::uint32_t x : {(1U << k) - 2, (1U << k) - 1, 1U << k, (1U << k) + 1, ~(1U << k), 0U - (1U << k), 0x55555555U >> k, 0xffffffffU >> k, 3U << k, 0xffffffffU << k}) words.push_back(x);
    for (std::uint32_t k = 0; words.size() < corner_count; ++k) words.push_back(k * 0x9e3779b9U);
    return words;
}

const std::vector<std::uint32_t>& corners_of(const host_operation& op) {
    static const std::vector<std::uint32_t> floats = many_float_corners(corner_count), integers = integer_corner_words();
    return takes_floats(op) ? floats : integers;
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
    return sweep_alu(alu, runner, random_count(), choose, [&](std::size_t i) { return random_alu_case(op, choose, i); });
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
