// SPDX-License-Identifier: MIT
// The ALU from its group of 48 bits: control signals of every field, operands picked, shifted and inverted from their sources, and
// operations 1 to 15 on random operands. (Stage 3's ALU with all of its sources is in stage/alu_stages.)
#include <qwengpu/circuit/alu.hpp>

#include "support/catch.hpp"
#include "support/float_words.hpp"
#include "support/host_alu.hpp"
#include "support/sweep.hpp"

using namespace qwengpu;
using namespace qwengpu::test;
using circuit::word;

namespace {

/// Zero and three sources with codes 1, 6 and 11, of 32, 32 and 7 bits.
struct small_alu {
    circuit_bench bench{5};
    word group, first, second, narrow, out;
    circuit::alu_operands operands;
    circuit::alu_controls controls;

    small_alu()
        : group(bench.input("group", 48)), first(bench.input("first", 32)), second(bench.input("second", 32)), narrow(bench.input("narrow", 7)),
          out(bench.output("out", 32)) {
        const std::vector<circuit::operand_source> sources{{0, {}}, {1, first}, {6, second}, {11, narrow}};
        controls = circuit::decode_alu(bench.net, 0, "alu", group, sources);
        operands = circuit::pick_operands(bench.net, 1, "alu", controls, sources);
        circuit::alu(bench.net, 2, "alu", group, controls, operands, out);
    }
    void look_at_operands() {
        for (const auto* w : {&operands.a, &operands.b, &operands.c})
            for (const auto s : *w) bench.look_at(s);
    }
    [[nodiscard]] std::vector<word> inputs() const { return {group, first, second, narrow}; }
};

constexpr std::uint64_t group_bits(unsigned op, unsigned a, unsigned b, unsigned c, unsigned mod) {
    return std::uint64_t{op} | std::uint64_t{a} << 6 | std::uint64_t{b} << 10 | std::uint64_t{c} << 14 | std::uint64_t{mod} << 18;
}

constexpr unsigned codes[] = {0, 1, 6, 11};

std::uint32_t source_value(const case_values& v, unsigned code) {
    return code == 1 ? static_cast<std::uint32_t>(v[1]) : code == 6 ? static_cast<std::uint32_t>(v[2]) : code == 11 ? static_cast<std::uint32_t>(v[3]) : 0;
}

unsigned field(const case_values& v, unsigned first, unsigned count) { return static_cast<unsigned>(v[0] >> first) & ((1U << count) - 1); }

std::uint64_t expected(const case_values& v) {
    return host_result(field(v, 0, 6), source_value(v, field(v, 6, 4)), source_value(v, field(v, 10, 4)), source_value(v, field(v, 14, 4)), field(v, 18, 8));
}

case_values random_case(choices& choose, const host_operation& op) {
    const auto code = [&] { return codes[choose.below(4)]; };
    const bool floats = op.code >= 13 && op.code <= 15;
    const auto any = [&] { return std::uint64_t{floats && choose.percent(80) ? any_float(choose) : choose.percent(50) ? choose.word() : choose.interesting_word()}; };
    return {group_bits(op.code, code(), code(), code(), legal_mod(op, choose.word())), any(), choose.percent(30) ? any() & 63U : any(), any() & 127U};
}

}  // namespace

TEMPLATE_TEST_CASE("operations 1 to 15 on random operands and sources", "[circuit]", nn::fp32, nn::bf16) {
    small_alu alu;
    circuit_runner<TestType> runner(alu.bench, sweep_columns);
    for (std::size_t i = 0; i < short_operations; ++i) {
        choices choose(i);
        const auto found = sweep(runner, alu.inputs(), alu.out, 3000, [&](std::size_t) { return random_case(choose, host_operations[i]); }, expected);
        INFO(host_operations[i].name << ": " << found.first_wrong);
        CHECK(found.wrong == 0);
    }
}

TEMPLATE_TEST_CASE("no operation, and operations of other units, give zero", "[circuit]", nn::fp32, nn::bf16) {
    small_alu alu;
    circuit_runner<TestType> runner(alu.bench, sweep_columns);
    choices choose(20);
    const auto found = sweep(
        runner, alu.inputs(), alu.out, 3000,
        [&](std::size_t i) {
            const unsigned op = i % 49 == 0 ? 0 : 15 + static_cast<unsigned>(i % 49);
            return random_case(choose, {"other", op, 0xff});
        },
        [](const case_values&) { return std::uint64_t{0}; });
    INFO(found.first_wrong);
    CHECK(found.wrong == 0);
}

