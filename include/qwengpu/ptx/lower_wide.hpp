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

/// x << n; 0 for n of 64 and more.
inline wide shift_left(lowering& l, wide x, ir::operand n) {
    const ir::operand few = l.compare(machine::mod::cmp_lt, n, ir::literal(32));
    const ir::operand crossed = l.shift_left(x.lo, l.sub(n, ir::literal(32)));
    return {l.shift_left(x.lo, n), l.select(few, l.funnel_left(x.lo, x.hi, n), crossed)};
}

/// x >> n; for n of 64 and more 0, or the sign in all bits.
inline wide shift_right(lowering& l, wide x, ir::operand n, bool is_signed) {
    const auto shift = [&](ir::operand by) { return is_signed ? l.shift_right_signed(x.hi, by) : l.shift_right(x.hi, by); };
    const ir::operand few = l.compare(machine::mod::cmp_lt, n, ir::literal(32));
    const ir::operand crossed = shift(l.sub(n, ir::literal(32)));
    return {l.select(few, l.funnel_right(x.lo, x.hi, n), crossed), shift(n)};
}

/// A sum or difference of words with a carry or borrow coming in, and the one that goes out.
struct with_carry_out {
    ir::operand word, carry;
};

/// a + b + carry overflows if the sum is below a, or is a and a carry came in; a - b - borrow likewise, if a is below b.
inline with_carry_out add_words(lowering& l, ir::operand a, ir::operand b, ir::operand in, bool minus) {
    const ir::operand r = minus ? l.sub_borrow(a, b, in) : l.add_carry(a, b, in);
    const ir::operand x = minus ? a : r, y = minus ? b : a;
    const ir::operand tie = l.emit(lowering::op::cmp, x, y, in, machine::mod::cmp_eq | unsigned{machine::mod::cmp_and});
    return {r, l.emit(lowering::op::cmp, x, y, tie, machine::mod::cmp_lt | unsigned{machine::mod::cmp_or})};
}

struct wide_with_carry_out {
    wide value;
    ir::operand carry;
};

inline wide_with_carry_out add_pairs(lowering& l, wide x, wide y, ir::operand in, bool minus) {
    const with_carry_out low = add_words(l, x.lo, y.lo, in, minus), high = add_words(l, x.hi, y.hi, low.carry, minus);
    return {{low.word, high.word}, high.carry};
}

/// The high word of a b, plus c.
inline ir::operand high_product(lowering& l, ir::operand a, ir::operand b, ir::operand c = ir::zero) {
    return l.multiply(a, b, c, machine::mod::mul_high);
}

/// The high 64 bits of the product of two unsigned numbers of 64 bits.
inline wide multiply_high_unsigned(lowering& l, wide x, wide y) {
    const auto carried = [&](ir::operand sum, ir::operand part) { return l.compare(machine::mod::cmp_lt, sum, part); };
    const ir::operand lowest = high_product(l, x.lo, y.lo);
    const ir::operand one = l.multiply(x.lo, y.hi, lowest), one_high = high_product(l, x.lo, y.hi, carried(one, lowest));
    const ir::operand two = l.multiply(x.hi, y.lo, one), two_high = high_product(l, x.hi, y.lo, carried(two, one));
    const ir::operand sum = l.add(one_high, two_high), r = l.multiply(x.hi, y.hi, sum);
    const ir::operand carry = carried(r, sum);
    return {r, l.add_carry(high_product(l, x.hi, y.hi, carried(sum, one_high)), ir::zero, carry)};
}

/// The high 64 bits of a product; a negative factor counts 2^64 too much as an unsigned one.
inline wide multiply_high(lowering& l, wide x, wide y, bool is_signed) {
    wide r = multiply_high_unsigned(l, x, y);
    if (!is_signed) return r;
    const auto where_negative = [&](wide sign, wide other) {
        const ir::operand mask = l.sign_of(sign.hi);
        return wide{l.both(other.lo, mask), l.both(other.hi, mask)};
    };
    r = sub(l, r, where_negative(x, y));
    return sub(l, r, where_negative(y, x));
}

/// |x|, of the smallest number itself.
inline wide magnitude(lowering& l, wide x) {
    const wide negated = negate(l, x);
    return select(l, l.shift_right(x.hi, ir::literal(31)), negated, x);
}

}  // namespace qwengpu::ptx::lower
