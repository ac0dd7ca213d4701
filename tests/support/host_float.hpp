// SPDX-License-Identifier: MIT
// What IEEE hardware says: the float unit's operations on the host's FPU, in its four rounding modes. Volatile operands keep
// the compiler from computing under another mode.
#pragma once

#include <array>
#include <bit>
#include <cfenv>
#include <cmath>
#include <cstdint>

namespace qwengpu::test {

/// The fields of `mod` (docs/machine.md, "ALU instructions").
struct float_mod {
    unsigned rounding;  ///< 0 to nearest even, 1 to zero, 2 down, 3 up
    bool ftz, saturate_or_signed, negate_product, negate_c, wide, high;

    explicit float_mod(unsigned mod)
        : rounding(mod & 3U), ftz((mod & 4U) != 0), saturate_or_signed((mod & 8U) != 0), negate_product((mod & 16U) != 0), negate_c((mod & 32U) != 0),
          wide((mod & 64U) != 0), high((mod & 128U) != 0) {}
};

namespace detail {

class rounding_mode {
public:
    explicit rounding_mode(unsigned mode) {
        constexpr std::array modes{FE_TONEAREST, FE_TOWARDZERO, FE_DOWNWARD, FE_UPWARD};
        std::fesetround(modes[mode]);
    }
    rounding_mode(const rounding_mode&) = delete;
    rounding_mode& operator=(const rounding_mode&) = delete;
    ~rounding_mode() { std::fesetround(FE_TONEAREST); }
};

inline std::uint32_t flushed(std::uint32_t x, bool ftz) { return ftz && (x & 0x7f800000U) == 0 ? x & 0x80000000U : x; }

}  // namespace detail

/// fma, add (a + c), mul, round: operation codes 21, 22, 23 and 26. A NaN is 0x7fffffff, and 0 if it is saturated.
[[gnu::noinline]] inline std::uint32_t host_float(unsigned op, unsigned mod_bits, std::uint32_t a, std::uint32_t b, std::uint32_t c) {
    const float_mod mod(mod_bits);
    const auto in = [&](std::uint32_t x, bool negate) { return std::bit_cast<float>(detail::flushed(x, mod.ftz) ^ (negate ? 0x80000000U : 0)); };
    const bool saturate = mod.saturate_or_signed;
    volatile float x = in(a, mod.negate_product && op != 26), y = in(b, false), z = in(c, mod.negate_c && op != 23), r = 0;
    {
        const detail::rounding_mode mode(mod.rounding);
        if (op == 21) r = std::fma(static_cast<float>(x), static_cast<float>(y), static_cast<float>(z));
        if (op == 22) r = x + z;
        if (op == 23) r = x * y;
        if (op == 26) r = std::nearbyint(static_cast<float>(x));
    }
    const float result = r;
    if (std::isnan(result)) return saturate ? 0 : 0x7fffffffU;
    if (saturate && !(result > 0.0F)) return 0;
    if (saturate && result > 1.0F) return 0x3f800000U;
    return detail::flushed(std::bit_cast<std::uint32_t>(result), mod.ftz);
}

/// A comparison (operation 13) before it is combined: `asked` are bits for less, equal, greater, unordered.
inline bool host_float_compare(unsigned asked, bool ftz, std::uint32_t a, std::uint32_t b) {
    const float x = std::bit_cast<float>(detail::flushed(a, ftz)), y = std::bit_cast<float>(detail::flushed(b, ftz));
    if (std::isnan(x) || std::isnan(y)) return (asked & 8U) != 0;
    return (x < y && (asked & 1U) != 0) || (x == y && (asked & 2U) != 0) || (x > y && (asked & 4U) != 0);
}

/// The smaller or larger (operations 14 and 15).
inline std::uint32_t host_float_extreme(bool larger, unsigned mod, std::uint32_t a, std::uint32_t b) {
    const bool ftz = (mod & 4U) != 0, nan_wins = (mod & 8U) != 0;
    a = detail::flushed(a, ftz), b = detail::flushed(b, ftz);
    const float x = std::bit_cast<float>(a), y = std::bit_cast<float>(b);
    if (std::isnan(x) && std::isnan(y)) return 0x7fffffffU;
    if (std::isnan(x) || std::isnan(y)) return nan_wins ? 0x7fffffffU : std::isnan(x) ? b : a;
    if (x == y) return std::signbit(x) != larger ? a : b;
    return (x < y) != larger ? a : b;
}

/// From an integer of 32 bits (a) or 64 bits (b:a): operation 24.
[[gnu::noinline]] inline std::uint32_t host_from_int(unsigned mod_bits, std::uint32_t a, std::uint32_t b) {
    const float_mod mod(mod_bits);
    const std::uint64_t bits = mod.wide ? (std::uint64_t{b} << 32 | a) : a;
    volatile long double exact = 0;  // 64 bits of significand hold any of them
    if (!mod.saturate_or_signed) exact = static_cast<long double>(bits);
    else if (mod.wide) exact = static_cast<long double>(static_cast<std::int64_t>(bits));
    else exact = static_cast<long double>(static_cast<std::int32_t>(a));
    const detail::rounding_mode mode(mod.rounding);
    volatile float r = static_cast<float>(exact);
    return std::bit_cast<std::uint32_t>(static_cast<float>(r));
}

/// To an integer, saturated: operation 25. NaN gives 0.
[[gnu::noinline]] inline std::uint32_t host_to_int(unsigned mod_bits, std::uint32_t a) {
    const float_mod mod(mod_bits);
    const auto x = static_cast<double>(std::bit_cast<float>(detail::flushed(a, mod.ftz)));
    const bool is_signed = mod.saturate_or_signed;
    const int bits = mod.wide ? 64 : 32;
    volatile double y = x;
    if (std::isnan(x)) return 0;
    {
        const detail::rounding_mode mode(mod.rounding);
        y = std::nearbyint(static_cast<double>(y));
    }
    const double top = std::ldexp(1.0, is_signed ? bits - 1 : bits), bottom = is_signed ? -top : 0.0;
    const std::uint64_t most = is_signed ? (std::uint64_t{1} << (bits - 1)) - 1 : ~std::uint64_t{0} >> (64 - bits);
    std::uint64_t value = 0;
    if (y >= top) value = most;
    else if (y < bottom) value = is_signed ? ~std::uint64_t{0} << (bits - 1) : 0;
    else value = y < 0 ? static_cast<std::uint64_t>(static_cast<std::int64_t>(y)) : static_cast<std::uint64_t>(y);
    return static_cast<std::uint32_t>(mod.high ? value >> 32 : value);
}

}  // namespace qwengpu::test
