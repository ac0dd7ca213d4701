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

/// One lane: its registers (slot 0 stays zero), its own memory, the block it goes to next, and the barrier it waits at.
template <sizes M>
struct lane_state {
    one_per<std::uint32_t, M.registers> registers{};
    one_per<std::uint32_t, M.local_words> local{};
    std::uint16_t next = static_cast<std::uint16_t>(M.exit_block());
    std::int8_t waits_at = nowhere;

    static constexpr std::int8_t nowhere = -1;
    [[nodiscard]] constexpr bool is_alive() const { return next != M.exit_block(); }
    [[nodiscard]] constexpr bool is_runnable() const { return is_alive() && waits_at == nowhere; }
};

/// A barrier: its phase, 0 or 1, and the count of the block that came to it last.
struct barrier_state {
    std::uint8_t phase = 0, count = 0;
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
    one_per<memory_word, M.words> shared{};
    one_per<barrier_state, M.barriers> barriers{};
    int last_fair = M.lanes - 1;         ///< the lane favoured last
    int fair_warp = -1;                  ///< the warp that it was favoured in; -1: none since the prompt
    int records_since_fair = 0;          ///< records since the last `fair` or `cta`
    bool fair_due = false;               ///< the next warp whose lanes stand apart gets a `fair`
    std::optional<int> favoured{};       ///< the lane of a `fair` that came after the last record or start

    explicit launch_state(const launch_image<M>& image)
        : constants(image.constants), memory(image.memory), shared(image.shared) {}

    /// What a launch finds that comes after another in one sequence: what its prompt says, all else as it was left.
    [[nodiscard]] launch_state followed_by(const launch_image<M>& image) const {
        launch_state after = *this;
        for (std::size_t i = 0; i < after.constants.size(); ++i)
            if (image.constants[i].used) after.constants[i] = image.constants[i];
        for (std::size_t i = 0; i < after.memory.size(); ++i) {
            if (image.memory[i].window != 0) after.memory[i] = image.memory[i];
            if (image.shared[i].window != 0) after.shared[i] = image.shared[i];
        }
        for (auto& warp : after.warps)
            for (auto& lane : warp.lanes) lane.next = static_cast<std::uint16_t>(M.exit_block()), lane.waits_at = lane.nowhere;
        if (has_barrier(image.program))
            for (auto& barrier : after.barriers) barrier.phase = 0;
        after.last_fair = M.lanes - 1;
        after.fair_warp = -1;
        after.records_since_fair = 0;
        after.fair_due = false;
        after.favoured.reset();
        return after;
    }

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