TEMPLATE_TEST_CASE("operands: picked by code, b shifted or inverted for sums only", "[circuit]", nn::fp32, nn::bf16) {
    small_alu alu;
    alu.look_at_operands();
    circuit_runner<TestType> runner(alu.bench, sweep_columns);
    const auto check = [&](const word& operand, const auto& wanted) {
        choices choose(21);
        const auto found = sweep(
            runner, alu.inputs(), operand, 4000,
            [&](std::size_t i) { return random_case(choose, host_operations[i % 2 != 0 ? 0 : static_cast<std::size_t>(choose.below(15))]); }, wanted);
        INFO(found.first_wrong);
        CHECK(found.wrong == 0);
    };
    check(alu.operands.a, [](const case_values& v) { return std::uint64_t{source_value(v, field(v, 6, 4))}; });
    check(alu.operands.c, [](const case_values& v) { return std::uint64_t{source_value(v, field(v, 14, 4))}; });
    check(alu.operands.b, [](const case_values& v) {
        const std::uint32_t b = source_value(v, field(v, 10, 4));
        if (field(v, 0, 6) != 1) return std::uint64_t{b};
        return std::uint64_t{field(v, 20, 1) != 0 ? ~b : b << field(v, 18, 2)};
    });
}

TEST_CASE("a source that the stage does not have is zero", "[circuit]") {
    small_alu alu;
    circuit_runner<nn::fp32> runner(alu.bench, sweep_columns);
    // add a, b with codes that no source has.
    const auto found = sweep(
        runner, alu.inputs(), alu.out, 16 * 16,
        [](std::size_t i) { return case_values{group_bits(1, static_cast<unsigned>(i % 16), static_cast<unsigned>(i / 16), 0, 0), 0x12345678, 0x01010101, 0x55}; }, expected);
    INFO(found.first_wrong);
    CHECK(found.wrong == 0);
}

TEMPLATE_TEST_CASE("of the control signals, those of the operation and no others are 1", "[circuit]", nn::fp32, nn::bf16) {
    small_alu alu;
    const auto& k = alu.controls;
    const std::vector<circuit::signal> signals{k.add, k.subtract, k.lop, k.shl, k.shr, k.sar, k.sel, k.as_unsigned, k.as_signed, k.min, k.max, k.combine[0], k.combine[1], k.combine[2], k.combine[3],
                                               k.add_carry, k.subtract_carry, k.permute, k.insert_byte, k.insert_half, k.funnel_right, k.funnel_left, k.floats.compare,
                                               k.floats.compare_ftz, k.floats.min, k.floats.max, k.floats.flush, k.floats.nan_wins, k.floats.combine[0], k.floats.combine[1],
                                               k.floats.combine[2], k.floats.combine[3]};
    for (const auto s : signals) alu.bench.look_at(s);
    circuit_runner<TestType> runner(alu.bench, 64);
    for (unsigned mod = 0; mod < 256; mod += 5) {
        runner.clear();
        for (int op = 0; op < 64; ++op) runner.set(alu.group, group_bits(static_cast<unsigned>(op), 1, 6, 11, mod), op);
        runner.run();
        for (int op = 0; op < 64; ++op) {
            const bool compares = op == 6 || op == 8 || op == 9, is_signed = (mod & 8) != 0, extreme = op == 14 || op == 15;
            std::vector<bool> wanted{op == 1, op == 1 && (mod & 4) != 0, op == 2, op == 3, op == 4, op == 5, op == 7, compares && !is_signed, (compares && is_signed) || op == 13 || extreme, op == 8, op == 9};
            for (unsigned m = 0; m < 4; ++m) wanted.push_back(op == 6 && (mod >> 4 & 3) == m);
            for (const bool b : {op == 1 && (mod & 12) == 8, op == 1 && (mod & 12) == 12, op == 10, op == 11 && (mod & 1) == 0, op == 11 && (mod & 1) != 0,
                                 op == 12 && (mod & 1) == 0, op == 12 && (mod & 1) != 0, op == 13, op == 13 && (mod & 128) != 0, op == 14, op == 15,
                                 extreme && (mod & 4) != 0, extreme && is_signed})
                wanted.push_back(b);
            for (unsigned m = 0; m < 4; ++m) wanted.push_back(op == 13 && (mod >> 4 & 3) == m);
            for (std::size_t i = 0; i < signals.size(); ++i) {
                CAPTURE(op, mod, i);
                REQUIRE(runner.get(signals[i], op) == wanted[i]);
            }
        }
    }
}
