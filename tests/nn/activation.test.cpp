// SPDX-License-Identifier: MIT
// Scalar functions: exact at the ends, and close to double arithmetic between.
#include <cmath>
#include <limits>

#include "qwengpu/nn/activation.hpp"
#include "support/catch.hpp"

namespace {

using namespace qwengpu::nn;

/// Largest relative error of f against g over -limit ... limit.
template <class F, class G>
double largest_error(F f, G g, float limit) {
    double largest = 0;
    for (float x = -limit; x <= limit; x += 0.013F) {
        const double expected = g(static_cast<double>(x));
        largest = std::max(largest, std::abs(static_cast<double>(f(x)) - expected) / std::abs(expected));
    }
    return largest;
}

constexpr double few_ulps = 4e-7;

}  // namespace

TEST_CASE("silu and sigmoid are exact at the ends", "[nn]") {
    for (const float x : {20.0F, 20.5F, 128.0F, 255.0F * 128.0F, 1e30F}) {
        CHECK(silu(x) == x);
        CHECK(sigmoid(x) == 1.0F);
        CHECK(silu(-x * 4.5F) == 0.0F);
        CHECK(sigmoid(-x * 4.5F) == 0.0F);
    }
    CHECK(silu(0.0F) == 0.0F);
    CHECK(sigmoid(0.0F) == 0.5F);
    CHECK(silu(-88.0F) < 0.0F);
    CHECK(sigmoid(-88.0F) > 0.0F);
    CHECK(std::isnan(silu(std::numeric_limits<float>::quiet_NaN())));
}

TEST_CASE("the short cuts of silu and sigmoid are what the formula gives in float32", "[nn]") {
    int wrong = 0;
    for (float x = 15; x < 100; x += 0.01F) {
        if (silu(x) != x / (1.0F + std::exp(-x)) || sigmoid(x) != 1.0F / (1.0F + std::exp(-x))) ++wrong;
        if (silu(-x) != -x / (1.0F + std::exp(x)) || sigmoid(-x) != 1.0F / (1.0F + std::exp(x))) ++wrong;
    }
    CHECK(wrong == 0);
}

TEST_CASE("scalar functions against double", "[nn]") {
    CHECK(largest_error(sigmoid, [](double x) { return 1 / (1 + std::exp(-x)); }, 40) < few_ulps);
    CHECK(largest_error(silu, [](double x) { return x / (1 + std::exp(-x)); }, 40) < few_ulps);
    CHECK(largest_error(softplus, [](double x) { return std::log1p(std::exp(x)); }, 40) < few_ulps);
    CHECK(softplus(20.5F) == 20.5F);
    CHECK(softplus(-200.0F) == 0.0F);
}
