// SPDX-License-Identifier: MIT
// sin.approx, cos.approx and tanh.approx of f32. An angle is taken apart as k pi/2 + r, |r| <= pi/4, with pi/2 in two parts (both positive, so that -0 stays -0); sin r = r (1 + z s(z)) and
// cos r = 1 + z c(z) with z = r^2. tanh x = x p(z) / q(z) up to where that passes 1 (docs/floats.md has the errors).
#pragma once

#include <array>
#include <cstdint>

#include <qwengpu/ptx/float_exponential.hpp>

namespace qwengpu::ptx::lower::detail {

/// sin(x + turns pi/2).
inline ir::operand sine(float_code& c, ir::operand x, std::uint32_t turns) {
    constexpr std::array of_sine{-0x1.98da08p-13F, 0x1.1105b2p-7F, -0x1.55554p-3F}, of_cosine{-0x1.6424a6p-10F, 0x1.553e1ep-5F, -0x1.ffffb8p-2F};
    const ir::operand magic = c.bits(round_in_low_bits), turned = c.fma(x, c.constant(0x1.45f306p-1F), magic), k = c.fsub(turned, magic);
    ir::operand r = c.minus_product(k, c.constant(0x1.921fb4p0F), x);
    r = c.minus_product(k, c.constant(0x1.44442ep-24F), r);
    // Where x is so large that k is not exact, r means nothing; it stays in bounds, so that the result does.
    const auto bound = [&](lowering::op o, float b) { return c.code().emit(o, r, c.constant(b), {}, m::fmin_nan); };
    r = bound(lowering::op::fmin, 0.8F);
    r = bound(lowering::op::fmax, -0.8F);
    const ir::operand z = c.fmul(r, r), quadrant = c.add(turned, c.bits(turns));
    const auto coefficient = [&](std::size_t n) { return c.select(quadrant, c.constant(of_cosine[n]), c.constant(of_sine[n])); };
    ir::operand p = coefficient(0);
    for (std::size_t n = 1; n < of_sine.size(); ++n) p = c.fma(p, z, coefficient(n));
    const ir::operand sign = c.both(c.shl(quadrant, 30), float_sign);
    const ir::operand factor = c.exclusive(c.select(quadrant, c.constant(1.0F), r), sign);
    return c.fmul(factor, c.fma(p, z, c.constant(1.0F)), c.flush_mod());
}

inline ir::operand hyperbolic_tangent(float_code& c, ir::operand x) {
    constexpr std::array numerator{0x1.8911e8p-11F, 0x1.ad2518p-4F, 0x1.fffd96p-1F}, denominator{0x1.bc948ep-7F, 0x1.c07c28p-2F, 1.0F};
    constexpr float becomes_one = 4.75F;
    const auto bound = [&](ir::operand a, float b) { return c.code().emit(lowering::op::fmin, a, c.constant(b), {}, m::fmin_nan); };
    const ir::operand size = bound(magnitude(c.code(), x), becomes_one), z = c.fmul(size, size);
    const ir::operand under = polynomial(c, z, denominator);
    const ir::operand divisor = c.significand(under), guess = c.reciprocal_guess(divisor);
    const ir::operand power = c.sub(under, divisor), inverse = c.sub(c.better_reciprocal(guess, divisor), power);
    const ir::operand r = bound(c.fmul(c.fmul(size, polynomial(c, z, numerator)), inverse), 1.0F);
    const ir::operand number = with_sign_of(c.code(), r, x);
    return c.select(c.fcmp(any_order, x, x), number, c.bits(float_nan));
}

}  // namespace qwengpu::ptx::lower::detail
