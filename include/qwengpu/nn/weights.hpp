// SPDX-License-Identifier: MIT
// The tensors of a linear-attention decoder layer, [out, in], as Qwen3.5's checkpoints name and shape them.
// `Matrix` is dense_matrix, bf16_matrix or sparse_matrix (convert.hpp turns one kind into another).
#pragma once

#include "qwengpu/nn/matrix.hpp"
#include "qwengpu/nn/shape.hpp"
#include "qwengpu/nn/sparse_matrix.hpp"

namespace qwengpu::nn {

/// Gated DeltaNet. Channels of q, k, v: q of all heads, then k of all heads, then v of all value heads.
template <class Matrix>
struct delta_net_weights {
    Matrix in_proj_qkv;          ///< [qkv_channels, hidden]
    Matrix in_proj_z;            ///< [value_channels, hidden], gate of the norm
    Matrix in_proj_b;            ///< [value_heads, hidden], beta = sigmoid(b)
    Matrix in_proj_a;            ///< [value_heads, hidden], decay = exp(-exp(a_log) softplus(a + dt_bias))
    Eigen::MatrixXf conv;        ///< [qkv_channels, taps], the last tap is the current token's
    Eigen::VectorXf dt_bias;     ///< [value_heads]
    Eigen::VectorXf a_log;       ///< [value_heads]
    Eigen::VectorXf norm;        ///< [value_dim], multiplies as it is (not zero-centred)
    Matrix out_proj;             ///< [hidden, value_channels]
};

/// SwiGLU: down(silu(gate x) * up x).
template <class Matrix>
struct swiglu_weights {
    Matrix gate;  ///< [mlp, hidden]
    Matrix up;    ///< [mlp, hidden]
    Matrix down;  ///< [hidden, mlp]
};

/// Decoder layer with a Gated DeltaNet. The norms multiply by 1 + weight.
template <class Matrix>
struct linear_layer_weights {
    Eigen::VectorXf input_norm;  ///< [hidden]
    Eigen::VectorXf post_norm;   ///< [hidden], between mixer and SwiGLU
    delta_net_weights<Matrix> mixer;
    swiglu_weights<Matrix> mlp;
};

/// Layer of the given shape whose tensors are all zero: it passes the residual through.
inline linear_layer_weights<sparse_matrix> zero_linear_layer(const shape& s) {
    using Eigen::MatrixXf;
    using Eigen::VectorXf;
    return {.input_norm = VectorXf::Zero(s.hidden),
            .post_norm = VectorXf::Zero(s.hidden),
            .mixer = {.in_proj_qkv = sparse_matrix(s.qkv_channels(), s.hidden),
                      .in_proj_z = sparse_matrix(s.value_channels(), s.hidden),
                      .in_proj_b = sparse_matrix(s.value_heads, s.hidden),
                      .in_proj_a = sparse_matrix(s.value_heads, s.hidden),
                      .conv = MatrixXf::Zero(s.qkv_channels(), s.conv),
                      .dt_bias = VectorXf::Zero(s.value_heads),
                      .a_log = VectorXf::Zero(s.value_heads),
                      .norm = VectorXf::Zero(s.value_dim),
                      .out_proj = sparse_matrix(s.hidden, s.value_channels())},
            .mlp = {.gate = sparse_matrix(s.mlp, s.hidden),
                    .up = sparse_matrix(s.mlp, s.hidden),
                    .down = sparse_matrix(s.hidden, s.mlp)}};
}

}  // namespace qwengpu::nn
