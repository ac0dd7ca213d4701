// SPDX-License-Identifier: MIT
// The tensors of the front layers inside a graft: shut for ordinary text, the first with a head that pushes tokens on the
// wrong side of the direction across, the last with the next token's code made so large that the base cannot hide it.
#pragma once

#include <qwengpu/checkpoint/export_model.hpp>
#include <qwengpu/checkpoint/graft_shut.hpp>

#include <algorithm>
#include <cmath>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace qwengpu::checkpoint {

/// How the first layer pushes: residual -= reach * (direction . h) * direction where that product is negative.
struct pusher {
    int head = -1;      ///< a head that the front leaves free
    double reach = 0;   ///< more than the rms of every token that must be pushed
};

/// What the last layer's additions to a code channel are multiplied by. [channels of the front]
using amplifier = std::vector<float>;

/// The first head of a layer that nothing uses. @throws error "checkpoint.graft" if there is none.
inline int free_head(const nn::linear_layer_weights<nn::sparse_matrix>& w, const nn::shape& s) {
    std::vector<bool> used(static_cast<std::size_t>(s.heads), false);
    w.mixer.in_proj_qkv.for_each([&](int row, int, float) { used[static_cast<std::size_t>(row < 2 * s.key_channels() ? row % s.key_channels() / s.key_dim : (row - 2 * s.key_channels()) / s.value_dim)] = true; });
    const auto at = std::find(used.begin(), used.end(), false);
    if (at == used.end()) throw error("checkpoint.graft", "the first layer leaves no head free, which a graft needs");
    return static_cast<int>(at - used.begin());
}

namespace detail {

class graft_planner {
public:
    graft_planner(const front_model& m, std::shared_ptr<const shutter> shut, pusher push, amplifier loud, element_type type)
        : m_(m), shut_(std::move(shut)), push_(push), loud_(std::move(loud)), type_(type) {}

    [[nodiscard]] std::vector<planned_tensor> layer(int which, const std::string& at) const {
        const auto& w = m_.layers[static_cast<std::size_t>(which)];
        const auto& x = w.mixer;
        const bool first = which == 0, last = which + 1 == static_cast<int>(m_.layers.size());
        const auto mixer = at + "linear_attn.";
        return {plan_vector(at + "input_layernorm.weight", type_, moved_norm(w.input_norm, shut_->map)),
                plan_vector(at + "post_attention_layernorm.weight", type_, moved_norm(w.post_norm, shut_->map)),
                plan_shut(mixer + "in_proj_qkv.weight", type_, x.in_proj_qkv, shut_, [keys = m_.shape.key_channels(), first](int row) { return side_of_qkv(row, keys, first); }, first ? qkv_of_push() : row_filler{}),
                plan_shut(mixer + "in_proj_z.weight", type_, x.in_proj_z, shut_, [](int) { return -1; }, first ? push_row(push_.head * m_.shape.value_dim, push_scale()) : row_filler{}),
                // The first layer has tokens on both sides: there keys and outputs are shut on one, beta and queries on the other.
                plan_shut(mixer + "in_proj_b.weight", type_, x.in_proj_b, shut_, [first](int) { return first ? 1 : -1; }, first ? push_row(push_.head, push_scale()) : row_filler{}),
                plan_shut(mixer + "in_proj_a.weight", type_, x.in_proj_a, shut_, [](int) { return -1; }),
                plan_taps(mixer + "conv1d.weight", type_, x.conv), plan_vector(mixer + "dt_bias", type_, x.dt_bias), plan_vector(mixer + "A_log", element_type::f32, x.a_log),
                plan_vector(mixer + "norm.weight", element_type::f32, x.norm),
                plan_moved(mixer + "out_proj.weight", type_, x.out_proj, shut_->map, {}, first ? out_of_push() : row_filler{}),
                plan_shut(at + "mlp.gate_proj.weight", type_, w.mlp.gate, shut_, [](int) { return -1; }),
                plan_shut(at + "mlp.up_proj.weight", type_, w.mlp.up, shut_, [](int) { return 0; }),
                plan_moved(at + "mlp.down_proj.weight", type_, w.mlp.down, shut_->map, last ? amplify() : entry_change{})};
    }

private:
    using row_filler = std::function<void(int, std::span<float>)>;
    using entry_change = std::function<float(int, float)>;

    [[nodiscard]] static int side_of_qkv(int row, int keys, bool first) {
        if (row < keys) return first ? 1 : -1;
        return row < 2 * keys ? -1 : 0;
    }

    [[nodiscard]] double push_scale() const { return outweighing(*shut_, 0); }

    /// Writes -scale * direction into one row.
    [[nodiscard]] row_filler push_row(int which, double scale) const {
        return [shut = shut_, which, scale](int row, std::span<float> out) {
            if (row != which) return;
            for (std::size_t i = 0; i < shut->map.free.size(); ++i) out[static_cast<std::size_t>(shut->map.free[i])] = static_cast<float>(-scale) * shut->direction[static_cast<Eigen::Index>(i)];
        };
    }

    [[nodiscard]] row_filler qkv_of_push() const {
        const auto& s = m_.shape;
        const int key = push_.head * s.key_dim, value = 2 * s.key_channels() + push_.head * s.value_dim;
        return [q = push_row(key, push_scale()), k = push_row(s.key_channels() + key, push_scale()), v = push_row(value, push_scale())](int row, std::span<float> out) {
            q(row, out);
            k(row, out);
            v(row, out);
        };
    }

    /// A single value channel leaves the gated norm as sqrt(value_dim) silu(z).
    [[nodiscard]] row_filler out_of_push() const {
        const double scale = push_.reach / (std::sqrt(static_cast<double>(m_.shape.value_dim)) * push_scale());
        std::vector<float> of_channel(static_cast<std::size_t>(m_.shape.hidden), 0.0F);
        for (std::size_t i = 0; i < shut_->map.free.size(); ++i) of_channel[static_cast<std::size_t>(shut_->map.free[i])] = static_cast<float>(scale) * shut_->direction[static_cast<Eigen::Index>(i)];
        return [of_channel, column = static_cast<std::size_t>(push_.head * m_.shape.value_dim)](int row, std::span<float> out) { out[column] += of_channel[static_cast<std::size_t>(row)]; };
    }

    [[nodiscard]] entry_change amplify() const {
        return [loud = loud_](int channel, float value) { return value > 0 ? value * loud[static_cast<std::size_t>(channel)] : value; };
    }

    const front_model& m_;
    std::shared_ptr<const shutter> shut_;
    pusher push_;
    amplifier loud_;
    element_type type_;
};

}  // namespace detail

}  // namespace qwengpu::checkpoint
