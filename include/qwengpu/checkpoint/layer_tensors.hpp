// SPDX-License-Identifier: MIT
// A decoder layer's tensors under their names in a checkpoint ("model.layers.3." + ...): written, and read back.
#pragma once

#include <qwengpu/checkpoint/planned_tensor.hpp>
#include <qwengpu/checkpoint/tensor_source.hpp>
#include <qwengpu/nn/attention_weights.hpp>
#include <qwengpu/nn/bf16_matrix.hpp>
#include <qwengpu/nn/dense_model.hpp>
#include <qwengpu/nn/shape.hpp>
#include <qwengpu/nn/weights.hpp>

#include <string>
#include <type_traits>
#include <vector>

namespace qwengpu::checkpoint {

inline std::string layer_prefix(const std::string& model_prefix, int layer) { return model_prefix + "layers." + std::to_string(layer) + "."; }

namespace detail {

inline void plan_mlp(std::vector<planned_tensor>& plan, const std::string& at, element_type type, const nn::swiglu_weights<nn::sparse_matrix>& w) {
    plan.push_back(plan_sparse(at + "mlp.gate_proj.weight", type, w.gate));
    plan.push_back(plan_sparse(at + "mlp.up_proj.weight", type, w.up));
    plan.push_back(plan_sparse(at + "mlp.down_proj.weight", type, w.down));
}

inline planned_tensor plan_taps(std::string name, element_type type, const Eigen::MatrixXf& taps) {
    return plan_rows(std::move(name), type, static_cast<int>(taps.rows()), static_cast<int>(taps.cols()),
                     [taps](int row, std::span<float> out) { for (Eigen::Index i = 0; i < taps.cols(); ++i) out[static_cast<std::size_t>(i)] = taps(row, i); },
                     {static_cast<std::uint64_t>(taps.rows()), 1, static_cast<std::uint64_t>(taps.cols())});
}

}  // namespace detail

template <class Matrix>
Matrix read_matrix(const tensor_source& from, const std::string& name, int rows, int cols) {
    const auto t = from.at(name);
    check_tensor(t, {static_cast<std::uint64_t>(rows), static_cast<std::uint64_t>(cols)});
    if constexpr (std::is_same_v<Matrix, nn::sparse_matrix>) return read_sparse(t, rows, cols);
    else if constexpr (std::is_same_v<Matrix, nn::bf16_matrix>) return nn::bf16_matrix::from_dense(read_dense(t, rows, cols));
    else return read_dense(t, rows, cols);
}

/// The taps of a convolution, [rows, 1, taps].
inline Eigen::MatrixXf read_taps(const tensor_source& from, const std::string& name, int rows, int taps) {
    const auto t = from.at(name);
    check_tensor(t, {static_cast<std::uint64_t>(rows), 1, static_cast<std::uint64_t>(taps)});
    return read_dense(t, rows, taps);
}

/// The tensors of a Gated DeltaNet layer. As in the published checkpoints A_log and the gated norm are F32 always.
inline std::vector<planned_tensor> plan_layer(const std::string& at, element_type type, const nn::linear_layer_weights<nn::sparse_matrix>& w) {
    const auto& m = w.mixer;
    const auto mixer = at + "linear_attn.";
    std::vector<planned_tensor> plan{plan_vector(at + "input_layernorm.weight", type, w.input_norm), plan_vector(at + "post_attention_layernorm.weight", type, w.post_norm),
                                     plan_sparse(mixer + "in_proj_qkv.weight", type, m.in_proj_qkv), plan_sparse(mixer + "in_proj_z.weight", type, m.in_proj_z),
                                     plan_sparse(mixer + "in_proj_b.weight", type, m.in_proj_b), plan_sparse(mixer + "in_proj_a.weight", type, m.in_proj_a),
                                     detail::plan_taps(mixer + "conv1d.weight", type, m.conv), plan_vector(mixer + "dt_bias", type, m.dt_bias),
                                     plan_vector(mixer + "A_log", element_type::f32, m.a_log), plan_vector(mixer + "norm.weight", element_type::f32, m.norm),
                                     plan_sparse(mixer + "out_proj.weight", type, m.out_proj)};
    detail::plan_mlp(plan, at, type, w.mlp);
    return plan;
}

/// The tensors of a full-attention layer that adds exactly nothing: all of them zero.
inline std::vector<planned_tensor> plan_identity_attention(const std::string& at, element_type type, const nn::shape& s) {
    const auto zeros = [&](const std::string& name, int rows, int cols) { return plan_sparse(at + name, type, nn::sparse_matrix(rows, cols)); };
    const auto zero_vector = [&](const std::string& name, int size) { return plan_vector(at + name, type, Eigen::VectorXf::Zero(size)); };
    return {zero_vector("input_layernorm.weight", s.hidden), zero_vector("post_attention_layernorm.weight", s.hidden),
            zeros("self_attn.q_proj.weight", 2 * s.query_channels(), s.hidden), zeros("self_attn.k_proj.weight", s.kv_channels(), s.hidden),
            zeros("self_attn.v_proj.weight", s.kv_channels(), s.hidden), zeros("self_attn.o_proj.weight", s.hidden, s.query_channels()),
            zero_vector("self_attn.q_norm.weight", s.head_dim), zero_vector("self_attn.k_norm.weight", s.head_dim),
            zeros("mlp.gate_proj.weight", s.mlp, s.hidden), zeros("mlp.up_proj.weight", s.mlp, s.hidden), zeros("mlp.down_proj.weight", s.hidden, s.mlp)};
}

/// Reads the tensors of layers. Matrix: sparse_matrix, bf16_matrix or dense_matrix; Source: where they come from, for which
/// there are read_vector, read_taps and read_matrix.
template <class Matrix, class Source = tensor_source>
class layer_reader {
public:
    layer_reader(const Source& from, std::string model_prefix, const nn::shape& s) : from_(from), prefix_(std::move(model_prefix)), s_(s) {}

