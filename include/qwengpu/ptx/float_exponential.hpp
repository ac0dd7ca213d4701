// SPDX-License-Identifier: MIT
// ex2.approx and lg2.approx of f32. 2^x = 2^n (1 + r p(r)) with n the nearest integer and r = x - n in [-1/2, 1/2]; log2 x = e + f q(f) with
// x = 2^e (1 + f) and 1 + f in [2^-1/2, 2^1/2). p and q are minimax polynomials: 2^-28.9 and 2^-25.2 of the value (docs/floats.md).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include <qwengpu/ptx/float_code.hpp>

namespace qwengpu::ptx::lower::detail {

/// A polynomial by Horner's rule, the highest coefficient first.
template <std::size_t N>
ir::operand polynomial(float_code& c, ir::operand x, const std::array<float, N>& coefficients) {
    ir::operand p = float_code::constant(coefficients[0]);
    for (std::size_t k = 1; k < N; ++k) p = c.fma(p, x, float_code::constant(coefficients[k]));
    return p;
}

/// 1.5 * 2^23: added to a number of magnitude below 2^22 it leaves the nearest integer in the lowest bits.
inline constexpr std::uint32_t round_in_low_bits = 0x4b400000U;

inline ir::operand exponential(float_code& c, ir::operand x) {
    constexpr std::array p{0x1.41fbbcp-13F, 0x1.5f3e52p-10F, 0x1.3b2d4cp-7F, 0x1.c6aee8p-5F, 0x1.ebfbdcp-3F, 0x1.62e43p-1F, 1.0F};
    const auto extreme = [&](lowering::op o, ir::operand a, float b) { return c.code().emit(o, a, c.constant(b)); };
    // Beyond these the result is 0 or infinity; NaN becomes a number here, and NaN again at the end.
    const ir::operand near = extreme(lowering::op::fmax, extreme(lowering::op::fmin, x, 129.0F), -152.0F);
    const ir::operand magic = c.bits(round_in_low_bits), rounded = c.fadd(near, magic);
    const ir::operand rest = c.fsub(near, c.fsub(rounded, magic)), value = polynomial(c, rest, p);
    // 2^n in two factors, so that the last product rounds a subnormal result once.
    const ir::operand n = c.sub(rounded, magic), first = c.sar(n, 1), second = c.sub(n, first);
    const ir::operand scaled = c.add(value, c.shl(first, 23)), factor = c.add(c.bits(float_one), c.shl(second, 23));
    const ir::operand number = c.fcmp(any_order, x, x);
    return c.nan_or(number, c.fmul(scaled, factor, c.flush_mod()));
}

inline ir::operand logarithm(float_code& c, ir::operand x) {
    constexpr std::array q{0x1.01b6dcp-3F, -0x1.a87d0cp-3F, 0x1.b9c91ap-3F, -0x1.e95be6p-3F, 0x1.26d384p-2F, -0x1.715c4ep-2F, 0x1.ec73d6p-2F, -0x1.71547p-1F, 0x1.715476p0F};
    constexpr std::uint32_t root_of_half = 0x3f3504f3U;
    x = c.input(x);
    const ir::operand shifted = c.sub(c.normalised(x), c.bits(root_of_half));
    const ir::operand exponent = c.code().emit(lowering::op::i2f, c.sar(shifted, 23), {}, {}, m::is_signed);
    const ir::operand f = c.fadd(c.add(c.both(shifted, float_fraction), c.bits(root_of_half)), c.constant(-1.0F));
    const ir::operand r = c.fma(f, polynomial(c, f, q), exponent);
    const ir::operand is_zero = c.fcmp(m::cmp_eq, x, ir::zero), positive = c.fcmp(m::cmp_gt, x, ir::zero);
    const ir::operand of_special = c.select(is_zero, c.bits(float_sign | float_infinity), c.nan_or(positive, x));
    return c.select(c.is_not_positive(x), of_special, r);
}

}  // namespace qwengpu::ptx::lower::detail
