// SPDX-License-Identifier: MIT
// A sparse matrix as lists of entries, by row (for single outputs) or by column (to add an input to what it reaches).
// Within a list the indices ascend.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

#include "qwengpu/nn/sparse_matrix.hpp"

namespace qwengpu::nn::sparse {

struct entry {
    std::uint32_t index = 0;
    float value = 0;
};

/// Sum of entry times input, of an input vector in full. Zeros add nothing, whatever stands beside them.
inline float dot(std::span<const entry> list, const float* x) {
    float sum = 0;
    for (const entry& e : list) sum += e.value * x[e.index];
    return sum;
}

class entry_lists {
public:
    entry_lists() = default;

    /// `count` lists. Entries by row (the indices are columns) or by column; no place twice.
    static entry_lists by_row(int count, std::vector<triplet> entries) { return {count, std::move(entries), &triplet::row, &triplet::col}; }
    static entry_lists by_column(int count, std::vector<triplet> entries) { return {count, std::move(entries), &triplet::col, &triplet::row}; }

    [[nodiscard]] int count() const { return static_cast<int>(starts_.size()) - 1; }
    [[nodiscard]] std::span<const entry> operator[](int list) const {
        const auto i = static_cast<std::size_t>(list);
        return {entries_.data() + starts_[i], starts_[i + 1] - starts_[i]};
    }

private:
    entry_lists(int count, std::vector<triplet> entries, int triplet::*list, int triplet::*index)
        : starts_(static_cast<std::size_t>(count) + 1) {
        std::sort(entries.begin(), entries.end(),
                  [&](const triplet& a, const triplet& b) { return std::tie(a.*list, a.*index) < std::tie(b.*list, b.*index); });
        entries_.reserve(entries.size());
        for (const triplet& t : entries) {
            entries_.push_back({static_cast<std::uint32_t>(t.*index), t.value});
            ++starts_[static_cast<std::size_t>(t.*list) + 1];
        }
        for (std::size_t i = 1; i < starts_.size(); ++i) starts_[i] += starts_[i - 1];
    }

    std::vector<std::uint32_t> starts_ = {0};
    std::vector<entry> entries_;
};

}  // namespace qwengpu::nn::sparse
