// SPDX-License-Identifier: MIT
// Weight matrices packed for the sparse engine: by column, where an input is added to all outputs it reaches, and by row,
// where a single output is asked for. Outputs may be renumbered, so that only those in use are stored and visited.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <tuple>
#include <vector>

#include "qwengpu/nn/sparse/block64.hpp"
#include "qwengpu/nn/sparse_matrix.hpp"

namespace qwengpu::nn::sparse {

/// Matrix by column. Runs of 16 outputs with several entries are stored dense, which vector units add at once.
class packed_columns {
public:
    packed_columns() = default;

    /// Entries (output, input, value); no place twice.
    packed_columns(int inputs, std::vector<triplet> entries) : columns_(static_cast<std::size_t>(inputs)) {
        std::sort(entries.begin(), entries.end(),
                  [](const triplet& a, const triplet& b) { return std::tie(a.col, a.row) < std::tie(b.col, b.row); });
        auto first = entries.begin();
        for (int input = 0; input < inputs; ++input) {
            const auto last = std::find_if(first, entries.end(), [&](const triplet& t) { return t.col != input; });
            columns_[static_cast<std::size_t>(input)] = pack({first, last});
            first = last;
        }
    }

    /// out += column * x.
    void add(int input, float x, float* out) const {
        const column& c = columns_[static_cast<std::size_t>(input)];
        for (std::uint32_t i = c.first_run; i < c.last_run; ++i)
            add_scaled(out + run_output_[i], run_value_.data() + std::size_t{i} * run, x, run);
        for (std::uint32_t i = c.first; i < c.last; ++i) out[output_[i]] += value_[i] * x;
    }

    /// Which blocks of 64 outputs an input reaches; block b is bit b mod 64.
    [[nodiscard]] std::uint64_t reach(int input) const { return columns_[static_cast<std::size_t>(input)].reach; }

private:
    static constexpr int run = 16;
    static constexpr std::ptrdiff_t least_in_run = 4;

    struct column {
        std::uint32_t first = 0, last = 0, first_run = 0, last_run = 0;
        std::uint64_t reach = 0;
    };

    column pack(std::span<const triplet> entries) {
        column c{.first = entry_count(), .first_run = run_count()};
        for (auto it = entries.begin(); it != entries.end();) {
            const int start = it->row / run * run;
            const auto end = std::find_if(it, entries.end(), [&](const triplet& t) { return t.row >= start + run; });
            if (end - it >= least_in_run) pack_run(start, {it, end});
            else pack_entries({it, end});
            c.reach |= std::uint64_t{1} << (start / block_width % 64);
            it = end;
        }
        c.last = entry_count();
        c.last_run = run_count();
        return c;
    }

    void pack_run(int start, std::span<const triplet> entries) {
        run_output_.push_back(static_cast<std::uint32_t>(start));
        run_value_.resize(run_value_.size() + run);
        for (const triplet& t : entries) *(run_value_.end() - run + (t.row - start)) = t.value;
    }

    void pack_entries(std::span<const triplet> entries) {
        for (const triplet& t : entries) {
            output_.push_back(static_cast<std::uint32_t>(t.row));
            value_.push_back(t.value);
        }
    }

    [[nodiscard]] std::uint32_t entry_count() const { return static_cast<std::uint32_t>(value_.size()); }
    [[nodiscard]] std::uint32_t run_count() const { return static_cast<std::uint32_t>(run_output_.size()); }

    std::vector<column> columns_;
    std::vector<std::uint32_t> output_, run_output_;
    std::vector<float> value_, run_value_;
};

/// Matrix by row.
class packed_rows {
public:
    packed_rows() = default;

    /// Entries (output, input, value); no place twice.
    packed_rows(int outputs, std::vector<triplet> entries) : starts_(static_cast<std::size_t>(outputs) + 1, 0) {
        std::sort(entries.begin(), entries.end(),
                  [](const triplet& a, const triplet& b) { return std::tie(a.row, a.col) < std::tie(b.row, b.col); });
        for (const triplet& t : entries) {
            ++starts_[static_cast<std::size_t>(t.row) + 1];
            input_.push_back(static_cast<std::uint32_t>(t.col));
            value_.push_back(t.value);
        }
        for (std::size_t i = 1; i < starts_.size(); ++i) starts_[i] += starts_[i - 1];
    }

    /// One element of the product, of an input vector in full.
    [[nodiscard]] float dot(int output, const float* x) const {
        float sum = 0;
        const auto row = static_cast<std::size_t>(output);
        for (std::uint32_t i = starts_[row]; i < starts_[row + 1]; ++i) sum += value_[i] * x[input_[i]];
        return sum;
    }

private:
    std::vector<std::uint32_t> starts_ = {0};
    std::vector<std::uint32_t> input_;
    std::vector<float> value_;
};

}  // namespace qwengpu::nn::sparse
