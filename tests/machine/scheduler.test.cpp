// SPDX-License-Identifier: MIT
// Rule 6 of "What the model writes", on states made by hand.
#include <qwengpu/machine/scheduler.hpp>

#include <array>
#include <bit>
#include <cstdint>
#include <set>
#include <utility>

#include <qwengpu/machine/launch_image.hpp>

#include "support/catch.hpp"

namespace {

using namespace qwengpu::machine;

constexpr int exit_id = mission.exit_block();

/// A state in which all lanes are at exit and all masks empty.
launch_state<mission> idle() { return launch_state<mission>(launch_image<mission>{}); }

void stand(launch_state<mission>& state, int warp, std::array<int, 4> blocks, lane_mask mask) {
    for (std::size_t i = 0; i < 4; ++i) state.warp(warp).lanes[i].next = static_cast<std::uint16_t>(blocks[i]);
    state.warp(warp).mask = mask;
}

void check_record(const step& s, int warp, int block, lane_mask mask) {
    CHECK(s.kind == step_kind::record);
    CHECK(s.warp == warp);
    CHECK(s.block == block);
    CHECK(s.mask == mask);
}

}  // namespace

TEST_CASE("nothing runnable") { CHECK(next_step(idle(), 3).kind == step_kind::done); }

TEST_CASE("the first runnable warp after the context's") {
    auto state = idle();
    stand(state, 2, {5, 5, 5, 5}, 0xf);
    stand(state, 6, {4, 4, 4, 4}, 0xf);
    check_record(next_step(state, 2), 6, 4, 0xf);
    check_record(next_step(state, 5), 6, 4, 0xf);
    check_record(next_step(state, 6), 2, 5, 0xf);
    check_record(next_step(state, 7), 2, 5, 0xf);
    stand(state, 6, {exit_id, exit_id, exit_id, exit_id}, 0xf);
    check_record(next_step(state, 2), 2, 5, 0xf);
}

TEST_CASE("the lowest block, and its mask first where it differs") {
    auto state = idle();
    stand(state, 0, {9, 3, exit_id, 3}, 0xf);
    const step s = next_step(state, 0);
    CHECK(s.kind == step_kind::mask);
    CHECK(s.warp == 0);
    CHECK(s.mask == 0xa);
    stand(state, 0, {9, 3, exit_id, 3}, 0xa);
    check_record(next_step(state, 0), 0, 3, 0xa);
}

TEST_CASE("fairness when it is due, where lanes stand apart") {
    auto state = idle();
    stand(state, 0, {3, 3, 8, exit_id}, 0x3);
        check_record(next_step(state, 0), 0, 3, 0x3);
    state.fair_due = true;
    CHECK(next_step(state, 0).kind == step_kind::fair);
    CHECK(next_step(state, 0).lane == 0);
    state.last_fair = 1;
    CHECK(next_step(state, 0).lane == 2);
    state.fair_warp = 0;  // a round is over where no warp behind it stands apart
    CHECK(next_step(state, 0).lane == 2);
    stand(state, 1, {3, 3, 8, exit_id}, 0x3);
    CHECK(next_step(state, 0).warp == 1);
    CHECK(next_step(state, 0).lane == 1);
    stand(state, 1, {exit_id, exit_id, exit_id, exit_id}, 0);
    stand(state, 0, {3, 3, exit_id, 3}, 0xb);  // lanes at exit do not stand apart
    check_record(next_step(state, 0), 0, 3, 0xb);
}

TEST_CASE("the favoured lane's block runs, and its mask is announced") {
    auto state = idle();
    stand(state, 1, {3, 8, 8, exit_id}, 0x1);
    state.favoured = 2;
    CHECK(next_step(state, 0).kind == step_kind::mask);
    CHECK(next_step(state, 0).mask == 0x6);
    stand(state, 1, {3, 8, 8, exit_id}, 0x6);
    check_record(next_step(state, 0), 1, 8, 0x6);
    state.favoured = 3;  // at exit: the lowest block instead
    stand(state, 1, {3, 8, 8, exit_id}, 0x1);
    check_record(next_step(state, 0), 1, 3, 0x1);
}

TEST_CASE("a machine of two lanes favours them in turn") {
    constexpr sizes tiny{.lanes = 2, .warps = 2, .registers = 4, .words = 8, .constants = 16, .blocks = 16};
    launch_state<tiny> state{launch_image<tiny>{}};
    CHECK(state.last_fair == 1);
    state.warp(0).lanes[0].next = 2;
    state.warp(0).lanes[1].next = 4;
    state.fair_due = true;
    CHECK(next_step(state, 0).lane == 0);
    state.last_fair = 0;
    CHECK(next_step(state, 0).lane == 1);
}

TEST_CASE("fairness comes to every lane of every warp whose lanes stand apart, whoever else runs") {
    // All sets of warps that run, and of those the ones whose lanes stand apart: none of them ever moves.
    const auto rounds = [](unsigned runs, unsigned apart, int first_warp) {
        auto state = idle();
        for (int w = 0; w < 8; ++w)
            if ((runs >> w & 1) != 0) stand(state, w, (apart >> w & 1) != 0 ? std::array<int, 4>{3, 8, 9, 7} : std::array<int, 4>{3, 3, 3, 3}, 0xf);
        std::set<std::pair<int, int>> favoured;
        int context = first_warp;
        for (int steps = 0; steps < 40 * 68 && favoured.size() < 4U * static_cast<unsigned>(std::popcount(apart)); ++steps) {
            const step s = next_step(state, context);
            if (s.kind == step_kind::fair) favoured.emplace(s.warp, s.lane), note_fair(state, s.lane, s.warp);
            else if (s.kind == step_kind::mask) state.warp(s.warp).mask = s.mask;
            else context = s.warp, note_record(state, s.warp);
        }
        return favoured.size() == 4U * static_cast<unsigned>(std::popcount(apart));
    };
    int stuck = 0;
    for (unsigned runs = 1; runs < 256; ++runs)
        for (unsigned apart = runs; apart != 0; apart = (apart - 1) & runs) stuck += rounds(runs, apart, static_cast<int>(apart % 8)) ? 0 : 1;
    CHECK(stuck == 0);
}
