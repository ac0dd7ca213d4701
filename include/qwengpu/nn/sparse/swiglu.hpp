// SPDX-License-Identifier: MIT
// SwiGLU of the sparse engine. Only units with weights in all three matrices exist; of these, only those that a gate opens
// look at their row of `up` and add their column of `down`.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "qwengpu/nn/activation.hpp"
#include "qwengpu/nn/sparse/packed.hpp"
#include "qwengpu/nn/sparse/residual.hpp"
#include "qwengpu/nn/sparse/renumbering.hpp"
#include "qwengpu/nn/weights.hpp"

namespace qwengpu::nn::sparse {

/// The compiled sublayer.
class swiglu {
public:
    swiglu(const vector& norm, const swiglu_weights<sparse_matrix>& w) : norm_(norm) {
        const auto passes = [&](const triplet& t) { return norm_.passes(t.col); };
        const auto gate = entries_if(w.gate, passes);
        const auto up = entries_if(w.up, passes);
        const auto down = w.down.triplets();

        const int all = w.gate.rows();
        const auto gated = present(all, gate, &triplet::row), raised = present(all, up, &triplet::row),
                   used = present(all, down, &triplet::col);
        const renumbering unit(all, [&](std::size_t i) { return gated[i] && raised[i] && used[i]; });

        units_ = unit.count();
        const auto kept_gate = unit.apply(gate, &triplet::row), kept_up = unit.apply(up, &triplet::row);
        for (const triplet& t : kept_gate) norm_.mark_read(t.col);
        for (const triplet& t : kept_up) norm_.mark_read(t.col);
        gate_ = packed_columns(w.gate.cols(), kept_gate);
        up_ = packed_rows(units_, kept_up);
        down_ = packed_columns(units_, unit.apply(down, &triplet::col));
    }

    [[nodiscard]] int units() const { return units_; }
    [[nodiscard]] const norm_gains& norm() const { return norm_; }

    /// Adds the sublayer's output to `out`: [hidden]. `gates`: scratch, zero before and after, [padded(units)].
    /// Returns the blocks of `out` that were reached.
    template <rounding R>
    std::uint64_t run(const inputs& h, float* gates, float* out) const {
        for (const int i : h.active()) gate_.add(i, h[i], gates);
        std::uint64_t reached = 0;
        for (int first = 0; first < units_; first += block_width) {
            for_each_bit(alive(gates + first), [&](int bit) {
                const int unit = first + bit;
                const float open = R::round(silu(R::round(gates[unit])));
                const float value = open == 0 ? 0 : R::round(open * R::round(up_.dot(unit, h.values())));
                if (value == 0) return;
                down_.add(unit, value, out);
                reached |= down_.reach(unit);
            });
            std::fill_n(gates + first, block_width, 0.0F);
        }
        return reached;
    }

private:
    norm_gains norm_;
    int units_ = 0;
    packed_columns gate_, down_;
    packed_rows up_;
};

}  // namespace qwengpu::nn::sparse
