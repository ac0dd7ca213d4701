// SPDX-License-Identifier: MIT
// What keeps a row of weights at or below -m times the lead (sleeping_rows.hpp says what a lead is, and how bounds are used).
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <iterator>
#include <limits>
#include <span>
#include <vector>

#include "qwengpu/nn/sparse/entry_lists.hpp"

namespace qwengpu::nn::sparse {

/// The channel with the most negative weights, or -1.
inline int lead_channel(const entry_lists& rows, const std::vector<int>& of, int channels) {
    std::vector<int> count(static_cast<std::size_t>(channels));
    for (const int row : of)
        for (const entry& e : rows[row]) count[e.index] += e.value < 0 ? 1 : 0;
    const auto most = std::max_element(count.begin(), count.end());
    return most == count.end() || *most == 0 ? -1 : static_cast<int>(most - count.begin());
}

/// How many rows every channel raises.
inline std::vector<int> rows_raised(const entry_lists& rows, const std::vector<int>& of, int channels) {
    std::vector<int> count(static_cast<std::size_t>(channels));
    for (const int row : of)
        for (const entry& e : rows[row]) count[e.index] += e.value > 0 ? 1 : 0;
    return count;
}

class row_bounds {
public:
    static constexpr float slack = 1.0F / 8192;     ///< d
    static constexpr float faint = 1.0F / 65536;    ///< f
    static constexpr float kept_of_m = 0.9F;        ///< the rest is for errors of sums; rows with larger ones have no bounds

    row_bounds(std::span<const entry> row, int lead, float m) : row_(row), lead_(lead), m_(static_cast<double>(m)) {
        double size = 0;
        for (const entry& e : row) {
            const auto weight = static_cast<double>(e.value);
            size += std::abs(weight);
            if (is_lead(e)) base_ = weight;
            else if (weight > 0) raise_ += most(e);
        }
        const double rounding = static_cast<double>(row.size() + 1) * static_cast<double>(std::numeric_limits<float>::epsilon()) / 2;
        const double error = size * (rounding + static_cast<double>(faint));
        bounded_ = lead >= 0 && 1.01 * error <= (1 - static_cast<double>(kept_of_m)) * m_;
    }

    /// All inputs but the lead.
    template <class Visit>
    void for_each(Visit&& visit) const {
        for (const entry& e : row_)
            if (!is_lead(e)) visit(e);
    }

    /// Whether the lead does not hold the row shut at all, nor open.
    [[nodiscard]] bool is_bare() const { return base_ == 0; }

    /// Inputs of which one must be there; those that raise many rows are likely to be there, so others are preferred.
    /// Returns false if the row may be open in any case.
    template <class Visit>
    bool for_each_watched(const std::vector<int>& raised, Visit&& visit) const {
        if (is_bare()) for_each(visit);
        if (is_bare()) return true;
        double room = -m_ - base_;
        if (!bounded_ || room < 0) return false;
        std::vector<entry> raising;
        std::copy_if(row_.begin(), row_.end(), std::back_inserter(raising), [&](const entry& e) { return !is_lead(e) && e.value > 0; });
        std::stable_sort(raising.begin(), raising.end(), [&](const entry& a, const entry& b) { return raised[a.index] > raised[b.index]; });
        for (const entry& e : raising) {
            if (most(e) <= room) room -= most(e);
            else visit(e);
        }
        return true;
    }

    /// Inputs without which the row is shut, whatever the others.
    template <class Visit>
    void for_each_need(Visit&& visit) const {
        for (const entry& e : row_)
            if (bounded_ && !is_lead(e) && e.value > 0 && base_ + raise_ - most(e) <= -m_) visit(e);
    }

private:
    [[nodiscard]] bool is_lead(const entry& e) const { return static_cast<int>(e.index) == lead_; }
    static double most(const entry& e) { return static_cast<double>(e.value) * (1 + static_cast<double>(slack)); }

    std::span<const entry> row_;
    int lead_;
    double m_;
    double base_ = 0;   ///< b
    double raise_ = 0;  ///< (1 + d) sum of all positive weights but b
    bool bounded_ = false;
};

}  // namespace qwengpu::nn::sparse
