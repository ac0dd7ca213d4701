// SPDX-License-Identifier: MIT
// What an allocation of channels must keep: two signals share a channel only if the first is wiped, once, after its last reader and
// its last writer, and not after the second is born. Found from the times and the list of wipes, not from how they were chosen.
#pragma once

#include <qwengpu/circuit/allocate.hpp>

#include <algorithm>
#include <cstddef>
#include <map>
#include <string>
#include <vector>

namespace qwengpu::test {

namespace detail {

/// Moments of the MLPs that wipe each signal.
inline std::map<int, std::vector<int>> wipe_moments(const circuit::allocation& result) {
    std::map<int, std::vector<int>> moments;
    for (const auto& wipe : result.wipes) moments[wipe.old.id].push_back(2 * wipe.layer + 1);
    return moments;
}

inline std::string violation(const circuit::signal_info& first, const circuit::signal_info& second, const std::vector<int>& wiped) {
    const std::string both = "'" + first.name + "' and '" + second.name + "' on channel " + std::to_string(first.channel) + ": ";
    if (wiped.size() != 1) return both + "the first is wiped " + std::to_string(wiped.size()) + " times";
    if (wiped[0] <= first.ready) return both + "wiped before the first is complete";
    if (wiped[0] < first.last_use) return both + "wiped before the first is read";
    if (wiped[0] > second.born) return both + "wiped after the second is born";
    return {};
}

}  // namespace detail

/// Every violation, in words. `reserved` channels may hold inputs only.
inline std::vector<std::string> channel_violations(const circuit::network& net, const circuit::allocation& result, int channels, int reserved) {
    std::vector<std::string> found;
    std::map<int, std::vector<std::size_t>> holders;
    for (std::size_t i = 0; i < net.signals().size(); ++i) {
        const auto& s = net.signals()[i];
        if (s.channel < 0) {
            if (s.born != circuit::network::unborn) found.push_back("'" + s.name + "' has no channel");
            continue;
        }
        const bool is_input = s.born < 0 || s.channel < reserved;
        if (s.channel >= channels || (!is_input && s.channel < reserved)) found.push_back("'" + s.name + "' on channel " + std::to_string(s.channel));
        holders[s.channel].push_back(i);
    }
    const auto moments = detail::wipe_moments(result);
    for (auto& [channel, list] : holders) {
        std::stable_sort(list.begin(), list.end(), [&](std::size_t a, std::size_t b) { return net.signals()[a].born < net.signals()[b].born; });
        for (std::size_t k = 0; k + 1 < list.size(); ++k) {
            const auto at = moments.find(static_cast<int>(list[k]));
            const auto text = detail::violation(net.signals()[list[k]], net.signals()[list[k + 1]], at == moments.end() ? std::vector<int>{} : at->second);
            if (!text.empty()) found.push_back(text);
        }
        if (moments.contains(static_cast<int>(list.back()))) found.push_back("'" + net.signals()[list.back()].name + "' is wiped for nobody");
    }
    return found;
}

}  // namespace qwengpu::test
