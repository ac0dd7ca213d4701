// SPDX-License-Identifier: MIT
// Gated DeltaNet of the sparse engine, one token at a time. A memory is touched only in the rows that a key or a query
// names; values are made only where something is written, z and out_proj looked at only where something is read.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "qwengpu/nn/activation.hpp"
#include "qwengpu/nn/sparse/convolution.hpp"
#include "qwengpu/nn/sparse/delta_net_plan.hpp"
#include "qwengpu/nn/sparse/delta_net_weights.hpp"
#include "qwengpu/nn/sparse/inputs.hpp"
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

/// An element of a key or a query that is not zero.
struct key_element {
    int key;
    float value;
};

/// Buffers of a run.
struct delta_net_scratch {
    aligned_floats channels{};                    ///< of the plan; zero between runs
    aligned_floats value{}, held{}, read{};       ///< [padded(value_dim)]
    std::vector<key_element> key{}, query{};

    void fit(int plan_channels, int value_dim) {
        channels.resize(std::max(channels.size(), static_cast<std::size_t>(plan_channels)));
        for (aligned_floats* buffer : {&value, &held, &read}) buffer->resize(static_cast<std::size_t>(padded(value_dim)));
    }
};

/// The compiled sublayer.
class delta_net {
public:
    delta_net(const vector& norm, const nn::delta_net_weights<sparse_matrix>& w, const shape& s)
        : shape_(s), norm_(norm), plan_(plan_delta_net(w, s, norm_)), conv_(w.conv, plan_.place, plan_.convolved),
          weights_(pack_delta_net(w, s, plan_, conv_, norm_)) {}

    [[nodiscard]] const delta_net_plan& plan() const { return plan_; }
    [[nodiscard]] const norm_gains& norm() const { return norm_; }
    [[nodiscard]] int heads() const { return static_cast<int>(plan_.heads.size()); }

    [[nodiscard]] delta_net_state new_state() const {
        return {.memory = row_memory(heads(), shape_.key_dim, padded(shape_.value_dim)), .conv = conv_.new_state()};
    }

    /// Adds the sublayer's output to `out`: [hidden]. Returns the blocks of `out` that were reached.
    template <rounding R>
    std::uint64_t run(const inputs& h, delta_net_state& state, delta_net_scratch& s, float* out) const {
        add_product(weights_.in, h, s.channels.data());
        std::uint64_t reached = 0;
        for (const planned_key_head& group : plan_.key_heads) {
            take_unit_vector<R>(group.k, 1.0F, state.conv, s, s.key);
            take_unit_vector<R>(group.q, 1.0F / std::sqrt(static_cast<float>(shape_.key_dim)), state.conv, s, s.query);
            for (int head = group.first; head < group.last; ++head) reached |= run_head<R>(head, h, state, s, out);
        }
        conv_.advance(state.conv);
        std::fill(s.channels.begin() + plan_.convolved, s.channels.begin() + plan_.channels, 0.0F);
        return reached;
    }

private:
    template <rounding R>
    std::uint64_t run_head(int head, const inputs& h, delta_net_state& state, delta_net_scratch& s, float* out) const {
        const planned_head& planned = plan_.heads[static_cast<std::size_t>(head)];
        const float a = R::round(s.channels[static_cast<std::size_t>(planned.a)]);
        state.memory.scale(head, weights_.decays[static_cast<std::size_t>(head)].at(a));
        if (planned.late_values && !s.key.empty()) make_values(planned, h, s.channels.data());
        if (!planned.late_values || !s.key.empty()) take_values<R>(planned.v, state.conv, s);
        if (!s.key.empty()) {
            const float b = R::round(s.channels[static_cast<std::size_t>(planned.b)]);
            write(head, R::round(sigmoid(b)), state.memory, s);
        }
        return s.query.empty() ? 0 : read<R>(head, state.memory, h, s, out);
    }

