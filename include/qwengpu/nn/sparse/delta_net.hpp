// SPDX-License-Identifier: MIT
// Gated DeltaNet of the sparse engine, one token at a time. A memory is touched only in the rows that a key or a query names;
// z and out_proj only where something was read.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

#include "qwengpu/nn/activation.hpp"
#include "qwengpu/nn/sparse/convolution.hpp"
#include "qwengpu/nn/sparse/delta_net_plan.hpp"
#include "qwengpu/nn/sparse/packed.hpp"
#include "qwengpu/nn/sparse/residual.hpp"
#include "qwengpu/nn/sparse/row_memory.hpp"

namespace qwengpu::nn::sparse {

/// What a layer carries from token to token.
struct delta_net_state {
    row_memory memory;  ///< heads by their number in the plan
    convolution_state conv;

    void clear() {
        memory.clear();
        conv.clear();
    }
};

/// Buffers of a run.
struct delta_net_scratch {
    aligned_floats channels;                      ///< of the plan; zero between runs
    aligned_floats held, correction, read;        ///< [padded(value_dim)]
    std::vector<std::pair<int, float>> key{}, query{};  ///< what is not zero of a unit vector
};

/// The compiled sublayer.
class delta_net {
public:
    delta_net(const vector& norm, const delta_net_weights<sparse_matrix>& w, const shape& s)
        : shape_(s), norm_(norm), plan_(plan_delta_net(w, s, norm_)), conv_(w.conv, plan_.place, plan_.convolved),
          head_norm_(w.norm.data(), w.norm.data() + w.norm.size()) {
        pack_inputs(w);
        pack_outputs(w);
        for (const planned_head& head : plan_.heads) {
            const float a_log = w.a_log(head.number), dt_bias = w.dt_bias(head.number);
            decays_.push_back({-std::exp(a_log), dt_bias, std::exp(-std::exp(a_log) * softplus(dt_bias))});
        }
    }

    [[nodiscard]] int heads() const { return static_cast<int>(plan_.heads.size()); }
    [[nodiscard]] int channels() const { return plan_.channels; }
    [[nodiscard]] const delta_net_plan& plan() const { return plan_; }
    [[nodiscard]] const norm_gains& norm() const { return norm_; }

    [[nodiscard]] delta_net_state new_state() const {
        return {.memory = row_memory(heads(), shape_.key_dim, padded(shape_.value_dim)), .conv = conv_.new_state()};
    }

    /// Adds the sublayer's output to `out`: [hidden]. Returns the blocks of `out` that were reached.
    template <rounding R>
    std::uint64_t run(const inputs& h, delta_net_state& state, delta_net_scratch& s, float* out) const {
        float* x = s.channels.data();
        for (const int i : h.active()) in_.add(i, h[i], x);
        conv_.run<R>(x, state.conv);
        std::uint64_t reached = 0;
        for (const planned_key_head& group : plan_.key_heads) {
            unit_vector(x + group.k, 1.0F, s.key);
            unit_vector(x + group.q, 1.0F / std::sqrt(static_cast<float>(shape_.key_dim)), s.query);
            for (int head = group.first; head < group.last; ++head) {
                const planned_head& planned = plan_.heads[static_cast<std::size_t>(head)];
                state.memory.scale(head, decay(head, R::round(x[planned.a])));
                if (!s.key.empty()) write(head, x + planned.v, R::round(sigmoid(R::round(x[planned.b]))), state.memory, s);
                if (!s.query.empty()) reached |= read<R>(head, state.memory, h, s, out);
            }
        }
        std::fill_n(x, plan_.channels, 0.0F);
        return reached;
    }

private:
    struct decay_weights {
        float rate, dt_bias;  ///< log of the decay = rate * softplus(a + dt_bias)
        float resting;        ///< the decay when a = 0
    };

    [[nodiscard]] float decay(int head, float a) const {
        const decay_weights& w = decays_[static_cast<std::size_t>(head)];
        return a == 0 ? w.resting : std::exp(w.rate * softplus(a + w.dt_bias));
    }

    /// x / |x| * scale, x: [key_dim].
    void unit_vector(const float* x, float scale, std::vector<std::pair<int, float>>& unit) const {
        unit.clear();
        double sum = 0;
        for (int first = 0; first < shape_.key_dim; first += block_width)
            for_each_bit(nonzero(x + first), [&](int bit) {
                unit.emplace_back(first + bit, x[first + bit]);
                sum += static_cast<double>(x[first + bit]) * static_cast<double>(x[first + bit]);
            });
        const float factor = inverse_length(sum);
        for (auto& [key, value] : unit) value = value * factor * scale;
    }

