// SPDX-License-Identifier: MIT
// What is known of a value without running the kernel: an upper bound (as an unsigned number), and the operand whose bit 0
// a condition really is. Both look a few instructions deep, so they cost a constant.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <limits>

#include <qwengpu/machine/launch_image.hpp>
#include <qwengpu/ptx/ir.hpp>

namespace qwengpu::ptx::ir {

namespace detail {

inline constexpr std::uint32_t largest_word = 0xffffffffU;
/// Bounds of CUDA's grids and blocks: coordinates of a block in its grid fit 31 bits, a block has at most 1024 threads.
inline constexpr std::uint32_t largest_grid = 0x7fffffffU, largest_block = 1024;

constexpr std::uint32_t row_bound(std::uint32_t row) {
    if (row < machine::constant_row::ntid) return largest_grid;
    return row < machine::constant_row::shape ? largest_block : largest_word;
}

/// The smallest 2^k - 1 that is not below x.
constexpr std::uint32_t all_ones_above(std::uint32_t x) {
    return x == 0 ? 0 : largest_word >> std::countl_zero(x);
}

constexpr std::uint32_t clamp(std::uint64_t x) { return static_cast<std::uint32_t>(std::min<std::uint64_t>(x, largest_word)); }

}  // namespace detail

inline std::uint32_t upper_bound(const function& f, const operand& o, int depth = 6);

namespace detail {

/// The bound of a bitwise function: a bit can be 1 only where some row of the table allows it.
inline std::uint32_t lop_bound(const function& f, const instruction& i, int depth) {
    const std::uint32_t a = all_ones_above(upper_bound(f, i.a, depth)), b = all_ones_above(upper_bound(f, i.b, depth)),
                        c = all_ones_above(upper_bound(f, i.c, depth));
    const std::uint32_t known_a = i.a.is_literal() ? i.a.bits : 0, known_b = i.b.is_literal() ? i.b.bits : 0,
                        known_c = i.c.is_literal() ? i.c.bits : 0;
    std::uint32_t possible = 0;
    for (unsigned row = 0; row < 8; ++row) {
        if (((i.mod >> row) & 1U) == 0) continue;
        const std::uint32_t from_a = (row & 4U) ? (i.a.is_literal() ? i.a.bits : a) : ~known_a;
        const std::uint32_t from_b = (row & 2U) ? (i.b.is_literal() ? i.b.bits : b) : ~known_b;
        const std::uint32_t from_c = (row & 1U) ? (i.c.is_literal() ? i.c.bits : c) : ~known_c;
        possible |= from_a & from_b & from_c;
    }
    return possible;
}

inline std::uint32_t shift_bound(const function& f, const instruction& i, int depth) {
    const std::uint32_t a = upper_bound(f, i.a, depth);
    if (!i.b.is_literal()) return i.op == alu_op::shl || (i.op == alu_op::sar && a > largest_grid) ? largest_word : a;
    const std::uint32_t n = i.b.bits;
    if (i.op == alu_op::shl) return n > 31 ? 0 : clamp(std::uint64_t{a} << n);
    if (i.op == alu_op::sar && a > largest_grid) return largest_word;
    return n > 31 ? 0 : a >> n;
}

/// The bound of bytes that a literal chooses; one that may repeat a sign can be anything.
inline std::uint32_t permuted_bound(const function& f, const instruction& i, int depth) {
    if (!i.c.is_literal()) return largest_word;
    const std::uint64_t from = std::uint64_t{upper_bound(f, i.b, depth)} << 32 | upper_bound(f, i.a, depth);
    std::uint32_t bound = 0;
    for (unsigned at = 0; at < 4; ++at) {
        const std::uint32_t nibble = i.c.bits >> (4 * at) & 15U;
        const bool high = (nibble & 4U) != 0;
        const std::uint32_t whole = all_ones_above(static_cast<std::uint32_t>(high ? from >> 32 : from));
        const std::uint32_t byte = whole >> (8 * (nibble & 3U)) & 255U;
        bound |= ((nibble & 8U) != 0 ? (byte > 127 ? 255U : 0U) : byte) << (8 * at);
    }
    return bound;
}

inline std::uint32_t alu_bound(const function& f, const instruction& i, int depth) {
    const auto of = [&](const operand& o) { return upper_bound(f, o, depth); };
    switch (i.op) {
        case alu_op::none: return 0;
        case alu_op::add:
            if (i.mod & machine::mod::add_subtract) return largest_word;
            return clamp(of(i.a) + (std::uint64_t{of(i.b)} << (i.mod & machine::mod::add_shift)) + ((i.mod & machine::mod::add_carry) ? 1U : 0U));
        case alu_op::lop: return lop_bound(f, i, depth);
        case alu_op::shl: case alu_op::shr: case alu_op::sar: return shift_bound(f, i, depth);
        case alu_op::cmp: return 1;
        case alu_op::sel: return std::max(of(i.a), of(i.b));
        case alu_op::min: {
            const std::uint32_t a = of(i.a), b = of(i.b);
            const bool plain = (i.mod & machine::mod::is_signed) == 0 || (a <= largest_grid && b <= largest_grid);
            return plain ? std::min(a, b) : largest_word;
        }
        case alu_op::max: return std::max(of(i.a), of(i.b));
        case alu_op::mul: {
            if (i.mod & machine::mod::mul_signed) return largest_word;
            const std::uint64_t product = std::uint64_t{of(i.a)} * of(i.b);
            if (i.mod & machine::mod::mul_high) return clamp((product >> 32) + of(i.c));
            return product > largest_word ? largest_word : clamp(product + of(i.c));
        }
        case alu_op::popc: case alu_op::clz: return 32;
        case alu_op::prmt: return permuted_bound(f, i, depth);
        case alu_op::fcmp: return 1;
        default: return largest_word;
    }
    return largest_word;
}

}  // namespace detail

/// A number that the operand, read as unsigned, never exceeds.
inline std::uint32_t upper_bound(const function& f, const operand& o, int depth) {
    switch (o.kind) {
        case from::none: return 0;
        case from::literal: return o.bits;
        case from::row: return detail::row_bound(o.bits);
        case from::special: return detail::largest_block - 1;
        case from::parameter: case from::local: return detail::largest_word;
        case from::value: break;
    }
    const instruction& i = f.at(o.bits);
    if (i.kind == made_by::load && !i.c.present() && i.access == machine::memory_op::load_u8) return 255;
    if (i.kind == made_by::load && !i.c.present() && i.access == machine::memory_op::load_u16) return 65535;
    return i.kind == made_by::alu && depth > 0 ? detail::alu_bound(f, i, depth - 1) : detail::largest_word;
}

inline bool is_boolean(const function& f, const operand& o) { return upper_bound(f, o) <= 1; }
inline bool is_not_negative(const function& f, const operand& o) { return upper_bound(f, o) <= detail::largest_grid; }

namespace detail {

/// As signed_bits, of a prmt: its upper bytes are the sign of the byte below them.
constexpr int signed_bits_of_selector(std::uint32_t nibbles) {
    int bits = 32;
    for (int at = 3; at > 0; --at) {
        const std::uint32_t here = nibbles >> (4 * at) & 15U, below = nibbles >> (4 * at - 4) & 15U;
        if (here != (below | 8U)) break;
        bits -= 8;
    }
    return bits;
}

}  // namespace detail

/// The least n known for which the operand is its low n bits, repeated upwards by their sign; 32 if nothing is known.
inline int signed_bits(const function& f, const operand& o) {
    constexpr int nothing = 32;
    const std::uint32_t most = upper_bound(f, o);
    if (o.is_literal() && (o.bits >> 31) != 0) return 33 - std::countl_one(o.bits);
    if (most <= detail::largest_grid) return 33 - std::countl_zero(most);
    if (!o.is_value()) return nothing;
    const instruction& i = f.at(o.bits);
    if (i.kind == made_by::load && !i.c.present() && i.access == machine::memory_op::load_s8) return 8;
    if (i.kind == made_by::load && !i.c.present() && i.access == machine::memory_op::load_s16) return 16;
    if (i.is_alu(alu_op::sar) && i.b.is_literal()) return 32 - static_cast<int>(std::min(i.b.bits, 31U));
    if (i.is_alu(alu_op::prmt) && i.c.is_literal()) return detail::signed_bits_of_selector(i.c.bits);
    return nothing;
}

/// How many low bits of the operand are surely 0. Buffers begin at words, so two of a pointer's are.
inline int trailing_zeros(const function& f, const operand& o, int depth = 6) {
    constexpr int all = 32, of_pointer = 2;
    if (o.is_literal()) return o.bits == 0 ? all : std::countr_zero(o.bits);
    if (o.kind == from::parameter) return (o.bits & 0xffffU) == 0 && f.pointers[o.bits >> 16] ? of_pointer : 0;
    if (!o.is_value() || depth == 0 || f.at(o.bits).kind != made_by::alu) return 0;
    const instruction& i = f.at(o.bits);
    const auto of = [&](const operand& x) { return trailing_zeros(f, x, depth - 1); };
    const int shift = i.mod & machine::mod::add_shift;
    switch (i.op) {
        case alu_op::add:
            if (i.mod & machine::mod::add_carry) return 0;
            return std::min({of(i.a), of(i.b) + ((i.mod & machine::mod::add_subtract) ? 0 : shift), all});
        case alu_op::shl: return i.b.is_literal() ? std::min<int>(of(i.a) + static_cast<int>(std::min(i.b.bits, 32U)), all) : of(i.a);
        case alu_op::mul: return (i.mod & machine::mod::mul_high) || !i.c.is(0) ? 0 : std::min(of(i.a) + of(i.b), all);
        case alu_op::sel: return std::min(of(i.a), of(i.b));
        default: return 0;
    }
}

/// Bit 0 of some operand, perhaps inverted: all that a branch, a select, a guard or a combined comparison looks at.
struct condition {
    operand bit{};
    bool inverted = false;
};

namespace detail {

/// One step towards where bit 0 comes from, or false if `c` is there already.
inline bool step_to_source(const function& f, condition& c) {
    if (!c.bit.is_value()) return false;
    const instruction& i = f.at(c.bit.bits);
    if (i.is_alu(alu_op::cmp) && (i.mod & machine::mod::cmp_combine) == 0 && i.b.is_literal() && i.b.bits <= 1 &&
        is_boolean(f, i.a)) {
        const unsigned what = i.mod & 7U;
        const bool equal = what == machine::mod::cmp_eq;
        if (!equal && what != (machine::mod::cmp_lt | machine::mod::cmp_gt)) return false;
        c = {i.a, c.inverted != (equal == (i.b.bits == 0))};
        return true;
    }
    if (!i.is_alu(alu_op::lop)) return false;
    const int values = (i.a.is_literal() ? 0 : 1) + (i.b.is_literal() ? 0 : 1) + (i.c.is_literal() ? 0 : 1);
    if (values != 1) return false;
    const operand rest = !i.a.is_literal() ? i.a : !i.b.is_literal() ? i.b : i.c;
    const auto bit_for = [&](unsigned x) {
        const auto bit = [x](const operand& o) { return o.is_literal() ? o.bits & 1U : x; };
        return (i.mod >> (bit(i.a) * 4 + bit(i.b) * 2 + bit(i.c))) & 1U;
    };
    if (bit_for(0) == bit_for(1)) c = {literal(bit_for(0) != static_cast<unsigned>(c.inverted)), false};
    else c = {rest, c.inverted != (bit_for(0) == 1)};
    return true;
}

}  // namespace detail

/// Where bit 0 of the operand comes from.
inline condition condition_of(const function& f, const operand& o) {
    condition c{o, false};
    for (int depth = 0; depth < 8 && detail::step_to_source(f, c); ++depth) {}
    if (c.bit.is_literal()) c = {literal((c.bit.bits & 1U) ^ (c.inverted ? 1U : 0U)), false};
    return c;
}

namespace detail {

/// The place in local memory that an address is for sure, or false.
inline bool local_place_of(const function& f, operand o, std::uint32_t& byte) {
    byte = 0;
    for (int depth = 0; depth < 64; ++depth) {
        if (o.kind == from::local) return byte += o.bits, true;
        if (!o.is_value() || !f.at(o.bits).is_alu(alu_op::add) || !f.at(o.bits).b.is_literal()) return false;
        const instruction& i = f.at(o.bits);
        if ((i.mod & ~unsigned{machine::mod::add_subtract}) != 0) return false;
        byte += (i.mod & machine::mod::add_subtract) ? 0U - i.b.bits : i.b.bits;
        o = i.a;
    }
    return false;
}

}  // namespace detail

}  // namespace qwengpu::ptx::ir
