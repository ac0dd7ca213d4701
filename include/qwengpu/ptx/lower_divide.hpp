// SPDX-License-Identifier: MIT
// Division of 64-bit numbers without branches: the divisor is brought up until its top bit is set, two words by one word are
// divided with its reciprocal (Moeller and Granlund, "Improved division by invariant integers"), and the quotient is put
// right for the divisor's low word (Knuth, algorithm D). x / 0 is all ones and x % 0 is x, as in 32 bits.
#pragma once

#include <qwengpu/ptx/lower_wide.hpp>

namespace qwengpu::ptx::lower {

namespace detail {

inline constexpr unsigned is_below = machine::mod::cmp_lt, is_above = machine::mod::cmp_gt, is_same = machine::mod::cmp_eq;

/// v = floor((2^64 - 1) / d) - 2^32 for d with its top bit set: 11, 18, 32 bits, then exact (all 2^31 divisors were tried).
inline ir::operand reciprocal_word(lowering& l, ir::operand d) {
    const auto right = [&](ir::operand x, std::uint32_t n) { return l.shift_right(x, ir::literal(n)); };
    const ir::operand t = l.emit(lowering::op::rcp, right(d, 21));
    const ir::operand v0 = l.add(right(t, 7), ir::literal(8));
    const ir::operand square = l.multiply(v0, v0);
    const ir::operand step = high_product(l, square, l.add(right(d, 11), ir::literal(1)));
    const ir::operand v1 = l.sub(l.add(right(t, 3), ir::literal(127)), step), high = high_product(l, v1, d);
    const ir::operand e = l.sub(ir::zero, l.funnel_right(l.multiply(v1, d), high, ir::literal(1)));
    const ir::operand more = right(high_product(l, v1, e), 1), v2 = l.add(l.shift_left(v1, ir::literal(15)), more);
    const ir::operand low = l.multiply(v2, d, d), borrow = l.compare(is_below, low, d);
    return l.sub_borrow(v2, high_product(l, v2, d, d), borrow);
}

struct quotient_and_rest {
    ir::operand quotient, rest;
};

/// (high, low) / d for high < d, where v is the reciprocal of d.
inline quotient_and_rest divide_two_words(lowering& l, ir::operand high, ir::operand low, ir::operand d, ir::operand v) {
    const ir::operand fraction = l.multiply(v, high, low);
    const ir::operand carry = l.compare(is_below, fraction, low), guess = l.add_carry(high_product(l, v, high, high), ir::literal(1), carry);
    const ir::operand rest = l.multiply(guess, l.sub(ir::zero, d), low);
    const ir::operand over = l.compare(is_above, rest, fraction);
    const ir::operand rest_again = l.select(over, l.add(rest, d), rest);
    const ir::operand short_by_one = l.compare(is_above | is_same, rest_again, d);
    return {l.add(l.sub(guess, over), short_by_one), l.emit(lowering::op::min, rest_again, l.sub(rest_again, d))};
}

struct wide_quotient_and_rest {
    wide quotient, rest;
};

/// Where the rest is below zero (`borrow`), the divisor is added again and the quotient is one less. Leaves in `borrow` whether
/// it still is.
inline void take_back(lowering& l, wide_quotient_and_rest& x, wide d, ir::operand& borrow) {
    const ir::operand mask = l.sub(ir::zero, borrow);
    const auto sum = add_pairs(l, x.rest, {l.both(d.lo, mask), l.both(d.hi, mask)}, ir::zero, false);
    x = {{l.sub(x.quotient.lo, borrow), x.quotient.hi}, sum.value};
    borrow = l.emit(lowering::op::cmp, sum.carry, ir::zero, borrow, is_same | machine::mod::cmp_and);
}

/// Quotient and rest of unsigned numbers; the divisor must not be 0. A divisor of one word is done after two divisions of two
/// words by one; of one of two words the first gives the quotient, which is then too large by at most 2.
inline wide_quotient_and_rest divide_unsigned(lowering& l, wide n, wide d) {
    const ir::operand one_word = l.compare(is_same, d.hi, ir::zero);
    const wide moved{l.select(one_word, ir::zero, d.lo), l.select(one_word, d.lo, d.hi)};
    const ir::operand k = l.emit(lowering::op::clz, moved.hi);
    const wide top{l.shift_left(moved.lo, k), l.funnel_left(moved.lo, moved.hi, k)};
    const ir::operand v = reciprocal_word(l, top.hi);
    const ir::operand n2 = l.funnel_left(n.hi, ir::zero, k), n1 = l.funnel_left(n.lo, n.hi, k), n0 = l.shift_left(n.lo, k);
    const quotient_and_rest first = divide_two_words(l, n2, n1, top.hi, v), second = divide_two_words(l, first.rest, n0, top.hi, v);
    // The low word of a divisor of one word is 0 here: nothing more is subtracted.
    const wide less = multiply_words(l, first.quotient, top.lo, false);
    const auto difference = add_pairs(l, select(l, one_word, {second.rest, ir::zero}, {n0, first.rest}), less, ir::zero, true);
    wide_quotient_and_rest r{select(l, one_word, {second.quotient, first.quotient}, {first.quotient, ir::zero}), difference.value};
    ir::operand borrow = difference.carry;
    take_back(l, r, top, borrow);
    take_back(l, r, top, borrow);
    return {r.quotient, {l.funnel_right(r.rest.lo, r.rest.hi, k), l.shift_right(r.rest.hi, k)}};
}

/// The same for numbers whose high words are known to be 0.
inline wide divide_words(lowering& l, ir::operand n, ir::operand d, std::uint8_t how) {
    ir::instruction i;
    i.kind = ir::made_by::divide;
    i.mod = how;
    i.a = n;
    i.b = d;
    return {l.emit(i), ir::zero};
}

inline ir::operand is_zero(lowering& l, wide x) { return l.compare(is_same, l.either(x.lo, x.hi), ir::zero); }

inline wide negate_if(lowering& l, ir::operand condition, wide x) { return select(l, condition, negate(l, x), x); }

}  // namespace detail

inline wide quotient(lowering& l, wide n, wide d, bool is_signed) {
    const wide none{ir::literal(0xffffffffU), ir::literal(0xffffffffU)};
    const ir::operand by_zero = detail::is_zero(l, d);
    if (n.hi.is(0) && d.hi.is(0)) return select(l, by_zero, none, detail::divide_words(l, n.lo, d.lo, 0));
    if (!is_signed) return select(l, by_zero, none, detail::divide_unsigned(l, n, d).quotient);
    const ir::operand negative = l.shift_right(l.logic(ir::table::xor_ab, n.hi, d.hi), ir::literal(31));
    const wide divisor = magnitude(l, d), dividend = magnitude(l, n);
    return select(l, by_zero, none, detail::negate_if(l, negative, detail::divide_unsigned(l, dividend, divisor).quotient));
}

inline wide remainder(lowering& l, wide n, wide d, bool is_signed) {
    if (n.hi.is(0) && d.hi.is(0)) return detail::divide_words(l, n.lo, d.lo, ir::divide_remainder);
    const ir::operand by_zero = detail::is_zero(l, d);
    if (!is_signed) return select(l, by_zero, n, detail::divide_unsigned(l, n, d).rest);
    const wide divisor = magnitude(l, d), dividend = magnitude(l, n), rest = detail::divide_unsigned(l, dividend, divisor).rest;
    return select(l, by_zero, n, detail::negate_if(l, l.shift_right(n.hi, ir::literal(31)), rest));
}

}  // namespace qwengpu::ptx::lower
