// SPDX-License-Identifier: MIT
// Comparison and choice: setp, set, selp, slct, and predicates as the words 0 and 1.
#pragma once

#include <optional>
#include <string_view>

#include <qwengpu/ptx/lower_integer.hpp>

namespace qwengpu::ptx::lower {

namespace detail {

/// The orders that make a comparison true, and whether it is unsigned whatever the type says (lo ls hi hs).
struct comparison {
    std::string_view name;
    unsigned orders;
    bool is_unsigned;
};

inline constexpr comparison comparisons[] = {
    {"eq", m::cmp_eq, false}, {"ne", m::cmp_lt | m::cmp_gt, false}, {"lt", m::cmp_lt, false}, {"le", m::cmp_lt | m::cmp_eq, false},
    {"gt", m::cmp_gt, false}, {"ge", m::cmp_gt | m::cmp_eq, false}, {"lo", m::cmp_lt, true},  {"ls", m::cmp_lt | m::cmp_eq, true},
    {"hi", m::cmp_gt, true},  {"hs", m::cmp_gt | m::cmp_eq, true}};

/// `mod` of the comparison that the modifiers name, for operands of type t.
inline unsigned comparison_mod(const instruction& i, scalar_type t) {
    for (const comparison& c : comparisons)
        if (i.has(c.name)) return c.orders | (is_signed(t) && !c.is_unsigned ? unsigned{m::is_signed} : 0U);
    return 0;
}

inline ir::operand compared(lowering& l, scalar_type t, unsigned mod) {
    if (bits_of(t) == 64) {
        const wide y = l.pair(2), x = l.pair(1);
        return compare(l, mod, x, y);
    }
    const ir::operand b = l.extend(l.raw_word(2), t), a = l.extend(l.raw_word(1), t);
    return l.compare(mod, a, b);
}

/// The result joined with a predicate by .and, .or or .xor.
inline ir::operand joined(lowering& l, ir::operand r, std::optional<ir::operand> with) {
    if (!with) return r;
    const unsigned table = l.now().has("and") ? ir::table::and_ab : l.now().has("or") ? ir::table::or_ab : ir::table::xor_ab;
    return l.logic(table, r, *with);
}

inline std::optional<ir::operand> third_predicate(lowering& l) {
    if (l.now().operands.size() < 4) return std::nullopt;
    return l.predicate(l.now().operands[3]);
}

}  // namespace detail

/// setp p|q, a, b, c: p = (a ? b) joined with c, q = not (a ? b) joined with c.
inline void setp(lowering& l) {
    const unsigned mod = detail::comparison_mod(l.now(), l.now().type());
    const auto with = detail::third_predicate(l);
    const ir::operand p = detail::joined(l, detail::compared(l, l.now().type(), mod), with);
    const operand& d = l.now().operands[0];
    if (d.kind != operand_kind::pair) return l.result(p);
    const ir::operand q = detail::joined(l, detail::compared(l, l.now().type(), mod ^ 7U), with);
    l.write(d.items[0], p);
    l.write(d.items[1], q);
}

/// set: all ones for true; 1.0 where the result is a float.
inline void set(lowering& l) {
    const scalar_type compares = l.now().type(1);
    const auto with = detail::third_predicate(l);
    const ir::operand r = detail::joined(l, detail::compared(l, compares, detail::comparison_mod(l.now(), compares)), with);
    if (l.now().type() == scalar_type::f32) return l.result(l.select(r, ir::literal(0x3f800000U), ir::zero));
    l.result(l.sub(ir::zero, r));
}

inline void selp(lowering& l) {
    const wide no = l.pair(2), yes = l.pair(1);
    l.result(select(l, l.predicate(l.now().operands[3]), yes, no));
}

/// slct: a if c >= 0, else b.
inline void slct(lowering& l) {
    const wide a = l.pair(1), b = l.pair(2);
    l.result(select(l, l.shift_right(l.raw_word(3), ir::literal(31)), b, a));
}

}  // namespace qwengpu::ptx::lower
