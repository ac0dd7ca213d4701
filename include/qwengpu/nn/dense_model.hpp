// SPDX-License-Identifier: MIT
// Decoder layers on Eigen, in sequence: residuals in, residuals out. Weights are constant and may be shared between
// threads; what a launch carries from token to token is a state of its own, which may be copied.
#pragma once

#include <cstddef>
#include <utility>
#include <variant>
#include <vector>

#include "qwengpu/nn/check.hpp"
#include "qwengpu/nn/decoder_layer.hpp"
#include "qwengpu/nn/observer.hpp"

namespace qwengpu::nn {

/// A layer of either kind.
template <class Matrix>
using layer_weights = std::variant<linear_layer_weights<Matrix>, full_layer_weights<Matrix>>;

/// Layers with the arithmetic of Qwen3.5. Matrix: dense_matrix, bf16_matrix or sparse_matrix.
template <rounding R, class Matrix>
class dense_model {
public:
    using state = std::vector<std::variant<delta_net_state, attention_state>>;

    /// `form`: how many tokens at once go through the Gated DeltaNets; the chunked form is faster, and rounds differently.
    /// @throws error "nn.shape" naming a tensor that does not fit the shape.
    explicit dense_model(std::vector<layer_weights<Matrix>> layers, const shape& s = {}, delta_form form = delta_form::recurrent)
        : shape_(s), form_(form), layers_(std::move(layers)) {
        check_shape(s);
        for (std::size_t i = 0; i < layers_.size(); ++i)
            std::visit([&](const auto& layer) { check_layer(layer, s, static_cast<int>(i)); }, layers_[i]);
    }

    /// The state before the first token.
    [[nodiscard]] state new_state() const {
        state result;
        for (const auto& layer : layers_) result.push_back(std::visit([&](const auto& w) { return empty_state(w); }, layer));
        return result;
    }

    /// Many tokens, layer by layer. residuals: [hidden, tokens], embeddings in, outputs of the last layer out.
    /// Embeddings are rounded to the model's dtype first.
    template <class Observe = no_observer>
    void forward(state& st, tokens_ref residuals, const Observe& observe = {}) const {
        residuals = rounded<R>(residuals);
        for (std::size_t i = 0; i < layers_.size(); ++i) {
            const auto seen = [&](point p, const const_tokens_ref& r) { observe(static_cast<int>(i), p, r); };
            std::visit([&](const auto& layer) { run(layer, st[i], residuals, seen); }, layers_[i]);
        }
    }

    /// One token. residual: [hidden].
    template <class Observe = no_observer>
    void step(state& st, vector& residual, const Observe& observe = {}) const {
        forward(st, residual, observe);
    }

    [[nodiscard]] const shape& model_shape() const { return shape_; }
    [[nodiscard]] int layers() const { return static_cast<int>(layers_.size()); }

private:
    using layer_state = typename state::value_type;

    layer_state empty_state(const linear_layer_weights<Matrix>&) const { return delta_net_state(shape_); }
    layer_state empty_state(const full_layer_weights<Matrix>&) const { return attention_state(shape_); }

    template <class Seen>
    void run(const linear_layer_weights<Matrix>& w, layer_state& st, tokens_ref residuals, const Seen& seen) const {
        decoder_layer<R>(w, shape_, std::get<delta_net_state>(st), residuals, seen, form_);
    }

    template <class Seen>
    void run(const full_layer_weights<Matrix>& w, layer_state& st, tokens_ref residuals, const Seen& seen) const {
        decoder_layer<R>(w, shape_, std::get<attention_state>(st), residuals, seen, form_);
    }

    shape shape_;
    delta_form form_;
    std::vector<layer_weights<Matrix>> layers_;
};

}  // namespace qwengpu::nn
