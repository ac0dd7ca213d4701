// SPDX-License-Identifier: MIT
// y = W x for the three kinds of matrices. x is [in, tokens] and y [out, tokens]; sums are float32 and not rounded further.
#pragma once

#include <algorithm>

#include "qwengpu/nn/bf16_matrix.hpp"
#include "qwengpu/nn/matrix.hpp"
#include "qwengpu/nn/rounding.hpp"
#include "qwengpu/nn/sparse_matrix.hpp"

namespace qwengpu::nn {

inline tokens multiply(const dense_matrix& w, const const_tokens_ref& x) {
    if (x.cols() == 1) return w * x.col(0);
    return w * x;
}

inline tokens multiply(const bf16_matrix& w, const const_tokens_ref& x) {
    constexpr int panel_rows = 32;
    tokens y(w.rows(), x.cols());
    dense_matrix panel;
    for (int row = 0; row < w.rows(); row += panel_rows) {
        panel.resize(std::min(panel_rows, w.rows() - row), w.cols());
        w.copy_rows(row, panel);
        y.middleRows(row, panel.rows()) = multiply(panel, x);
    }
    return y;
}

/// Inputs that are zero cost nothing but the look.
inline tokens multiply(const sparse_matrix& w, const const_tokens_ref& x) {
    tokens y = tokens::Zero(w.rows(), x.cols());
    for (Eigen::Index token = 0; token < x.cols(); ++token)
        for (int col = 0; col < w.cols(); ++col) {
            const float input = x(col, token);
            if (input == 0) continue;
            const auto rows = w.column_rows(col);
            const auto values = w.column_values(col);
            for (std::size_t i = 0; i < rows.size(); ++i) y(rows[i], token) += values[i] * input;
        }
    return y;
}

/// W x, rounded as a matrix product of the model is.
template <rounding R, class Matrix>
tokens project(const Matrix& w, const const_tokens_ref& x) {
    return rounded<R>(multiply(w, x));
}

}  // namespace qwengpu::nn
