// SPDX-License-Identifier: MIT
// Norms on numbers that can be followed by hand.
#include "qwengpu/nn/rms_norm.hpp"
#include "support/catch.hpp"

namespace {

using namespace qwengpu::nn;

constexpr float eps = 1e-6F;

}  // namespace

TEST_CASE("rms_norm divides by the rms and multiplies by 1 + weight", "[nn]") {
    tokens x(4, 2);
    x << 2, 0, -2, 0, 2, 16, 2, 0;  // rms 2 and 8
    const Eigen::Vector4f weight(0, 1, -1, 255);
    tokens expected(4, 2);
    expected << 1, 0, -2, 0, 0, 0, 256, 0;
    const tokens y = rms_norm<fp32>(x, weight, eps);
    CHECK((y - expected).cwiseAbs().maxCoeff() < 1e-4F);
    CHECK(y(2, 1) == 0.0F);
}

TEST_CASE("eps is added to the mean of squares", "[nn]") {
    const Eigen::Vector2f tiny(1e-3F, 1e-3F);  // mean of squares 1e-6, so the divisor is sqrt(2e-6)
    const tokens y = rms_norm<fp32>(tiny, Eigen::Vector2f::Zero(), eps);
    CHECK(std::abs(y(0, 0) - std::sqrt(0.5F)) < 1e-5F);
    CHECK(rms_norm<fp32>(Eigen::Vector2f::Zero(), Eigen::Vector2f::Zero(), eps).isZero(0));
}

TEST_CASE("bf16 rounds once, after the weight", "[nn]") {
    // 1 / rms is 1 - 5e-7. Times 1.01171875, in the middle between two bf16 numbers, that is just below the middle; rounded to
    // 1 before the weight, it would be a tie and go up to the even number.
    const tokens y = rms_norm<bf16>(Eigen::Vector2f(1, 1), Eigen::Vector2f(0.01171875F, 0.0F), eps);
    CHECK(y(0, 0) == 1.0078125F);
    CHECK(y(1, 0) == 1.0F);
}

TEST_CASE("the gated norm rounds after norm, weight and gate", "[nn]") {
    const Eigen::Vector2f o(4.0F, 4.0F), z(32.0F, -200.0F);
    const Eigen::Vector2f weight(1.0F, 3.0F);
    const vector y = gated_rms_norm<fp32>(o, z, weight, eps);
    CHECK(std::abs(y(0) - 32.0F) < 1e-4F);
    CHECK(y(1) == 0.0F);
    // 1 / rms is just below 1: rounded to 1. Times 1.01171875: a tie, to 1.015625. Times 63: 63.984, to 64.
    // Without the first rounding it would be 63.5, without the second 63.75.
    const vector stepwise = gated_rms_norm<bf16>(o, Eigen::Vector2f(63.0F, 63.0F), Eigen::Vector2f(1.01171875F, 1.0F), eps);
    CHECK(stepwise(0) == 64.0F);
    CHECK(stepwise(1) == 63.0F);
}

TEST_CASE("keys and queries become unit vectors, and zero stays zero", "[nn]") {
    CHECK(64.0F * inverse_length(64.0 * 64.0) == 1.0F);
    CHECK(inverse_length(0.0) == 1.0F / std::sqrt(1e-6F));
    CHECK(std::abs(1e-3F * inverse_length(1e-6) - std::sqrt(0.5F)) < 1e-6F);
}
