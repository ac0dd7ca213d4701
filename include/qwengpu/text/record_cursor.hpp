// SPDX-License-Identifier: MIT
// The positions of a record (docs/machine.md, "A record"): for each present slot, for each lane of the mask, one; after
// `all` one for each remaining slot; in a lane-major block for each lane, for each slot. A cursor stands at the position that is written next.
#pragma once

#include <qwengpu/machine/block.hpp>
#include <qwengpu/machine/dependencies.hpp>
#include <qwengpu/machine/sizes.hpp>
#include <qwengpu/machine/state.hpp>

#include <array>
#include <bit>
#include <cstddef>

namespace qwengpu::text {

/// Walks the positions of one record of a block.
class record_cursor {
public:
    record_cursor() = default;

    /// `mask` is not empty.
    record_cursor(const machine::machine_block& block, machine::lane_mask mask) : by_lanes_(block.lane_major), mask_(mask), lane_(std::countr_zero(mask)) {
        for (const auto s : machine::record_order(block))
            if (machine::present(block, s)) slots_[count_++] = s;
    }

    [[nodiscard]] bool complete() const { return at_ == count_; }
    [[nodiscard]] machine::slot slot() const { return slots_[at_]; }
    [[nodiscard]] int lane() const { return lane_; }
    [[nodiscard]] bool uniform() const { return uniform_; }
    /// Whether a trap may come here.
    [[nodiscard]] bool may_trap() const { return at_ == 0 && !uniform_; }

    /// Whether `all` may come here.
    [[nodiscard]] bool takes_all() const { return !uniform_ && !by_lanes_ && std::popcount(mask_) > 1 && lane_ == std::countr_zero(mask_); }

    /// The lanes for which this position holds.
    [[nodiscard]] machine::lane_mask lanes() const { return uniform_ ? mask_ : static_cast<machine::lane_mask>(1u << lane_); }

    void all() { uniform_ = true; }

    /// Goes to the next position.
    void advance() {
        const unsigned later = uniform_ ? 0u : mask_ & ~((2u << lane_) - 1u);
        if (by_lanes_) return advance_by_lanes(later);
        if (later == 0) ++at_;
        lane_ = std::countr_zero(later == 0 ? static_cast<unsigned>(mask_) : later);
    }

private:
    void advance_by_lanes(unsigned later) {
        if (++at_ < count_ || later == 0) return;
        at_ = 0;
        lane_ = std::countr_zero(later);
    }

    std::array<machine::slot, machine::slot_count> slots_{};
    std::size_t count_ = 0, at_ = 0;
    bool by_lanes_ = false;
    machine::lane_mask mask_ = 1;
    int lane_ = 0;
    bool uniform_ = false;
};

}  // namespace qwengpu::text
