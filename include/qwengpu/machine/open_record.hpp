// SPDX-License-Identifier: MIT
// What the emulator needs to write a record: the present slots of its block in order, the lanes' values, and whether its
// lanes agree from some slot on.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

#include <qwengpu/machine/block.hpp>
#include <qwengpu/machine/dependencies.hpp>
#include <qwengpu/machine/lane_evaluation.hpp>
#include <qwengpu/machine/sizes.hpp>
#include <qwengpu/machine/state.hpp>

namespace qwengpu::machine::detail {

/// The present slots of a block and the dependencies from each on, worked out once per program.
struct slot_plan {
    std::array<slot, slot_count> slots{};
    std::array<port_set, slot_count> rest{};
    std::size_t count = 0;

    explicit slot_plan(const machine_block& b) {
        const auto of_all = rest_of_dependencies(b);
        for (const slot s : record_order(b)) {
            if (!present(b, s)) continue;
            slots[count] = s;
            rest[count++] = of_all[static_cast<std::size_t>(s)];
        }
    }
};

/// One record being written: the lanes' values, and how far `all` reaches.
template <sizes M>
struct open_record {
    const machine_block& block;
    warp_state<M>& warp;
    lane_mask mask;
    one_per<lane_evaluation, M.lanes> made{};
    bool uniform = false;

    [[nodiscard]] int first_lane() const { return std::countr_zero(mask); }
    [[nodiscard]] const lane_evaluation& of(int lane) const { return made[static_cast<std::size_t>(lane)]; }

    /// The lanes for which a position of this lane holds.
    [[nodiscard]] lane_mask lanes_of(int lane) const {
        return uniform ? mask : static_cast<lane_mask>(1u << lane);
    }

    /// Whether every value that depends on no more than these ports is the same in all lanes.
    [[nodiscard]] bool agrees(port_set rest) const {
        const bool alone = (mask & (mask - 1)) == 0;
        if (alone || (rest & special_port) != 0) return false;
        const auto& first = warp.lanes[static_cast<std::size_t>(first_lane())].registers;
        bool same = true;
        for_each_lane(mask, [&](int lane) {
            for (std::size_t p = 0; p < block.ports.size(); ++p)
                if ((unsigned{rest} >> p) & 1u)
                    same = same && warp.lanes[static_cast<std::size_t>(lane)].registers[block.ports[p]] == first[block.ports[p]];
        });
        return same;
    }
};

}  // namespace qwengpu::machine::detail
