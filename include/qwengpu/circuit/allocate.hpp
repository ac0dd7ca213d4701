// SPDX-License-Identifier: MIT
// Gives every signal a residual channel. A channel is used again only when no fresh one is left, and then the MLP at
// or after the old signal's last use subtracts what the channel holds. Signals of the embedding keep their channels
// to the end, where the next token's code replaces them.
#pragma once

#include <qwengpu/circuit/network.hpp>

#include <qwengpu/error.hpp>

#include <algorithm>
#include <numeric>
#include <string>
#include <vector>

namespace qwengpu::circuit {

/// What allocation did: where channels were wiped, and how many signals were live after every layer.
struct allocation {
    struct wipe {
        signal old;
        int layer;
    };
    std::vector<wipe> wipes;
    std::vector<int> live;  ///< per layer: signals born by its end and used later
    int channels = 0;       ///< channels used in all
};

namespace detail {

inline void check_times(const signal_info& s) {
    if (s.channel < 0 && s.born == network::unborn && s.last_use >= 0)
        throw error("circuit.signal", "signal '" + s.name + "' is read but nothing makes it");
    if (s.channel < 0 && s.first_use <= s.ready)
        throw error("circuit.signal", "signal '" + s.name + "' is read in layer " + std::to_string(s.first_use / 2) + ", but is whole only after layer " +
                                          std::to_string(s.ready / 2));
}

inline std::vector<int> order_of_birth(const std::vector<signal_info>& signals) {
    std::vector<int> order(signals.size());
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(), [&](int a, int b) {
        return signals[static_cast<std::size_t>(a)].born < signals[static_cast<std::size_t>(b)].born;
    });
    return order;
}

// The first MLP that may wipe a signal: not before its last reader, and after whatever adds to it (an MLP does not see
// what it adds itself).
inline int wipe_moment(const signal_info& s) {
    const int read = s.last_use % 2 != 0 ? s.last_use : s.last_use + 1;
    const int made = s.ready % 2 != 0 ? s.ready + 2 : s.ready + 1;
    return read > made ? read : made;
}

}  // namespace detail

/// @param channels  width of the residual stream
/// @param reserved  channels [0, reserved) belong to the embedding
/// @throws error "circuit.channels" if the network needs more than there are
inline allocation allocate(network& net, int channels, int reserved) {
    allocation result;
    auto& signals = net.signals();
    std::vector<int> holder(static_cast<std::size_t>(channels), -1);
    int fresh = reserved;
    auto reusable = [&](int born) {
        int best = -1;
        int oldest = born + 1;
        for (int c = reserved; c < fresh; ++c) {
            const int moment = detail::wipe_moment(signals[static_cast<std::size_t>(holder[static_cast<std::size_t>(c)])]);
            if (moment <= born && moment < oldest) best = c, oldest = moment;
        }
        return best;
    };
    for (const int id : detail::order_of_birth(signals)) {
        auto& s = signals[static_cast<std::size_t>(id)];
        detail::check_times(s);
        if (s.channel >= 0 || s.born == network::unborn) continue;
        if (fresh < channels) {
            s.channel = fresh++;
        } else {
            s.channel = reusable(s.born);
            if (s.channel < 0)
                throw error("circuit.channels", "no residual channel of " + std::to_string(channels) + " is free for '" + s.name + "' in layer " +
                                                    std::to_string(s.born / 2));
            const int old = holder[static_cast<std::size_t>(s.channel)];
            const int moment = detail::wipe_moment(signals[static_cast<std::size_t>(old)]);
            result.wipes.push_back({{old}, moment / 2});
        }
        holder[static_cast<std::size_t>(s.channel)] = id;
    }
    result.channels = fresh;
    for (int layer = 0; layer < net.layer_count(); ++layer) {
        const int end = 2 * layer + 1;
        result.live.push_back(static_cast<int>(std::count_if(signals.begin(), signals.end(), [&](const signal_info& s) { return s.born <= end && s.last_use > end; })));
    }
    return result;
}

}  // namespace qwengpu::circuit
