// SPDX-License-Identifier: MIT
// How far the constant input of a model's layers holds gates shut: a scale for sleeping_rows, which works with any, but best
// with what the model's makers had in mind.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <vector>

#include "qwengpu/nn/weights.hpp"

namespace qwengpu::nn::sparse {

namespace detail {

/// The negative weights, sign reversed, of the column that has the most.
inline std::vector<float> shutting_weights(const sparse_matrix& m) {
    std::vector<float> most;
    for (int col = 0; col < m.cols(); ++col) {
        std::vector<float> shut;
        for (const float value : m.column_values(col))
            if (value < 0) shut.push_back(-value);
        if (shut.size() > most.size()) most.swap(shut);
    }
    return most;
}

/// The smallest, but for one of a hundred.
inline float small_one(std::vector<float>& weights) {
    if (weights.empty()) return std::numeric_limits<float>::infinity();
    const auto small = weights.begin() + static_cast<std::ptrdiff_t>(weights.size() / 100);
    std::nth_element(weights.begin(), small, weights.end());
    return *small;
}

}  // namespace detail

/// Four fifths of what shuts rows the least, of the gates or of q, k and v.
inline float usual_shut(const std::vector<linear_layer_weights<sparse_matrix>>& layers) {
    std::vector<float> gates, mixers;
    const auto take = [](std::vector<float>& all, const std::vector<float>& some) { all.insert(all.end(), some.begin(), some.end()); };
    for (const auto& layer : layers) {
        take(gates, detail::shutting_weights(layer.mlp.gate));
        take(mixers, detail::shutting_weights(layer.mixer.in_proj_qkv));
    }
    const float least = std::min(detail::small_one(gates), detail::small_one(mixers));
    return std::isfinite(least) ? 0.8F * least : 0.0F;
}

}  // namespace qwengpu::nn::sparse
