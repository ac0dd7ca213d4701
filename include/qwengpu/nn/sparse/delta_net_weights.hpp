// SPDX-License-Identifier: MIT
// The weights of a Gated DeltaNet, packed for the sparse engine as its plan says.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "qwengpu/nn/activation.hpp"
#include "qwengpu/nn/sparse/convolution.hpp"
#include "qwengpu/nn/sparse/delta_net_plan.hpp"
#include "qwengpu/nn/sparse/packed_columns.hpp"
#include "qwengpu/nn/sparse/packed_rows.hpp"

namespace qwengpu::nn::sparse {

/// Decay of a head: exp(rate softplus(a + dt_bias)).
struct decay_weights {
    float rate, dt_bias;
    float resting;  ///< the decay when a = 0

    decay_weights(float a_log, float bias) : rate(-std::exp(a_log)), dt_bias(bias), resting(std::exp(rate * softplus(bias))) {}

    [[nodiscard]] float at(float a) const { return a == 0 ? resting : std::exp(rate * softplus(a + dt_bias)); }
};

struct packed_delta_net {
    packed_columns in;   ///< hidden -> channels of the plan (q, k, v, b, a), without late values
    packed_rows values;  ///< hidden -> channels of the plan, late values only
    packed_rows z;       ///< hidden -> [heads of the plan][value_dim]
    packed_columns out;  ///< [heads of the plan][value_dim] -> hidden
    std::vector<float> norm;             ///< [value_dim]
    std::vector<std::uint64_t> used;     ///< [heads of the plan][blocks of value_dim], channels that have both z and out
    std::size_t blocks_of_head = 0;
    std::vector<decay_weights> decays;   ///< [heads of the plan]

    [[nodiscard]] std::uint64_t used_in(int head, int channel) const {
        return used[static_cast<std::size_t>(head) * blocks_of_head + static_cast<std::size_t>(channel / block_width)];
    }
};

namespace detail {

/// Packs the input projections; marks the channels they read, and the heads whose values can wait.
inline void pack_inputs(packed_delta_net& packed, const nn::delta_net_weights<sparse_matrix>& w, const shape& s,
                        delta_net_plan& plan, const convolution& conv, norm_gains& norm) {
    std::vector<triplet> early, late;
    std::vector<bool> waits(static_cast<std::size_t>(plan.channels));
    std::vector<int> b(static_cast<std::size_t>(s.value_heads), -1), a = b;
    for (planned_head& head : plan.heads) {
        b[static_cast<std::size_t>(head.number)] = head.b;
        a[static_cast<std::size_t>(head.number)] = head.a;
        head.late_values = !conv.remembers(head.v, s.value_dim);
        std::fill_n(waits.begin() + head.v, s.value_dim, head.late_values);
    }
    const auto take = [&](int place, int col, float value) {
        if (place < 0 || !norm.passes(col)) return;
        (waits[static_cast<std::size_t>(place)] ? late : early).push_back({place, col, value});
        norm.mark_read(col);
    };
    for (const triplet& t : plan.qkv) take(plan.place[static_cast<std::size_t>(t.row)], t.col, t.value);
    w.in_proj_b.for_each([&](int row, int col, float value) { take(b[static_cast<std::size_t>(row)], col, value); });
    w.in_proj_a.for_each([&](int row, int col, float value) { take(a[static_cast<std::size_t>(row)], col, value); });
    packed.in = packed_columns(plan.channels, s.hidden, std::move(early));
    packed.values = packed_rows(plan.convolved, std::move(late));
}

/// Value channels of the heads that are run, in the order of the plan.
inline renumbering planned_values(const shape& s, const delta_net_plan& plan) {
    std::vector<bool> run(static_cast<std::size_t>(s.value_heads));
    for (const planned_head& head : plan.heads) run[static_cast<std::size_t>(head.number)] = true;
    return {s.value_channels(), [&](std::size_t i) { return run[i / static_cast<std::size_t>(s.value_dim)]; }};
}

inline void pack_outputs(packed_delta_net& packed, const nn::delta_net_weights<sparse_matrix>& w, const shape& s,
                         const delta_net_plan& plan, norm_gains& norm) {
    const renumbering kept = planned_values(s, plan);
    auto z = kept.apply(entries_if(w.in_proj_z, [&](const triplet& t) { return norm.passes(t.col); }), &triplet::row);
    auto out = kept.apply(w.out_proj.triplets(), &triplet::col);
    const auto has_z = present(kept.count(), z, &triplet::row), has_out = present(kept.count(), out, &triplet::col);
    packed.blocks_of_head = static_cast<std::size_t>(blocks_for(s.value_dim));
    packed.used.resize(plan.heads.size() * packed.blocks_of_head);
    for (std::size_t i = 0; i < has_z.size(); ++i) {
        const std::size_t head = i / static_cast<std::size_t>(s.value_dim), channel = i % static_cast<std::size_t>(s.value_dim);
        const std::uint64_t bit = std::uint64_t{has_z[i] && has_out[i]} << (channel % block_width);
        packed.used[head * packed.blocks_of_head + channel / block_width] |= bit;
    }
    for (const triplet& t : z) norm.mark_read(t.col);
    packed.z = packed_rows(kept.count(), std::move(z));
    packed.out = packed_columns(s.hidden, kept.count(), std::move(out));
}

}  // namespace detail

/// Packs the weights; completes the plan (late values) and marks in `norm` what is read.
inline packed_delta_net pack_delta_net(const nn::delta_net_weights<sparse_matrix>& w, const shape& s, delta_net_plan& plan,
                                       const convolution& conv, norm_gains& norm) {
    packed_delta_net packed;
    detail::pack_inputs(packed, w, s, plan, conv, norm);
    detail::pack_outputs(packed, w, s, plan, norm);
    packed.norm.assign(w.norm.data(), w.norm.data() + w.norm.size());
    for (const planned_head& head : plan.heads) packed.decays.emplace_back(w.a_log(head.number), w.dt_bias(head.number));
    return packed;
}

}  // namespace qwengpu::nn::sparse
