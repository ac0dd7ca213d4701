// SPDX-License-Identifier: MIT
// Which channel of the base's residual each channel of the front layers becomes. The front's code (what its head looks
// at) goes where the base's final norm is strong and its embeddings are small; the rest keeps its order.
#pragma once

#include <qwengpu/checkpoint/graft_base.hpp>
#include <qwengpu/checkpoint/tensor_source.hpp>
#include <qwengpu/error.hpp>
#include <qwengpu/nn/matrix.hpp>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

namespace qwengpu::checkpoint {

/// `place[c]` is the base's channel of the front's channel c; channels the front does not use are `free`.
struct channel_map {
    std::vector<int> place;  ///< [used]
    std::vector<int> free;   ///< those left, ascending
};

/// Largest absolute value of every channel over rows [0, count) of an embedding.
inline nn::vector largest_entries(const tensor_view& embedding, int count) {
    const auto hidden = static_cast<Eigen::Index>(embedding.shape.at(1));
    nn::vector most = nn::vector::Zero(hidden), x(hidden);
    for (int t = 0; t < count; ++t) {
        read_row(embedding, static_cast<std::size_t>(t), {x.data(), static_cast<std::size_t>(hidden)});
        if (!x.allFinite()) throw detail::not_finite("tensor \"" + embedding.name + "\"", embedding.file.path());
        most = most.cwiseMax(x.cwiseAbs());
    }
    return most;
}

/// @param used   channels of the front, from 0 on
/// @param code   those of them that hold the code of the next token
/// @param gains  1 + weight of the base's final norm, [hidden]
/// @param sizes  of the base's embeddings, [hidden]
/// @throws error "checkpoint.graft" if the final norm is too weak on too many channels.
inline channel_map map_channels(int used, const std::vector<int>& code, const nn::vector& gains, const nn::vector& sizes) {
    std::vector<float> sorted(gains.data(), gains.data() + gains.size());
    for (float& g : sorted) g = std::abs(g);
    std::nth_element(sorted.begin(), sorted.begin() + static_cast<std::ptrdiff_t>(sorted.size() / 2), sorted.end());
    const float least = sorted[sorted.size() / 2] / 4;
    std::vector<int> good;
    for (Eigen::Index c = 0; c < gains.size(); ++c)
        if (std::abs(gains[c]) >= least && least > 0) good.push_back(static_cast<int>(c));
    if (good.size() < code.size()) throw error("checkpoint.graft", "the base's final norm is nearly zero on most channels; no code of the machine would be seen");
    std::stable_sort(good.begin(), good.end(), [&](int a, int b) { return sizes[a] < sizes[b]; });

    channel_map map{std::vector<int>(static_cast<std::size_t>(used), -1), {}};
    std::vector<bool> taken(static_cast<std::size_t>(gains.size()), false);
    const auto take = [&](int channel, int at) { map.place[static_cast<std::size_t>(channel)] = at, taken[static_cast<std::size_t>(at)] = true; };
    for (std::size_t i = 0; i < code.size(); ++i) take(code[i], good[i]);
    int next = 0;
    for (int c = 0; c < used; ++c) {
        if (map.place[static_cast<std::size_t>(c)] >= 0) continue;
        while (taken[static_cast<std::size_t>(next)]) ++next;
        take(c, next);
    }
    for (Eigen::Index c = 0; c < gains.size(); ++c)
        if (!taken[static_cast<std::size_t>(c)]) map.free.push_back(static_cast<int>(c));
    return map;
}

}  // namespace qwengpu::checkpoint
