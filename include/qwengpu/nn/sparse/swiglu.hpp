// SPDX-License-Identifier: MIT
// SwiGLU of the sparse engine. Only units with weights in all three matrices exist; of these, only those whose gate may open
// are looked at (sleeping_rows.hpp), in their order.
#pragma once

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include "qwengpu/nn/activation.hpp"
#include "qwengpu/nn/sparse/inputs.hpp"
#include "qwengpu/nn/sparse/output.hpp"
#include "qwengpu/nn/sparse/packed_units.hpp"
#include "qwengpu/nn/sparse/renumbering.hpp"
#include "qwengpu/nn/sparse/sleeping_rows.hpp"
#include "qwengpu/nn/weights.hpp"

namespace qwengpu::nn::sparse {

/// Buffers of a run.
struct swiglu_scratch {
    row_set awake{};           ///< units, empty between runs
    std::vector<int> units{};  ///< the same as a list

    void fit(int count) {
        awake.resize(std::max(awake.size(), static_cast<std::size_t>(blocks_for(count))));
        units.resize(awake.size() * block_width);
    }
};

/// The compiled sublayer.
class swiglu {
public:
    /// m: see sleeping_rows
    swiglu(const vector& norm, const swiglu_weights<sparse_matrix>& w, float m) : norm_(norm) {
        const auto passes = [&](const triplet& t) { return norm_.passes(t.col); };
        const auto gate = entries_if(w.gate, passes);
        const auto up = entries_if(w.up, passes);
        const auto down = w.down.triplets();

        const int all = w.gate.rows();
        const auto gated = present(all, gate, &triplet::row), raised = present(all, up, &triplet::row),
                   used = present(all, down, &triplet::col);
        const renumbering unit(all, [&](std::size_t i) { return gated[i] && raised[i] && used[i]; });
        pack(unit.count(), m, unit.apply(gate, &triplet::row), unit.apply(up, &triplet::row), unit.apply(down, &triplet::col));
    }

    [[nodiscard]] int units() const { return units_.count(); }
    [[nodiscard]] const norm_gains& norm() const { return norm_; }

    /// Adds the sublayer's output to `out`.
    template <rounding R>
    void run(const inputs& h, swiglu_scratch& s, output& out) const {
        gates_.wake(h.active(), s.awake);
        const std::size_t count = list_awake(s);
        constexpr std::size_t ahead = 4;
        for (std::size_t i = 0; i < count; ++i) {
            if (i + 2 * ahead < count) units_.announce(s.units[i + 2 * ahead]);
            if (i + ahead < count) units_.announce_entries(s.units[i + ahead]);
            run_unit<R>(units_[s.units[i]], h.values(), out);
        }
    }

private:
    void pack(int count, float m, std::vector<triplet> gate, std::vector<triplet> up, std::vector<triplet> down) {
        for (const triplet& t : gate) norm_.mark_read(t.col);
        for (const triplet& t : up) norm_.mark_read(t.col);
        const auto gates = entry_lists::by_row(count, std::move(gate));
        gates_ = sleeping_rows(gates, static_cast<int>(norm_.gain.size()), m, [](int) { return true; });
        units_ = packed_units(gates, entry_lists::by_row(count, std::move(up)), entry_lists::by_column(count, std::move(down)));
    }

    /// Lists the units that are awake, and clears the set. Returns how many there are.
    std::size_t list_awake(swiglu_scratch& s) const {
        std::size_t count = 0;
        for (std::size_t word = 0; word < static_cast<std::size_t>(blocks_for(units())); ++word) {
            if (s.awake[word] == 0) continue;
            for_each_bit(s.awake[word], [&](int bit) { s.units[count++] = static_cast<int>(word) * block_width + bit; });
            s.awake[word] = 0;
        }
        return count;
    }

    template <rounding R>
    static void run_unit(const packed_units::unit& u, const float* x, output& out) {
        const float open = R::round(silu(R::round(dot(u.gate, x))));
        if (open == 0) return;
        const float value = R::round(open * R::round(dot(u.up, x)));
        if (value != 0) out.add(u.down, value);
    }

    norm_gains norm_;
    packed_units units_;
    sleeping_rows gates_;
};

}  // namespace qwengpu::nn::sparse