    /// S += k (beta (v - S^T k))^T.
    void write(int head, const float* v, float beta, row_memory& memory, delta_net_scratch& s) const {
        const int width = padded(shape_.value_dim);
        std::fill_n(s.held.data(), width, 0.0F);
        for (const auto& [key, k] : s.key)
            if (const float* row = memory.find(head, key)) add_scaled(s.held.data(), row, k, width);
        for (int i = 0; i < width; ++i) s.correction.data()[i] = beta * (v[i] - s.held.data()[i]);
        if (is_zero(s.correction.data(), width)) return;
        for (const auto& [key, k] : s.key) add_scaled(memory.make(head, key), s.correction.data(), k, width);
    }

    /// o = S^T q, then norm, gate and output projection.
    template <rounding R>
    std::uint64_t read(int head, const row_memory& memory, const inputs& h, delta_net_scratch& s, float* out) const {
        const int width = padded(shape_.value_dim);
        float* o = s.read.data();
        std::fill_n(o, width, 0.0F);
        for (const auto& [key, q] : s.query)
            if (const float* row = memory.find(head, key)) add_scaled(o, row, q, width);
        double sum = 0;
        for (int i = 0; i < width; ++i) o[i] = R::round(o[i]);
        for (int first = 0; first < width; first += block_width) sum += sum_of_squares(o + first);
        if (sum == 0) return 0;
        const float scale = inverse_rms(sum, shape_.value_dim, shape_.eps());
        std::uint64_t reached = 0;
        for (int first = 0; first < width; first += block_width)
            for_each_bit(nonzero(o + first), [&](int bit) {
                const int channel = first + bit;
                const int output = head * shape_.value_dim + channel;
                const float normed = R::round(R::round(o[channel] * scale) * head_norm_[static_cast<std::size_t>(channel)]);
                const float value = R::round(normed * silu(R::round(z_.dot(output, h.values()))));
                if (value == 0) return;
                out_.add(output, value, out);
                reached |= out_.reach(output);
            });
        return reached;
    }

    static bool is_zero(const float* x, int width) {
        for (int first = 0; first < width; first += block_width)
            if (nonzero(x + first) != 0) return false;
        return true;
    }

    /// Value channels of the heads that are run, in the order of the plan.
    [[nodiscard]] renumbering value_channels() const {
        std::vector<bool> run(static_cast<std::size_t>(shape_.value_heads));
        for (const planned_head& head : plan_.heads) run[static_cast<std::size_t>(head.number)] = true;
        return {shape_.value_channels(), [&](std::size_t i) { return run[i / static_cast<std::size_t>(shape_.value_dim)]; }};
    }

    void pack_inputs(const delta_net_weights<sparse_matrix>& w) {
        std::vector<triplet> entries;
        const auto take = [&](int place, int col, float value) {
            if (place < 0 || !norm_.passes(col)) return;
            entries.push_back({place, col, value});
            norm_.mark_read(col);
        };
        std::vector<int> b(static_cast<std::size_t>(shape_.value_heads), -1), a = b;
        for (const planned_head& head : plan_.heads) {
            b[static_cast<std::size_t>(head.number)] = head.b;
            a[static_cast<std::size_t>(head.number)] = head.a;
        }
        for (const triplet& t : plan_.qkv) take(plan_.place[static_cast<std::size_t>(t.row)], t.col, t.value);
        w.in_proj_b.for_each([&](int row, int col, float value) { take(b[static_cast<std::size_t>(row)], col, value); });
        w.in_proj_a.for_each([&](int row, int col, float value) { take(a[static_cast<std::size_t>(row)], col, value); });
        in_ = packed_columns(shape_.hidden, std::move(entries));
    }

    void pack_outputs(const delta_net_weights<sparse_matrix>& w) {
        const renumbering kept = value_channels();
        const auto passes = [&](const triplet& t) { return norm_.passes(t.col); };
        auto z = kept.apply(entries_if(w.in_proj_z, passes), &triplet::row);
        for (const triplet& t : z) norm_.mark_read(t.col);
        z_ = packed_rows(kept.count(), std::move(z));
        out_ = packed_columns(kept.count(), kept.apply(w.out_proj.triplets(), &triplet::col));
    }

    shape shape_;
    norm_gains norm_;
    delta_net_plan plan_;
    convolution conv_;
    std::vector<float> head_norm_;  ///< [value_dim]
    packed_columns in_, out_;
    packed_rows z_;
    std::vector<decay_weights> decays_;
};

}  // namespace qwengpu::nn::sparse
