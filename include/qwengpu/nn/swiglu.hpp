// SPDX-License-Identifier: MIT
// The SwiGLU sublayer on Eigen: down(silu(gate h) * up h), for one token or many.
#pragma once

#include "qwengpu/nn/activation.hpp"
#include "qwengpu/nn/product.hpp"
#include "qwengpu/nn/weights.hpp"

namespace qwengpu::nn {

/// h: [hidden, tokens], normed. Returns what is added to the residual, [hidden, tokens].
template <rounding R, class Matrix>
tokens swiglu(const swiglu_weights<Matrix>& w, const const_tokens_ref& h) {
    const tokens gate = project<R>(w.gate, h);
    const tokens up = project<R>(w.up, h);
    const tokens open = rounded<R>(gate.unaryExpr(&silu));
    const tokens units = rounded<R>(open.cwiseProduct(up));
    return project<R>(w.down, units);
}

}  // namespace qwengpu::nn
