// SPDX-License-Identifier: MIT
// Sets of rows, a bit each: several kinds of sets for every input channel, side by side in memory. Only words of 64 rows that
// are not empty are stored.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "qwengpu/nn/sparse/block64.hpp"

namespace qwengpu::nn::sparse {

/// A set of rows, a bit each.
using row_set = std::vector<std::uint64_t>;

inline void insert(row_set& rows, int row) {
    rows[static_cast<std::size_t>(row / block_width)] |= std::uint64_t{1} << (row % block_width);
}

/// 64 rows of a set.
struct row_part {
    std::uint32_t word = 0;
    std::uint64_t rows = 0;
};

/// A set while it is put together, rows in ascending order.
using growing_set = std::vector<row_part>;

inline void append(growing_set& set, int row) {
    const auto word = static_cast<std::uint32_t>(row / block_width);
    if (set.empty() || set.back().word != word) set.push_back({word, 0});
    set.back().rows |= std::uint64_t{1} << (row % block_width);
}

template <std::size_t Kinds>
class row_masks {
public:
    row_masks() = default;

    /// The sets of every channel.
    explicit row_masks(const std::vector<std::array<growing_set, Kinds>>& channels) {
        starts_.reserve(channels.size() * Kinds + 1);
        for (const auto& sets : channels)
            for (const growing_set& set : sets) {
                parts_.insert(parts_.end(), set.begin(), set.end());
                starts_.push_back(static_cast<std::uint32_t>(parts_.size()));
            }
    }

    /// rows |= set of the channel.
    void add(int channel, std::size_t kind, row_set& rows) const {
        for (const row_part& p : parts_of(channel, kind)) rows[p.word] |= p.rows;
    }
    /// rows &= ~set of the channel.
    void remove(int channel, std::size_t kind, row_set& rows) const {
        for (const row_part& p : parts_of(channel, kind)) rows[p.word] &= ~p.rows;
    }

    [[nodiscard]] std::span<const row_part> parts_of(int channel, std::size_t kind) const {
        const std::size_t i = static_cast<std::size_t>(channel) * Kinds + kind;
        return {parts_.data() + starts_[i], starts_[i + 1] - starts_[i]};
    }

private:
    std::vector<std::uint32_t> starts_ = {0};
    std::vector<row_part> parts_;
};

}  // namespace qwengpu::nn::sparse
