// SPDX-License-Identifier: MIT
// A weight matrix by column, packed for the sparse engine: an input is added to all outputs it reaches. Outputs may be
// renumbered, so that only those in use are stored and visited.
// A column is one cache line with its first entries; more follow in groups of four (filled up with zeros, so that loops
// run a number of times that is easy to predict), and runs of 16 outputs with several entries are stored dense.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <tuple>
#include <vector>

#include "qwengpu/nn/sparse/block64.hpp"
#include "qwengpu/nn/sparse_matrix.hpp"

namespace qwengpu::nn::sparse {

class packed_columns {
public:
    packed_columns() = default;

    /// Entries (output, input, value); no place twice.
    packed_columns(int outputs, int inputs, std::vector<triplet> entries)
        : outputs_(static_cast<std::uint32_t>(outputs)), columns_(static_cast<std::size_t>(inputs)) {
        std::sort(entries.begin(), entries.end(),
                  [](const triplet& a, const triplet& b) { return std::tie(a.col, a.row) < std::tie(b.col, b.row); });
        for (auto first = entries.begin(); first != entries.end();) {
            const int input = first->col;
            const auto last = std::find_if(first, entries.end(), [&](const triplet& t) { return t.col != input; });
            pack(columns_[static_cast<std::size_t>(input)], {first, last});
            first = last;
        }
    }

    /// out += column * x.
    void add(int input, float x, float* out) const {
        const column& c = columns_[static_cast<std::size_t>(input)];
        c.first.add(x, out);
        const group* more = groups_.data() + c.first_group;
        for (std::uint32_t i = 0; i < c.groups; ++i) more[i].add(x, out);
        const run* dense = runs_.data() + c.first_run;
        for (std::uint32_t i = 0; i < c.runs; ++i) add_scaled(out + dense[i].output, dense[i].value.data(), x, run_width);
    }

    /// Announces that a column will be added soon.
    void announce(int input) const { prefetch(&columns_[static_cast<std::size_t>(input)]); }
    /// And then, once the column is at hand, what follows it.
    void announce_rest(int input) const {
        const column& c = columns_[static_cast<std::size_t>(input)];
        if (c.groups > 0) prefetch(groups_.data() + c.first_group);
        if (c.runs > 0) prefetch(runs_.data() + c.first_run);
    }

    /// Which blocks of 64 outputs an input reaches; block b is bit b mod 64.
    [[nodiscard]] std::uint64_t reach(int input) const { return columns_[static_cast<std::size_t>(input)].reach; }

private:
    static constexpr int run_width = 16;
    static constexpr std::ptrdiff_t least_in_run = 5;

    struct group {
        std::array<float, 4> value{};
        std::array<std::uint32_t, 4> output{};

        void add(float x, float* out) const {
            for (std::size_t i = 0; i < 4; ++i) out[output[i]] += value[i] * x;
        }
    };

    struct run {
        std::array<float, run_width> value{};
        std::uint32_t output = 0;
    };

    struct alignas(64) column {
        group first;
        std::uint32_t first_group = 0, groups = 0, first_run = 0, runs = 0;
        std::uint64_t reach = 0;
    };

    void pack(column& c, std::span<const triplet> entries) {
        c.first_run = static_cast<std::uint32_t>(runs_.size());
        std::vector<triplet> single;
        for (auto it = entries.begin(); it != entries.end();) {
            const int start = it->row / run_width * run_width;
            const auto end = std::find_if(it, entries.end(), [&](const triplet& t) { return t.row >= start + run_width; });
            if (end - it >= least_in_run) pack_run(start, {it, end});
            else single.insert(single.end(), it, end);
            c.reach |= std::uint64_t{1} << (start / block_width % 64);
            it = end;
        }
        c.runs = static_cast<std::uint32_t>(runs_.size()) - c.first_run;
        pack_groups(c, single);
    }

    void pack_run(int start, std::span<const triplet> entries) {
        run& r = runs_.emplace_back();
        r.output = static_cast<std::uint32_t>(start);
        for (const triplet& t : entries) r.value[static_cast<std::size_t>(t.row - start)] = t.value;
    }

    void pack_groups(column& c, std::span<const triplet> entries) {
        c.first_group = static_cast<std::uint32_t>(groups_.size());
        c.first = group_of(entries.first(std::min<std::size_t>(4, entries.size())));
        for (std::size_t i = 4; i < entries.size(); i += 4)
            groups_.push_back(group_of(entries.subspan(i, std::min<std::size_t>(4, entries.size() - i))));
        c.groups = static_cast<std::uint32_t>(groups_.size()) - c.first_group;
    }

    // What is missing in a group is filled up with zeros for the outputs that follow, whatever these are.
    [[nodiscard]] group group_of(std::span<const triplet> entries) const {
        group g;
        for (std::size_t i = 0; i < 4; ++i) {
            const bool present = i < entries.size();
            g.value[i] = present ? entries[i].value : 0.0F;
            g.output[i] = present ? static_cast<std::uint32_t>(entries[i].row) : (i == 0 ? 0 : g.output[i - 1] + 1) % outputs_;
        }
        return g;
    }

    std::uint32_t outputs_ = 0;
    std::vector<column> columns_;
    std::vector<group> groups_;
    std::vector<run> runs_;
};

}  // namespace qwengpu::nn::sparse
