// SPDX-License-Identifier: MIT
// f32 bit patterns that are hard on circuits: zeros, subnormals, neighbours of powers of two, the ends of the integers, infinities,
// NaN; and random ones, drawn so that exponents meet.
#pragma once

#include "support/choices.hpp"

#include <array>
#include <cstdint>

namespace qwengpu::test {

inline constexpr std::array<std::uint32_t, 34> float_corners{
    0,          0x80000000, 1,          0x80000001, 2,          0x007fffff, 0x00800000, 0x00800001, 0x00ffffff, 0x3f800000, 0xbf800000, 0x3f800001,
    0x3f7fffff, 0x7f7fffff, 0xff7fffff, 0x7f800000, 0xff800000, 0x7fc00000, 0x7f800001, 0x4b000000, 0x4b7fffff, 0x4effffff, 0x4f000000, 0x4f800000,
    0xcf000000, 0xcf000001, 0x5f000000, 0xdf000000, 0x3f000000, 0x3fc00000, 0x40200000, 0x33800000, 0x34000000, 0x00400000};

inline std::uint32_t any_float(choices& choose) {
    const std::uint32_t r = choose.word(), sign = r & 0x80000000U, fraction = r & 0x007fffffU;
    const auto exponent = [&](int first, int count) { return static_cast<std::uint32_t>(first + choose.below(count)) << 23; };
    switch (choose.below(6)) {
        case 0: return float_corners[static_cast<std::size_t>(choose.below(static_cast<int>(float_corners.size())))];
        case 1: return sign | exponent(97, 60) | fraction;
        case 2: return sign | exponent(0, 40) | fraction;
        case 3: return sign | exponent(0, 256) | (choose.percent(50) ? 0U : 0x007fffffU & ~(1U << choose.below(23)));
        case 4: return sign | exponent(120, 16) | (fraction & ~((1U << choose.below(23)) - 1U));
        default: return r;
    }
}

/// The number whose sum with x is zero, or one of those beside it: sums that cancel.
inline std::uint32_t near_opposite(choices& choose, std::uint32_t x) { return (x ^ 0x80000000U) + static_cast<std::uint32_t>(choose.below(5)) - 2U; }

}  // namespace qwengpu::test
