// SPDX-License-Identifier: MIT
// Which heads of a Gated DeltaNet the sparse engine runs, and where their channels lie. A head exists if all of q, k, v, z,
// the norm and out_proj have weights for it: any other puts out zero whatever its state, so it is never touched.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "qwengpu/nn/shape.hpp"
#include "qwengpu/nn/sparse/block64.hpp"
#include "qwengpu/nn/sparse/renumbering.hpp"
#include "qwengpu/nn/sparse/inputs.hpp"
#include "qwengpu/nn/weights.hpp"

namespace qwengpu::nn::sparse {

/// A value head that is run.
struct planned_head {
    int number = 0;  ///< in the model
    int v = 0;       ///< first of its value channels
};

/// A key head with at least one value head that is run.
struct planned_key_head {
    int q = 0, k = 0;         ///< first of its query and key channels
    int first = 0, last = 0;  ///< its value heads, in `delta_net_plan::heads`
};

/// Channels are renumbered: per key head q, k and then the v of its value heads, each padded to blocks of 64.
struct delta_net_plan {
    std::vector<planned_key_head> key_heads;
    std::vector<planned_head> heads;
    int channels = 0;          ///< of q, k, v, padded
    std::vector<int> place;    ///< place of a row of in_proj_qkv, or -1
    std::vector<triplet> qkv;  ///< entries of in_proj_qkv that matter, with their rows in the model
};

namespace detail {

/// Which runs of `width` rows, counted from `first`, have an entry.
inline std::vector<bool> present_heads(const std::vector<bool>& rows, int first, int heads, int width) {
    std::vector<bool> found;
    for (int head = 0; head < heads; ++head) {
        const auto begin = rows.begin() + first + head * width;
        found.push_back(std::find(begin, begin + width, true) != begin + width);
    }
    return found;
}

inline std::vector<bool> heads_to_run(const nn::delta_net_weights<sparse_matrix>& w, const shape& s, const norm_gains& norm,
                                      const std::vector<triplet>& qkv) {
    const auto z = entries_if(w.in_proj_z, [&](const triplet& t) { return norm.passes(t.col); });
    const auto rows = present(s.qkv_channels(), qkv, &triplet::row);
    const auto q = present_heads(rows, 0, s.heads, s.key_dim);
    const auto k = present_heads(rows, s.key_channels(), s.heads, s.key_dim);
    const auto v = present_heads(rows, 2 * s.key_channels(), s.value_heads, s.value_dim);
    const auto gated = present_heads(present(s.value_channels(), z, &triplet::row), 0, s.value_heads, s.value_dim);
    const auto outputs = present(s.value_channels(), w.out_proj.triplets(), &triplet::col);
    const auto used = present_heads(outputs, 0, s.value_heads, s.value_dim);
    std::vector<bool> run;
    for (std::size_t i = 0; i < v.size(); ++i) {
        const std::size_t key_head = i / static_cast<std::size_t>(s.value_heads / s.heads);
        run.push_back(q[key_head] && k[key_head] && v[i] && gated[i] && used[i] && !w.norm.isZero(0));
    }
    return run;
}

/// Places rows first_row ... first_row + count - 1 next; returns the place of the first.
inline int take_channels(delta_net_plan& plan, int first_row, int count) {
    const int first = plan.channels;
    for (int i = 0; i < count; ++i) plan.place[static_cast<std::size_t>(first_row + i)] = first + i;
    plan.channels += padded(count);
    return first;
}

inline int take_values(delta_net_plan& plan, const shape& s, int head) {
    return take_channels(plan, 2 * s.key_channels() + head * s.value_dim, s.value_dim);
}

}  // namespace detail

/// The plan for a layer's weights. `norm`: the gains of its input norm; channels with gain 0 are not read.
inline delta_net_plan plan_delta_net(const nn::delta_net_weights<sparse_matrix>& w, const shape& s, const norm_gains& norm) {
    delta_net_plan plan;
    plan.qkv = entries_if(w.in_proj_qkv,
                          [&](const triplet& t) { return norm.passes(t.col) && !w.conv.row(t.row).isZero(0); });
    plan.place.assign(static_cast<std::size_t>(s.qkv_channels()), -1);
    const std::vector<bool> run = detail::heads_to_run(w, s, norm, plan.qkv);
    const int group = s.value_heads / s.heads;
    for (int key_head = 0; key_head < s.heads; ++key_head) {
        const auto values = run.begin() + key_head * group;
        if (std::find(values, values + group, true) == values + group) continue;
        planned_key_head planned{.first = static_cast<int>(plan.heads.size())};
        planned.q = detail::take_channels(plan, key_head * s.key_dim, s.key_dim);
        planned.k = detail::take_channels(plan, s.key_channels() + key_head * s.key_dim, s.key_dim);
        for (int head = key_head * group; head < (key_head + 1) * group; ++head)
            if (run[static_cast<std::size_t>(head)])
                plan.heads.push_back({.number = head, .v = detail::take_values(plan, s, head)});
        planned.last = static_cast<int>(plan.heads.size());
        plan.key_heads.push_back(planned);
    }
    return plan;
}

}  // namespace qwengpu::nn::sparse
