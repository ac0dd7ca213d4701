// SPDX-License-Identifier: MIT
// sqrt of f32, correctly rounded in all four modes, and sqrt.approx, rsqrt.approx. With m in [1, 4) and an even exponent left over,
// a word `magic - (m >> 1)` is near m^-1/2, one tuned Newton step makes it right to 2^-10.1, and one step of third order to the last bits;
// the root s gets its rest m - s^2, which is exact. Every m was tried in every mode (tests/ptx/float_root.test.cpp).
#pragma once

#include <cstdint>

#include <qwengpu/ptx/float_code.hpp>

namespace qwengpu::ptx::lower::detail {

class float_root {
public:
    float_root(float_code& c, ir::operand x) : c_(c), x_(c.input(x)) {
        const ir::operand n = c_.normalised(x_);
        // An odd exponent (biased, as 127 is) leaves 127, an even one 128.
        m_ = c_.add(c_.both(c_.add(n, c_.bits(float_least_normal)), 0x00ffffffU), c_.bits(float_one));
        half_exponent_ = c_.sar(c_.sub(n, m_), 1);
        const ir::operand guess = c_.sub(c_.bits(0x5f0b3800U), c_.shr(m_, 1));
        y_ = c_.fmul(guess, c_.minus_product(c_.fmul(m_, guess), guess, c_.constant(1.890985F)));
        root_ = c_.fmul(m_, y_);
        const ir::operand e = c_.minus_product(root_, y_, c_.constant(1.0F));
        step_ = c_.fmul(e, c_.fma(e, c_.constant(0.375F), c_.constant(0.5F)));
    }

    /// Right to within one unit in the last place.
    ir::operand approximate() { return finished(c_.fma(root_, step_, root_)); }

    ir::operand rounded() {
        const ir::operand half = c_.sub(inverse(), c_.bits(1U << 23));
        const ir::operand s = c_.fma(root_, step_, root_), root = c_.fma(rest(s), half, s);
        // To nearest, the root is right already but for m = 4 - 2^-22, where it comes out as 2.
        constexpr std::uint32_t largest_below_2 = 0x3fffffffU;
        return finished(c_.how().rounding == 0 ? c_.least(root, c_.bits(largest_below_2)) : c_.fma(rest(root), half, root, c_.how().rounding));
    }

    /// 1 / sqrt(x), right to within one and a half units in the last place.
    ir::operand inverse_root() {
        const ir::operand y = c_.sub(inverse(), half_exponent_), is_zero = c_.fcmp(m::cmp_eq, x_, ir::zero);
        const ir::operand pole = c_.either(x_, c_.bits(float_infinity));
        const ir::operand of_no_positive = c_.nan_or(is_zero, pole), of_special = c_.select(c_.fcmp(m::cmp_gt, x_, ir::zero), ir::zero, of_no_positive);
        return c_.select(c_.is_not_positive(x_), of_special, y);
    }

private:
    ir::operand inverse() { return c_.fma(y_, step_, y_); }
    ir::operand rest(ir::operand s) { return c_.minus_product(s, s, m_); }

    ir::operand finished(ir::operand s) {
        const ir::operand not_negative = c_.fcmp(m::cmp_gt | m::cmp_eq, x_, ir::zero);
        const ir::operand root = c_.add(s, half_exponent_), of_special = c_.nan_or(not_negative, x_);
        return c_.select(c_.is_not_positive(x_), of_special, root);
    }

    float_code& c_;
    ir::operand x_, m_{}, half_exponent_{}, y_{}, root_{}, step_{};
};

}  // namespace qwengpu::ptx::lower::detail
