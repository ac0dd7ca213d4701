// SPDX-License-Identifier: MIT
// Depthwise causal convolution over the last few tokens, then SiLU. No bias; zeros before the first token.
#pragma once

#include "qwengpu/nn/activation.hpp"
#include "qwengpu/nn/matrix.hpp"
#include "qwengpu/nn/rounding.hpp"

namespace qwengpu::nn {

/// silu(sum over j of taps[:, j] * x[:, t - (taps - 1) + j]) for every token t of x: [channels, tokens].
/// `history`: [channels, taps - 1], the inputs before the first token, oldest first; leaves as those before the next one.
template <rounding R>
tokens causal_conv(const Eigen::MatrixXf& taps, Eigen::MatrixXf& history, const const_tokens_ref& x) {
    Eigen::MatrixXf inputs(x.rows(), history.cols() + x.cols());
    inputs << history, x;
    tokens y = tokens::Zero(x.rows(), x.cols());
    for (Eigen::Index tap = 0; tap < taps.cols(); ++tap)
        y.array() += inputs.middleCols(tap, x.cols()).array().colwise() * taps.col(tap).array();
    history = inputs.rightCols(history.cols());
    return rounded<R>(rounded<R>(y).unaryExpr(&silu));
}

}  // namespace qwengpu::nn
