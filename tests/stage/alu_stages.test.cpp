// SPDX-License-Identifier: MIT
// Every arithmetic instruction through the ALU as stage 3 builds it, against the host's arithmetic: all corners against each other
// and random operands from random sources. The heavy case does 200,000 of each in bf16; in fp32 alu_sweeps.heavy does more.
#include <qwengpu/stage/alu_stages.hpp>

#include "support/alu_bench.hpp"
#include "support/catch.hpp"

#include <iostream>

using namespace qwengpu;
using namespace qwengpu::test;

namespace {

/// All corners against each other for a and b, each pair under as many random `mod` as `mods` says, c a random corner.
template <class R>
sweep_result sweep_corners(alu_bench& alu, circuit_runner<R>& runner, const host_operation& op, std::size_t mods, choices& choose) {
    const auto& words = corner_words();
    return sweep_alu(alu, runner, mods * corner_pairs(), choose, [&](std::size_t i) {
        const auto pair = corner_pair(i / mods);
        return alu_case{op.code, legal_mod(op, choose.word()), static_cast<std::uint32_t>(pair[0]), static_cast<std::uint32_t>(pair[1]),
                        words[static_cast<std::size_t>(choose.below(static_cast<int>(words.size())))]};
    });
}

template <class R>
sweep_result sweep_random(alu_bench& alu, circuit_runner<R>& runner, const host_operation& op, std::size_t count, choices& choose) {
    return sweep_alu(alu, runner, count, choose, [&](std::size_t i) { return random_alu_case(op, choose, i); });
}

}  // namespace

TEMPLATE_TEST_CASE("every instruction of stage 3 on corners and random operands", "[stage]", nn::fp32, nn::bf16) {
    alu_bench alu(true);
    circuit_runner<TestType> runner(alu.bench, sweep_columns);
    for (const auto& op : host_operations) {
        choices choose(op.code);
        const auto corners = sweep_corners(alu, runner, op, 1, choose);
        const auto random = sweep_random(alu, runner, op, 3000, choose);
        INFO(op.name << ": " << corners.first_wrong << random.first_wrong);
        CHECK(corners.wrong + random.wrong == 0);
    }
}

TEMPLATE_TEST_CASE("every instruction of stages 1 and 4, and nothing from those they do not have", "[stage]", nn::fp32, nn::bf16) {
    alu_bench alu(false);
    circuit_runner<TestType> runner(alu.bench, sweep_columns);
    for (std::size_t i = 0; i < short_operations; ++i) {
        choices choose(i);
        const auto found = sweep_random(alu, runner, host_operations[i], 1500, choose);
        INFO(host_operations[i].name << ": " << found.first_wrong);
        CHECK(found.wrong == 0);
    }
    choices choose(99);
    const auto none = sweep_random(alu, runner, {"none", 0, 0}, 500, choose);
    INFO(none.first_wrong);
    CHECK(none.wrong == 0);
}

TEST_CASE("200,000 operands of every instruction, and all corners, in bf16", "[stage][.heavy]") {
    alu_bench alu(true);
    circuit_runner<nn::bf16> runner(alu.bench, sweep_columns);
    for (const auto& op : host_operations) {
        choices choose(1000 + op.code);
        const auto corners = sweep_corners(alu, runner, op, op.mod_bits == 0 ? 1 : 16, choose);
        const auto random = sweep_random(alu, runner, op, 200'000, choose);
        std::cout << op.name << " in bf16: " << corners.cases << " pairs of corners, " << corners.wrong << " wrong; " << random.cases << " random operands, " << random.wrong << " wrong\n"
                  << std::flush;
        INFO(op.name << ": " << corners.first_wrong << random.first_wrong);
        CHECK(corners.wrong + random.wrong == 0);
    }
}
