// SPDX-License-Identifier: MIT
// bfloat16 numbers: the upper half of a float. Conversions are plain integer arithmetic, so they give the same bits on
// every machine (the AVX-512 instruction flushes subnormals).
#pragma once

#include <bit>
#include <cstdint>

namespace qwengpu::nn {

/// The float of a bf16 bit pattern, exactly.
constexpr float bf16_to_float(std::uint16_t bits) { return std::bit_cast<float>(std::uint32_t{bits} << 16); }

/// The nearest bf16 of a float, ties to even. Too large becomes infinite; a NaN stays one, and becomes quiet.
constexpr std::uint16_t float_to_bf16(float x) {
    const auto bits = std::bit_cast<std::uint32_t>(x);
    const std::uint32_t nearest = (bits + 0x7fffU + ((bits >> 16) & 1U)) >> 16;
    const std::uint32_t quiet = (bits >> 16) | 0x40U;
    return static_cast<std::uint16_t>((bits & 0x7fffffffU) > 0x7f800000U ? quiet : nearest);
}

/// The nearest bf16 of a float, as a float.
constexpr float round_to_bf16(float x) { return bf16_to_float(float_to_bf16(x)); }

}  // namespace qwengpu::nn
