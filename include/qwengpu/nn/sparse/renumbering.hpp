// SPDX-License-Identifier: MIT
// Renumbers the rows or columns of a matrix so that only those in use remain.
#pragma once

#include <cstddef>
#include <vector>

#include "qwengpu/nn/sparse_matrix.hpp"

namespace qwengpu::nn::sparse {

/// The entries of a matrix for which keep(entry) holds.
template <class Keep>
std::vector<triplet> entries_if(const sparse_matrix& m, Keep&& keep) {
    std::vector<triplet> kept;
    m.for_each([&](int row, int col, float value) {
        if (const triplet t{row, col, value}; keep(t)) kept.push_back(t);
    });
    return kept;
}

/// Which of `count` rows (or columns) have an entry.
inline std::vector<bool> present(int count, const std::vector<triplet>& entries, int triplet::*index) {
    std::vector<bool> found(static_cast<std::size_t>(count));
    for (const triplet& t : entries) found[static_cast<std::size_t>(t.*index)] = true;
    return found;
}

/// New numbers 0, 1, ... for those that are kept.
class renumbering {
public:
    template <class Keep>
    renumbering(int old_count, Keep&& keep) {
        for (int i = 0; i < old_count; ++i) new_of_.push_back(keep(static_cast<std::size_t>(i)) ? count_++ : -1);
    }

    [[nodiscard]] int count() const { return count_; }

    /// Entries whose row (or column) is kept, with its new number.
    [[nodiscard]] std::vector<triplet> apply(const std::vector<triplet>& entries, int triplet::*index) const {
        std::vector<triplet> kept;
        for (triplet t : entries) {
            t.*index = new_of_[static_cast<std::size_t>(t.*index)];
            if (t.*index >= 0) kept.push_back(t);
        }
        return kept;
    }

private:
    int count_ = 0;
    std::vector<int> new_of_;
};

}  // namespace qwengpu::nn::sparse
