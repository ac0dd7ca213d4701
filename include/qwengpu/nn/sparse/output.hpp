// SPDX-License-Identifier: MIT
// What a sublayer adds to the residual, and which channels it has touched.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "qwengpu/nn/sparse/aligned.hpp"
#include "qwengpu/nn/sparse/block64.hpp"
#include "qwengpu/nn/sparse/entry_lists.hpp"

namespace qwengpu::nn::sparse {

/// Zero and untouched between sublayers.
struct output {
    aligned_floats values;               ///< [padded hidden]
    std::vector<std::uint64_t> touched;  ///< a bit per channel

    output() = default;
    explicit output(int hidden)
        : values(static_cast<std::size_t>(padded(hidden))), touched(static_cast<std::size_t>(blocks_for(hidden))) {}

    /// values += column * x.
    void add(std::span<const entry> column, float x) {
        for (const entry& e : column) {
            values[e.index] += e.value * x;
            touched[e.index / block_width] |= std::uint64_t{1} << (e.index % block_width);
        }
    }
};

}  // namespace qwengpu::nn::sparse
