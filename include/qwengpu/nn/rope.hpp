// SPDX-License-Identifier: MIT
// Rotary position of the first dimensions of a head. Dimension i turns with dimension i + rotary_dims / 2, by
// position * theta^(-2 i / rotary_dims); dimensions from rotary_dims on carry no position.
#pragma once

#include <cmath>

#include "qwengpu/nn/matrix.hpp"
#include "qwengpu/nn/rounding.hpp"
#include "qwengpu/nn/shape.hpp"

namespace qwengpu::nn {

/// Cosines and sines of a position, [rotary_dims / 2] each, rounded as the reference stores them.
struct rotation {
    vector cos, sin;
};

template <rounding R>
rotation rotation_at(const shape& s, Eigen::Index position) {
    const Eigen::Index half = s.rotary_dims / 2;
    rotation r{vector(half), vector(half)};
    for (Eigen::Index i = 0; i < half; ++i) {
        const float exponent = 2.0F * static_cast<float>(i) / static_cast<float>(s.rotary_dims);
        const float frequency = 1.0F / std::pow(static_cast<float>(s.rope_theta), exponent);
        const float angle = static_cast<float>(position) * frequency;
        r.cos(i) = R::round(std::cos(angle));
        r.sin(i) = R::round(std::sin(angle));
    }
    return r;
}

/// Turns one head, [head_dim], in place; both products and their sum are rounded.
template <rounding R>
void rotate(const rotation& r, vector_ref head) {
    const Eigen::Index half = r.cos.size();
    for (Eigen::Index i = 0; i < half; ++i) {
        const float low = head(i), high = head(i + half);
        head(i) = R::round(R::round(low * r.cos(i)) + R::round(-high * r.sin(i)));
        head(i + half) = R::round(R::round(high * r.cos(i)) + R::round(low * r.sin(i)));
    }
}

}  // namespace qwengpu::nn
