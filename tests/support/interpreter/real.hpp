// SPDX-License-Identifier: MIT
// f32 arithmetic of PTX for the interpreter of the tests, on the host's FPU in its rounding modes.
#pragma once

#include <bit>
#include <cfenv>
#include <cmath>
#include <cstdint>
#include <string_view>

#include <qwengpu/ptx/ast.hpp>

#include "support/interpreter/value.hpp"

namespace qwengpu::test::interpreter {

inline constexpr u32 the_nan = 0x7fffffffU, sign_bit = 0x80000000U;

inline bool is_nan(u64 x) { return (x & 0x7fffffffU) > 0x7f800000U; }
inline bool is_subnormal(u64 x) { return (x & 0x7f800000U) == 0 && (x & 0x7fffffU) != 0; }
inline u32 flushed(u64 x, bool ftz) { return ftz && is_subnormal(x) ? static_cast<u32>(x) & sign_bit : static_cast<u32>(x); }
inline float real_of(u64 x) { return std::bit_cast<float>(static_cast<u32>(x)); }
inline u32 bits_of_real(float x) { return std::isnan(x) ? the_nan : std::bit_cast<u32>(x); }

/// The host's rounding mode of an instruction (.rn where none is written), until the end of the scope.
class rounding_scope {
public:
    explicit rounding_scope(const ptx::instruction& i) {
        std::fesetround(i.has("rz") || i.has("rzi")   ? FE_TOWARDZERO
                        : i.has("rm") || i.has("rmi") ? FE_DOWNWARD
                        : i.has("rp") || i.has("rpi") ? FE_UPWARD
                                                      : FE_TONEAREST);
    }
    rounding_scope(const rounding_scope&) = delete;
    rounding_scope& operator=(const rounding_scope&) = delete;
    ~rounding_scope() { std::fesetround(FE_TONEAREST); }
};

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
    const rounding_scope mode(i);
    const u32 r = flushed(bits_of_real(detail::rounded(i.opcode, real_of(flushed(a, ftz)), real_of(flushed(b, ftz)), real_of(flushed(c, ftz)))), ftz);
    return i.has("sat") ? detail::saturated(r) : r;
}

/// min and max of two f32: numbers before NaNs (with .NaN the other way round), -0 below +0.
inline u32 real_extreme(const ptx::instruction& i, u64 a, u64 b) {
    const u32 x = flushed(a, i.has("ftz")), y = flushed(b, i.has("ftz"));
    if (is_nan(x) || is_nan(y)) {
        if (i.has("NaN") || (is_nan(x) && is_nan(y))) return the_nan;
        return is_nan(x) ? y : x;
    }
    const bool y_above = real_of(x) < real_of(y) || (real_of(x) == real_of(y) && (x & sign_bit) != 0);
    return (i.opcode == "min") == y_above ? x : y;
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
    const rounding_scope mode(i);
    const float whole = std::nearbyint(real_of(given));
    if (whole >= 0x1p64F) return clamped(most_of(scalar_type::u64), t);
    if (whole <= -0x1p64F) return clamped(-(s128{1} << 64), t);
    return clamped(static_cast<s128>(whole), t);
}

[[gnu::noinline]] inline u32 real_of_integer(const ptx::instruction& i, s128 n) {
    const rounding_scope mode(i);
    volatile s64 low = static_cast<s64>(n);
    volatile u64 unsigned_low = static_cast<u64>(n);
    volatile float r = n < 0 ? static_cast<float>(low) : static_cast<float>(unsigned_low);
    const u32 bits = bits_of_real(r);
    return i.has("sat") ? detail::saturated(bits) : bits;
}

/// cvt.f32.f32: rounded to an integral value with .rni and its like.
inline u32 real_of_real(const ptx::instruction& i, u64 x) {
    const u32 given = flushed(x, i.has("ftz"));
    const rounding_scope mode(i);
    const bool integral = i.has("rni") || i.has("rzi") || i.has("rmi") || i.has("rpi");
    const u32 r = is_nan(given) ? the_nan : integral ? bits_of_real(std::nearbyint(real_of(given))) : given;
    return i.has("sat") ? detail::saturated(r) : r;
}

}  // namespace qwengpu::test::interpreter
