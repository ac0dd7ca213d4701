// SPDX-License-Identifier: MIT
// The gated full-attention sublayer on Eigen, for one token or many, with a cache of keys and values. Rounds where the
// reference's eager implementation does. Query head i reads key and value head i / (query_heads / kv_heads).
#pragma once

#include <algorithm>
#include <cmath>

#include "qwengpu/nn/activation.hpp"
#include "qwengpu/nn/attention_weights.hpp"
#include "qwengpu/nn/product.hpp"
#include "qwengpu/nn/rms_norm.hpp"
#include "qwengpu/nn/rope.hpp"

namespace qwengpu::nn {

/// Keys (normed and rotated) and values of the tokens so far.
struct attention_state {
    tokens keys, values;      ///< [kv_channels, capacity], the first `length` columns are in use
    Eigen::Index length = 0;  ///< tokens so far, and the position of the next one

    attention_state() = default;
    explicit attention_state(const shape& s) : keys(s.kv_channels(), 0), values(s.kv_channels(), 0) {}

    void append(const const_vector_ref& key, const const_vector_ref& value) {
        if (length == keys.cols()) grow(std::max<Eigen::Index>(16, 2 * length));
        keys.col(length) = key;
        values.col(length) = value;
        ++length;
    }

private:
    void grow(Eigen::Index capacity) {
        keys.conservativeResize(Eigen::NoChange, capacity);
        values.conservativeResize(Eigen::NoChange, capacity);
    }
};

namespace detail {

template <rounding R>
void norm_and_rotate(const const_vector_ref& weight, float eps, const rotation& turn, vector_ref head) {
    head = rms_norm<R>(head, weight, eps);
    rotate<R>(turn, head);
}

template <rounding R>
vector softmax(const vector& scores) {
    const Eigen::ArrayXf e = (scores.array() - scores.maxCoeff()).exp();
    return rounded<R>((e / e.sum()).matrix());
}

/// One query head, q: [head_dim], over all tokens of the cache. Returns [head_dim].
template <rounding R>
vector attend(const attention_state& cache, Eigen::Index first_row, const const_vector_ref& q) {
    const float scale = 1.0F / std::sqrt(static_cast<float>(q.size()));
    const auto keys = cache.keys.block(first_row, 0, q.size(), cache.length);
    const auto values = cache.values.block(first_row, 0, q.size(), cache.length);
    const vector products = rounded<R>(vector(keys.transpose() * q));
    const vector scores = rounded<R>(products * scale);
    return rounded<R>(vector(values * softmax<R>(scores)));
}

}  // namespace detail

/// h: [hidden, tokens], normed. Returns what is added to the residual, [hidden, tokens].
template <rounding R, class Matrix>
tokens gated_attention(const attention_weights<Matrix>& w, const shape& s, attention_state& state, const const_tokens_ref& h) {
    tokens q = project<R>(w.q_proj, h);
    tokens k = project<R>(w.k_proj, h);
    const tokens v = project<R>(w.v_proj, h);
    tokens out(s.query_channels(), h.cols());
    for (Eigen::Index t = 0; t < h.cols(); ++t) {
        const rotation turn = rotation_at<R>(s, state.length);
        for (int head = 0; head < s.kv_heads; ++head)
            detail::norm_and_rotate<R>(w.k_norm, s.eps(), turn, k.col(t).segment(head * s.head_dim, s.head_dim));
        state.append(k.col(t), v.col(t));
        for (int head = 0; head < s.query_heads; ++head) {
            auto query = q.col(t).segment(2 * head * s.head_dim, s.head_dim);
            const auto gate = q.col(t).segment((2 * head + 1) * s.head_dim, s.head_dim);
            detail::norm_and_rotate<R>(w.q_norm, s.eps(), turn, query);
            const int kv_head = head / (s.query_heads / s.kv_heads);
            const vector read = detail::attend<R>(state, kv_head * s.head_dim, query);
            const vector open = rounded<R>(gate.unaryExpr(&sigmoid));
            out.col(t).segment(head * s.head_dim, s.head_dim) = rounded<R>(read.cwiseProduct(open));
        }
    }
    return project<R>(w.o_proj, out);
}

}  // namespace qwengpu::nn
