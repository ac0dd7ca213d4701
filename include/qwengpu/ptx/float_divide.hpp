// SPDX-License-Identifier: MIT
// div and rcp of f32, correctly rounded in all four modes. Both numbers become significands, a in [b, 2 b) and b in [1, 2); one
// Newton step makes y = 1 / b (1 - 2^-19), and q1 = q0 + y (a - b q0) from q0 = a y is within half a unit (and 2^-15 of one) of a / b.
// The rest r = a - b q1 is exact; its sign, and whether it is more than half a unit of b, say where a / b lies between q1's
// neighbours: it is never halfway, as that would take 25 bits. Zeros, infinities and NaN: the product q0 of a and of the word
// `infinity - |b|`, which turns 0 into infinity, infinity into 0 and leaves NaN NaN.
#pragma once

#include <cstdint>

#include <qwengpu/ptx/float_round.hpp>

namespace qwengpu::ptx::lower::detail {

class float_division {
public:
    explicit float_division(float_code& c) : c_(c) {}

    ir::operand run(ir::operand a, ir::operand b) {
        a = c_.input(a);
        b = c_.input(b);
        const ir::operand sign = c_.both(c_.exclusive(a, b), float_sign);
        const ir::operand a_size = magnitude(c_.code(), a), b_size = magnitude(c_.code(), b);
        const ir::operand a_special = c_.is_special(a_size), b_special = c_.is_special(b_size);
        const ir::operand a_normal = c_.normalised(a_size), b_normal = c_.normalised(b_size), distance = c_.sub(a_normal, b_normal);
        // The difference of the words borrows from the exponents where a's fraction is the smaller one; then a counts twice.
        const ir::operand divisor = c_.significand(b_normal);
        const ir::operand significand = c_.add(divisor, c_.both(distance, float_fraction));
        const ir::operand dividend = c_.either(c_.select(a_special, a_size, significand), sign);
        const ir::operand of_number = c_.better_reciprocal(c_.reciprocal_guess(divisor), divisor), of_special = c_.sub(c_.bits(float_infinity), b_size);
        const ir::operand inverse = c_.select(b_special, of_special, of_number);
        const ir::operand first = c_.fmul(dividend, inverse);
        const ir::operand quotient = c_.fma(c_.minus_product(divisor, first, dividend), inverse, first);
        const ir::operand rest = c_.minus_product(divisor, quotient, dividend);
        const unrounded x{sign, exponent(distance, a_normal, b_normal), with_rest(quotient, rest, divisor)};
        const ir::operand r = c_.either(rounder(c_, sign).run(x), sign);
        return c_.select(c_.either(a_special, b_special), first, r);
    }

private:
    /// The distance of the exponents; where there are subnormal numbers it has 10 bits, one more than there are in a word.
    ir::operand exponent(ir::operand distance, ir::operand a, ir::operand b) {
        if (c_.how().flushes) return c_.sar(distance, 23);
        const ir::operand below_zero = c_.compare(unsigned{m::cmp_lt} | m::is_signed, a, b);
        return c_.code().emit(lowering::op::funnel, distance, c_.sub(ir::zero, below_zero), c_.bits(23));
    }

    /// 4 |q|, as an integer, plus 0, 1 or 3 if the rest says that the true quotient is farther from 0 and none, less or more than
    /// half a unit away; minus that if it is nearer to 0.
    ir::operand with_rest(ir::operand quotient, ir::operand rest, ir::operand divisor) {
        const ir::operand size = magnitude(c_.code(), rest), half_unit = c_.sub(divisor, c_.bits(24U << 23));
        const ir::operand more = c_.compare(m::cmp_gt, size, half_unit), some = c_.compare(m::cmp_gt, size, ir::zero);
        const ir::operand steps = c_.add_shifted(some, more, 1), nearer = c_.sar(c_.exclusive(rest, quotient), 31);
        const ir::operand whole = c_.sub(magnitude(c_.code(), quotient), c_.bits(0x3f000000U));
        return c_.add_shifted(c_.sub(c_.exclusive(steps, nearer), nearer), whole, 2);
    }

    float_code& c_;
};

/// rcp.approx.ftz: 1 / b with two orders of Newton's method; b = 2^e d, and 2^-e as a word is infinity where e is that of 0, and 0
/// where it is that of infinity.
inline ir::operand approximate_reciprocal(float_code& c, ir::operand b) {
    const ir::operand divisor = c.significand(b), y = c.reciprocal_guess(divisor);
    const ir::operand e = c.minus_product(divisor, y, c.constant(1.0F)), half = c.sub(c.fma(y, c.fma(e, e, e), y), c.bits(1U << 23));
    const ir::operand sign = c.both(b, float_sign), power = c.either(c.sub(c.bits(float_infinity), c.both(b, float_infinity)), sign);
    const ir::operand r = c.fmul(half, power, m::ftz);
    return c.nan_or(c.fcmp(any_order, b, b), r);
}

}  // namespace qwengpu::ptx::lower::detail
