// SPDX-License-Identifier: MIT
// Which record comes next (docs/machine.md, "What the model writes", rule 6): round robin over the warps, the lowest
// block first within one, and now and then another group of lanes, so that lanes waiting for each other get on. Where
// nobody can run, a barrier that is complete lets its lanes go.
#pragma once

#include <cstdint>

#include <qwengpu/machine/sizes.hpp>
#include <qwengpu/machine/state.hpp>

namespace qwengpu::machine {

/// After so many records without `fair` or `cta`, and when the warp that it went to last has had its turn since, fairness goes to
/// the next warp whose lanes stand at different blocks.
inline constexpr int records_between_fair = 61;

/// After so many it does so in any case: that warp can have no turn any more.
template <sizes M>
inline constexpr int most_records_between_fair = records_between_fair - 1 + M.warps;

/// The unit in which a barrier's count is given.
inline constexpr int threads_per_count = 4;

/// What the scheduler wants next. `done`: no lane of the thread block is left.
enum class step_kind : std::uint8_t { fair, mask, record, release, deadlock, done };

/// A step: `lane` for fair; `warp` and `mask` for mask; `warp`, `block` and `mask` for a record; `barrier` for release.
struct step {
    step_kind kind = step_kind::done;
    int lane = 0, warp = 0, block = 0;
    lane_mask mask = 0;
    int barrier = 0;
};

namespace detail {

/// The lowest block at which a runnable lane of the warp stands; exit if there is none.
template <sizes M>
constexpr int lowest_block(const warp_state<M>& warp) {
    int lowest = M.exit_block();
    for (const lane_state<M>& lane : warp.lanes)
        if (lane.is_runnable() && lane.next < lowest) lowest = lane.next;
    return lowest;
}

template <sizes M>
constexpr lane_mask lanes_at(const warp_state<M>& warp, int block) {
    unsigned mask = 0;
    for (std::size_t i = 0; i < warp.lanes.size(); ++i)
        if (warp.lanes[i].is_runnable() && warp.lanes[i].next == block) mask |= 1u << i;
    return static_cast<lane_mask>(mask);
}

/// Whether the runnable lanes of the warp stand at two or more blocks.
template <sizes M>
constexpr bool is_split(const warp_state<M>& warp, int lowest) {
    for (const lane_state<M>& lane : warp.lanes)
        if (lane.is_runnable() && lane.next != lowest) return true;
    return false;
}

template <sizes M>
constexpr int block_to_run(const launch_state<M>& state, const warp_state<M>& warp, int lowest) {
    if (!state.favoured) return lowest;
    const lane_state<M>& favoured = warp.lanes[static_cast<std::size_t>(*state.favoured)];
    return favoured.is_runnable() && favoured.next < M.meeting_block() ? favoured.next : lowest;
}

template <sizes M>
constexpr step step_of_warp(const launch_state<M>& state, int w, int lowest) {
    const warp_state<M>& warp = state.warp(w);
    if (state.fair_due && is_split<M>(warp, lowest)) {
        const bool same_round = state.fair_warp >= 0 && state.fair_warp < w;
        return {step_kind::fair, same_round ? state.last_fair : (state.last_fair + 1) % M.lanes, w};
    }
    const int block = block_to_run(state, warp, lowest);
    const lane_mask mask = lanes_at<M>(warp, block);
    return {mask == warp.mask ? step_kind::record : step_kind::mask, 0, w, block, mask};
}

/// How many lanes are alive, and how many of them wait at each barrier.
template <sizes M>
struct census {
    int alive = 0;
    one_per<int, M.barriers> waiting{};

    constexpr explicit census(const launch_state<M>& state) {
        for (const warp_state<M>& warp : state.warps)
            for (const lane_state<M>& lane : warp.lanes) {
                if (!lane.is_alive()) continue;
                ++alive;
                if (lane.waits_at != lane.nowhere) ++waiting[static_cast<std::size_t>(lane.waits_at)];
            }
    }
};

/// What happens where no lane is runnable.
template <sizes M>
constexpr step step_of_nobody(const launch_state<M>& state) {
    const census<M> lanes(state);
    if (lanes.alive == 0) return {};
    for (int b = 0; b < M.barriers; ++b) {
        const int waiting = lanes.waiting[static_cast<std::size_t>(b)], count = state.barriers[static_cast<std::size_t>(b)].count;
        const bool complete = waiting > 0 && (count == 0 ? waiting == lanes.alive : waiting >= threads_per_count * count);
        if (complete) return {step_kind::release, 0, 0, 0, 0, b};
    }
    return {step_kind::deadlock};
}

}  // namespace detail

/// A record of warp `w` begins: fairness counts it.
template <sizes M>
constexpr void note_record(launch_state<M>& state, int w) {
    const bool its_turn = state.fair_warp < 0 || state.fair_warp == w;
    ++state.records_since_fair;
    state.fair_due = state.fair_due || state.records_since_fair >= (its_turn ? records_between_fair : most_records_between_fair<M>);
    state.favoured.reset();
}

/// The next record, of warp `w`, is of the lane's group.
template <sizes M>
constexpr void note_fair(launch_state<M>& state, int lane, int w) {
    state.last_fair = lane;
    state.fair_warp = w;
    state.records_since_fair = 0;
    state.fair_due = false;
    state.favoured = lane;
}

/// The next step after a record or start of warp `context`.
template <sizes M>
constexpr step next_step(const launch_state<M>& state, int context) {
    for (int i = 1; i <= M.warps; ++i) {
        const int w = (context + i) % M.warps;
        const int lowest = detail::lowest_block<M>(state.warp(w));
        if (lowest != M.exit_block()) return detail::step_of_warp(state, w, lowest);
    }
    return detail::step_of_nobody(state);
}

}  // namespace qwengpu::machine
