// SPDX-License-Identifier: MIT
// f32 arithmetic of PTX for the interpreter of the tests, on the host's FPU in its rounding modes.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <string_view>

#include <qwengpu/ptx/ast.hpp>

#include "support/host_float.hpp"
#include "support/interpreter/value.hpp"

namespace qwengpu::test::interpreter {

inline constexpr u32 the_nan = 0x7fffffffU, sign_bit = 0x80000000U;

inline bool is_nan(u64 x) { return (x & 0x7fffffffU) > 0x7f800000U; }
inline bool is_subnormal(u64 x) { return (x & 0x7f800000U) == 0 && (x & 0x7fffffU) != 0; }
inline u32 flushed(u64 x, bool ftz) { return test::detail::flushed(static_cast<u32>(x), ftz); }
inline float real_of(u64 x) { return std::bit_cast<float>(static_cast<u32>(x)); }
inline u32 bits_of_real(float x) { return std::isnan(x) ? the_nan : std::bit_cast<u32>(x); }

/// The rounding of an instruction, .rn where none is written: 0 to nearest even, 1 to zero, 2 down, 3 up.
inline unsigned rounding_of(const ptx::instruction& i) { return i.has("rz") || i.has("rzi") ? 1 : i.has("rm") || i.has("rmi") ? 2 : i.has("rp") || i.has("rpi") ? 3 : 0; }

namespace detail {

/// Operations that round, in the mode of the moment. Volatile, so that nothing is worked out under another mode.
[[gnu::noinline]] inline float rounded(std::string_view op, float a, float b, float c) {
    volatile float x = a, y = b, z = c, r = 0;
    if (op == "add") r = x + y;
    if (op == "sub") r = x - y;
    if (op == "mul") r = x * y;
    if (op == "div") r = x / y;
    if (op == "fma" || op == "mad") r = std::fma(static_cast<float>(x), static_cast<float>(y), static_cast<float>(z));
    if (op == "rcp") r = 1.0F / x;
    if (op == "sqrt") r = std::sqrt(static_cast<float>(x));
    return r;
}

inline u32 saturated(u32 x) {
    const float f = real_of(x);
    if (!(f > 0.0F)) return 0;
    return f > 1.0F ? 0x3f800000U : x;
}

}  // namespace detail

/// add, sub, mul, div, fma, mad, rcp, sqrt of f32.
inline u32 real_arithmetic(const ptx::instruction& i, u64 a, u64 b, u64 c) {
    const bool ftz = i.has("ftz");
    const test::detail::rounding_mode mode(rounding_of(i));
    const u32 r = flushed(bits_of_real(detail::rounded(i.opcode, real_of(flushed(a, ftz)), real_of(flushed(b, ftz)), real_of(flushed(c, ftz)))), ftz);
    return i.has("sat") ? detail::saturated(r) : r;
}

/// min and max of two f32: numbers before NaNs (with .NaN the other way round), -0 below +0.
inline u32 real_extreme(const ptx::instruction& i, u64 a, u64 b) {
    return host_float_extreme(i.opcode == "max", (i.has("ftz") ? 4U : 0U) | (i.has("NaN") ? 8U : 0U), static_cast<u32>(a), static_cast<u32>(b));
}

/// A comparison of two f32 by name: ordered (eq ne lt le gt ge), unordered (equ ...), num, nan.
inline bool real_compare(std::string_view how, u64 a, u64 b, bool ftz) {
    const float x = real_of(flushed(a, ftz)), y = real_of(flushed(b, ftz));
    const bool unordered = std::isnan(x) || std::isnan(y);
    if (how == "num") return !unordered;
    if (how == "nan") return unordered;
    if (how.size() == 3) return unordered || real_compare(how.substr(0, 2), a, b, ftz);
    if (unordered) return false;
    return how == "eq" ? x == y : how == "ne" ? x != y : how == "lt" ? x < y : how == "le" ? x <= y : how == "gt" ? x > y : x >= y;
}

inline bool real_is(std::string_view what, u64 x) {
    const u32 magnitude = static_cast<u32>(x) & 0x7fffffffU;
    if (what == "finite") return magnitude < 0x7f800000U;
    if (what == "infinite") return magnitude == 0x7f800000U;
    if (what == "number") return magnitude <= 0x7f800000U;
    if (what == "notanumber") return magnitude > 0x7f800000U;
    if (what == "normal") return magnitude >= 0x00800000U && magnitude < 0x7f800000U;
    return is_subnormal(x);
}

/// The nearest integer of type t; NaN is 0, and the highest bit alone in 64 bits (PTX ISA, cvt).
inline u64 integer_of_real(const ptx::instruction& i, u64 x, scalar_type t) {
    const u32 given = flushed(x, i.has("ftz"));
    if (is_nan(given)) return ptx::bits_of(t) == 64 ? u64{1} << 63 : 0;
    const test::detail::rounding_mode mode(rounding_of(i));
    const float whole = std::nearbyint(real_of(given));
    if (whole >= 0x1p64F) return clamped(most_of(scalar_type::u64), t);
    if (whole <= -0x1p64F) return clamped(-(s128{1} << 64), t);
    return clamped(static_cast<s128>(whole), t);
}

[[gnu::noinline]] inline u32 real_of_integer(const ptx::instruction& i, s128 n) {
    const test::detail::rounding_mode mode(rounding_of(i));
    volatile s64 low = static_cast<s64>(n);
    volatile u64 unsigned_low = static_cast<u64>(n);
    volatile float r = n < 0 ? static_cast<float>(low) : static_cast<float>(unsigned_low);
    const u32 bits = bits_of_real(r);
    return i.has("sat") ? detail::saturated(bits) : bits;
}

/// cvt.f32.f32: rounded to an integral value with .rni and its like.
inline u32 real_of_real(const ptx::instruction& i, u64 x) {
    const u32 given = flushed(x, i.has("ftz"));
    const test::detail::rounding_mode mode(rounding_of(i));
    const bool integral = i.has("rni") || i.has("rzi") || i.has("rmi") || i.has("rpi");
    const u32 r = is_nan(given) ? the_nan : integral ? bits_of_real(std::nearbyint(real_of(given))) : given;
    return i.has("sat") ? detail::saturated(r) : r;
}

}  // namespace qwengpu::test::interpreter
