// SPDX-License-Identifier: MIT
// How far the constant input of a model's layers holds gates shut: a scale for sleeping_rows, which works with any, but best
// with what the model's makers had in mind.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "qwengpu/nn/weights.hpp"

namespace qwengpu::nn::sparse {

/// Four fifths of the weight that shuts gates the least, but for one of a hundred: of the channel that shuts most in its layer.
inline float usual_shut(const std::vector<linear_layer_weights<sparse_matrix>>& layers) {
    std::vector<float> weights;
    for (const auto& layer : layers) {
        const sparse_matrix& gate = layer.mlp.gate;
        std::vector<float> most;
        for (int col = 0; col < gate.cols(); ++col) {
            std::vector<float> shut;
            for (const float value : gate.column_values(col))
                if (value < 0) shut.push_back(-value);
            if (shut.size() > most.size()) most.swap(shut);
        }
        weights.insert(weights.end(), most.begin(), most.end());
    }
    if (weights.empty()) return 0;
    const auto least = weights.begin() + static_cast<std::ptrdiff_t>(weights.size() / 100);
    std::nth_element(weights.begin(), least, weights.end());
    return 0.8F * *least;
}

}  // namespace qwengpu::nn::sparse
