// SPDX-License-Identifier: MIT
// SwiGLU of the sparse engine. Only units with weights in all three matrices exist; of these, only those that a gate opens
// look at their row of `up` and add their column of `down`.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "qwengpu/nn/activation.hpp"
#include "qwengpu/nn/sparse/inputs.hpp"
#include "qwengpu/nn/sparse/packed_columns.hpp"
#include "qwengpu/nn/sparse/packed_rows.hpp"
#include "qwengpu/nn/sparse/renumbering.hpp"
#include "qwengpu/nn/weights.hpp"

namespace qwengpu::nn::sparse {

/// Buffers of a run.
struct swiglu_scratch {
    struct unit {
        int number;
        float gate;
    };

    aligned_floats gates{};    ///< [padded(units)], zero between runs
    std::vector<unit> open{};  ///< units whose gate is not shut

    void fit(int units) {
        gates.resize(std::max(gates.size(), static_cast<std::size_t>(padded(units))));
        open.resize(gates.size());
    }
};

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
        gate_ = packed_columns(units_, w.gate.cols(), kept_gate);
        up_ = packed_rows(units_, kept_up);
        down_ = packed_columns(w.down.rows(), units_, unit.apply(down, &triplet::col));
    }

    [[nodiscard]] int units() const { return units_; }
    [[nodiscard]] const norm_gains& norm() const { return norm_; }

    /// Adds the sublayer's output to `out`: [hidden]. Returns the blocks of `out` that were reached.
    template <rounding R>
    std::uint64_t run(const inputs& h, swiglu_scratch& s, float* out) const {
        add_product(gate_, h, s.gates.data());
        const std::size_t open = find_open(s);
        std::uint64_t reached = 0;
        constexpr std::size_t ahead = 4;
        for (std::size_t i = 0; i < open; ++i) {
            if (i + ahead < open) {
                up_.announce(s.open[i + ahead].number);
                down_.announce(s.open[i + ahead].number);
            }
            reached |= run_unit<R>(s.open[i], h, out);
        }
        return reached;
    }

private:
    /// Lists the units whose gate is not shut, and clears the gates. Returns how many are listed.
    std::size_t find_open(swiglu_scratch& s) const {
        std::size_t count = 0;
        for (int first = 0; first < units_; first += block_width) {
            float* gates = s.gates.data() + first;
            for_each_bit(alive(gates), [&](int bit) { s.open[count++] = {first + bit, gates[bit]}; });
            std::fill_n(gates, block_width, 0.0F);
        }
        return count;
    }

    template <rounding R>
    std::uint64_t run_unit(const swiglu_scratch::unit& unit, const inputs& h, float* out) const {
        const float open = R::round(silu(R::round(unit.gate)));
        if (open == 0) return 0;
        const float value = R::round(open * R::round(up_.dot(unit.number, h.values())));
        if (value == 0) return 0;
        down_.add(unit.number, value, out);
        return down_.reach(unit.number);
    }

    norm_gains norm_;
    int units_ = 0;
    packed_columns gate_, down_;
    packed_rows up_;
};

}  // namespace qwengpu::nn::sparse
