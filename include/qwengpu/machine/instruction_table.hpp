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
#include <qwengpu/machine/float_arithmetic.hpp>

namespace qwengpu::machine {

/// The circuit that works an instruction.
enum class unit : std::uint8_t { none, adder, logic, shifter, comparator, bytes, multiplier, bits, reciprocal, floats };

/// Sets of the operands a, b, c of an instruction.
enum operand_set : std::uint8_t { operands_none = 0, operand_a = 1, operand_b = 2, operand_c = 4 };

/// Result of an instruction for its operand values.
using alu_function = std::uint32_t (*)(std::uint32_t a, std::uint32_t b, std::uint32_t c, std::uint8_t mod);

/// One row of the table.
struct instruction_row {
    alu_op op;
    std::string_view name;
    std::uint8_t operands;     ///< operand_set: the sources it may read; operands_of says which it does
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

constexpr u32 add(u32 a, u32 b, u32 c, std::uint8_t m) {
    const u32 carry = (m & mod::add_carry) ? c & 1u : 0u;
    return (m & mod::add_subtract) ? a - b - carry : a + (b << (m & mod::add_shift)) + carry;
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

/// A comparison's result, combined with bit 0 of c.
constexpr u32 combined(bool r, u32 c, std::uint8_t m) {
    const bool with = ((c & 1u) != 0) != ((m & mod::cmp_not_c) != 0);
    switch (m & mod::cmp_combine) {
        case mod::cmp_and: return r && with;
        case mod::cmp_or: return r || with;
        case mod::cmp_xor: return r != with;
        default: return r;
    }
}

constexpr u32 cmp(u32 a, u32 b, u32 c, std::uint8_t m) {
    const bool r = (less(a, b, m) && (m & mod::cmp_lt)) || (a == b && (m & mod::cmp_eq)) ||
                   (less(b, a, m) && (m & mod::cmp_gt));
    return combined(r, c, m);
}

constexpr u32 fcmp(u32 a, u32 b, u32 c, std::uint8_t m) { return combined(floats::related(a, b, m), c, m); }

constexpr u32 prmt(u32 a, u32 b, u32 c, std::uint8_t) {
    const u64 bytes = u64{b} << 32 | a;
    u32 r = 0;
    for (int i = 0; i < 4; ++i) {
        const u32 pick = c >> 4 * i & 15u;
        const u32 byte = static_cast<u32>(bytes >> 8 * (pick & 7u)) & 0xffu;
        r |= ((pick & 8u) == 0 ? byte : (byte & 0x80u) != 0 ? 0xffu : 0u) << 8 * i;
    }
    return r;
}

constexpr u32 insert(u32 a, u32 b, u32 c, std::uint8_t m) {
    const bool half = (m & mod::insert_half) != 0;
    const u32 at = half ? (c & 2u) * 8u : (c & 3u) * 8u;
    const u32 mask = (half ? 0xffffu : 0xffu) << at;
    return (a & ~mask) | (b << at & mask);
}

constexpr u32 funnel(u32 a, u32 b, u32 c, std::uint8_t m) {
    const u64 pair = u64{b} << 32 | a;
    return static_cast<u32>((m & mod::funnel_left) ? (pair << (c & 31u)) >> 32 : pair >> (c & 31u));
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
inline constexpr std::array<instruction_row, 27> instruction_table{{
    {alu_op::none, "none", operands_none, 0, false, unit::none,
     [](std::uint32_t, std::uint32_t, std::uint32_t, std::uint8_t) -> std::uint32_t { return 0; }, "0"},
    {alu_op::add, "add", detail::abc, 0x0f, false, unit::adder, detail::add,
     "a + (b << mod[1:0]); a - b if mod[2] (then mod[1:0] is 0); with mod[3] plus bit 0 of c, or minus it"},
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
    {alu_op::prmt, "prmt", detail::abc, 0, false, unit::bytes, detail::prmt,
     "byte i is the byte of b:a that nibble i of c names by its low 3 bits (0-3 of a, 4-7 of b); with the nibble's bit 3 "
     "it is that byte's highest bit, 8 times"},
    {alu_op::insert, "insert", detail::abc, mod::insert_half, false, unit::bytes, detail::insert,
     "a with its byte c[1:0] replaced by the low byte of b; if mod[0] its half c[1] by the low half of b"},
    {alu_op::funnel, "funnel", detail::abc, mod::funnel_left, false, unit::shifter, detail::funnel,
     "low word of b:a >> c[4:0]; if mod[0] the high word of b:a << c[4:0]"},
    {alu_op::fcmp, "fcmp", detail::abc, 0xff, false, unit::comparator, detail::fcmp,
     "of f32: r = (a < b and mod[0]) or (a == b and mod[1]) or (a > b and mod[2]) or (one is NaN and mod[3]); then "
     "combined with c as cmp does; subnormals count as zeros if mod[7]"},
    {alu_op::fmin, "fmin", detail::ab, mod::ftz | mod::fmin_nan, false, unit::comparator, floats::fmin,
     "the smaller of the f32 a, b, -0 below +0; of a NaN and a number the number, or NaN if mod[3]; subnormals become "
     "zeros of their sign if mod[2]"},
    {alu_op::fmax, "fmax", detail::ab, mod::ftz | mod::fmin_nan, false, unit::comparator, floats::fmax,
     "the larger of the f32 a, b, likewise"},
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
    {alu_op::fma, "fma", detail::abc, 0x3f, true, unit::floats, floats::fma,
     "f32 a * b + c, rounded once as mod[1:0] says: 0 to nearest even, 1 to zero, 2 down, 3 up; subnormals are zeros if "
     "mod[2]; clamped to [+0, 1] if mod[3]; the product negated if mod[4], c if mod[5]"},
    {alu_op::fadd, "fadd", operand_a | operand_c, 0x3f, true, unit::floats, floats::fadd, "f32 a + c, as fma; mod[4] negates a"},
    {alu_op::fmul, "fmul", detail::ab, 0x1f, true, unit::floats, floats::fmul, "f32 a * b, as fma"},
    {alu_op::i2f, "i2f", detail::ab, 0x4b, true, unit::floats, floats::i2f,
     "f32 of the integer a, of b:a if mod[6], signed if mod[3], rounded as mod[1:0] says"},
    {alu_op::f2i, "f2i", operand_a, 0xcf, true, unit::floats, floats::f2i,
     "the f32 a rounded as mod[1:0] says to an integer of 32 bits, or of 64 if mod[6] (the high word of it if mod[7]), "
     "signed if mod[3]; saturates; NaN gives 0; a subnormal is a zero if mod[2]"},
    {alu_op::fround, "fround", operand_a, 0x0f, true, unit::floats, floats::fround,
     "the f32 a rounded to an integral value as mod[1:0] says; a subnormal is a zero if mod[2]; clamped if mod[3]"},
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
    if (compares(i.op) && (i.mod & mod::cmp_combine) == 0) return detail::ab;
    if (i.op == alu_op::add && (i.mod & mod::add_carry) == 0) return detail::ab;
    if (i.op == alu_op::i2f && (i.mod & mod::wide) == 0) return operand_a;
    return row->operands;
}

/// The value the instruction makes from its operands; 0 for an op without a row.
constexpr std::uint32_t evaluate(alu_op op, std::uint32_t a, std::uint32_t b, std::uint32_t c, std::uint8_t mod) {
    const instruction_row* row = find_instruction(op);
    return row == nullptr ? 0 : row->result(a, b, c, mod);
}

}  // namespace qwengpu::machine
