// SPDX-License-Identifier: MIT
// The end of a model: final norm and head, which turn a residual into logits.
// With tied weights the head is the embedding matrix.
#pragma once

#include <algorithm>

#include "qwengpu/nn/product.hpp"
#include "qwengpu/nn/rms_norm.hpp"

namespace qwengpu::nn {

/// The residual after the last layer, normed. residual: [hidden, tokens], weight: [hidden], centred on zero.
template <rounding R>
tokens final_norm(const const_tokens_ref& residual, const const_vector_ref& weight, float eps) {
    return rms_norm<R>(residual, weight, eps);
}

/// Logits [vocabulary, tokens] of normed residuals [hidden, tokens]; head: [vocabulary, hidden].
template <rounding R, class Matrix>
tokens logits(const Matrix& head, const const_tokens_ref& normed) {
    return project<R>(head, normed);
}

/// The token with the largest logit, the first of equals.
inline int argmax(const const_vector_ref& logits) {
    const float* first = logits.data();
    return static_cast<int>(std::max_element(first, first + logits.size()) - first);
}

}  // namespace qwengpu::nn
