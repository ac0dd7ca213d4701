// SPDX-License-Identifier: MIT
// The state of a running launch, nothing else (docs/machine.md, "State of a launch"). Registers start at zero, every lane
// at exit. Masks hold lane i in bit i.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

#include <qwengpu/machine/launch_image.hpp>
#include <qwengpu/machine/sizes.hpp>

namespace qwengpu::machine {

/// A set of lanes of one warp.
using lane_mask = std::uint8_t;

/// One lane: its registers (slot 0 stays zero) and the block it goes to next.
template <sizes M>
struct lane_state {
    one_per<std::uint32_t, M.registers> registers{};
    std::uint16_t next = static_cast<std::uint16_t>(M.exit_block());
};

/// One warp and the mask last announced for it.
template <sizes M>
struct warp_state {
    one_per<lane_state<M>, M.lanes> lanes{};
    lane_mask mask = 0;
};

/// Everything that changes during a launch.
template <sizes M = mission>
struct launch_state {
    one_per<warp_state<M>, M.warps> warps{};
    one_per<constant_word, M.constants> constants{};
    one_per<memory_word, M.words> memory{};
    int last_fair = M.lanes - 1;         ///< the lane favoured last
    std::uint64_t records_since_fair = 0;  ///< records since the last `fair` or `cta`
    std::optional<int> favoured{};       ///< the lane of a `fair` that came after the last record or start

    explicit launch_state(const launch_image<M>& image) : constants(image.constants), memory(image.memory) {}

    [[nodiscard]] warp_state<M>& warp(int w) { return warps[static_cast<std::size_t>(w)]; }
    [[nodiscard]] const warp_state<M>& warp(int w) const { return warps[static_cast<std::size_t>(w)]; }
    [[nodiscard]] std::uint32_t constant(int row) const { return constants[static_cast<std::size_t>(row)].value; }
    [[nodiscard]] extent ctaid() const { return {constant(0), constant(1), constant(2)}; }
};

/// Calls `f(lane)` for the lanes of a mask, lowest first.
template <class F>
constexpr void for_each_lane(lane_mask mask, F&& f) {
    for (int lane = 0; mask >> lane; ++lane)
        if ((mask >> lane) & 1) f(lane);
}

}  // namespace qwengpu::machine
