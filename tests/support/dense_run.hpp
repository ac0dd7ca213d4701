// SPDX-License-Identifier: MIT
// Launches on the dense engine, with every weight of the full shape multiplied: many tokens at once, layer by layer, so that
// one dense layer at a time is in memory, and the whole head in blocks of rows.
#pragma once

#include <qwengpu/nn/convert.hpp>
#include <qwengpu/nn/dense_model.hpp>
#include <qwengpu/nn/head.hpp>
#include <qwengpu/stage/compiled_layers.hpp>
#include <qwengpu/text/vocabulary.hpp>

#include <algorithm>
#include <cstddef>
#include <span>
#include <vector>

namespace qwengpu::test {

/// A sequence of tokens: the prompt of a launch and what was written after it, up to the token before `end`.
struct sequence {
    std::vector<text::token> tokens;
    std::size_t prompt = 0;  ///< how many of them are the prompt; what follows the last of these is the first that was written

    /// Columns whose next token the model chooses.
    [[nodiscard]] Eigen::Index chosen() const { return static_cast<Eigen::Index>(tokens.size() - prompt + 1); }
};

template <machine::sizes M>
nn::tokens embeddings(const stage::compiled_layers<M>& compiled, const std::vector<text::token>& tokens) {
    nn::tokens all(compiled.shape().hidden, static_cast<Eigen::Index>(tokens.size()));
    for (std::size_t i = 0; i < tokens.size(); ++i) all.col(static_cast<Eigen::Index>(i)) = compiled.code().row(tokens[i]);
    return all;
}

/// Residuals of the sequences after the last layer, [hidden, tokens] each. Every layer is made dense once.
template <nn::rounding R, machine::sizes M>
std::vector<nn::tokens> dense_residuals(const stage::compiled_layers<M>& compiled, const std::vector<sequence>& sequences) {
    std::vector<nn::tokens> residuals;
    for (const auto& s : sequences) residuals.push_back(embeddings(compiled, s.tokens));
    for (const auto& sparse : compiled.layers()) {
        std::vector<nn::layer_weights<nn::dense_matrix>> layer;
        layer.emplace_back(nn::convert_layer<nn::dense_matrix>(sparse));
        const nn::dense_model<R, nn::dense_matrix> model(std::move(layer), compiled.shape());
        for (auto& r : residuals) {
            auto state = model.new_state();
            model.forward(state, r);
        }
    }
    return residuals;
}

/// The head's choice for every column of normed residuals [hidden, tokens]: the token with the largest product over the embeddings
/// of the whole vocabulary, the first of equals.
template <nn::rounding R, machine::sizes M>
std::vector<text::token> dense_argmax(const stage::compiled_layers<M>& compiled, const nn::tokens& normed) {
    constexpr text::token rows = 2048, all = text::vocabulary<M>::size;
    std::vector<text::token> best(static_cast<std::size_t>(normed.cols()));
    nn::vector most = nn::vector::Constant(normed.cols(), -INFINITY);
    for (text::token first = 0; first < all; first += rows) {
        nn::dense_matrix block(std::min(rows, all - first), normed.rows());
        for (Eigen::Index i = 0; i < block.rows(); ++i) block.row(i) = compiled.code().row(first + static_cast<text::token>(i));
        const nn::tokens logits = nn::logits<R>(block, normed);
        for (Eigen::Index t = 0; t < logits.cols(); ++t) {
            const int at = nn::argmax(logits.col(t));
            if (logits(at, t) <= most(t)) continue;
            most(t) = logits(at, t);
            best[static_cast<std::size_t>(t)] = first + static_cast<text::token>(at);
        }
    }
    return best;
}

/// What the dense engine writes after each token from the last of the prompt on, given the tokens before it.
template <nn::rounding R, machine::sizes M>
std::vector<std::vector<text::token>> dense_choices(const stage::compiled_layers<M>& compiled, const std::vector<sequence>& sequences) {
    std::vector<std::vector<text::token>> chosen;
    auto residuals = dense_residuals<R>(compiled, sequences);
    for (std::size_t i = 0; i < sequences.size(); ++i) {
        const nn::tokens last = residuals[i].rightCols(sequences[i].chosen());
        residuals[i].resize(0, 0);
        chosen.push_back(dense_argmax<R>(compiled, nn::final_norm<R>(last, compiled.code().final_norm(), compiled.shape().eps())));
    }
    return chosen;
}

}  // namespace qwengpu::test
