// SPDX-License-Identifier: MIT
// RMSNorm, plain (weight centred on zero) and gated (per head of a Gated DeltaNet), and the L2 norm of keys and queries.
// Squares are summed in double, so a result does not depend on the order of the sum.
#pragma once

#include <cmath>

#include "qwengpu/nn/activation.hpp"
#include "qwengpu/nn/matrix.hpp"
#include "qwengpu/nn/rounding.hpp"

namespace qwengpu::nn {

/// Sum of squares of a vector.
template <class Expression>
double sum_of_squares(const Eigen::MatrixBase<Expression>& x) {
    return x.template cast<double>().squaredNorm();
}

/// 1 / sqrt(mean + eps), where the mean is that of n squares with the given sum.
inline float inverse_rms(double sum, Eigen::Index n, float eps) {
    return 1.0F / std::sqrt(static_cast<float>(sum / static_cast<double>(n)) + eps);
}

/// 1 / sqrt(sum + 1e-6): turns keys and queries into unit vectors; the constant belongs to the model, not to its config.
inline float inverse_length(double sum) { return 1.0F / std::sqrt(static_cast<float>(sum) + 1e-6F); }

/// x / rms(x) * (1 + weight) for every token. x: [channels, tokens], weight: [channels].
template <rounding R>
tokens rms_norm(const const_tokens_ref& x, const const_vector_ref& weight, float eps) {
    tokens y(x.rows(), x.cols());
    for (Eigen::Index token = 0; token < x.cols(); ++token) {
        const float scale = inverse_rms(sum_of_squares(x.col(token)), x.rows(), eps);
        y.col(token) = rounded<R>((x.col(token) * scale).cwiseProduct((weight.array() + 1.0F).matrix()));
    }
    return y;
}

/// o / rms(o) * weight * silu(z) for one head and token, all [value_dim]. Rounded after each of the three steps.
template <rounding R>
vector gated_rms_norm(const const_vector_ref& o, const const_vector_ref& z, const const_vector_ref& weight, float eps) {
    const float scale = inverse_rms(sum_of_squares(o), o.size(), eps);
    const vector normed = rounded<R>(o * scale);
    const vector weighted = rounded<R>(normed.cwiseProduct(weight));
    return rounded<R>(weighted.cwiseProduct(z.unaryExpr(&silu)));
}

}  // namespace qwengpu::nn
