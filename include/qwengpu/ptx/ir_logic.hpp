// SPDX-License-Identifier: MIT
// Algebra of `lop`, the bitwise function of three operands given by a table of 8 bits: a = 0xf0, b = 0xcc, c = 0xaa.
// Tables are brought to a normal form: literals 0 and ~0 and repeated operands vanish into the table, unused ones are zero.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>

#include <qwengpu/machine/instruction_table.hpp>
#include <qwengpu/ptx/ir.hpp>

namespace qwengpu::ptx::ir {

namespace table {
inline constexpr std::uint8_t a = machine::mod::lop_a, b = machine::mod::lop_b, c = machine::mod::lop_c;
inline constexpr std::uint8_t and_ab = a & b, or_ab = a | b, xor_ab = a ^ b, not_a = 0x0f, a_and_not_b = a & 0x33;
}  // namespace table

namespace detail {

/// A table with three operands, before or after it became an instruction.
struct logic {
    std::array<operand, 3> in{zero, zero, zero};
    std::uint8_t table = 0;
};

/// Bit of a row of the table; `bits` are a, b, c.
constexpr bool row_of(std::uint8_t t, bool a, bool b, bool c) {
    return ((t >> ((a ? 4U : 0U) | (b ? 2U : 0U) | (c ? 1U : 0U))) & 1U) != 0;
}

/// The table whose rows are f(a, b, c).
template <class F>
constexpr std::uint8_t table_of(F&& f) {
    unsigned t = 0;
    for (unsigned row = 0; row < 8; ++row)
        if (f((row & 4U) != 0, (row & 2U) != 0, (row & 1U) != 0)) t |= 1U << row;
    return static_cast<std::uint8_t>(t);
}

/// The table after operand `which` (0 a, 1 b, 2 c) became a fixed bit.
constexpr std::uint8_t fix(std::uint8_t t, std::size_t which, bool bit) {
    return table_of([=](bool a, bool b, bool c) {
        return row_of(t, which == 0 ? bit : a, which == 1 ? bit : b, which == 2 ? bit : c);
    });
}

/// The table after operand `which` became a copy of operand `of`.
constexpr std::uint8_t merge(std::uint8_t t, std::size_t which, std::size_t of) {
    return table_of([=](bool a, bool b, bool c) {
        const std::array<bool, 3> in{a, b, c};
        return row_of(t, which == 0 ? in[of] : a, which == 1 ? in[of] : b, which == 2 ? in[of] : c);
    });
}

constexpr bool depends_on(std::uint8_t t, std::size_t which) { return fix(t, which, false) != fix(t, which, true); }

/// The table after operands x and y changed places.
constexpr std::uint8_t exchange(std::uint8_t t, std::size_t x, std::size_t y) {
    return table_of([=](bool a, bool b, bool c) {
        std::array<bool, 3> in{a, b, c};
        std::swap(in[x], in[y]);
        return row_of(t, in[0], in[1], in[2]);
    });
}

inline void normalise(logic& l) {
    for (std::size_t k = 0; k < 3; ++k) {
        if (l.in[k].is(0)) l.table = fix(l.table, k, false);
        if (l.in[k].is(0xffffffffU)) l.table = fix(l.table, k, true);
        for (std::size_t j = 0; j < k; ++j)
            if (l.in[j] == l.in[k]) l.table = merge(l.table, k, j);
        if (!depends_on(l.table, k)) l.in[k] = zero;
    }
    for (const auto& [x, y] : {std::pair<std::size_t, std::size_t>{0, 1}, {1, 2}, {0, 1}}) {
        const auto weight = [&](std::size_t k) { return l.in[k].is(0) ? 2 : l.in[k].is_value() ? 0 : 1; };
        const auto key = [&](std::size_t k) { return std::pair(weight(k), l.in[k].bits); };
        if (key(x) <= key(y)) continue;
        std::swap(l.in[x], l.in[y]);
        l.table = exchange(l.table, x, y);
    }
}

/// One literal for two of them: f(x, p, q) as and, or, xor with one literal, if it is that simple.
inline void merge_literals(logic& l) {
    if (!l.in[1].is_literal() || !l.in[2].is_literal() || l.in[2].is(0)) return;
    const auto at = [&](std::uint32_t x) { return machine::evaluate(alu_op::lop, x, l.in[1].bits, l.in[2].bits, l.table); };
    const std::uint32_t for_zero = at(0), for_one = at(0xffffffffU);
    const std::uint32_t changes = for_zero ^ for_one;
    if (for_zero == 0) l = {{l.in[0], literal(for_one), zero}, table::and_ab};
    else if (changes == 0xffffffffU) l = {{l.in[0], literal(for_zero), zero}, table::xor_ab};
    else if (for_one == 0xffffffffU) l = {{l.in[0], literal(for_zero), zero}, table::or_ab};
}

inline int constants_among(const logic& l) {
    int n = 0;
    for (std::size_t k = 0; k < 3; ++k) {
        bool repeated = false;
        for (std::size_t j = 0; j < k; ++j) repeated = repeated || l.in[j] == l.in[k];
        n += l.in[k].is_constant() && !repeated ? 1 : 0;
    }
    return n;
}

/// `outer` with its operand `which` replaced by the function `inner`, if three operands and one constant are enough.
inline std::optional<logic> substitute(const logic& outer, std::size_t which, const logic& inner) {
    std::array<operand, 6> all{};
    std::size_t n = 0;
    const auto place_of = [&](const operand& o) {
        std::size_t k = 0;
        while (k < n && all[k] != o) ++k;
        if (k == n) all[n++] = o;
        return k;
    };
    std::array<std::size_t, 3> outer_at{}, inner_at{};
    for (std::size_t k = 0; k < 3; ++k)
        if (k != which && depends_on(outer.table, k)) outer_at[k] = place_of(outer.in[k]);
    for (std::size_t k = 0; k < 3; ++k)
        if (depends_on(inner.table, k)) inner_at[k] = place_of(inner.in[k]);
    if (n > 3) return std::nullopt;
    logic result;
    for (std::size_t k = 0; k < n; ++k) result.in[k] = all[k];
    result.table = table_of([&](bool a, bool b, bool c) {
        const std::array<bool, 3> in{a, b, c};
        const bool made = row_of(inner.table, in[inner_at[0]], in[inner_at[1]], in[inner_at[2]]);
        const auto pick = [&](std::size_t k) { return k == which ? made : in[outer_at[k]]; };
        return row_of(outer.table, pick(0), pick(1), pick(2));
    });
    normalise(result);
    merge_literals(result);
    return constants_among(result) > 1 ? std::nullopt : std::optional(result);
}

inline logic logic_of(const instruction& i) { return {{i.a, i.b, i.c}, i.mod}; }

inline void set_logic(instruction& i, const logic& l) {
    i.a = l.in[0];
    i.b = l.in[1];
    i.c = l.in[2];
    i.mod = l.table;
}

}  // namespace detail

/// Brings a lop to its normal form. Returns the operand it is a copy of, or the literal it always is.
inline std::optional<operand> simplify_logic(instruction& i) {
    detail::logic l = detail::logic_of(i);
    detail::normalise(l);
    detail::merge_literals(l);
    detail::normalise(l);
    detail::set_logic(i, l);
    if (l.table == 0) return zero;
    if (l.table == 0xff) return literal(0xffffffffU);
    if (i.a.is_literal() && i.b.is_literal() && i.c.is_literal())
        return literal(machine::evaluate(alu_op::lop, i.a.bits, i.b.bits, i.c.bits, i.mod));
    if (l.table == table::a) return i.a;
    return std::nullopt;
}

}  // namespace qwengpu::ptx::ir
