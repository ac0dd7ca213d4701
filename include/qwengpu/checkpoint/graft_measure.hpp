// SPDX-License-Identifier: MIT
// Ordinary tokens run through the front layers of a graft as they are on disk, as one text, and what has become of their rows.
// A layer at a time is in memory.
#pragma once

#include <qwengpu/checkpoint/config.hpp>
#include <qwengpu/checkpoint/layer_tensors.hpp>
#include <qwengpu/checkpoint/tensor_source.hpp>
#include <qwengpu/nn/sparse_model.hpp>

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace qwengpu::checkpoint {

/// What was measured on some tokens.
struct measured_tokens {
    std::int64_t tokens = 0, exact = 0;  ///< run; left as they were, to the bit
    double largest_deviation = 0;        ///< of the others: length of the change over that of the row
    int most_deviating = -1;
};

/// Runs `words` through the first `layers` layers of the checkpoint in `folder`; those of full attention must add nothing, and are left out.
/// @throws error "checkpoint.*".
template <nn::rounding R>
measured_tokens measure_pass_through(const std::string& folder, int layers, std::span<const int> words) {
    const auto config = read_config(folder);
    const tensor_source source(folder);
    const auto embedding = source.at(config.prefix() + "embed_tokens.weight");
    nn::tokens before(config.shape.hidden, static_cast<Eigen::Index>(words.size()));
    for (std::size_t i = 0; i < words.size(); ++i) read_row(embedding, static_cast<std::size_t>(words[i]), {before.col(static_cast<Eigen::Index>(i)).data(), static_cast<std::size_t>(config.shape.hidden)});
    before = nn::rounded<R>(before).eval();
    nn::tokens after = before;
    const layer_reader<nn::sparse_matrix> reader(source, config.prefix(), config.shape);
    for (int i = 0; i < layers; ++i) {
        if (config.full_attention[static_cast<std::size_t>(i)]) continue;
        const nn::sparse_model<R> layer({reader.linear(i)}, config.shape);
        auto state = layer.new_state();
        layer.forward(state, after);
    }
    measured_tokens m;
    for (Eigen::Index t = 0; t < after.cols(); ++t, ++m.tokens) {
        if (after.col(t) == before.col(t)) {
            ++m.exact;
            continue;
        }
        const double deviation = static_cast<double>((after.col(t) - before.col(t)).norm() / before.col(t).norm());
        if (!(deviation <= m.largest_deviation)) m.largest_deviation = deviation, m.most_deviating = words[static_cast<std::size_t>(t)];
    }
    return m;
}

/// `count` words spread evenly over a vocabulary.
inline std::vector<int> spread_words(int vocabulary, int count) {
    std::vector<int> words;
    for (std::int64_t i = 0; i < std::min(count, vocabulary); ++i) words.push_back(static_cast<int>(i * vocabulary / std::min(count, vocabulary)));
    return words;
}

}  // namespace qwengpu::checkpoint
