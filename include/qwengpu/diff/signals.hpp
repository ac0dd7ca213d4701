// SPDX-License-Identifier: MIT
// What a model shows of one pass beside its token: the decoded channels between its stages. A pass reads one token and
// answers with the next; within a record it works on the lane of the position that comes next.
#pragma once

#include <qwengpu/text/vocabulary.hpp>

#include <array>
#include <concepts>
#include <cstdint>
#include <optional>
#include <string_view>

namespace qwengpu::diff {

/// The signals of a pass that are compared: what the ports read, the special register, and what each stage made.
/// Index with `signal`.
enum class signal : std::uint8_t { r0, r1, r2, r3, special, t1, t2, t3, t4 };
inline constexpr int signal_count = 9;
inline constexpr std::array<std::string_view, signal_count> signal_names{"r0", "r1", "r2", "r3", "special", "t1", "t2", "t3", "t4"};

/// One pass. A value that the model does not show is empty and is not compared.
struct pass_signals {
    std::optional<int> lane;  ///< the lane the pass works on
    std::array<std::optional<std::uint32_t>, signal_count> values{};

    std::optional<std::uint32_t>& operator[](signal s) { return values[static_cast<std::size_t>(s)]; }
    const std::optional<std::uint32_t>& operator[](signal s) const { return values[static_cast<std::size_t>(s)]; }
};

/// The layer after which each signal is complete, so that a report can say where values part.
using signal_layers = std::array<int, signal_count>;

/// A model that shows its signals: `next` as always, and what it saw on the way.
template <class Model>
concept probing_model = requires(const Model& model, typename Model::state& state, text::token t, pass_signals& seen) {
    { model.next(state, t, seen) } -> std::convertible_to<text::token>;
    { model.signal_layers() } -> std::convertible_to<signal_layers>;
};

}  // namespace qwengpu::diff
