// SPDX-License-Identifier: MIT
// The Eigen types the room uses. Weights are [out, in] row by row, as checkpoints store them; activations are
// [channels, tokens] column by column, so a token's channels lie together.
#pragma once

#include <Eigen/Core>

namespace qwengpu::nn {

using dense_matrix = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using vector = Eigen::VectorXf;
using tokens = Eigen::MatrixXf;  ///< [channels, tokens]

using vector_ref = Eigen::Ref<vector>;
using const_vector_ref = Eigen::Ref<const vector>;
using tokens_ref = Eigen::Ref<tokens>;
using const_tokens_ref = Eigen::Ref<const tokens>;

}  // namespace qwengpu::nn
