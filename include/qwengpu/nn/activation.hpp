// SPDX-License-Identifier: MIT
// The scalar functions of the model in float32, as the reference computes them.
// With |x| large they are exact: silu(x) is x from 20 on and (minus) zero up to -89; sigmoid is 1 and 0 there.
#pragma once

#include <cmath>

namespace qwengpu::nn {

/// At and below this, e^-x overflows, and sigmoid and silu are zero.
inline constexpr float dead_below = -89.0F;
/// At and above this, 1 + e^-x is 1.
inline constexpr float linear_above = 20.0F;

inline float sigmoid(float x) {
    if (x >= linear_above) return 1.0F;
    if (x <= dead_below) return 0.0F;
    return 1.0F / (1.0F + std::exp(-x));
}

inline float silu(float x) {
    if (x >= linear_above) return x;
    if (x <= dead_below) return 0.0F;
    return x / (1.0F + std::exp(-x));
}

/// log(1 + e^x), linear above 20 as in PyTorch.
inline float softplus(float x) { return x > 20.0F ? x : std::log1p(std::exp(x)); }

}  // namespace qwengpu::nn
