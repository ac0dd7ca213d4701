// SPDX-License-Identifier: MIT
// The state of a launch kept from the events of its transcript, and what a model without a fault shows of a pass: the
// block evaluated anew from the state as it is then. Written apart from the comparison it is used to test.
#pragma once

#include <qwengpu/diff/signals.hpp>
#include <qwengpu/machine/evaluation.hpp>
#include <qwengpu/machine/observer.hpp>
#include <qwengpu/text/transcript_reader.hpp>

namespace qwengpu::test {

template <machine::sizes M>
struct state_keeper : machine::observer {
    machine::launch_state<M> state;
    int warp = 0;
    machine::lane_mask mask = 0, lanes = 0;

    explicit state_keeper(const machine::launch_image<M>& image) : state(image) {}

    void cta(const machine::extent& at) override {
        for (std::size_t i = 0; i < 3; ++i) state.constants[i].value = at[i];
    }
    void record(int w, int, machine::lane_mask m) override { warp = w, mask = state.warp(w).mask = m, lanes = 0; }
    void all() override { lanes = mask; }
    void store(int lane, int window, int word, std::uint32_t value) override { machine::word_at(state, warp, lane, window, word) = value; }
    void write(int lane, int, int reg, std::uint32_t value) override {
        const auto to = lanes != 0 ? lanes : static_cast<machine::lane_mask>(1 << lane);
        machine::for_each_lane(to, [&](int l) {
            state.warp(warp).lanes[static_cast<std::size_t>(l)].registers[static_cast<std::size_t>(reg)] = value;
        });
    }
};

template <machine::sizes M>
diff::pass_signals pass_at(const machine::program& program, const state_keeper<M>& keeper, const text::transcript_place& place) {
    diff::pass_signals s;
    if (!place.in_record || static_cast<std::size_t>(place.block) >= program.blocks.size()) return s;
    const auto made = machine::evaluate_lane(program.blocks[static_cast<std::size_t>(place.block)], keeper.state, place.warp, place.lane);
    s.lane = place.lane;
    for (std::size_t i = 0; i < 4; ++i) s.values[i] = made.ports[i];
    s[diff::signal::special] = made.special;
    for (std::size_t i = 0; i < 4; ++i) s.values[5 + i] = made.t[i];
    return s;
}

}  // namespace qwengpu::test
