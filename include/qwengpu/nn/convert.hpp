// SPDX-License-Identifier: MIT
// Layers with one kind of matrix from layers with another, and weights rounded to bf16 as loading a checkpoint with
// dtype bfloat16 does (which includes A_log and the gated norm).
#pragma once

#include <utility>

#include "qwengpu/nn/attention_weights.hpp"
#include "qwengpu/nn/bf16_matrix.hpp"
#include "qwengpu/nn/rounding.hpp"
#include "qwengpu/nn/weights.hpp"

namespace qwengpu::nn {

/// A matrix of kind `To` with the elements of another; to bf16_matrix they are rounded.
template <class To, class From>
To convert_matrix(const From& from) {
    if constexpr (std::is_same_v<To, From>) return from;
    else if constexpr (std::is_same_v<To, dense_matrix>) return from.to_dense();
    else if constexpr (std::is_same_v<From, dense_matrix>) return To::from_dense(from);
    else return To::from_dense(from.to_dense());
}

namespace detail {

// The mixers and the layer, rebuilt with every matrix passed through m and every vector (and the taps) through v.
template <class To, class From, class M, class V>
delta_net_weights<To> map_mixer(const delta_net_weights<From>& w, const M& m, const V& v) {
    return {m(w.in_proj_qkv), m(w.in_proj_z), m(w.in_proj_b), m(w.in_proj_a), v(w.conv),
            v(w.dt_bias),     v(w.a_log),     v(w.norm),      m(w.out_proj)};
}

template <class To, class From, class M, class V>
attention_weights<To> map_mixer(const attention_weights<From>& w, const M& m, const V& v) {
    return {m(w.q_proj), m(w.k_proj), m(w.v_proj), v(w.q_norm), v(w.k_norm), m(w.o_proj)};
}

template <class To, template <class> class Layer, class From, class M, class V>
Layer<To> map_layer(const Layer<From>& w, const M& m, const V& v) {
    return {v(w.input_norm), v(w.post_norm), map_mixer<To>(w.mixer, m, v), {m(w.mlp.gate), m(w.mlp.up), m(w.mlp.down)}};
}

struct keep {
    template <class Tensor>
    Tensor operator()(const Tensor& tensor) const { return tensor; }
};

struct to_bf16 {
    template <class Tensor>
    Tensor operator()(const Tensor& tensor) const { return rounded<bf16>(tensor); }
    bf16_matrix operator()(const bf16_matrix& matrix) const { return matrix; }
    sparse_matrix operator()(const sparse_matrix& matrix) const {
        auto entries = matrix.triplets();
        for (triplet& t : entries) t.value = round_to_bf16(t.value);
        return sparse_matrix::from_triplets(matrix.rows(), matrix.cols(), std::move(entries));
    }
};

}  // namespace detail

/// A layer (linear or full) whose matrices are of kind `To`.
template <class To, template <class> class Layer, class From>
Layer<To> convert_layer(const Layer<From>& w) {
    return detail::map_layer<To>(w, [](const From& from) { return convert_matrix<To>(from); }, detail::keep{});
}

/// A layer (linear or full) all of whose weights are bf16 numbers.
template <template <class> class Layer, class Matrix>
Layer<Matrix> round_weights(const Layer<Matrix>& w) {
    return detail::map_layer<Matrix>(w, detail::to_bf16{}, detail::to_bf16{});
}

}  // namespace qwengpu::nn
