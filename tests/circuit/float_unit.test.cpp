// SPDX-License-Identifier: MIT
// The float unit's circuits against the host's FPU, bit for bit: all operations, rounding modes and flags, on corners, near
// cancellation, at the edge of the subnormals, and on random numbers.
#include <qwengpu/circuit/float_unit/unit.hpp>

#include "support/catch.hpp"
#include "support/choices.hpp"
#include "support/float_words.hpp"
#include "support/host_float.hpp"
#include "support/sweep.hpp"

#include <algorithm>
#include <cmath>

using namespace qwengpu;
using namespace qwengpu::test;
using circuit::word;

namespace {

/// The unit with its operands picked from three inputs, as stage 3 does it.
struct float_bench {
    circuit_bench bench{2 + circuit::float_unit::levels + 1};
    word group, a, b, c, out;

    float_bench() : group(bench.input("group", 48)), a(bench.input("a", 32)), b(bench.input("b", 32)), c(bench.input("c", 32)), out(bench.output("out", 32)) {
        const std::vector<circuit::operand_source> sources{{1, a}, {2, b}, {3, c}};
        const auto controls = circuit::decode_alu(bench.net, 0, "pick", group, sources);
        const auto operands = circuit::pick_operands(bench.net, 1, "pick", controls, sources);
        circuit::float_unit::build(bench.net, 0, 2, "float", group, operands, out);
    }
    [[nodiscard]] std::vector<word> inputs() const { return {group, a, b, c}; }
};

constexpr std::uint64_t group_bits(unsigned op, unsigned mod) { return std::uint64_t{op} | 1U << 6 | 2U << 10 | 3U << 14 | std::uint64_t{mod} << 18; }

// Bits of mod that mean something, by operation 21..26.
constexpr unsigned flags[] = {0x3f, 0x3f, 0x1f, 0x4b, 0xcf, 0x0f};

case_values random_case(choices& choose) {
    const auto op = static_cast<unsigned>(21 + choose.below(6));
    unsigned mod = choose.word() & flags[op - 21];
    if (choose.percent(50)) mod &= ~0x0cU;
    if ((mod & 0x40U) == 0) mod &= ~0x80U;
    const std::uint32_t a = op == 24 ? choose.word() >> choose.below(32) : any_float(choose), b = op == 24 ? choose.word() >> choose.below(32) : any_float(choose);
    std::uint32_t c = any_float(choose);
    if (op == 21 && choose.percent(30)) c = near_opposite(choose, host_float(23, mod & 3U, a, b, 0));
    if (op == 22 && choose.percent(30)) c = near_opposite(choose, a);
    return {group_bits(op, mod), a, b, c};
}

std::uint64_t expected(const case_values& v) {
    const auto op = static_cast<unsigned>(v[0] & 63U), mod = static_cast<unsigned>(v[0] >> 18) & 0xffU;
    const auto a = static_cast<std::uint32_t>(v[1]), b = static_cast<std::uint32_t>(v[2]), c = static_cast<std::uint32_t>(v[3]);
    if (op == 24) return host_from_int(mod, a, b);
    if (op == 25) return host_to_int(mod, a);
    return host_float(op, mod, a, b, c);
}

template <class R>
void check_random(std::size_t count, std::uint64_t seed) {
    float_bench f;
    circuit_runner<R> runner(f.bench, sweep_columns);
    choices choose(seed);
    const auto found = sweep(runner, f.inputs(), f.out, count, [&](std::size_t) { return random_case(choose); }, expected);
    INFO("seed " << seed << ": " << found.first_wrong);
    CHECK(found.cases == count);
    CHECK(found.wrong == 0);
}

}  // namespace

TEST_CASE("the float unit agrees with the host's FPU") {
    check_random<nn::fp32>(20'000, 1);
    check_random<nn::bf16>(10'000, 2);
}

TEST_CASE("the float unit agrees with the host's FPU on all pairs of corners") {
    float_bench f;
    circuit_runner<nn::fp32> runner(f.bench, sweep_columns);
    constexpr std::size_t n = float_corners.size();
    const auto pair = [](std::size_t i) {
        const auto op = static_cast<unsigned>(21 + i % 3);
        return case_values{group_bits(op, static_cast<unsigned>(i / 3 % 4)), float_corners[i / 12 % n], float_corners[i / 12 / n % n], float_corners[(i * 7) % n]};
    };
    const auto found = sweep(runner, f.inputs(), f.out, 12 * n * n, pair, expected);
    INFO(found.first_wrong);
    CHECK(found.wrong == 0);
}

TEST_CASE("in other operations no signal of the float unit leaves zero") {
    float_bench f;
    circuit_runner<nn::fp32> runner(f.bench, sweep_columns);
    choices choose(5);
    for (unsigned op = 0; op < 64; ++op) {
        if (op >= 21 && op <= 26) continue;
        runner.clear();
        for (int column = 0; column < runner.columns(); ++column) {
            runner.set(f.group, group_bits(op, choose.word() & 255U), column);
            for (const auto* x : {&f.a, &f.b, &f.c}) runner.set(*x, any_float(choose), column);
        }
        runner.run();
        float most = 0;
        for (std::size_t id = 0; id < f.bench.net.signals().size(); ++id) {
            if (f.bench.net.signals()[id].name.rfind("float", 0) != 0) continue;
            for (int column = 0; column < runner.columns(); ++column) most = std::max(most, std::abs(runner.level({static_cast<int>(id)}, column)));
        }
        CAPTURE(op);
        CHECK(most < 1e-4F);  // what wiping an operand's channel leaves in fp32
    }
}

TEST_CASE("the float unit agrees with the host's FPU on a million operands of each operation", "[.heavy]") {
    check_random<nn::fp32>(6'000'000, 3);
    check_random<nn::bf16>(600'000, 4);
}
