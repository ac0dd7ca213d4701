// SPDX-License-Identifier: MIT
// What a pass must show at a position of a record. A pass computes the block from the state as it is, so a value is
// known from the state in which the lane was evaluated unless a slot already written has changed a register it depends on,
// or a store the word it loads.
#pragma once

#include <qwengpu/diff/signals.hpp>
#include <qwengpu/machine/dependencies.hpp>
#include <qwengpu/machine/observer.hpp>

namespace qwengpu::diff {

namespace detail {

/// The ports whose register was written by the slots before `at` of this record.
inline machine::port_set changed_ports(const machine::machine_block& block, machine::slot at) {
    unsigned changed = 0;
    for (const auto s : machine::record_order(block)) {
        if (s == at) break;
        const int reg = machine::register_of(block, s);
        for (std::size_t p = 0; p < block.ports.size(); ++p)
            if (reg != 0 && block.ports[p] == reg) changed |= 1u << p;
    }
    return static_cast<machine::port_set>(changed);
}

/// Whether the value of stage 1..4 depends on a load that is done again after a store.
inline bool is_loaded_again(const machine::machine_block& block, machine::slot at, int stage) {
    return machine::loads_and_stores(block) && !block.lane_major && at > machine::slot::store && machine::depends_on_load(block, machine::slot_of(stage));
}

}  // namespace detail

/// The values to expect where slot `at` is written next; `before` is what the lane makes of the state before the record.
/// After a fault, what the load and later stages make is nobody's.
inline pass_signals expected_signals(const machine::machine_block& block, machine::slot at, int lane,
                                     const machine::lane_evaluation& before) {
    pass_signals expected;
    expected.lane = lane;
    const auto changed = detail::changed_ports(block, at);
    for (std::size_t p = 0; p < before.ports.size(); ++p)
        if ((changed >> p & 1) == 0) expected.values[p] = before.ports[p];
    expected[signal::special] = before.special;
    for (int stage = 1; stage <= 4; ++stage) {
        const bool faulted = before.fault && stage > 1;
        if (faulted || detail::is_loaded_again(block, at, stage) || (machine::dependencies(block, machine::slot_of(stage)) & changed) != 0) continue;
        expected.values[static_cast<std::size_t>(signal::t1) + static_cast<std::size_t>(stage - 1)] =
            before.t[static_cast<std::size_t>(stage - 1)];
    }
    return expected;
}

}  // namespace qwengpu::diff
