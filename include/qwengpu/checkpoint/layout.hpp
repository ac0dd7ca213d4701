// SPDX-License-Identifier: MIT
// Where compiled layers stand among full-attention layers that pass everything through. Engines take the length of
// their key-value cache from a full-attention layer, so at least one must be there; some know the interval only.
#pragma once

#include <cstddef>
#include <vector>

namespace qwengpu::checkpoint {

/// Layers from the first on: the index of a compiled layer, or `pass_through`.
inline constexpr int pass_through = -1;

/// All compiled layers; with `period` > 0 every period-th layer is one of full attention, to a whole number of periods
/// (a compiled layer that is missing at the end is `absent`, to be filled with a linear layer of zeros).
inline constexpr int absent = -2;

inline std::vector<int> front_layout(int layers, int period) {
    std::vector<int> layout;
    for (int next = 0; next < layers || (period > 0 && layout.size() % static_cast<std::size_t>(period) != 0);) {
        if (period > 0 && (layout.size() + 1) % static_cast<std::size_t>(period) == 0) layout.push_back(pass_through);
        else layout.push_back(next < layers ? next : absent), ++next;
    }
    return layout;
}

/// The same for a model of these layers alone: without a period one layer of full attention stands at the end.
inline std::vector<int> alone_layout(int layers, int period) {
    auto layout = front_layout(layers, period);
    if (period == 0) layout.push_back(pass_through);
    return layout;
}

}  // namespace qwengpu::checkpoint