    /// @throws error "checkpoint.tensor" naming the tensor that is missing or has another shape.
    [[nodiscard]] nn::linear_layer_weights<Matrix> linear(int layer) const {
        const auto at = layer_prefix(prefix_, layer), mixer = at + "linear_attn.";
        nn::linear_layer_weights<Matrix> w;
        w.input_norm = read_vector(from_, at + "input_layernorm.weight", s_.hidden);
        w.post_norm = read_vector(from_, at + "post_attention_layernorm.weight", s_.hidden);
        w.mixer.in_proj_qkv = matrix(mixer + "in_proj_qkv.weight", s_.qkv_channels(), s_.hidden);
        w.mixer.in_proj_z = matrix(mixer + "in_proj_z.weight", s_.value_channels(), s_.hidden);
        w.mixer.in_proj_b = matrix(mixer + "in_proj_b.weight", s_.value_heads, s_.hidden);
        w.mixer.in_proj_a = matrix(mixer + "in_proj_a.weight", s_.value_heads, s_.hidden);
        w.mixer.conv = read_taps(from_, mixer + "conv1d.weight", s_.qkv_channels(), s_.conv);
        w.mixer.dt_bias = read_vector(from_, mixer + "dt_bias", s_.value_heads);
        w.mixer.a_log = read_vector(from_, mixer + "A_log", s_.value_heads);
        w.mixer.norm = read_vector(from_, mixer + "norm.weight", s_.value_dim);
        w.mixer.out_proj = matrix(mixer + "out_proj.weight", s_.hidden, s_.value_channels());
        w.mlp = mlp(at);
        return w;
    }

    [[nodiscard]] nn::full_layer_weights<Matrix> full(int layer) const {
        const auto at = layer_prefix(prefix_, layer), mixer = at + "self_attn.";
        return {read_vector(from_, at + "input_layernorm.weight", s_.hidden), read_vector(from_, at + "post_attention_layernorm.weight", s_.hidden),
                {matrix(mixer + "q_proj.weight", 2 * s_.query_channels(), s_.hidden), matrix(mixer + "k_proj.weight", s_.kv_channels(), s_.hidden),
                 matrix(mixer + "v_proj.weight", s_.kv_channels(), s_.hidden), read_vector(from_, mixer + "q_norm.weight", s_.head_dim),
                 read_vector(from_, mixer + "k_norm.weight", s_.head_dim), matrix(mixer + "o_proj.weight", s_.hidden, s_.query_channels())},
                mlp(at)};
    }

    [[nodiscard]] nn::layer_weights<Matrix> layer(int index, bool full_attention) const {
        if (full_attention) return full(index);
        return linear(index);
    }

private:
    [[nodiscard]] nn::swiglu_weights<Matrix> mlp(const std::string& at) const {
        return {matrix(at + "mlp.gate_proj.weight", s_.mlp, s_.hidden), matrix(at + "mlp.up_proj.weight", s_.mlp, s_.hidden), matrix(at + "mlp.down_proj.weight", s_.hidden, s_.mlp)};
    }

    [[nodiscard]] Matrix matrix(const std::string& name, int rows, int cols) const { return read_matrix<Matrix>(from_, name, rows, cols); }

    const Source& from_;
    std::string prefix_;
    nn::shape s_;
};

}  // namespace qwengpu::checkpoint
