// SPDX-License-Identifier: MIT
// cvt between f32 and integers of 8 to 64 bits, and from f32 to f32 (rounded to integral values, flushed, clamped). To an integer
// means to the nearest that there is; NaN gives 0, in 64 bits 2^63, as the PTX manual says.
#pragma once

#include <cstdint>

#include <qwengpu/ptx/lower_convert.hpp>
#include <qwengpu/ptx/lower_float.hpp>

namespace qwengpu::ptx::lower {

namespace detail {

inline ir::operand clamped_to_one(lowering& l, ir::operand x, unsigned flush = 0) {
    return l.emit(lowering::op::fmul, x, ir::literal(float_one), {}, unsigned{m::saturate} | flush);
}

inline ir::operand float_of_integer(lowering& l, scalar_type of) {
    const wide x = l.pair(1);
    const unsigned mod = rounding_of(l.now()) | (is_signed(of) ? unsigned{m::is_signed} : 0U);
    if (bits_of(of) == 64) return l.emit(lowering::op::i2f, x.lo, x.hi, {}, mod | m::wide);
    return l.emit(lowering::op::i2f, l.extend(x.lo, of), {}, {}, mod);
}

inline wide integer_of_float(lowering& l, scalar_type to) {
    const ir::operand x = l.raw_word(1);
    const unsigned mod = rounding_of(l.now()) | flush_of(l.now()) | (is_signed(to) ? unsigned{m::is_signed} : 0U);
    const auto convert = [&](unsigned part) { return l.emit(lowering::op::f2i, x, {}, {}, mod | part); };
    if (bits_of(to) == 64) {
        const ir::operand is_nan = l.emit(lowering::op::fcmp, x, x, {}, m::fcmp_nan);
        return {convert(m::wide), l.select(is_nan, ir::literal(float_sign), convert(unsigned{m::wide} | m::high_word))};
    }
    const ir::operand n = clamp(l, convert(0), is_signed(to) ? scalar_type::s32 : scalar_type::u32, to);
    return widen(l, n, is_signed(to));
}

inline ir::operand float_of_float(lowering& l) {
    const instruction& i = l.now();
    const bool integral = i.has("rni") || i.has("rzi") || i.has("rmi") || i.has("rpi");
    ir::operand x = l.raw_word(1);
    if (integral) x = l.emit(lowering::op::fround, x, {}, {}, rounding_of(i) | flush_of(i));
    if (i.has("sat")) return clamped_to_one(l, x, flush_of(i));
    return i.has("ftz") && !integral ? flush(l, x) : x;
}

}  // namespace detail

inline void float_cvt(lowering& l) {
    const scalar_type to = l.now().type(0), of = l.now().type(1);
    if (l.now().has("relu") || l.now().has("satfinite")) return l.refuse("this modifier is not supported for f32; use max or min behind it");
    if (!is_float(to)) return l.result(detail::integer_of_float(l, to));
    if (is_float(of)) return l.result(detail::float_of_float(l));
    const ir::operand x = detail::float_of_integer(l, of);
    l.result(l.now().has("sat") ? detail::clamped_to_one(l, x) : x);
}

}  // namespace qwengpu::ptx::lower
