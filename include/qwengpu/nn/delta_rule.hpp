// SPDX-License-Identifier: MIT
// The gated delta rule of one head: a memory S: [key_dim, value_dim] that forgets, corrects what it holds for a key, and
// answers a query; token by token. All float32. Keys and queries are unit vectors (the query scaled by 1/sqrt(key_dim)).
#pragma once

#include <cmath>

#include "qwengpu/nn/matrix.hpp"

namespace qwengpu::nn {

/// What a sequence of tokens asks of a head.
struct head_inputs {
    tokens q, k;       ///< [key_dim, tokens]
    tokens v;          ///< [value_dim, tokens]
    vector beta;       ///< [tokens], strength of the write
    vector log_decay;  ///< [tokens], <= 0
};

/// One token. Returns o: [value_dim]; its own write is visible to it.
inline vector delta_rule_step(dense_matrix& s, const const_vector_ref& q, const const_vector_ref& k,
                              const const_vector_ref& v, float beta, float decay) {
    s *= decay;
    const vector held = s.transpose() * k;
    const vector delta = beta * (v - held);
    s.noalias() += k * delta.transpose();
    return s.transpose() * q;
}

/// Token by token. Returns [value_dim, tokens].
inline tokens recurrent_delta_rule(dense_matrix& s, const head_inputs& in) {
    tokens o(in.v.rows(), in.v.cols());
    for (Eigen::Index t = 0; t < o.cols(); ++t)
        o.col(t) = delta_rule_step(s, in.q.col(t), in.k.col(t), in.v.col(t), in.beta(t), std::exp(in.log_decay(t)));
    return o;
}

}  // namespace qwengpu::nn
