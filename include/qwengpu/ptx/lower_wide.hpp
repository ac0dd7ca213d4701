// SPDX-License-Identifier: MIT
// Operations on 64-bit values as pairs of words. High words that nobody needs vanish later, so an address costs one word.
// Shifts by a variable rest on the machine's rule that a word shifted by 32 or more is 0.
#pragma once

#include <qwengpu/ptx/lowering.hpp>

namespace qwengpu::ptx::lower {

inline wide add(lowering& l, wide x, wide y) {
    return {l.add(x.lo, y.lo), l.emit_wide(ir::made_by::wide_add_high, x, y)};
}

inline wide sub(lowering& l, wide x, wide y) {
    return {l.sub(x.lo, y.lo), l.emit_wide(ir::made_by::wide_sub_high, x, y)};
}

inline wide negate(lowering& l, wide x) { return sub(l, {ir::zero, ir::zero}, x); }

/// A word as a 64-bit number.
inline wide widen(lowering& l, ir::operand x, bool is_signed) { return {x, is_signed ? l.sign_of(x) : ir::zero}; }

/// The whole product of two words.
inline wide multiply_words(lowering& l, ir::operand a, ir::operand b, bool is_signed) {
    const unsigned high = machine::mod::mul_high | (is_signed ? unsigned{machine::mod::mul_signed} : 0U);
    return {l.multiply(a, b), l.multiply(a, b, ir::zero, high)};
}

/// The low 64 bits of a product.
inline wide multiply(lowering& l, wide x, wide y) {
    const wide low = multiply_words(l, x.lo, y.lo, false);
    return {low.lo, l.multiply(x.hi, y.lo, l.multiply(x.lo, y.hi, low.hi))};
}

/// 0 or 1; `mod` says which orders count and whether they are signed.
inline ir::operand compare(lowering& l, unsigned mod, wide x, wide y) {
    return l.emit_wide(ir::made_by::wide_compare, x, y, mod);
}

inline wide select(lowering& l, ir::operand condition, wide yes, wide no) {
    return {l.select(condition, yes.lo, no.lo), l.select(condition, yes.hi, no.hi)};
}

namespace detail {

/// What the bits that cross from one word to the other become: x << (32 - n) or x << (n - 32), and the same to the right.
struct crossing {
    ir::operand below, above;
};

inline crossing amounts(lowering& l, ir::operand n) {
    return {l.sub(ir::literal(32), n), l.sub(n, ir::literal(32))};
}

}  // namespace detail

inline wide shift_left(lowering& l, wide x, ir::operand n) {
    const auto [below, above] = detail::amounts(l, n);
    const ir::operand high = l.either(l.shift_left(x.hi, n), l.shift_right(x.lo, below));
    return {l.shift_left(x.lo, n), l.either(high, l.shift_left(x.lo, above))};
}

inline wide shift_right(lowering& l, wide x, ir::operand n, bool is_signed) {
    const auto [below, above] = detail::amounts(l, n);
    const ir::operand low = l.either(l.shift_right(x.lo, n), l.shift_left(x.hi, below));
    if (!is_signed) return {l.either(low, l.shift_right(x.hi, above)), l.shift_right(x.hi, n)};
    const ir::operand short_way = l.compare(machine::mod::cmp_lt, n, ir::literal(32));
    return {l.select(short_way, low, l.shift_right_signed(x.hi, above)), l.shift_right_signed(x.hi, n)};
}

}  // namespace qwengpu::ptx::lower
