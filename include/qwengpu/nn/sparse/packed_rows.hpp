// SPDX-License-Identifier: MIT
// A weight matrix by row, packed for the sparse engine: single outputs are asked for. A row holds its first entry; most
// rows of a gate have no other.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <tuple>
#include <vector>

#include "qwengpu/nn/sparse/block64.hpp"
#include "qwengpu/nn/sparse_matrix.hpp"

namespace qwengpu::nn::sparse {

class packed_rows {
public:
    packed_rows() = default;

    /// Entries (output, input, value); no place twice.
    packed_rows(int outputs, std::vector<triplet> entries) : rows_(static_cast<std::size_t>(outputs)) {
        std::sort(entries.begin(), entries.end(),
                  [](const triplet& a, const triplet& b) { return std::tie(a.row, a.col) < std::tie(b.row, b.col); });
        for (const triplet& t : entries) append(rows_[static_cast<std::size_t>(t.row)], {static_cast<std::uint32_t>(t.col), t.value});
    }

    /// One element of the product, of an input vector in full.
    [[nodiscard]] float dot(int output, const float* x) const {
        const row& r = rows_[static_cast<std::size_t>(output)];
        float sum = r.first.value * x[r.first.input];
        for (std::uint32_t i = r.more; i < r.end; ++i) sum += more_[i].value * x[more_[i].input];
        return sum;
    }

    /// Announces that a row will be asked for soon.
    void announce(int output) const { prefetch(&rows_[static_cast<std::size_t>(output)]); }

private:
    struct entry {
        std::uint32_t input = 0;
        float value = 0;
    };
    struct row {
        entry first;
        std::uint32_t more = 0, end = 0;
    };

    void append(row& r, entry e) {
        if (r.first.value == 0) {
            r.first = e;
            return;
        }
        if (r.more == r.end) r.more = r.end = static_cast<std::uint32_t>(more_.size());
        more_.push_back(e);
        ++r.end;
    }

    std::vector<row> rows_;
    std::vector<entry> more_;
};

}  // namespace qwengpu::nn::sparse
