// SPDX-License-Identifier: MIT
// Traps as values: what went wrong, and where (docs/machine.md, "Tokens" and "A record").
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include <qwengpu/machine/program.hpp>

namespace qwengpu::machine {

/// Kinds of traps; the numbers are the payload of the `trap` token.
enum class trap_kind : std::uint8_t { out_of_bounds = 1, misaligned = 2, illegal_block = 3, deadlock = 4 };

constexpr std::string_view name_of(trap_kind kind) {
    switch (kind) {
        case trap_kind::out_of_bounds: return "out of bounds";
        case trap_kind::misaligned: return "misaligned";
        case trap_kind::illegal_block: return "illegal block";
        case trap_kind::deadlock: return "deadlock";
    }
    return "unknown trap";
}

/// A trap. `lane` is the first lane of the record for an illegal block; `address` is 0 where no access trapped.
struct trap {
    trap_kind kind = trap_kind::out_of_bounds;
    int warp = 0, lane = 0, block = 0;
    std::array<std::uint32_t, 3> ctaid{};
    bool by_store = false;
    std::uint32_t address = 0;
    source_line line{};  ///< of the load or the store, else of the block

    friend bool operator==(const trap&, const trap&) = default;
};

/// "out of bounds in warp 1, lane 2, block 7 of thread block (0, 0, 0), PTX line 31, CUDA line 4".
inline std::string to_string(const trap& t) {
    const auto number = [](auto n) { return std::to_string(n); };
    std::string text = std::string(name_of(t.kind)) + " in warp " + number(t.warp) + ", lane " + number(t.lane) +
                       ", block " + number(t.block) + " of thread block (" + number(t.ctaid[0]) + ", " +
                       number(t.ctaid[1]) + ", " + number(t.ctaid[2]) + ")";
    if (t.line.ptx_line > 0) text += ", PTX line " + number(t.line.ptx_line);
    if (t.line.cuda_line > 0) text += ", CUDA line " + number(t.line.cuda_line);
    return text;
}

}  // namespace qwengpu::machine
