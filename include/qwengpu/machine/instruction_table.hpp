// SPDX-License-Identifier: MIT
// The instruction set as data: one row per ALU instruction. Encoding, legality, disassembly, the emulator and
// docs/instructions.md all follow from this table; nothing else in the library says what an instruction does.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include <qwengpu/machine/block.hpp>

namespace qwengpu::machine {

/// The circuit that works an instruction.
enum class unit : std::uint8_t { none, adder, logic, shifter, comparator, multiplier, bits, reciprocal };

/// Sets of the operands a, b, c of an instruction.
enum operand_set : std::uint8_t { operands_none = 0, operand_a = 1, operand_b = 2, operand_c = 4 };

/// Result of an instruction for its operand values.
using alu_function = std::uint32_t (*)(std::uint32_t a, std::uint32_t b, std::uint32_t c, std::uint8_t mod);

/// One row of the table.
struct instruction_row {
    alu_op op;
    std::string_view name;
    std::uint8_t operands;     ///< operand_set: the sources it reads (of cmp, c only if it combines)
    std::uint8_t mod_bits;     ///< the bits of `mod` that mean something; the others are 0
    bool only_stage3;          ///< else any of the stages 1, 3 and 4
    machine::unit unit;
    alu_function result;
    std::string_view text;     ///< the semantics for people
};

namespace detail {

using u32 = std::uint32_t;
using u64 = std::uint64_t;

constexpr std::int32_t as_signed(u32 x) { return static_cast<std::int32_t>(x); }

constexpr u32 add(u32 a, u32 b, u32, std::uint8_t m) {
    return (m & mod::add_subtract) ? a - b : a + (b << (m & mod::add_shift));
}

constexpr u32 lop(u32 a, u32 b, u32 c, std::uint8_t m) {
    u32 r = 0;
    for (unsigned row = 0; row < 8; ++row)
        if ((unsigned{m} >> row) & 1u) r |= ((row & 4u) ? a : ~a) & ((row & 2u) ? b : ~b) & ((row & 1u) ? c : ~c);
    return r;
}

constexpr bool less(u32 a, u32 b, std::uint8_t m) {
    return (m & mod::is_signed) ? as_signed(a) < as_signed(b) : a < b;
}

constexpr u32 cmp(u32 a, u32 b, u32 c, std::uint8_t m) {
    const bool r = (less(a, b, m) && (m & mod::cmp_lt)) || (a == b && (m & mod::cmp_eq)) ||
                   (less(b, a, m) && (m & mod::cmp_gt));
    const bool with = ((c & 1u) != 0) != ((m & mod::cmp_not_c) != 0);
    switch (m & mod::cmp_combine) {
        case mod::cmp_and: return r && with;
        case mod::cmp_or: return r || with;
        case mod::cmp_xor: return r != with;
        default: return r;
    }
}

constexpr u32 mul(u32 a, u32 b, u32 c, std::uint8_t m) {
    const u64 product = (m & mod::mul_signed)
                            ? static_cast<u64>(std::int64_t{as_signed(a)} * std::int64_t{as_signed(b)})
                            : u64{a} * u64{b};
    return static_cast<u32>((m & mod::mul_high) ? product >> 32 : product) + c;
}

constexpr u32 brev(u32 a, u32, u32, std::uint8_t) {
    u32 r = 0;
    for (int i = 0; i < 32; ++i) r |= ((a >> i) & 1u) << (31 - i);
    return r;
}

constexpr u32 rcp(u32 a, u32, u32, std::uint8_t) {
    if (a == 0) return 0;
    const int p = 31 - std::countl_zero(a);
    const u32 f = (p >= 10 ? a >> (p - 10) : a << (10 - p)) & 1023u;
    const u32 t = (u32{1} << 21) / (1025u + f);
    return p <= 21 ? t << (21 - p) : t >> (p - 21);
}

constexpr std::uint8_t abc = operand_a | operand_b | operand_c;
constexpr std::uint8_t ab = operand_a | operand_b;

}  // namespace detail

/// All instructions of the stages 1, 3 and 4, in the order of their op numbers.
inline constexpr std::array<instruction_row, 15> instruction_table{{
    {alu_op::none, "none", operands_none, 0, false, unit::none,
     [](std::uint32_t, std::uint32_t, std::uint32_t, std::uint8_t) -> std::uint32_t { return 0; }, "0"},
    {alu_op::add, "add", detail::ab, 0x07, false, unit::adder, detail::add,
     "a + (b << mod[1:0]); a - b if mod[2] (then mod[1:0] is 0)"},
    {alu_op::lop, "lop", detail::abc, 0xff, false, unit::logic, detail::lop,
     "bit by bit the function of a, b, c with the table mod (a = 0xf0, b = 0xcc, c = 0xaa)"},
    {alu_op::shl, "shl", detail::ab, 0, false, unit::shifter,
     [](std::uint32_t a, std::uint32_t b, std::uint32_t, std::uint8_t) -> std::uint32_t { return b > 31 ? 0 : a << b; },
     "b > 31 ? 0 : a << b"},
    {alu_op::shr, "shr", detail::ab, 0, false, unit::shifter,
     [](std::uint32_t a, std::uint32_t b, std::uint32_t, std::uint8_t) -> std::uint32_t { return b > 31 ? 0 : a >> b; },
     "b > 31 ? 0 : a >> b, zeros from the left"},
    {alu_op::sar, "sar", detail::ab, 0, false, unit::shifter,
     [](std::uint32_t a, std::uint32_t b, std::uint32_t, std::uint8_t) {
         return static_cast<std::uint32_t>(detail::as_signed(a) >> (b > 31 ? 31 : b));
     },
     "a >> min(b, 31), the sign from the left"},
    {alu_op::cmp, "cmp", detail::abc, 0x7f, false, unit::comparator, detail::cmp,
     "r = (a < b and mod[0]) or (a == b and mod[1]) or (a > b and mod[2]), signed if mod[3]; then by mod[5:4]: 0 r, "
     "1 r and x, 2 r or x, 3 r xor x, where x is bit 0 of c, inverted if mod[6]"},
    {alu_op::sel, "sel", detail::abc, 0, false, unit::logic,
     [](std::uint32_t a, std::uint32_t b, std::uint32_t c, std::uint8_t) { return (c & 1u) ? a : b; },
     "bit 0 of c ? a : b"},
    {alu_op::min, "min", detail::ab, mod::is_signed, false, unit::comparator,
     [](std::uint32_t a, std::uint32_t b, std::uint32_t, std::uint8_t m) { return detail::less(b, a, m) ? b : a; },
     "the smaller of a and b, signed if mod[3]"},
    {alu_op::max, "max", detail::ab, mod::is_signed, false, unit::comparator,
     [](std::uint32_t a, std::uint32_t b, std::uint32_t, std::uint8_t m) { return detail::less(a, b, m) ? b : a; },
     "the larger of a and b, signed if mod[3]"},
    {alu_op::mul, "mul", detail::abc, 0x03, true, unit::multiplier, detail::mul,
     "low word of a * b (high word if mod[0], of the signed product if mod[1]), plus c"},
    {alu_op::popc, "popc", operand_a, 0, true, unit::bits,
     [](std::uint32_t a, std::uint32_t, std::uint32_t, std::uint8_t) { return static_cast<std::uint32_t>(std::popcount(a)); },
     "number of ones in a"},
    {alu_op::clz, "clz", operand_a, 0, true, unit::bits,
     [](std::uint32_t a, std::uint32_t, std::uint32_t, std::uint8_t) {
         return static_cast<std::uint32_t>(std::countl_zero(a));
     },
     "number of leading zeros of a, 32 for 0"},
    {alu_op::brev, "brev", operand_a, 0, true, unit::bits, detail::brev, "the bits of a in reverse"},
    {alu_op::rcp, "rcp", operand_a, 0, true, unit::reciprocal, detail::rcp,
     "0 for a = 0; else with p the index of the leading one, f the 10 bits below it, t = floor(2^21 / (1025 + f)): "
     "p <= 21 ? t << (21 - p) : t >> (p - 21)"},
}};

namespace detail {

/// By op number: the place of its row plus 1, or 0. An op has 6 bits.
inline constexpr std::array<std::uint8_t, 64> instruction_index = [] {
    std::array<std::uint8_t, 64> index{};
    for (std::size_t i = 0; i < instruction_table.size(); ++i)
        index[static_cast<std::size_t>(instruction_table[i].op)] = static_cast<std::uint8_t>(i + 1);
    return index;
}();

}  // namespace detail

/// The row of an op, or nullptr where no instruction has that number.
constexpr const instruction_row* find_instruction(alu_op op) {
    const auto number = static_cast<std::size_t>(op);
    const std::size_t at = number < detail::instruction_index.size() ? detail::instruction_index[number] : 0;
    return at == 0 ? nullptr : &instruction_table[at - 1];
}

/// The operands that this instruction reads, as operand_set. An op without a row reads nothing.
constexpr std::uint8_t operands_of(const alu_instruction& i) {
    const instruction_row* row = find_instruction(i.op);
    if (row == nullptr) return operands_none;
    const bool alone = i.op == alu_op::cmp && (i.mod & mod::cmp_combine) == 0;
    return alone ? detail::ab : row->operands;
}

/// The value the instruction makes from its operands; 0 for an op without a row.
constexpr std::uint32_t evaluate(alu_op op, std::uint32_t a, std::uint32_t b, std::uint32_t c, std::uint8_t mod) {
    const instruction_row* row = find_instruction(op);
    return row == nullptr ? 0 : row->result(a, b, c, mod);
}

}  // namespace qwengpu::machine
