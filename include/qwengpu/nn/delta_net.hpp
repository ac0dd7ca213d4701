// SPDX-License-Identifier: MIT
// The Gated DeltaNet sublayer on Eigen, for one token or many. Value head i reads and writes with key head
// i / (value_heads / heads).
#pragma once

#include <cmath>
#include <cstddef>
#include <vector>

#include "qwengpu/nn/causal_conv.hpp"
#include "qwengpu/nn/chunked_delta_rule.hpp"
#include "qwengpu/nn/delta_rule.hpp"
#include "qwengpu/nn/product.hpp"
#include "qwengpu/nn/rms_norm.hpp"
#include "qwengpu/nn/weights.hpp"

namespace qwengpu::nn {

/// What a Gated DeltaNet carries from token to token.
struct delta_net_state {
    Eigen::MatrixXf conv;             ///< [qkv_channels, taps - 1], inputs of the convolution, oldest first
    std::vector<dense_matrix> heads;  ///< one memory [key_dim, value_dim] per value head

    delta_net_state() = default;
    explicit delta_net_state(const shape& s)
        : conv(Eigen::MatrixXf::Zero(s.qkv_channels(), s.conv - 1)),
          heads(static_cast<std::size_t>(s.value_heads), dense_matrix::Zero(s.key_dim, s.value_dim)) {}
};

/// How a run of tokens goes through the delta rule.
enum class delta_form { recurrent, chunked };

namespace detail {

inline tokens unit_columns(const const_tokens_ref& x) {
    tokens y = x;
    for (auto column : y.colwise()) column *= inverse_length(sum_of_squares(column));
    return y;
}

/// log of the decay, -exp(a_log) softplus(a + dt_bias), for one head. a: [tokens].
inline vector log_decay(const Eigen::Ref<const Eigen::RowVectorXf, 0, Eigen::InnerStride<>>& a, float a_log, float dt_bias) {
    return (-std::exp(a_log) * (a.array() + dt_bias).unaryExpr(&softplus)).matrix().transpose();
}

}  // namespace detail

/// h: [hidden, tokens], normed. Returns what is added to the residual, [hidden, tokens].
template <rounding R, class Matrix>
tokens gated_delta_net(const delta_net_weights<Matrix>& w, const shape& s, delta_net_state& state,
                       const const_tokens_ref& h, delta_form form = delta_form::recurrent) {
    const tokens qkv = causal_conv<R>(w.conv, state.conv, project<R>(w.in_proj_qkv, h));
    const tokens z = project<R>(w.in_proj_z, h);
    const tokens b = project<R>(w.in_proj_b, h);
    const tokens a = project<R>(w.in_proj_a, h);
    const tokens beta = rounded<R>(b.unaryExpr(&sigmoid));
    const float query_scale = 1.0F / std::sqrt(static_cast<float>(s.key_dim));

    tokens out(s.value_channels(), h.cols());
    for (int head = 0; head < s.value_heads; ++head) {
        const int key_row = head / (s.value_heads / s.heads) * s.key_dim;
        const int value_row = head * s.value_dim;
        dense_matrix& memory = state.heads[static_cast<std::size_t>(head)];
        const head_inputs in{.q = detail::unit_columns(qkv.middleRows(key_row, s.key_dim)) * query_scale,
                             .k = detail::unit_columns(qkv.middleRows(s.key_channels() + key_row, s.key_dim)),
                             .v = qkv.middleRows(2 * s.key_channels() + value_row, s.value_dim),
                             .beta = beta.row(head),
                             .log_decay = detail::log_decay(a.row(head), w.a_log(head), w.dt_bias(head))};
        const tokens o = rounded<R>(form == delta_form::chunked ? chunked_delta_rule(memory, in)
                                                                : recurrent_delta_rule(memory, in));
        for (Eigen::Index t = 0; t < h.cols(); ++t)
            out.col(t).segment(value_row, s.value_dim) =
                gated_rms_norm<R>(o.col(t), z.col(t).segment(value_row, s.value_dim), w.norm, s.eps());
    }
    return project<R>(w.out_proj, out);
}

}  // namespace qwengpu::nn
