// SPDX-License-Identifier: MIT
// Checks the tensors of a layer against a shape before anything is computed with them. A wrong one is named as the
// checkpoint names it, with what it is and what it should be.
#pragma once

#include <string>

#include "qwengpu/error.hpp"
#include "qwengpu/nn/attention_weights.hpp"
#include "qwengpu/nn/weights.hpp"

namespace qwengpu::nn {

namespace detail {

/// Checks the tensors below one name ("model.layers.3.").
class tensor_check {
public:
    explicit tensor_check(std::string prefix) : prefix_(std::move(prefix)) {}

    template <class Tensor>
    void matrix(const char* name, const Tensor& tensor, int rows, int cols) const {
        if (tensor.rows() == rows && tensor.cols() == cols) return;
        refuse(name, extent(tensor.rows(), tensor.cols()), extent(rows, cols));
    }

    void vector(const char* name, const Eigen::VectorXf& tensor, int size) const {
        if (tensor.size() == size) return;
        refuse(name, std::to_string(tensor.size()), std::to_string(size));
    }

private:
    static std::string extent(Eigen::Index rows, Eigen::Index cols) {
        return std::to_string(rows) + " x " + std::to_string(cols);
    }

    void refuse(const char* name, const std::string& is, const std::string& should) const {
        throw error("nn.shape", prefix_ + name + " is " + is + ", but the model's shape asks for " + should +
                                    "; give this tensor that size, or the model another shape");
    }

    std::string prefix_;
};

template <class Matrix>
void check_mixer(const tensor_check& check, const delta_net_weights<Matrix>& w, const shape& s) {
    check.matrix("linear_attn.in_proj_qkv.weight", w.in_proj_qkv, s.qkv_channels(), s.hidden);
    check.matrix("linear_attn.in_proj_z.weight", w.in_proj_z, s.value_channels(), s.hidden);
    check.matrix("linear_attn.in_proj_b.weight", w.in_proj_b, s.value_heads, s.hidden);
    check.matrix("linear_attn.in_proj_a.weight", w.in_proj_a, s.value_heads, s.hidden);
    check.matrix("linear_attn.conv1d.weight", w.conv, s.qkv_channels(), s.conv);
    check.vector("linear_attn.dt_bias", w.dt_bias, s.value_heads);
    check.vector("linear_attn.A_log", w.a_log, s.value_heads);
    check.vector("linear_attn.norm.weight", w.norm, s.value_dim);
    check.matrix("linear_attn.out_proj.weight", w.out_proj, s.hidden, s.value_channels());
}

template <class Matrix>
void check_mixer(const tensor_check& check, const attention_weights<Matrix>& w, const shape& s) {
    check.matrix("self_attn.q_proj.weight", w.q_proj, 2 * s.query_channels(), s.hidden);
    check.matrix("self_attn.k_proj.weight", w.k_proj, s.kv_channels(), s.hidden);
    check.matrix("self_attn.v_proj.weight", w.v_proj, s.kv_channels(), s.hidden);
    check.vector("self_attn.q_norm.weight", w.q_norm, s.head_dim);
    check.vector("self_attn.k_norm.weight", w.k_norm, s.head_dim);
    check.matrix("self_attn.o_proj.weight", w.o_proj, s.hidden, s.query_channels());
}

}  // namespace detail

/// @throws error "nn.shape" if a size cannot be that of a model.
inline void check_shape(const shape& s) {
    const auto require = [](bool holds, const char* what) {
        if (!holds) throw error("nn.shape", std::string("a model's shape needs ") + what);
    };
    for (const int size : {s.hidden, s.mlp, s.heads, s.value_heads, s.key_dim, s.value_dim, s.conv, s.query_heads,
                           s.kv_heads, s.head_dim, s.rope_theta, s.inverse_eps})
        require(size > 0, "sizes above zero");
    require(s.value_heads % s.heads == 0, "value_heads that are a multiple of heads");
    require(s.query_heads % s.kv_heads == 0, "query_heads that are a multiple of kv_heads");
    require(s.rotary_dims >= 0 && s.rotary_dims % 2 == 0 && s.rotary_dims <= s.head_dim,
            "rotary_dims that are even and within head_dim");
}

/// Checks all tensors of layer number `index`; Layer is linear_layer_weights or full_layer_weights.
/// @throws error "nn.shape" naming the first tensor that does not fit.
template <class Layer>
void check_layer(const Layer& w, const shape& s, int index) {
    const detail::tensor_check check("model.layers." + std::to_string(index) + ".");
    check.vector("input_layernorm.weight", w.input_norm, s.hidden);
    check.vector("post_attention_layernorm.weight", w.post_norm, s.hidden);
    detail::check_mixer(check, w.mixer, s);
    check.matrix("mlp.gate_proj.weight", w.mlp.gate, s.mlp, s.hidden);
    check.matrix("mlp.up_proj.weight", w.mlp.up, s.mlp, s.hidden);
    check.matrix("mlp.down_proj.weight", w.mlp.down, s.hidden, s.mlp);
}

}  // namespace qwengpu::nn
