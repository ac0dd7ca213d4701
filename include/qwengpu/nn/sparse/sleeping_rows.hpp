// SPDX-License-Identifier: MIT
// Which rows of W x can matter, where a sum s matters only if silu(s) is not zero: rows that provably stay at or below
// -89, or are sums of nothing, are not looked at.
//
// One input, the lead (a constant 1 in compiled layers), holds most rows shut: its weight b is below -m. Let x0 be the
// lead. Inputs of at most f x0 either way are as good as zero (what fp32 leaves of a 1 that was taken away); of the others let
// all be regular, 0 < x <= (1 + d) x0. Then a row is, but for an error, at most
//     x0 (b + (1 + d) sum of the positive weights of inputs that are there).
// Two things keep this at or below -m x0:
// * none of the inputs that the row watches is there: those beside them raise it by -m - b at most;
// * an input is not there without which the others cannot raise the row (a need).
// That m x0, less all errors, is 89 or more, is seen to when rows are sorted in and when x0 is known: a lead that is too small
// wakes all rows. Rows without a lead are bare: any input that is not zero wakes them. Inputs that are not regular wake
// all rows they reach.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "qwengpu/nn/activation.hpp"
#include "qwengpu/nn/sparse/entry_lists.hpp"
#include "qwengpu/nn/sparse/inputs.hpp"
#include "qwengpu/nn/sparse/row_bounds.hpp"
#include "qwengpu/nn/sparse/row_masks.hpp"

namespace qwengpu::nn::sparse {

class sleeping_rows {
public:
    sleeping_rows() = default;

    /// Of the rows (indices are channels), those that keep(row) says; rows without entries never wake.
    /// m: how far a lead of 1 must shut a row; any value is right, one little above 89 / x0 is best.
    template <class Keep>
    sleeping_rows(const entry_lists& rows, int channels, float m, Keep&& keep)
        : shut_(m), kept_(static_cast<std::size_t>(blocks_for(rows.count()))), always_(kept_.size()) {
        std::vector<int> kept;
        for (int row = 0; row < rows.count(); ++row)
            if (!rows[row].empty() && keep(row)) kept.push_back(row), insert(kept_, row);
        any_ = !kept.empty();
        lead_ = lead_channel(rows, kept, channels);
        const std::vector<int> raised = rows_raised(rows, kept, channels);
        std::vector<std::array<growing_set, kinds>> found(static_cast<std::size_t>(channels));
        for (const int row : kept) sort_in(row, row_bounds(rows[row], lead_, m), raised, found);
        sets_ = row_masks<kinds>(found);
        for (int channel = 0; channel < channels; ++channel)
            if (raised[static_cast<std::size_t>(channel)] >= crowd && !sets_.parts_of(channel, need).empty()) needed_.push_back(channel);
    }

    [[nodiscard]] bool any() const { return any_; }

    /// Adds to `awake` the rows whose silu may not be zero, for inputs that are zero but for those listed (ascending).
    void wake(std::span<const active_input> x, row_set& awake) const {
        if (!any_ || x.empty()) return;
        const float lead = lead_of(x);
        if (lead_ >= 0 && !(lead * (shut_ * row_bounds::kept_of_m) >= -dead_below)) return add(kept_, awake);
        const float most = lead * (1 + row_bounds::slack), faint = lead * row_bounds::faint;
        add(always_, awake);
        bool regular = true;
        for (const active_input& in : x) {
            if (in.channel == lead_) continue;
            if (std::abs(in.value) <= faint) sets_.add(in.channel, bare, awake);
            else if (in.value > 0 && in.value <= most) sets_.add(in.channel, watch, awake);
            else regular = false;
        }
        remove_needy(x, faint, awake);
        if (regular) return;
        for (const active_input& in : x)
            if (in.channel != lead_ && std::abs(in.value) > faint && !(in.value > 0 && in.value <= most)) sets_.add(in.channel, reach, awake);
    }

private:
    static constexpr int crowd = 128;  ///< rows that a channel raises, from which on it is worth to look for its absence

    enum kind : std::size_t { bare, watch, need, reach, kinds };

    static void add(const row_set& rows, row_set& to) {
        for (std::size_t i = 0; i < rows.size(); ++i) to[i] |= rows[i];
    }

    [[nodiscard]] float lead_of(std::span<const active_input> x) const {
        const auto it = std::lower_bound(x.begin(), x.end(), lead_, [](const active_input& in, int channel) { return in.channel < channel; });
        return it != x.end() && it->channel == lead_ ? it->value : 0.0F;
    }

    void remove_needy(std::span<const active_input> x, float faint, row_set& awake) const {
        auto in = x.begin();
        for (const int channel : needed_) {
            while (in != x.end() && in->channel < channel) ++in;
            if (in == x.end() || in->channel != channel || std::abs(in->value) <= faint) sets_.remove(channel, need, awake);
        }
    }

    void sort_in(int row, const row_bounds& bounds, const std::vector<int>& raised, std::vector<std::array<growing_set, kinds>>& found) {
        const auto put = [&](kind k) { return [&found, row, k](const entry& e) { append(found[e.index][k], row); }; };
        bounds.for_each(put(reach));
        if (bounds.is_bare()) bounds.for_each(put(bare));
        if (!bounds.for_each_watched(raised, put(watch))) insert(always_, row);
        bounds.for_each_need([&](const entry& e) {
            if (raised[e.index] >= crowd) put(need)(e);
        });
    }

    bool any_ = false;
    int lead_ = -1;
    float shut_ = 0;  ///< m
    row_set kept_, always_;
    row_masks<kinds> sets_;  ///< per channel
    std::vector<int> needed_;  ///< channels whose absence is looked for, ascending
};

}  // namespace qwengpu::nn::sparse
