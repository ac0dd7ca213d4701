// SPDX-License-Identifier: MIT
// bf16 numbers: all patterns there and back, and rounding against the two neighbours of a float.
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

#include "qwengpu/nn/bf16.hpp"
#include "qwengpu/nn/rounding.hpp"
#include "support/catch.hpp"

namespace {

using namespace qwengpu::nn;

/// Bit pattern of a float.
std::uint32_t bits_of(float x) { return std::bit_cast<std::uint32_t>(x); }

/// The nearer of the bf16 numbers below and above a finite float, in double arithmetic; the even pattern in the middle.
float nearest_by_distance(float x) {
    const auto below = static_cast<std::uint16_t>(bits_of(x) >> 16);
    const auto above = static_cast<std::uint16_t>(below + 1);
    const double low = std::abs(static_cast<double>(x) - static_cast<double>(bf16_to_float(below)));
    const double high = std::abs(static_cast<double>(bf16_to_float(above)) - static_cast<double>(x));
    if (low == high) return bf16_to_float(below % 2 == 0 ? below : above);
    return bf16_to_float(low < high ? below : above);
}

}  // namespace

TEST_CASE("every bf16 pattern comes back from its float", "[nn]") {
    int wrong = 0;
    for (std::uint32_t pattern = 0; pattern < 65536; ++pattern) {
        const auto bits = static_cast<std::uint16_t>(pattern);
        const float x = bf16_to_float(bits);
        const auto expected = static_cast<std::uint16_t>(std::isnan(x) ? bits | 0x40U : bits);
        if (bits_of(x) != pattern << 16 || float_to_bf16(x) != expected) ++wrong;
    }
    CHECK(wrong == 0);
}

TEST_CASE("floats between two bf16 numbers go to the nearer one, from the middle to the even one", "[nn]") {
    int wrong = 0;
    for (std::uint32_t pattern = 0; pattern < 65536; ++pattern) {
        if ((pattern & 0x7f80U) >= 0x7f00U) continue;  // next to infinity there is no finite neighbour above
        for (const std::uint32_t low : {0x0000U, 0x0001U, 0x7fffU, 0x8000U, 0x8001U, 0xffffU}) {
            const float x = std::bit_cast<float>(pattern << 16 | low);
            if (round_to_bf16(x) != nearest_by_distance(x)) ++wrong;
        }
    }
    CHECK(wrong == 0);
}

TEST_CASE("bf16 rounding of special values", "[nn]") {
    const float infinity = std::numeric_limits<float>::infinity();
    CHECK(round_to_bf16(257.0F) == 256.0F);
    CHECK(round_to_bf16(259.0F) == 260.0F);
    CHECK(round_to_bf16(std::numeric_limits<float>::max()) == infinity);
    CHECK(round_to_bf16(-std::numeric_limits<float>::max()) == -infinity);
    CHECK(round_to_bf16(infinity) == infinity);
    CHECK(bits_of(round_to_bf16(-0.0F)) == 0x80000000U);
    CHECK(round_to_bf16(std::numeric_limits<float>::denorm_min()) == 0.0F);
    CHECK(bits_of(round_to_bf16(std::bit_cast<float>(0x00018000U))) == 0x00020000U);
    // A NaN whose payload lies in the lower half only must not become infinite.
    CHECK(std::isnan(round_to_bf16(std::bit_cast<float>(0x7f800001U))));
    CHECK(std::isnan(round_to_bf16(std::bit_cast<float>(0xffffffffU))));
}

TEST_CASE("the policies round as they say", "[nn]") {
    CHECK(fp32::round(1.00001F) == 1.00001F);
    CHECK(bf16::round(1.00001F) == 1.0F);
    const Eigen::Vector3f x(1.00001F, 257.0F, -3.0F);
    CHECK(Eigen::Vector3f(rounded<bf16>(x)) == Eigen::Vector3f(1.0F, 256.0F, -3.0F));
    CHECK(Eigen::Vector3f(rounded<fp32>(x)) == x);
}