    /// Convolves and clears a block of channels; calls visit(i, x) for what is not zero after silu.
    template <rounding R, class Visit>
    void take_block(int first, convolution_state& conv, delta_net_scratch& s, Visit&& visit) const {
        float* x = s.channels.data() + first;
        conv_.run_block<R>(first, x, conv);
        for_each_bit(alive(x), [&](int bit) {
            if (const float value = R::round(silu(x[bit])); value != 0) visit(bit, value);
        });
        std::fill_n(x, block_width, 0.0F);
    }

    /// x / |x| * scale for a key or query from channel `first` on.
    template <rounding R>
    void take_unit_vector(int first, float scale, convolution_state& conv, delta_net_scratch& s, std::vector<key_element>& unit) const {
        unit.clear();
        double sum = 0;
        for (int key = 0; key < shape_.key_dim; key += block_width)
            take_block<R>(first + key, conv, s, [&](int bit, float x) {
                unit.push_back({key + bit, x});
                sum += static_cast<double>(x) * static_cast<double>(x);
            });
        const float factor = inverse_length(sum);
        for (key_element& e : unit) e.value = e.value * factor * scale;
    }

    void make_values(const planned_head& head, const inputs& h, float* channels) const {
        for (int i = 0; i < shape_.value_dim; ++i) channels[head.v + i] = weights_.values.dot(head.v + i, h.values());
    }

    template <rounding R>
    void take_values(int first, convolution_state& conv, delta_net_scratch& s) const {
        std::fill(s.value.begin(), s.value.end(), 0.0F);
        for (int i = 0; i < shape_.value_dim; i += block_width)
            take_block<R>(first + i, conv, s, [&](int bit, float x) { s.value[static_cast<std::size_t>(i + bit)] = x; });
    }

    /// S += k (beta (v - S^T k))^T.
    void write(int head, float beta, row_memory& memory, delta_net_scratch& s) const {
        const int width = padded(shape_.value_dim);
        std::fill(s.held.begin(), s.held.end(), 0.0F);
        for (const key_element& e : s.key)
            if (const float* row = memory.find(head, e.key)) add_scaled(s.held.data(), row, e.value, width);
        float* __restrict delta = s.held.data();
        const float* __restrict v = s.value.data();
        for (int i = 0; i < width; ++i) delta[i] = beta * (v[i] - delta[i]);
        if (is_zero(delta, width)) return;
        for (const key_element& e : s.key) add_scaled(memory.make(head, e.key), delta, e.value, width);
    }

    /// o = S^T q, then norm, gate and output projection.
    template <rounding R>
    std::uint64_t read(int head, const row_memory& memory, const inputs& h, delta_net_scratch& s, float* out) const {
        const int width = padded(shape_.value_dim);
        float* o = s.read.data();
        std::fill_n(o, width, 0.0F);
        for (const key_element& e : s.query)
            if (const float* row = memory.find(head, e.key)) add_scaled(o, row, e.value, width);
        double sum = 0;
        for (int first = 0; first < width; first += block_width) {
            round_block<R>(o + first);
            sum += sum_of_squares(o + first);
        }
        if (sum == 0) return 0;
        const float scale = inverse_rms(sum, shape_.value_dim, shape_.eps());
        std::uint64_t reached = 0;
        for (int first = 0; first < width; first += block_width)
            for_each_bit(nonzero(o + first) & weights_.used_in(head, first), [&](int bit) {
                const int channel = first + bit;
                reached |= put_out<R>(head * shape_.value_dim + channel, R::round(o[channel] * scale), channel, h, out);
            });
        return reached;
    }

    template <rounding R>
    std::uint64_t put_out(int output, float normed, int channel, const inputs& h, float* out) const {
        const float weighted = R::round(normed * weights_.norm[static_cast<std::size_t>(channel)]);
        const float value = R::round(weighted * silu(R::round(weights_.z.dot(output, h.values()))));
        if (value == 0) return 0;
        weights_.out.add(output, value, out);
        return weights_.out.reach(output);
    }

    static bool is_zero(const float* x, int width) {
        for (int first = 0; first < width; first += block_width)
            if (nonzero(x + first) != 0) return false;
        return true;
    }

    shape shape_;
    norm_gains norm_;
    delta_net_plan plan_;
    convolution conv_;
    packed_delta_net weights_;
};

}  // namespace qwengpu::nn::sparse
