// SPDX-License-Identifier: MIT
// The little of f64 that kernels of floats contain: the way of sinf, cosf and tanf with large angles (a 64-bit integer to f64, times a
// constant, to f32), and f32 times an f64 literal. mul, neg, abs and cvt from integers and f32 and to f32; all else is refused.
// An f64 is a pair of words; sequences keep a significand of 64 bits, its leading one at bit 63.
#pragma once

#include <cstdint>

#include <qwengpu/ptx/float_round.hpp>
#include <qwengpu/ptx/lower_bits.hpp>
#include <qwengpu/ptx/lower_wide.hpp>

namespace qwengpu::ptx::lower {

namespace detail {

inline constexpr std::uint32_t double_infinity = 0x7ff00000U, double_fraction = 0x000fffffU, double_nan_hi = 0x7fffffffU;
inline constexpr std::uint32_t double_bias = 1023;

class double_code {
public:
    explicit double_code(lowering& l) : l_(l) {}

    /// A positive number 0.significand * 2^(exponent + 1 - bias), of which `rest` says whether there is something below; rounded to
    /// nearest. The significand's leading one is at bit 63, or it is 0.
    wide rounded(ir::operand exponent, wide significand, ir::operand rest) {
        const ir::operand down = l_.emit(op::max, l_.sub(lit(1), exponent), ir::zero, {}, m::is_signed);
        const ir::operand capped = l_.emit(op::min, down, lit(63), {}, m::is_signed);
        const wide kept = shift_right(l_, significand, capped, false), back = shift_left(l_, kept, capped);
        const ir::operand lost = l_.either(rest, compare(l_, not_equal, back, significand));
        constexpr std::uint32_t dropped = 11;
        // Half of the last bit, less one unless the last bit is set or something was lost.
        const ir::operand last = l_.both(l_.either(l_.shift_right(kept.lo, lit(dropped)), lost), lit(1));
        const wide sum = add(l_, kept, {l_.add(lit(0x3ff), last), ir::zero});
        const ir::operand carry = compare(l_, m::cmp_lt, sum, kept);
        const wide fraction = shift_right(l_, sum, lit(dropped), false);
        const ir::operand field = l_.emit(op::max, l_.sub(exponent, lit(1)), ir::zero, {}, m::is_signed);
        const ir::operand top = l_.shift_left(l_.emit(op::min, field, lit(2047), {}, m::is_signed), lit(20));
        const ir::operand hi = l_.add(l_.add(fraction.hi, l_.shift_left(carry, lit(21))), top);
        const ir::operand too_large = l_.compare(unsigned{m::cmp_gt}, hi, lit(double_infinity - 1));
        return select(l_, too_large, {ir::zero, lit(double_infinity)}, {fraction.lo, hi});
    }

    struct number { ir::operand exponent; wide significand; };

    /// The biased exponent (perhaps below 1) and the significand of a magnitude that is finite and not 0.
    number taken_apart(wide x) {
        const ir::operand field = l_.shift_right(x.hi, lit(20)), is_normal = l_.compare(unsigned{m::cmp_gt}, field, ir::zero);
        const ir::operand implied = l_.shift_left(is_normal, lit(20));
        const wide fraction{x.lo, l_.either(l_.both(x.hi, lit(double_fraction)), implied)};
        const wide high = shift_left(l_, fraction, lit(11));
        const ir::operand zeros = leading_zeros(l_, high);
        return {l_.sub(l_.emit(op::max, field, lit(1)), zeros), shift_left(l_, high, zeros)};
    }

    wide multiplied(wide x, wide y) {
        const ir::operand sign = l_.both(l_.logic(ir::table::xor_ab, x.hi, y.hi), lit(float_sign));
        x.hi = magnitude_of(x.hi);
        y.hi = magnitude_of(y.hi);
        const number a = taken_apart(x), b = taken_apart(y);
        const wide high = multiply_high_unsigned(l_, a.significand, b.significand), low = multiply(l_, a.significand, b.significand);
        const ir::operand top = l_.shift_right(high.hi, lit(31)), up = l_.logic(ir::table::xor_ab, top, lit(1));
        const wide significand = shift_left(l_, high, up);
        const ir::operand exponent = l_.add(l_.sub(l_.add(a.exponent, b.exponent), lit(double_bias)), top);
        wide r = rounded(exponent, significand, compare(l_, not_equal, low, none));
        const ir::operand y_zero = compare(l_, m::cmp_eq, y, none), zero = l_.either(compare(l_, m::cmp_eq, x, none), y_zero);
        const ir::operand y_large = is_above(y, double_infinity - 1), infinite = l_.either(is_above(x, double_infinity - 1), y_large);
        r = select(l_, zero, none, select(l_, infinite, {ir::zero, lit(double_infinity)}, r));
        r.hi = l_.either(r.hi, sign);
        const ir::operand undefined = l_.both(zero, infinite), y_nan = is_nan_size(y);
        const ir::operand no_number = l_.either(l_.either(is_nan_size(x), y_nan), undefined);
        return select(l_, no_number, {lit(0xffffffffU), lit(double_nan_hi)}, r);
    }

