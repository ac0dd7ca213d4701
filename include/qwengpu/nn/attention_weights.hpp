// SPDX-License-Identifier: MIT
// The tensors of a full-attention decoder layer, [out, in], as Qwen3.5's checkpoints name and shape them.
#pragma once

#include "qwengpu/nn/weights.hpp"

namespace qwengpu::nn {

/// Gated attention with grouped keys and values.
template <class Matrix>
struct attention_weights {
    Matrix q_proj;           ///< [2 * query_channels, hidden]: per head its query, then its gate
    Matrix k_proj;           ///< [kv_channels, hidden]
    Matrix v_proj;           ///< [kv_channels, hidden]
    Eigen::VectorXf q_norm;  ///< [head_dim], multiplies by 1 + weight
    Eigen::VectorXf k_norm;  ///< [head_dim], multiplies by 1 + weight
    Matrix o_proj;           ///< [hidden, query_channels]
};

/// Decoder layer with full attention. The norms multiply by 1 + weight.
template <class Matrix>
struct full_layer_weights {
    Eigen::VectorXf input_norm;  ///< [hidden]
    Eigen::VectorXf post_norm;   ///< [hidden], between mixer and SwiGLU
    attention_weights<Matrix> mixer;
    swiglu_weights<Matrix> mlp;
};

}  // namespace qwengpu::nn
