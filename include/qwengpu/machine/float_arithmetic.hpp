// SPDX-License-Identifier: MIT
// f32 arithmetic on bits, exact: integers only, so that neither the host's FPU nor its compiler has a say. One rounding per
// operation in any of four modes; every NaN that is made is 0x7fffffff. `mod` as in docs/machine.md.
#pragma once

#include <bit>
#include <cstdint>

#include <qwengpu/machine/block.hpp>

namespace qwengpu::machine::floats {

using u32 = std::uint32_t;
using u64 = std::uint64_t;

inline constexpr u32 sign_bit = 0x80000000, infinity = 0x7f800000, one = 0x3f800000, nan = 0x7fffffff;

constexpr bool is_nan(u32 x) { return (x & ~sign_bit) > infinity; }
constexpr bool is_infinite(u32 x) { return (x & ~sign_bit) == infinity; }
constexpr bool is_zero(u32 x) { return (x & ~sign_bit) == 0; }

/// A subnormal as a zero of its sign, anything else as it is.
constexpr u32 flushed(u32 x) { return (x & infinity) == 0 ? x & sign_bit : x; }
constexpr u32 flushed_if(u32 x, bool flush) { return flush ? flushed(x) : x; }

/// A finite number: (-1)^negative * significand * 2^exponent.
struct number {
    bool negative = false;
    int exponent = 0;
    u64 significand = 0;
};

constexpr number unpacked(u32 x) {
    const int field = static_cast<int>((x & infinity) >> 23);
    const u64 fraction = x & 0x007fffffu;
    return {(x & sign_bit) != 0, field == 0 ? -149 : field - 150, field == 0 ? fraction : fraction | 0x00800000u};
}

/// Whether a magnitude is rounded away from zero. `kept` is what is left of it, `dropped` what is cut off, with its
/// leading bit, of weight one half, at bit 63.
constexpr bool rounds_up(u64 kept, u64 dropped, bool negative, unsigned mode) {
    constexpr u64 half = u64{1} << 63;
    if (mode == 0) return dropped > half || (dropped == half && (kept & 1) != 0);
    return dropped != 0 && ((mode == 2 && negative) || (mode == 3 && !negative));
}

/// x >> n, rounded; n may be anything from 0 up.
constexpr u64 shifted_right(u64 x, int n, bool negative, unsigned mode) {
    if (n == 0) return x;
    const u64 kept = n > 63 ? 0 : x >> n;
    const u64 dropped = n > 64 ? (x != 0 ? 1 : 0) : n == 64 ? x : x << (64 - n);
    return kept + (rounds_up(kept, dropped, negative, mode) ? 1 : 0);
}

/// The f32 of a number that is not zero.
constexpr u32 packed(const number& n, unsigned mode) {
    const int up = std::countl_zero(n.significand);
    const u64 significand = n.significand << up;
    const int lowest = n.exponent - up;                             // the weight of bit 0
    const int last = lowest + 40 < -149 ? -149 : lowest + 40;       // the weight of the last bit that is kept
    const u64 kept = shifted_right(significand, last - lowest, n.negative, mode);
    const u32 sign = n.negative ? sign_bit : 0;
    const bool overflow = last > 127 - 23 || (u64(last + 149) << 23) + kept >= infinity;
    if (!overflow) return sign | static_cast<u32>((u64(last + 149) << 23) + kept);
    const bool to_infinity = mode == 0 || (mode == 2 && n.negative) || (mode == 3 && !n.negative);
    return sign | (to_infinity ? infinity : infinity - 1);
}

/// A zero that two numbers of these signs sum up to.
constexpr u32 zero_sum(bool a_negative, bool b_negative, unsigned mode) {
    return (a_negative == b_negative ? a_negative : mode == 2) ? sign_bit : 0;
}

/// Leading one at bit 61: a sum of two has room, and a cut-off rest is far below the last bit of the result.
constexpr number normalised(number n) {
    const int up = std::countl_zero(n.significand) - 2;
    return {n.negative, n.exponent - up, n.significand << up};
}

/// The rounded sum of two numbers that are not zero, of at most 48 significant bits each.
constexpr u32 sum(const number& x, const number& y, unsigned mode) {
    const number p = normalised(x), q = normalised(y);
    const bool p_first = p.exponent > q.exponent || (p.exponent == q.exponent && p.significand >= q.significand);
    const number& large = p_first ? p : q;
    const number& small = p_first ? q : p;
    const int down = large.exponent - small.exponent;
    const u64 cut = down > 62 ? 0 : small.significand >> down;
    const bool rest = down > 62 || (cut << down) != small.significand;
    const u64 aligned = cut | (rest ? 1 : 0);
    const bool alike = large.negative == small.negative;
    const u64 total = alike ? large.significand + aligned : large.significand - aligned;
    if (total == 0) return mode == 2 ? sign_bit : 0;
    return packed({large.negative, large.exponent, total}, mode);
}

/// Result of fma, fadd, fmul or fround after `.sat` and `.ftz`.
constexpr u32 finished(u32 r, std::uint8_t m) {
    const bool clamp = (m & mod::saturate) != 0;
    if (is_nan(r)) return clamp ? 0 : nan;
    if (clamp && ((r & sign_bit) != 0 || r == 0)) return 0;
    if (clamp && r > one) return one;
    return flushed_if(r, (m & mod::ftz) != 0);
}

constexpr number product(u32 a, u32 b) {
    const number x = unpacked(a), y = unpacked(b);
    return {x.negative != y.negative, x.exponent + y.exponent, x.significand * y.significand};
}

/// a + c, neither of them NaN. `exact` is the value of a if a is finite; it may have 48 bits.
constexpr u32 added(u32 a, const number& exact, u32 c, unsigned mode) {
    if (is_infinite(a) && is_infinite(c)) return a == c ? a : nan;
    if (is_infinite(a)) return a;
    if (is_infinite(c)) return c;
    if (exact.significand == 0 && is_zero(c)) return zero_sum(exact.negative, (c & sign_bit) != 0, mode);
    if (exact.significand == 0) return c;
    return is_zero(c) ? packed(exact, mode) : sum(exact, unpacked(c), mode);
}

/// What the special rules say of a * b: NaN, an infinity, or else a zero of its sign, for a product that is finite.
constexpr u32 outline_of_product(u32 a, u32 b) {
    if (is_nan(a) || is_nan(b) || (is_infinite(a) && is_zero(b)) || (is_zero(a) && is_infinite(b))) return nan;
    return ((a ^ b) & sign_bit) | (is_infinite(a) || is_infinite(b) ? infinity : 0);
}

constexpr u32 operand(u32 x, std::uint8_t m, std::uint8_t negate) {
    return flushed_if(x, (m & mod::ftz) != 0) ^ ((m & negate) != 0 ? sign_bit : 0);
}

constexpr u32 fma(u32 a, u32 b, u32 c, std::uint8_t m) {
    const u32 x = operand(a, m, mod::negate_product), y = operand(b, m, 0), z = operand(c, m, mod::negate_c);
    const u32 outline = outline_of_product(x, y);
    if (is_nan(outline) || is_nan(z)) return finished(nan, m);
    return finished(added(outline, is_infinite(outline) ? number{} : product(x, y), z, m & mod::rounding), m);
}

constexpr u32 fadd(u32 a, u32, u32 c, std::uint8_t m) {
    const u32 x = operand(a, m, mod::negate_product), z = operand(c, m, mod::negate_c);
    if (is_nan(x) || is_nan(z)) return finished(nan, m);
    return finished(added(x, unpacked(x), z, m & mod::rounding), m);
}

constexpr u32 fmul(u32 a, u32 b, u32, std::uint8_t m) {
    const u32 x = operand(a, m, mod::negate_product), y = operand(b, m, 0);
    const u32 outline = outline_of_product(x, y);
    const bool exact = is_nan(outline) || is_infinite(outline) || is_zero(x) || is_zero(y);
    return finished(exact ? outline : packed(product(x, y), m & mod::rounding), m);
}

/// f32 of an integer of 32 bits (a) or 64 bits (b:a).
constexpr u32 i2f(u32 a, u32 b, u32, std::uint8_t m) {
    const u64 bits = (m & mod::wide) != 0 ? u64{b} << 32 | a : a;
    const bool negative = (m & mod::is_signed) != 0 && (((m & mod::wide) != 0 ? b : a) & sign_bit) != 0;
    const u64 magnitude = !negative ? bits : (m & mod::wide) != 0 ? u64{0} - bits : u64{0u - a};
    return magnitude == 0 ? 0 : packed({negative, 0, magnitude}, m & mod::rounding);
}

/// Integer of an f32, saturated. A NaN gives 0.
constexpr u32 f2i(u32 a, u32, u32, std::uint8_t m) {
    const bool wide = (m & mod::wide) != 0, is_signed = (m & mod::is_signed) != 0, high = (m & mod::high_word) != 0;
    if (is_nan(a)) return 0;
    const number n = unpacked(flushed_if(a, (m & mod::ftz) != 0));
    const u64 top = u64{1} << (wide ? 63 : 31);
    const u64 most = n.negative ? (is_signed ? top : 0) : is_signed ? top - 1 : top + (top - 1);
    const bool huge = n.exponent > 40;  // beyond 64 bits, infinities among them
    const u64 rounded = huge ? most
                        : n.exponent >= 0 ? n.significand << n.exponent
                                          : shifted_right(n.significand, -n.exponent, n.negative, m & mod::rounding);
    const u64 magnitude = rounded < most ? rounded : most;
    const u64 value = n.negative ? u64{0} - magnitude : magnitude;
    return static_cast<u32>(high ? value >> 32 : value);
}

/// An f32 rounded to an integral value; zeros keep their sign, and what becomes zero keeps its own.
constexpr u32 integral(u32 x, unsigned mode) {
    const number n = unpacked(x);
    if (is_nan(x) || is_zero(x) || n.exponent >= 0) return x;
    const u64 whole = shifted_right(n.significand, -n.exponent, n.negative, mode);
    return whole == 0 ? x & sign_bit : packed({n.negative, 0, whole}, 0);
}

constexpr u32 fround(u32 a, u32, u32, std::uint8_t m) { return finished(integral(operand(a, m, 0), m & mod::rounding), m); }

/// A number that orders the f32 that are no NaN, -0 just below +0.
constexpr std::int32_t order_of(u32 x) { return static_cast<std::int32_t>((x & sign_bit) != 0 ? ~(x & ~sign_bit) : x); }

/// Whether the relation of two f32 is among those that mod[3:0] names: less, equal, greater, unordered.
constexpr bool related(u32 a, u32 b, std::uint8_t m) {
    const u32 x = flushed_if(a, (m & mod::fcmp_ftz) != 0), y = flushed_if(b, (m & mod::fcmp_ftz) != 0);
    if (is_nan(x) || is_nan(y)) return (m & mod::fcmp_nan) != 0;
    if (x == y || (is_zero(x) && is_zero(y))) return (m & mod::cmp_eq) != 0;
    return (m & (order_of(x) < order_of(y) ? mod::cmp_lt : mod::cmp_gt)) != 0;
}

constexpr u32 extreme(u32 a, u32 b, std::uint8_t m, bool largest) {
    const u32 x = flushed_if(a, (m & mod::ftz) != 0), y = flushed_if(b, (m & mod::ftz) != 0);
    if (is_nan(x) && is_nan(y)) return nan;
    if (is_nan(x) || is_nan(y)) return (m & mod::fmin_nan) != 0 ? nan : is_nan(x) ? y : x;
    return (order_of(x) < order_of(y)) != largest ? x : y;
}

constexpr u32 fmin(u32 a, u32 b, u32, std::uint8_t m) { return extreme(a, b, m, false); }
constexpr u32 fmax(u32 a, u32 b, u32, std::uint8_t m) { return extreme(a, b, m, true); }

}  // namespace qwengpu::machine::floats
