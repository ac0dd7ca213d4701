// SPDX-License-Identifier: MIT
// f32 values where arithmetic goes wrong if it does: zeros, the edges of the subnormals, of the integers and of infinity, ties,
// NaNs.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace qwengpu::test {

inline constexpr std::uint32_t first_float_corners[] = {
    0,          1,          2,          0x00400000, 0x007fffff, 0x00800000, 0x00800001, 0x00ffffff, 0x01000000, 0x33800000,
    0x34000000, 0x3effffff, 0x3f000000, 0x3f000001, 0x3f7fffff, 0x3f800000, 0x3f800001, 0x3fc00000, 0x40200000, 0x40400000,
    0x4b000000, 0x4b7fffff, 0x4effffff, 0x4f000000, 0x4f800000, 0x5effffff, 0x5f000000, 0x5f800000, 0x7f7fffff, 0x7f800000};

/// The first `count` corners, each with both signs: those above, NaNs, then every exponent with its first and last fractions.
inline std::vector<std::uint32_t> many_float_corners(std::size_t count) {
    std::vector<std::uint32_t> all;
    const auto both = [&all](std::uint32_t x) { all.insert(all.end(), {x, x | 0x80000000U}); };
    for (const std::uint32_t x : {0x7f800001U, 0x7fc00000U, 0x7fffffffU}) both(x);
    for (const std::uint32_t x : first_float_corners) both(x);
    for (std::uint32_t turn = 0; all.size() < count; ++turn) {
        constexpr std::array<std::uint32_t, 4> fractions{0, 1, 0x007fffff, 0x00400001};
        both((turn * 37 % 255) << 23 | fractions[turn / 255 % 4]);
    }
    all.resize(count);
    return all;
}

}  // namespace qwengpu::test