    wide of_integer(wide x, bool is_signed) {
        const ir::operand sign = is_signed ? l_.both(x.hi, lit(float_sign)) : ir::zero;
        if (is_signed) x = lower::magnitude(l_, x);
        const ir::operand zeros = leading_zeros(l_, x);
        const wide significand = shift_left(l_, x, zeros);
        wide r = rounded(l_.sub(lit(double_bias + 63), zeros), significand, ir::zero);
        r.hi = l_.either(r.hi, sign);
        return select(l_, compare(l_, m::cmp_eq, x, none), none, r);
    }

    wide of_float(ir::operand x) {
        float_code c(l_, {});
        const ir::operand size = c.both(x, float_magnitude), n = c.normalised(size), sign = c.both(x, float_sign);
        constexpr std::uint32_t other_bias = (double_bias - 127) << 20;
        const wide r{c.shl(n, 29), c.add(c.sar(n, 3), lit(other_bias))};
        const ir::operand large = c.compare(m::cmp_gt, size, lit(float_infinity - 1)), is_zero = c.compare(m::cmp_eq, size, ir::zero);
        const wide special = select(l_, is_zero, none, select(l_, c.is_nan(x), {lit(0xffffffffU), lit(double_nan_hi)}, {ir::zero, lit(double_infinity)}));
        const wide value = select(l_, c.either(large, is_zero), special, r);
        const ir::operand with_sign = c.either(value.hi, sign);
        return {value.lo, c.select(c.is_nan(x), value.hi, with_sign)};
    }

    ir::operand to_float(wide x, float_manner how) {
        float_code c(l_, how);
        const ir::operand sign = c.both(x.hi, float_sign), size = magnitude_of(x.hi), field = c.shr(size, 20);
        const ir::operand implied = c.shl(c.compare(m::cmp_gt, field, ir::zero), 20), top = c.either(c.both(size, double_fraction), implied);
        const ir::operand kept = l_.emit(op::funnel, x.lo, top, lit(27)), lost = c.compare(m::cmp_gt, c.shl(x.lo, 5), ir::zero);
        const ir::operand exponent = c.least_signed(c.sub(field, lit(double_bias)), lit(200));
        const ir::operand r = rounder(c, sign).run({sign, exponent, c.either(kept, lost)});
        const ir::operand infinite = c.compare(m::cmp_gt, size, lit(double_infinity - 1));
        const ir::operand with_sign = c.either(c.select(infinite, lit(float_infinity), r), sign);
        return c.select(is_nan_size({x.lo, size}), lit(float_nan), with_sign);
    }

    ir::operand magnitude_of(ir::operand hi) { return l_.both(hi, lit(float_magnitude)); }

private:
    using op = lowering::op;
    static constexpr unsigned not_equal = m::cmp_lt | m::cmp_gt;
    static constexpr wide none{ir::zero, ir::zero};

    static ir::operand lit(std::uint32_t x) { return ir::literal(x); }
    ir::operand is_above(wide x, std::uint32_t hi) { return l_.compare(unsigned{m::cmp_gt}, x.hi, lit(hi)); }
    ir::operand is_nan_size(wide x) { return compare(l_, m::cmp_gt, x, {ir::zero, lit(double_infinity)}); }

    lowering& l_;
};

}  // namespace detail

inline void double_mul(lowering& l) {
    if (detail::rounding_of(l.now()) != 0) return l.refuse("64-bit floats (f64, double in CUDA) are multiplied to nearest only; use float");
    const wide y = l.pair(2), x = l.pair(1);
    l.result(detail::double_code(l).multiplied(x, y));
}

inline void double_abs(lowering& l) {
    const wide x = l.pair(1);
    l.result({x.lo, detail::magnitude(l, x.hi)});
}

inline void double_neg(lowering& l) {
    const wide x = l.pair(1);
    l.result({x.lo, detail::negated(l, x.hi)});
}

/// Between f64 and f32, and from integers of at least 32 bits to f64, to nearest.
inline void double_cvt(lowering& l) {
    const scalar_type to = l.now().type(0), of = l.now().type(1);
    detail::double_code c(l);
    if (to == scalar_type::f32 && of == scalar_type::f64 && !l.now().has("sat")) return l.result(c.to_float(l.pair(1), detail::manner_of(l.now())));
    if (to == scalar_type::f64 && of == scalar_type::f32 && !l.now().has("ftz") && !l.now().has("sat")) return l.result(c.of_float(l.raw_word(1)));
    const bool to_nearest = detail::rounding_of(l.now()) == 0 && !l.now().has("sat");
    if (to == scalar_type::f64 && !is_float(of) && to_nearest && bits_of(of) >= 32) {
        const wide x = bits_of(of) == 64 ? l.pair(1) : widen(l, l.raw_word(1), is_signed(of));
        return l.result(c.of_integer(x, is_signed(of)));
    }
    l.refuse("64-bit floats (f64, double in CUDA) are not supported in this conversion; use float");
}

}  // namespace qwengpu::ptx::lower
