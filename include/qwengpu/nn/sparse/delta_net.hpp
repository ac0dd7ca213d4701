// SPDX-License-Identifier: MIT
// Gated DeltaNet of the sparse engine, one token at a time. Only channels of keys and queries that may not be zero are looked
// at (sleeping_rows.hpp); a memory is touched only in the rows that these name; values and their strength are made only
// where something is written, z and out_proj looked at only where something is read.
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
#include "qwengpu/nn/sparse/output.hpp"
#include "qwengpu/nn/sparse/past_inputs.hpp"
#include "qwengpu/nn/sparse/row_memory.hpp"

namespace qwengpu::nn::sparse {

/// What a layer carries from token to token.
struct delta_net_state {
    row_memory memory;  ///< heads by their number in the plan
    past_inputs past;

    void clear() {
        memory.clear();
        past.clear();
    }
};

/// An element of a key or a query that is not zero.
struct key_element {
    int key;
    float value;
};

/// Buffers of a run.
struct delta_net_scratch {
    row_set awake{};                         ///< channels of the plan, empty between runs
    recent_scratch recent{};
    std::vector<active_input> remembered{};  ///< of this token
    aligned_floats value{}, held{}, read{};  ///< [padded(value_dim)]
    std::vector<key_element> key{}, query{};

    void fit(int plan_channels, const shape& s) {
        awake.resize(std::max(awake.size(), static_cast<std::size_t>(blocks_for(plan_channels))));
        recent.fit(static_cast<std::size_t>(s.conv - 1), s.hidden);
        for (aligned_floats* buffer : {&value, &held, &read}) buffer->resize(static_cast<std::size_t>(padded(s.value_dim)));
    }
};

/// The compiled sublayer.
class delta_net {
public:
    /// m: see sleeping_rows
    delta_net(const vector& norm, const nn::delta_net_weights<sparse_matrix>& w, const shape& s, float m)
        : shape_(s), norm_(norm), plan_(plan_delta_net(w, s, norm_)), conv_(w.conv, plan_.place, plan_.channels),
          weights_(pack_delta_net(w, s, plan_, conv_, m, norm_)) {}

    [[nodiscard]] const delta_net_plan& plan() const { return plan_; }
    [[nodiscard]] const norm_gains& norm() const { return norm_; }
    [[nodiscard]] int heads() const { return static_cast<int>(plan_.heads.size()); }

    [[nodiscard]] delta_net_state new_state() const {
        return {.memory = row_memory(heads(), shape_.key_dim, padded(shape_.value_dim)),
                .past = past_inputs(weights_.remembered.empty() ? 0 : conv_.oldest())};
    }

    /// Adds the sublayer's output to `out`.
    template <rounding R>
    void run(const inputs& now, delta_net_state& state, delta_net_scratch& s, output& out) const {
        {
            const recent_inputs h(now, state.past, s.recent);
            find_awake(h, s.awake);
            for (const planned_key_head& group : plan_.key_heads) {
                take_unit_vector<R>(group.k, 1.0F, h, s.awake, s.key);
                take_unit_vector<R>(group.q, 1.0F / std::sqrt(static_cast<float>(shape_.key_dim)), h, s.awake, s.query);
                for (int head = group.first; head < group.last; ++head) run_head<R>(head, h, state.memory, s, out);
            }
        }
        remember(now, state.past, s.remembered);
    }

private:
    void find_awake(const recent_inputs& h, row_set& awake) const {
        for (std::size_t i = 0; i < weights_.mixed_keys.size(); ++i) awake[i] = weights_.mixed_keys[i];
        for (std::size_t age = 0; age < weights_.keys.size(); ++age)
            if (weights_.keys[age].any()) weights_.keys[age].wake(h.active(age), awake);
    }

    /// x / |x| * scale for a key or query from channel `first` on; clears what is awake.
    template <rounding R>
    void take_unit_vector(int first, float scale, const recent_inputs& h, row_set& awake, std::vector<key_element>& unit) const {
        unit.clear();
        double sum = 0;
        for (int key = 0; key < shape_.key_dim; key += block_width) {
            std::uint64_t& rows = awake[static_cast<std::size_t>((first + key) / block_width)];
            for_each_bit(rows, [&](int bit) {
                const float x = channel<R>(first + key + bit, h);
                if (x == 0) return;
                unit.push_back({key + bit, x});
                sum += static_cast<double>(x) * static_cast<double>(x);
            });
            rows = 0;
        }
        if (unit.empty()) return;
        const float factor = inverse_length(sum);
        for (key_element& e : unit) e.value = e.value * factor * scale;
    }

    /// A channel of q, k or v.
    template <rounding R>
    [[nodiscard]] float channel(int number, const recent_inputs& h) const {
        return R::round(silu(conv_.run<R>(number, weights_.qkv[number], h)));
    }

    template <rounding R>
    void run_head(int head, const recent_inputs& h, row_memory& memory, delta_net_scratch& s, output& out) const {
        if (memory.rows_of(head) > 0) {
            const float a = R::round(dot(weights_.a[head], h.values(0)));
            memory.scale(head, weights_.decays[static_cast<std::size_t>(head)].at(a));
        }
        if (!s.key.empty()) {
            make_values<R>(plan_.heads[static_cast<std::size_t>(head)].v, h, s.value);
            write(head, R::round(sigmoid(R::round(dot(weights_.b[head], h.values(0))))), memory, s);
        }
        if (!s.query.empty()) read<R>(head, memory, h, s, out);
    }

    template <rounding R>
    void make_values(int first, const recent_inputs& h, aligned_floats& values) const {
        for (int i = 0; i < shape_.value_dim; ++i)
            values[static_cast<std::size_t>(i)] = weights_.qkv[first + i].empty() ? 0.0F : channel<R>(first + i, h);
    }

    /// Keeps what later tokens will ask for.
    void remember(const inputs& now, past_inputs& past, std::vector<active_input>& kept) const {
        if (weights_.remembered.empty()) return;
        kept.clear();
        for (const active_input& in : now.active())
            if ((weights_.remembered[static_cast<std::size_t>(in.channel / block_width)] >> (in.channel % block_width) & 1U) != 0) kept.push_back(in);
        past.push(kept);
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
    void read(int head, const row_memory& memory, const recent_inputs& h, delta_net_scratch& s, output& out) const {
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
        if (sum == 0) return;
        const float scale = inverse_rms(sum, shape_.value_dim, shape_.eps());
        for (int first = 0; first < width; first += block_width)
            for_each_bit(nonzero(o + first) & weights_.used_in(head, first), [&](int bit) {
                const int channel = first + bit;
                put_out<R>(head * shape_.value_dim + channel, R::round(o[channel] * scale), channel, h, out);
            });
    }

    template <rounding R>
    void put_out(int number, float normed, int channel, const recent_inputs& h, output& out) const {
        const float weighted = R::round(normed * weights_.norm[static_cast<std::size_t>(channel)]);
        const float value = R::round(weighted * silu(R::round(dot(weights_.z[number], h.values(0)))));
        if (value != 0) out.add(weights_.out[number], value);
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
