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
#include "qwengpu/nn/sparse/entry_lists.hpp"
#include "qwengpu/nn/sparse/sleeping_rows.hpp"

namespace qwengpu::nn::sparse {

/// Decay of a head: exp(rate softplus(a + dt_bias)).
struct decay_weights {
    float rate, dt_bias;
    float resting;  ///< the decay when a = 0

    decay_weights(float a_log, float bias) : rate(-std::exp(a_log)), dt_bias(bias), resting(std::exp(rate * softplus(bias))) {}

    [[nodiscard]] float at(float a) const { return a == 0 ? resting : std::exp(rate * softplus(a + dt_bias)); }
};

struct packed_delta_net {
    entry_lists qkv;   ///< rows: hidden -> channels of the plan
    entry_lists b, a;  ///< rows: hidden -> heads of the plan
    entry_lists z;     ///< rows: hidden -> [heads of the plan][value_dim]
    entry_lists out;   ///< columns: [heads of the plan][value_dim] -> hidden
    std::vector<float> norm;             ///< [value_dim]
    std::vector<std::uint64_t> used;     ///< [heads of the plan][blocks of value_dim], channels that have both z and out
    std::size_t blocks_of_head = 0;
    std::vector<decay_weights> decays;   ///< [heads of the plan]
    std::vector<sleeping_rows> keys;     ///< per age, channels of q and k that see the token of this age as it is
    row_set mixed_keys;                  ///< channels of q and k with other convolutions
    std::vector<std::uint64_t> remembered;  ///< hidden channels that are needed later, a bit each; empty if there are none

    [[nodiscard]] std::uint64_t used_in(int head, int channel) const {
        return used[static_cast<std::size_t>(head) * blocks_of_head + static_cast<std::size_t>(channel / block_width)];
    }
};

namespace detail {

/// Packs the input projections, and marks the channels they read.
inline void pack_inputs(packed_delta_net& packed, const nn::delta_net_weights<sparse_matrix>& w, const shape& s,
                        const delta_net_plan& plan, const convolution& conv, norm_gains& norm) {
    std::vector<int> head_of(static_cast<std::size_t>(s.value_heads), -1);
    for (std::size_t i = 0; i < plan.heads.size(); ++i) head_of[static_cast<std::size_t>(plan.heads[i].number)] = static_cast<int>(i);
    const auto pack = [&](int rows, const std::vector<triplet>& entries, const std::vector<int>& place) {
        std::vector<triplet> kept;
        for (const triplet& t : entries) {
            const int row = place[static_cast<std::size_t>(t.row)];
            if (row < 0 || !norm.passes(t.col)) continue;
            kept.push_back({row, t.col, t.value});
            norm.mark_read(t.col);
        }
        return entry_lists::by_row(rows, std::move(kept));
    };
    const auto heads = static_cast<int>(plan.heads.size());
    packed.qkv = pack(plan.channels, plan.qkv, plan.place);
    packed.b = pack(heads, w.in_proj_b.triplets(), head_of);
    packed.a = pack(heads, w.in_proj_a.triplets(), head_of);
    for (int row = 0; row < plan.channels; ++row) {
        if (!conv.remembers(row)) continue;
        packed.remembered.resize(norm.read.size());
        for (const entry& e : packed.qkv[row]) insert(packed.remembered, static_cast<int>(e.index));
    }
}

/// Keys and queries by the tokens they see.
inline void pack_keys(packed_delta_net& packed, const shape& s, const delta_net_plan& plan, const convolution& conv, float m) {
    std::vector<bool> is_key(static_cast<std::size_t>(plan.channels));
    for (const planned_key_head& head : plan.key_heads)
        for (const int first : {head.q, head.k}) std::fill_n(is_key.begin() + first, s.key_dim, true);
    const auto with_age = [&](int age) { return [&, age](int row) { return is_key[static_cast<std::size_t>(row)] && conv.age(row) == age; }; };
    for (int age = 0; age <= static_cast<int>(conv.oldest()); ++age) packed.keys.emplace_back(packed.qkv, s.hidden, m, with_age(age));
    packed.mixed_keys.resize(static_cast<std::size_t>(blocks_for(plan.channels)));
    for (int row = 0; row < plan.channels; ++row)
        if (!packed.qkv[row].empty() && with_age(convolution::mixed)(row)) insert(packed.mixed_keys, row);
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
    packed.z = entry_lists::by_row(kept.count(), std::move(z));
    packed.out = entry_lists::by_column(kept.count(), std::move(out));
}

}  // namespace detail

/// Packs the weights; marks in `norm` what is read. m: see sleeping_rows.
inline packed_delta_net pack_delta_net(const nn::delta_net_weights<sparse_matrix>& w, const shape& s, const delta_net_plan& plan,
                                       const convolution& conv, float m, norm_gains& norm) {
    packed_delta_net packed;
    detail::pack_inputs(packed, w, s, plan, conv, norm);
    detail::pack_keys(packed, s, plan, conv, m);
    detail::pack_outputs(packed, w, s, plan, norm);
    packed.norm.assign(w.norm.data(), w.norm.data() + w.norm.size());
    for (const planned_head& head : plan.heads) packed.decays.emplace_back(w.a_log(head.number), w.dt_bias(head.number));
    return packed;
}

}  // namespace qwengpu::nn::sparse
