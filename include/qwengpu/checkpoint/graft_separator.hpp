// SPDX-License-Identifier: MIT
// A direction on which every ordinary token of a base model is meant to be positive, and every token of the machine is
// exactly zero: its channels are none of the machine's. The compiled layers are shut where it is positive (docs/qwen.md).
#pragma once

#include <qwengpu/checkpoint/tensor_source.hpp>
#include <qwengpu/nn/matrix.hpp>
#include <qwengpu/nn/rms_norm.hpp>
#include <qwengpu/nn/rounding.hpp>

#include <algorithm>
#include <cmath>
#include <vector>

namespace qwengpu::checkpoint {

/// Normed embeddings of ordinary tokens on some channels: [channels, tokens], x / rms(x) of the whole row.
struct normed_rows {
    nn::tokens values;
    nn::vector rms;  ///< [tokens], of the rows before; 0 for a row of zeros
};

/// Reads rows [0, count) of an embedding. Rounded as the first layer's norm of weight 0 rounds.
template <nn::rounding R>
normed_rows read_normed(const tensor_view& embedding, int count, const std::vector<int>& channels, float eps) {
    const auto hidden = static_cast<int>(embedding.shape.at(1));
    normed_rows result{nn::tokens(static_cast<Eigen::Index>(channels.size()), count), nn::vector(count)};
    nn::vector x(hidden);
    for (int t = 0; t < count; ++t) {
        read_row(embedding, static_cast<std::size_t>(t), {x.data(), static_cast<std::size_t>(hidden)});
        x = nn::rounded<R>(x).eval();
        const double squares = nn::sum_of_squares(x);
        const float scale = nn::inverse_rms(squares, hidden, eps);
        result.rms[t] = static_cast<float>(std::sqrt(squares / hidden));
        for (std::size_t i = 0; i < channels.size(); ++i) result.values(static_cast<Eigen::Index>(i), t) = R::round(x[channels[i]] * scale);
    }
    return result;
}

struct separator_options {
    int rounds = 40;        ///< passes over the vocabulary
    float margin = 0.25F;   ///< what every token should reach, in units of the direction's length
};

/// A direction of length 1, bf16 numbers: the mean of the tokens first, then moved (averaged perceptron with a margin)
/// towards those that fall short. With the same rows it is the same direction. rows: [channels, tokens].
inline nn::vector find_separator(const nn::tokens& rows, const separator_options& options = {}) {
    nn::vector w = rows.rowwise().mean();
    if (w.norm() == 0) w.setOnes();
    w.normalize();
    nn::vector sum = w, best = w;
    const auto wrong = [&](const nn::vector& v) { return ((v.transpose() * rows).array() < options.margin * v.norm()).count(); };
    auto fewest = wrong(w);
    for (int round = 0; round < options.rounds && fewest > 0; ++round) {
        const nn::vector scores = (w.transpose() * rows).transpose();
        const float least = options.margin * 2 * w.norm();
        nn::vector step = nn::vector::Zero(w.size());
        Eigen::Index moved = 0;
        for (Eigen::Index t = 0; t < rows.cols(); ++t)
            if (scores[t] < least) step += rows.col(t), ++moved;
        if (moved == 0) break;
        w += step * (0.5F * w.norm() / std::max(step.norm(), 1e-20F)) / std::sqrt(1.0F + static_cast<float>(round));
        sum += w / w.norm();
        for (const auto& candidate : {w, sum})
            if (const auto n = wrong(candidate); n < fewest) fewest = n, best = candidate;
    }
    best.normalize();
    return nn::rounded<nn::bf16>(best);
}

}  // namespace qwengpu::checkpoint
