// SPDX-License-Identifier: MIT
// The sparse engine: linear-attention layers whose cost follows the weights and activations that are not zero. Same
// arithmetic as dense_model; only sums of zeros are left out (so infinities times zero are, too).
// Weights are constant and may be shared between threads; every launch has a state of its own, which may be copied.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "qwengpu/nn/check.hpp"
#include "qwengpu/nn/observer.hpp"
#include "qwengpu/nn/rounding.hpp"
#include "qwengpu/nn/sparse/delta_net.hpp"
#include "qwengpu/nn/sparse/output.hpp"
#include "qwengpu/nn/sparse/swiglu.hpp"
#include "qwengpu/nn/sparse/usual_shut.hpp"

namespace qwengpu::nn {

/// What a launch carries from token to token, and the buffers of a run. Made by sparse_model::new_state.
struct sparse_state {
    std::vector<sparse::delta_net_state> layers;
    sparse::residual residual;
    sparse::inputs inputs;
    sparse::output output;
    sparse::delta_net_scratch mixer{};
    sparse::swiglu_scratch mlp{};

    /// Back to before the first token.
    void clear() {
        for (auto& layer : layers) layer.clear();
    }
};

/// Linear-attention layers in sequence, on sparse weights.
template <rounding R>
class sparse_model {
public:
    using state = sparse_state;

    /// @throws error "nn.shape" naming a tensor that does not fit the shape.
    explicit sparse_model(const std::vector<linear_layer_weights<sparse_matrix>>& layers, const shape& s = {}) : shape_(s) {
        check_shape(s);
        for (std::size_t i = 0; i < layers.size(); ++i) check_layer(layers[i], s, static_cast<int>(i));
        const float m = sparse::usual_shut(layers);
        for (const auto& w : layers)
            layers_.push_back({.mixer = {w.input_norm, w.mixer, s, m}, .mlp = {w.post_norm, w.mlp, m}});
    }

    /// The state before the first token.
    [[nodiscard]] state new_state() const {
        state st{.layers = {},
                 .residual = sparse::residual(shape_.hidden),
                 .inputs = sparse::inputs(shape_.hidden),
                 .output = sparse::output(shape_.hidden)};
        for (const compiled_layer& l : layers_) {
            st.layers.push_back(l.mixer.new_state());
            st.mixer.fit(l.mixer.plan().channels, shape_);
            st.mlp.fit(l.mlp.units());
        }
        return st;
    }

    /// One token. residual: [hidden], the embedding in, the output of the last layer out. The embedding is rounded first.
    template <class Observe = no_observer>
    void step(state& st, vector& residual, const Observe& observe = {}) const {
        st.residual.load<R>(residual);
        for (std::size_t i = 0; i < layers_.size(); ++i)
            run_layer(i, st, st.residual, [&](point p) { observe(static_cast<int>(i), p, st.residual.view()); });
        residual = st.residual.view();
    }

    /// Many tokens, layer by layer, so that a layer's weights stay at hand. residuals: [hidden, tokens].
    void forward(state& st, tokens_ref residuals) const {
        constexpr Eigen::Index at_once = 32;
        std::vector<sparse::residual> chunk(static_cast<std::size_t>(at_once), sparse::residual(shape_.hidden));
        for (Eigen::Index first = 0; first < residuals.cols(); first += at_once)
            forward_chunk(st, residuals.middleCols(first, std::min(at_once, residuals.cols() - first)), chunk);
    }

    /// The memory of a head, [key_dim, value_dim]: `head` counts the model's value heads. Zero for a head that is not run.
    [[nodiscard]] dense_matrix memory(const state& st, int layer, int head) const {
        dense_matrix result = dense_matrix::Zero(shape_.key_dim, shape_.value_dim);
        if (const int planned = planned_head(layer, head); planned >= 0)
            for (int key = 0; key < shape_.key_dim; ++key)
                if (const float* row = st.layers[static_cast<std::size_t>(layer)].memory.find(planned, key))
                    result.row(key) = Eigen::Map<const Eigen::RowVectorXf>(row, shape_.value_dim);
        return result;
    }

    /// Sets one entry of a head's memory. Returns false for a head that is not run.
    bool set_memory(state& st, int layer, int head, int key, int value, float entry) const {
        const int planned = planned_head(layer, head);
        if (planned >= 0) st.layers[static_cast<std::size_t>(layer)].memory.make(planned, key)[value] = entry;
        return planned >= 0;
    }

    [[nodiscard]] const shape& model_shape() const { return shape_; }
    [[nodiscard]] int layers() const { return static_cast<int>(layers_.size()); }
    /// Value heads and units of a layer that are run at all.
    [[nodiscard]] int live_heads(int layer) const { return layers_[static_cast<std::size_t>(layer)].mixer.heads(); }
    [[nodiscard]] int live_units(int layer) const { return layers_[static_cast<std::size_t>(layer)].mlp.units(); }

private:
    struct compiled_layer {
        sparse::delta_net mixer;
        sparse::swiglu mlp;
    };

    template <class Seen>
    void run_layer(std::size_t index, state& st, sparse::residual& r, const Seen& seen) const {
        const compiled_layer& l = layers_[index];
        if (l.mixer.heads() > 0) {
            st.inputs.norm<R>(r, l.mixer.norm(), shape_.eps());
            l.mixer.template run<R>(st.inputs, st.layers[index], st.mixer, st.output);
            r.add<R>(st.output);
        }
        seen(point::after_mixer);
        if (l.mlp.units() > 0) {
            st.inputs.norm<R>(r, l.mlp.norm(), shape_.eps());
            l.mlp.template run<R>(st.inputs, st.mlp, st.output);
            r.add<R>(st.output);
        }
        seen(point::after_mlp);
    }

    void forward_chunk(state& st, tokens_ref residuals, std::vector<sparse::residual>& chunk) const {
        const auto count = static_cast<std::size_t>(residuals.cols());
        for (std::size_t t = 0; t < count; ++t) chunk[t].load<R>(residuals.col(static_cast<Eigen::Index>(t)));
        for (std::size_t i = 0; i < layers_.size(); ++i)
            for (std::size_t t = 0; t < count; ++t) run_layer(i, st, chunk[t], [](point) {});
        for (std::size_t t = 0; t < count; ++t) residuals.col(static_cast<Eigen::Index>(t)) = chunk[t].view();
    }

    [[nodiscard]] int planned_head(int layer, int head) const {
        const auto& heads = layers_[static_cast<std::size_t>(layer)].mixer.plan().heads;
        const auto it = std::find_if(heads.begin(), heads.end(), [&](const auto& h) { return h.number == head; });
        return it == heads.end() ? -1 : static_cast<int>(it - heads.begin());
    }

    shape shape_;
    std::vector<compiled_layer> layers_;
};

}  // namespace qwengpu::nn
