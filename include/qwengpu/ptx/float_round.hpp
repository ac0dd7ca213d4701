// SPDX-License-Identifier: MIT
// The last step of a sequence that rounds once: a significand with two more bits, the lowest of which is set if anything below it
// is not 0, and an exponent, become an f32: normal, subnormal, or too large.
#pragma once

#include <cstdint>

#include <qwengpu/ptx/float_code.hpp>

namespace qwengpu::ptx::lower::detail {

/// significand / 2^25 * 2^exponent with a sign (bit 31; all other bits 0); significand in [2^25, 2^26].
struct unrounded {
    ir::operand sign, exponent, significand;
};

class rounder {
public:
    rounder(float_code& c, ir::operand sign) : c_(c), sign_(sign) {
        if (c.how().rounding > 1) all_if_negative_ = c.sar(sign, 31);
    }

    /// The magnitude's bits.
    ir::operand run(const unrounded& x) {
        const ir::operand down = c_.most_signed(c_.sub(c_.bits(0U - 126U), x.exponent), ir::zero);
        const ir::operand field = c_.shl(c_.most_signed(c_.add(x.exponent, c_.bits(126)), ir::zero), 23);
        const ir::operand most = largest(), r = c_.least(c_.add(field, two_bits_off(shifted(x.significand, down))), most);
        if (!c_.how().flushes) return r;
        return c_.select(c_.compare(m::cmp_lt, r, c_.bits(float_least_normal)), ir::zero, r);
    }

private:
    /// x >> n; the lowest bit is set if a bit that fell off was.
    ir::operand shifted(ir::operand x, ir::operand n) {
        lowering& l = c_.code();
        const ir::operand y = l.shift_right(x, n);
        return c_.either(y, c_.compare(m::cmp_lt, l.shift_left(y, n), x));
    }

    ir::operand two_bits_off(ir::operand x) {
        switch (c_.how().rounding) {
            case 0: return c_.shr(c_.add_bit(x, c_.bits(1), c_.shr(x, 2)), 2);
            case 1: return c_.shr(x, 2);
            default: return c_.shr(c_.add(x, c_.both(away(), 3)), 2);
        }
    }

    /// All ones where rounding goes away from zero (of the modes down and up).
    ir::operand away() { return c_.how().rounding == 2 ? all_if_negative_ : c_.code().invert(all_if_negative_); }

    /// The largest magnitude that the mode lets a number become: infinity where it rounds away from zero.
    ir::operand largest() {
        switch (c_.how().rounding) {
            case 0: return c_.bits(float_infinity);
            case 1: return c_.bits(float_infinity - 1);
            case 2: return c_.sub(c_.bits(float_infinity - 1), all_if_negative_);
            default: return c_.add(c_.bits(float_infinity), all_if_negative_);
        }
    }

    float_code& c_;
    ir::operand sign_, all_if_negative_{};
};

}  // namespace qwengpu::ptx::lower::detail
