// SPDX-License-Identifier: MIT
// A word made of a register of all lanes of a warp: what votes, matches and shuffles are made of, and what tells lanes that come
// together of each other.
#pragma once

#include <cstdint>

#include <qwengpu/ptx/lowering.hpp>

namespace qwengpu::ptx::lower::detail {

inline constexpr auto lanes = static_cast<std::uint32_t>(machine::mission.lanes);
inline constexpr std::uint32_t all_lanes = (1U << lanes) - 1;

inline ir::operand lane_id() { return ir::special(machine::special_register::laneid); }

/// A word made of register `word` of all lanes; .sync instructions wait for all lanes of the warp that can come.
inline ir::operand collective(lowering& l, machine::memory_op access, ir::operand word, ir::operand lane = {}, bool sense = false) {
    ir::instruction i;
    i.kind = ir::made_by::collective;
    i.access = access;
    i.a = lane;
    i.b = word;
    i.sense = sense;
    i.meets = l.now().has("sync");
    return l.emit(i);
}

/// The lanes whose bit 0 differs from `sense`.
inline ir::operand ballot(lowering& l, ir::operand bit, bool sense = false) {
    return collective(l, machine::memory_op::ballot, bit, {}, sense);
}

/// The lanes that are here.
inline ir::operand lanes_here(lowering& l) { return ballot(l, ir::zero, true); }

}  // namespace qwengpu::ptx::lower::detail
