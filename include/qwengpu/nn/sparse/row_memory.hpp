// SPDX-License-Identifier: MIT
// The memories of a layer's heads, row by row: only rows that were written are stored, so what a state takes, and what it
// costs to copy or to decay, follows what is in it. A row that is not stored is zero.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "qwengpu/nn/sparse/aligned.hpp"

namespace qwengpu::nn::sparse {

/// Rows of `width` floats (a multiple of 16), named by head and key.
class row_memory {
public:
    row_memory(int heads, int keys, int width)
        : keys_(static_cast<std::size_t>(keys)), width_(static_cast<std::size_t>(width)),
          slot_(static_cast<std::size_t>(heads) * keys_, none), used_(slot_.size()), used_count_(static_cast<std::size_t>(heads)) {}

    /// The row of a key, or null if it is zero.
    [[nodiscard]] const float* find(int head, int key) const {
        const std::int32_t slot = slot_[index(head, key)];
        return slot == none ? nullptr : rows_.data() + static_cast<std::size_t>(slot) * width_;
    }

    /// The row of a key, to be written. Valid until the next call.
    float* make(int head, int key) {
        std::int32_t& slot = slot_[index(head, key)];
        if (slot == none) {
            slot = new_slot();
            used_[index(head, used_count_[static_cast<std::size_t>(head)]++)] = key;
        }
        return rows_.data() + static_cast<std::size_t>(slot) * width_;
    }

    /// Multiplies all rows of a head.
    void scale(int head, float factor) {
        if (factor == 1) return;
        if (factor == 0) return erase(head);
        for (const std::int32_t key : used(head)) {
            float* row = make(head, key);
            std::transform(row, row + width_, row, [factor](float x) { return x * factor; });
        }
    }

    /// Sets all rows of a head to zero.
    void erase(int head) {
        for (const std::int32_t key : used(head)) {
            free_.push_back(slot_[index(head, key)]);
            slot_[index(head, key)] = none;
        }
        used_count_[static_cast<std::size_t>(head)] = 0;
    }

    /// Sets everything to zero.
    void clear() {
        for (std::size_t head = 0; head < used_count_.size(); ++head) erase(static_cast<int>(head));
    }

    /// Rows of a head that are stored.
    [[nodiscard]] int rows_of(int head) const { return used_count_[static_cast<std::size_t>(head)]; }

    /// Rows that are stored, of all heads.
    [[nodiscard]] std::size_t stored_rows() const { return rows_.size() / width_ - free_.size(); }

private:
    static constexpr std::int32_t none = -1;

    [[nodiscard]] std::size_t index(int head, int key) const {
        return static_cast<std::size_t>(head) * keys_ + static_cast<std::size_t>(key);
    }

    [[nodiscard]] std::span<const std::int32_t> used(int head) const {
        return std::span(used_).subspan(index(head, 0), static_cast<std::size_t>(used_count_[static_cast<std::size_t>(head)]));
    }

    std::int32_t new_slot() {
        if (free_.empty()) {
            rows_.resize(rows_.size() + width_);
            return static_cast<std::int32_t>(rows_.size() / width_ - 1);
        }
        const std::int32_t slot = free_.back();
        free_.pop_back();
        std::fill_n(rows_.begin() + static_cast<std::ptrdiff_t>(slot) * static_cast<std::ptrdiff_t>(width_), width_, 0.0F);
        return slot;
    }

    std::size_t keys_, width_;
    std::vector<std::int32_t> slot_;        ///< [head][key], place of the row
    std::vector<std::int32_t> used_;        ///< [head][0 ... used_count), keys that have a row
    std::vector<std::int32_t> used_count_;  ///< [head]
    aligned_floats rows_;
    std::vector<std::int32_t> free_;  ///< slots that may be used again
};

}  // namespace qwengpu::nn::sparse
