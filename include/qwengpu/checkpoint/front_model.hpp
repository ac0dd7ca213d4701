// SPDX-License-Identifier: MIT
// What is written into a checkpoint: layers of sparse weights with a vocabulary of their own. It says nothing about
// what the layers compute.
#pragma once

#include <qwengpu/nn/shape.hpp>
#include <qwengpu/nn/weights.hpp>

#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <vector>

namespace qwengpu::checkpoint {

/// Layers that stand at the front of a model, and their tokens. Rows are product codes of few non-zeros; no row's code holds
/// all of another's. The last layer's MLP takes the code that was read away with negative weights and adds the next one's
/// with positive ones.
struct front_model {
    nn::shape shape;
    std::vector<nn::linear_layer_weights<nn::sparse_matrix>> layers;
    int tokens = 0;                                                   ///< rows of the vocabulary
    std::function<void(int token, std::span<float> row)> write_row;   ///< into `row`, which is zero: [hidden]
    std::function<std::string(int token)> spell;                      ///< the token's text, without spaces, unambiguous
    nn::vector final_norm;                                            ///< [hidden], centred on zero; -1 where no code is
    nn::vector code_weight;                                           ///< [hidden] what the last layer leaves of the next token: code_weight * row; 0 where no code is
    int channels = 0;                                                 ///< those from here on are zero in every row and every layer
    int end_token = 0;                                                ///< the one that ends generation
};

}  // namespace qwengpu::checkpoint
