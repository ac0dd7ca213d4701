// SPDX-License-Identifier: MIT
// Making code for floats: the machine's operations under short names, and the pieces that the sequences share: numbers taken apart
// and put together again, and first guesses of reciprocals and inverse square roots.
#pragma once

#include <bit>
#include <cstdint>

#include <qwengpu/ptx/lower_float.hpp>

namespace qwengpu::ptx::lower::detail {

/// Whether the sequence flushes subnormals, and how it rounds (0 nearest even, 1 to zero, 2 down, 3 up).
struct float_manner {
    bool flushes = false;
    unsigned rounding = 0;
};

class float_code {
public:
    float_code(lowering& l, float_manner how) : l_(l), how_(how) {}

    using op = lowering::op;
    [[nodiscard]] static ir::operand constant(float x) { return ir::literal(std::bit_cast<std::uint32_t>(x)); }
    [[nodiscard]] static ir::operand bits(std::uint32_t x) { return ir::literal(x); }
    [[nodiscard]] lowering& code() { return l_; }
    [[nodiscard]] const float_manner& how() const { return how_; }

    // Arithmetic of f32; rounded to nearest if `mod` says nothing else.
    ir::operand fma(ir::operand a, ir::operand b, ir::operand c, unsigned mod = 0) { return l_.emit(op::fma, a, b, c, mod); }
    /// c - a * b.
    ir::operand minus_product(ir::operand a, ir::operand b, ir::operand c) { return fma(a, b, c, m::negate_product); }
    ir::operand fmul(ir::operand a, ir::operand b, unsigned mod = 0) { return l_.emit(op::fmul, a, b, {}, mod); }
    ir::operand fadd(ir::operand a, ir::operand b) { return l_.emit(op::fadd, a, {}, b); }
    ir::operand fsub(ir::operand a, ir::operand b) { return l_.emit(op::fadd, a, {}, b, m::negate_c); }
    ir::operand fcmp(unsigned orders, ir::operand a, ir::operand b) { return l_.emit(op::fcmp, a, b, {}, orders); }
    ir::operand is_nan(ir::operand x) { return fcmp(m::fcmp_nan, x, x); }
    ir::operand nan_or(ir::operand condition_for_value, ir::operand x) { return l_.select(condition_for_value, x, bits(float_nan)); }

    // Arithmetic of the bits.
    ir::operand add(ir::operand a, ir::operand b) { return l_.add(a, b); }
    ir::operand sub(ir::operand a, ir::operand b) { return l_.sub(a, b); }
    /// a + (b << n), n at most 3.
    ir::operand add_shifted(ir::operand a, ir::operand b, unsigned n) { return l_.emit(op::add, a, b, {}, n); }
    /// a + b + bit 0 of c.
    ir::operand add_bit(ir::operand a, ir::operand b, ir::operand c) { return l_.emit(op::add, a, b, c, m::add_carry); }
    ir::operand both(ir::operand a, std::uint32_t mask) { return l_.both(a, bits(mask)); }
    ir::operand either(ir::operand a, ir::operand b) { return l_.either(a, b); }
    ir::operand exclusive(ir::operand a, ir::operand b) { return l_.logic(ir::table::xor_ab, a, b); }
    ir::operand shl(ir::operand a, std::uint32_t n) { return l_.shift_left(a, bits(n)); }
    ir::operand shr(ir::operand a, std::uint32_t n) { return l_.shift_right(a, bits(n)); }
    ir::operand sar(ir::operand a, std::uint32_t n) { return l_.shift_right_signed(a, bits(n)); }
    ir::operand least_signed(ir::operand a, ir::operand b) { return l_.emit(op::min, a, b, {}, m::is_signed); }
    ir::operand most_signed(ir::operand a, ir::operand b) { return l_.emit(op::max, a, b, {}, m::is_signed); }
    ir::operand least(ir::operand a, ir::operand b) { return l_.emit(op::min, a, b); }
    ir::operand compare(unsigned orders, ir::operand a, ir::operand b) { return l_.compare(orders, a, b); }
    ir::operand select(ir::operand c, ir::operand yes, ir::operand no) { return l_.select(c, yes, no); }

    /// The operand as the sequence sees it.
    ir::operand input(ir::operand x) { return how_.flushes ? flush(l_, x) : x; }

    /// A positive number's bits such that bits 31-23, read as signed, are its exponent (biased, and perhaps not above 0) and bits
    /// 22-0 its fraction, subnormal numbers too. Anything for 0.
    ir::operand normalised(ir::operand x) {
        if (how_.flushes) return x;
        constexpr std::uint32_t exponent_149 = 149U << 23;
        const ir::operand up = sub(l_.emit(op::i2f, x), bits(exponent_149));
        return select(compare(m::cmp_lt, x, bits(float_least_normal)), up, x);
    }

    /// Bit of `mod` with which an operation flushes as the sequence does.
    [[nodiscard]] unsigned flush_mod() const { return how_.flushes ? unsigned{m::ftz} : 0U; }

    /// The number in [1, 2) with this number's fraction.
    ir::operand significand(ir::operand x) { return either(both(x, float_fraction), bits(float_one)); }

    /// Whether a number is no positive one: zeros, negative numbers, infinity and NaN.
    ir::operand is_not_positive(ir::operand x) { return compare(m::cmp_gt, sub(x, bits(1)), bits(float_infinity - 2)); }

    /// Whether a magnitude is 0, infinity or NaN: (x << 1) - 2 is then among the largest words.
    ir::operand is_special(ir::operand x) {
        return compare(m::cmp_gt, add_shifted(bits(0xfffffffeU), x, 1), bits(0xfefffffdU));
    }

    /// About 1 / b for b in [1, 2), wrong by at most 2^-9.9 of it: the machine's rcp of the highest 11 bits gives the highest 11 bits.
    ir::operand reciprocal_guess(ir::operand b) {
        const ir::operand highest = shr(sub(b, bits(0x3f000000U)), 13);
        return add_shifted(bits((125U << 23) + 0x1400U), l_.emit(op::rcp, highest), 2);
    }
    /// Newton's step from a guess of 1 / b.
    ir::operand better_reciprocal(ir::operand guess, ir::operand b) { return fma(guess, minus_product(b, guess, constant(1.0F)), guess); }

private:
    lowering& l_;
    float_manner how_;
};

/// The manner that the modifiers of the instruction in hand ask for.
inline float_manner manner_of(const instruction& i) { return {i.has("ftz"), rounding_of(i)}; }

}  // namespace qwengpu::ptx::lower::detail
