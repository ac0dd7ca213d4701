// SPDX-License-Identifier: MIT
// f32 arithmetic, comparison and choice that the machine does itself: add, sub, mul, fma, mad, min, max, abs, neg, copysign, testp,
// setp, set, slct. `.ftz` of instructions that only move bits is a minimum of the number with itself, which flushes it.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include <qwengpu/ptx/lower_compare.hpp>

namespace qwengpu::ptx::lower {

namespace detail {

inline constexpr std::uint32_t float_sign = 0x80000000U, float_magnitude = 0x7fffffffU, float_infinity = 0x7f800000U, float_one = 0x3f800000U,
                               float_nan = 0x7fffffffU, float_least_normal = 0x00800000U, float_fraction = 0x007fffffU;

/// `mod` bits of the rounding that the modifiers name: .rn .rz .rm .rp, and .rni .rzi .rmi .rpi.
inline unsigned rounding_of(const instruction& i) {
    struct mode { std::string_view name, integral; unsigned mod; };
    static constexpr mode modes[] = {{"rz", "rzi", 1}, {"rm", "rmi", 2}, {"rp", "rpi", 3}};
    for (const mode& m : modes)
        if (i.has(m.name) || i.has(m.integral)) return m.mod;
    return 0;
}

inline unsigned flush_of(const instruction& i) { return i.has("ftz") ? unsigned{m::ftz} : 0U; }

/// Rounding, .ftz and .sat as the machine's arithmetic takes them.
inline unsigned arithmetic_mod(const instruction& i) {
    return rounding_of(i) | flush_of(i) | (i.has("sat") ? unsigned{m::saturate} : 0U);
}

/// The number, or a zero of its sign if it is subnormal.
inline ir::operand flush(lowering& l, ir::operand x) { return l.emit(lowering::op::fmin, x, x, {}, m::ftz); }
inline ir::operand flush_if_asked(lowering& l, ir::operand x) { return l.now().has("ftz") ? flush(l, x) : x; }

inline ir::operand magnitude(lowering& l, ir::operand x) { return l.both(x, ir::literal(float_magnitude)); }
inline ir::operand negated(lowering& l, ir::operand x) { return l.logic(ir::table::xor_ab, x, ir::literal(float_sign)); }

/// The bits of x but for the sign, which is that of s.
inline ir::operand with_sign_of(lowering& l, ir::operand x, ir::operand s) {
    constexpr unsigned c_selects_b_or_a = 0xd8;
    return l.logic(c_selects_b_or_a, x, s, ir::literal(float_sign));
}

}  // namespace detail

inline void float_add_or_sub(lowering& l) {
    const unsigned minus = l.now().opcode == "sub" ? unsigned{detail::m::negate_c} : 0U;
    const ir::operand b = l.raw_word(2), a = l.raw_word(1);
    l.result(l.emit(lowering::op::fadd, a, {}, b, detail::arithmetic_mod(l.now()) | minus));
}

inline void float_mul(lowering& l) {
    const ir::operand b = l.raw_word(2), a = l.raw_word(1);
    l.result(l.emit(lowering::op::fmul, a, b, {}, detail::arithmetic_mod(l.now())));
}

/// fma, and mad, which on every machine of today is the same.
inline void float_fma(lowering& l) {
    if (l.now().has("relu") || l.now().has("oob")) return l.refuse("this modifier is not supported for f32; use max behind it");
    const ir::operand c = l.raw_word(3), b = l.raw_word(2), a = l.raw_word(1);
    l.result(l.emit(lowering::op::fma, a, b, c, detail::arithmetic_mod(l.now())));
}

/// min, max of two or three; .xorsign.abs: of the magnitudes, with the product's sign.
inline void float_min_or_max(lowering& l) {
    const auto op = l.now().opcode == "min" ? lowering::op::fmin : lowering::op::fmax;
    const unsigned mod = detail::flush_of(l.now()) | (l.now().has("NaN") ? unsigned{detail::m::fmin_nan} : 0U);
    const bool of_magnitudes = l.now().has("abs");
    const auto input = [&](std::size_t n) { return of_magnitudes ? detail::magnitude(l, l.raw_word(n)) : l.raw_word(n); };
    const ir::operand b = input(2), a = input(1);
    ir::operand r = l.emit(op, a, b, {}, mod), signs = l.raw_word(1);
    for (std::size_t n = 2; n < l.now().operands.size(); ++n) {
        if (n > 2) r = l.emit(op, r, input(n), {}, mod);
        signs = l.logic(ir::table::xor_ab, signs, l.raw_word(n));
    }
    if (!l.now().has("xorsign")) return l.result(r);
    const ir::operand is_nan = l.emit(lowering::op::fcmp, r, r, {}, detail::m::fcmp_nan);
    l.result(l.select(is_nan, ir::literal(detail::float_nan), detail::with_sign_of(l, r, signs)));
}

inline void float_abs(lowering& l) { l.result(detail::flush_if_asked(l, detail::magnitude(l, l.raw_word(1)))); }
inline void float_neg(lowering& l) { l.result(detail::flush_if_asked(l, detail::negated(l, l.raw_word(1)))); }

/// copysign d, a, b: b with the sign of a.
inline void float_copysign(lowering& l) {
    const ir::operand a = l.raw_word(1), b = l.raw_word(2);
    l.result(detail::with_sign_of(l, b, a));
}

inline void float_testp(lowering& l) {
    const ir::operand x = detail::magnitude(l, l.raw_word(1)), infinity = ir::literal(detail::float_infinity);
    const auto is = [&](unsigned orders, ir::operand y) { l.result(l.compare(orders, x, y)); };
    if (l.now().has("finite")) return is(detail::m::cmp_lt, infinity);
    if (l.now().has("infinite")) return is(detail::m::cmp_eq, infinity);
    if (l.now().has("number")) return is(detail::m::cmp_lt | detail::m::cmp_eq, infinity);
    if (l.now().has("notanumber")) return is(detail::m::cmp_gt, infinity);
    const bool normal = l.now().has("normal");
    const std::uint32_t least = normal ? detail::float_least_normal : 1U, beyond = normal ? detail::float_infinity : detail::float_least_normal;
    l.result(l.compare(detail::m::cmp_lt, l.sub(x, ir::literal(least)), ir::literal(beyond - least)));
}

namespace detail {

struct float_comparison {
    std::string_view name;
    unsigned orders;
};

inline constexpr unsigned any_order = m::cmp_lt | m::cmp_eq | m::cmp_gt;
inline constexpr float_comparison float_comparisons[] = {
    {"eq", m::cmp_eq}, {"ne", m::cmp_lt | m::cmp_gt}, {"lt", m::cmp_lt}, {"le", m::cmp_lt | m::cmp_eq}, {"gt", m::cmp_gt}, {"ge", m::cmp_gt | m::cmp_eq},
    {"equ", m::cmp_eq | m::fcmp_nan}, {"neu", m::cmp_lt | m::cmp_gt | m::fcmp_nan}, {"ltu", m::cmp_lt | m::fcmp_nan},
    {"leu", m::cmp_lt | m::cmp_eq | m::fcmp_nan}, {"gtu", m::cmp_gt | m::fcmp_nan}, {"geu", m::cmp_gt | m::cmp_eq | m::fcmp_nan},
    {"num", any_order}, {"nan", m::fcmp_nan}};

inline unsigned float_orders(const instruction& i) {
    for (const float_comparison& c : float_comparisons)
        if (i.has(c.name)) return c.orders;
    return 0;
}

/// The comparison of operands 1 and 2, joined with a predicate by .and, .or or .xor.
inline ir::operand float_compared(lowering& l, unsigned orders, std::optional<ir::operand> with) {
    const unsigned mod = orders | (l.now().has("ftz") ? unsigned{m::fcmp_ftz} : 0U);
    const unsigned join = l.now().has("and") ? m::cmp_and : l.now().has("or") ? m::cmp_or : m::cmp_xor;
    const ir::operand b = l.raw_word(2), a = l.raw_word(1);
    return with ? l.emit(lowering::op::fcmp, a, b, *with, mod | join) : l.emit(lowering::op::fcmp, a, b, {}, mod);
}

}  // namespace detail

inline void float_setp(lowering& l) {
    const unsigned orders = detail::float_orders(l.now());
    const auto with = detail::third_predicate(l);
    const ir::operand p = detail::float_compared(l, orders, with);
    const operand& d = l.now().operands[0];
    if (d.kind != operand_kind::pair) return l.result(p);
    const ir::operand q = detail::float_compared(l, orders ^ (detail::any_order | detail::m::fcmp_nan), with);
    l.write(d.items[0], p);
    l.write(d.items[1], q);
}

/// set: all ones for true; 1.0 where the result is a float.
inline void float_set(lowering& l) {
    const ir::operand r = detail::float_compared(l, detail::float_orders(l.now()), detail::third_predicate(l));
    if (is_float(l.now().type())) return l.result(l.select(r, ir::literal(detail::float_one), ir::zero));
    l.result(l.sub(ir::zero, r));
}

/// slct: a if c >= 0 (-0 is, NaN is not), else b.
inline void float_slct(lowering& l) {
    const ir::operand c = l.raw_word(3);
    const ir::operand r = l.emit(lowering::op::fcmp, c, ir::zero, {}, detail::m::cmp_gt | detail::m::cmp_eq | (l.now().has("ftz") ? unsigned{detail::m::fcmp_ftz} : 0U));
    const wide b = l.pair(2), a = l.pair(1);
    l.result(select(l, r, a, b));
}

}  // namespace qwengpu::ptx::lower
