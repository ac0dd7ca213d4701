// SPDX-License-Identifier: MIT
// The ALU of a stage as stages 1, 3 and 4 build it (decode, pick, compute; stage 3 with its long units), with all its sources
// as inputs, and sweeps of instructions over it whose operands come from random sources.
#pragma once

#include <qwengpu/stage/alu_stages.hpp>

#include "support/float_words.hpp"
#include "support/host_alu.hpp"
#include "support/sweep.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace qwengpu::test {

/// An ALU group of 48 bits, put together from docs/machine.md, "Encoding".
constexpr std::uint64_t alu_group(unsigned op, unsigned a, unsigned b, unsigned c, unsigned mod, std::uint32_t imm) {
    return std::uint64_t{op} | std::uint64_t{a} << 6 | std::uint64_t{b} << 10 | std::uint64_t{c} << 14 | std::uint64_t{mod} << 18 | std::uint64_t{imm & 0xffff} << 26;
}

/// Codes of the operand sources on the page.
namespace source_code {
inline constexpr unsigned zero = 0, r0 = 1, imm = 5, constant = 6, special = 7, t1 = 8, t2 = 9;
}

struct alu_bench {
    static constexpr int levels = 2 + circuit::float_unit::levels;

    circuit_bench bench{levels};
    circuit::word group, out;
    std::vector<circuit::word> values;  ///< r0, r1, r2, r3, constant, special, t1, t2
    static constexpr std::array<unsigned, 8> codes{1, 2, 3, 4, source_code::constant, source_code::special, source_code::t1, source_code::t2};

    /// With the long units, or only what every stage has.
    explicit alu_bench(bool with_long_units) : group(bench.input("group", 48)) {
        std::vector<stage::operand_source> sources{{source_code::zero, {}}};
        for (const unsigned code : codes) {
            values.push_back(bench.input("source" + std::to_string(code), code == source_code::special ? 5 : 32));
            sources.push_back({code, values.back()});
        }
        circuit::word immediate(group.begin() + 26, group.begin() + 42);
        immediate.resize(32, group[41]);
        sources.push_back({source_code::imm, immediate});
        stage::alu_stage s;
        s.controls = circuit::decode_alu(bench.net, 0, "alu", group, sources);
        s.operands = circuit::pick_operands(bench.net, 1, "alu", s.controls, sources);
        s.result = out = bench.output("result", 32);
        circuit::alu(bench.net, 2, "alu", group, s.controls, s.operands, s.result);
        if (with_long_units) stage::detail::build_long_units(bench.net, 0, 2, group, s);
    }

    /// What the inputs are set to: the group, then the eight sources.
    [[nodiscard]] std::vector<circuit::word> inputs() const {
        std::vector<circuit::word> all{group};
        all.insert(all.end(), values.begin(), values.end());
        return all;
    }
};

/// One instruction on three operands.
struct alu_case {
    unsigned op = 0, mod = 0;
    std::uint32_t a = 0, b = 0, c = 0;
};

/// Case i of an instruction under a random legal `mod`. Half of the words are any, half such as programs meet; every other shift is by less
/// than 40; floats are such as meet each other, and every fourth sum of them cancels.
inline alu_case random_alu_case(const host_operation& op, choices& choose, std::size_t i) {
    const bool shifts = op.name == "shl" || op.name == "shr" || op.name == "sar", floats = takes_floats(op);
    const auto any = [&] { return floats && choose.percent(80) ? any_float(choose) : choose.percent(50) ? choose.word() : choose.interesting_word(); };
    alu_case k{op.code, legal_mod(op, choose.word()), any(), shifts && i % 2 != 0 ? static_cast<std::uint32_t>(choose.below(40)) : any(), any()};
    if (i % 16 == 3) k.b = k.a;
    if (op.name == "fma" && i % 4 == 1) k.c = near_opposite(choose, host_float(23, 0, k.a, k.b, 0));
    if (op.name == "fadd" && i % 4 == 1) k.c = near_opposite(choose, k.a);
    return k;
}

/// Inputs that give an instruction its operands, from sources drawn at random; what the sources that are left hold is random too.
inline case_values spread_over_sources(const alu_case& k, choices& choose) {
    case_values v(1 + alu_bench::codes.size());
    for (std::size_t s = 0; s < alu_bench::codes.size(); ++s) v[1 + s] = alu_bench::codes[s] == source_code::special ? choose.word() & 31 : choose.word();
    std::array<unsigned, 3> code{};
    const std::array<std::uint32_t, 3> wanted{k.a, k.b, k.c};
    std::uint32_t imm = choose.word() & 0xffff;
    bool imm_used = false;
    std::array<bool, 8> used{};
    for (std::size_t i = 0; i < 3; ++i) {
        const std::uint32_t x = wanted[i];
        const bool fits_imm = x < 0x8000 || x >= 0xffff8000;
        const int kind = choose.below(10);
        if (x == 0 && kind < 5) {
            code[i] = source_code::zero;
        } else if (fits_imm && !imm_used && kind < 5) {
            code[i] = source_code::imm;
            imm = x & 0xffff;
            imm_used = true;
        } else {
            std::size_t s = static_cast<std::size_t>(choose.below(8));
            while (used[s] || (alu_bench::codes[s] == source_code::special && x > 31)) s = (s + 1) % 8;
            used[s] = true;
            v[1 + s] = x;
            code[i] = alu_bench::codes[s];
        }
    }
    v[0] = alu_group(k.op, code[0], code[1], code[2], k.mod, imm);
    return v;
}

/// Cases 0 .. count-1 of `make` through the ALU; what is expected comes from the host's arithmetic.
template <class Runner, class Make>
sweep_result sweep_alu(alu_bench& alu, Runner& runner, std::size_t count, choices& choose, Make&& make) {
    std::vector<std::uint32_t> expected;
    std::size_t next = 0;
    return sweep(
        runner, alu.inputs(), alu.out, count,
        [&](std::size_t i) {
            const alu_case k = make(i);
            if (i % static_cast<std::size_t>(runner.columns()) == 0) expected.clear(), next = 0;
            expected.push_back(host_result(k.op, k.a, k.b, k.c, k.mod));
            return spread_over_sources(k, choose);
        },
        [&](const case_values&) { return std::uint64_t{expected[next++]}; });
}

}  // namespace qwengpu::test
