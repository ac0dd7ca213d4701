// SPDX-License-Identifier: MIT
// The values one lane makes of a block, as plain data: the emulator fills them in (evaluation.hpp), observers see them.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include <qwengpu/machine/trap.hpp>

namespace qwengpu::machine {

/// What a lane makes of a block. `t[i]` is the value of stage i + 1; a load that faults gives 0.
struct lane_evaluation {
    std::array<std::uint32_t, 4> ports{};  ///< the registers r0..r3 name
    std::uint32_t special = 0;
    std::array<std::uint32_t, 4> t{};
    bool loads = false, stores = false, taken = false;  ///< `loads`: no collective
    std::uint32_t load_address = 0, store_address = 0, store_data = 0;
    bool fault_of_store = false;
    std::optional<trap_kind> fault{};  ///< of the load if there is one, else of the store
};

}  // namespace qwengpu::machine
