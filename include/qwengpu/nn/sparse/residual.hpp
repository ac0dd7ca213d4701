// SPDX-License-Identifier: MIT
// The residual of one token in the sparse engine: its values, and per block of 64 what is not zero and the sum of squares,
// kept up to date where a sublayer adds something.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "qwengpu/nn/matrix.hpp"
#include "qwengpu/nn/rounding.hpp"
#include "qwengpu/nn/sparse/aligned.hpp"
#include "qwengpu/nn/sparse/block64.hpp"

namespace qwengpu::nn::sparse {

class residual {
public:
    explicit residual(int hidden)
        : hidden_(hidden), values_(static_cast<std::size_t>(padded(hidden))),
          nonzero_(static_cast<std::size_t>(blocks_for(hidden))), squares_(nonzero_.size()) {}

    template <rounding R>
    void load(const const_vector_ref& x) {
        std::transform(x.data(), x.data() + x.size(), values_.begin(), R::round);
        for (std::size_t b = 0; b < nonzero_.size(); ++b) look_at(b);
    }

    /// Adds what a sublayer put out, rounded, and clears it. Bit b mod 64 of `reached` says whether block b has any.
    template <rounding R>
    void add(aligned_floats& output, std::uint64_t reached) {
        for (std::size_t b = 0; b < nonzero_.size(); ++b)
            if ((reached >> (b % 64) & 1U) != 0) add_block<R>(b, output.data() + b * block_width);
    }

    /// [hidden, 1]
    [[nodiscard]] Eigen::Map<const tokens> view() const { return {values_.data(), hidden_, 1}; }
    [[nodiscard]] const float* values() const { return values_.data(); }
    [[nodiscard]] std::uint64_t nonzero_in(std::size_t block) const { return nonzero_[block]; }
    [[nodiscard]] int hidden() const { return hidden_; }

    [[nodiscard]] double sum_of_squares() const {
        double sum = 0;
        for (const double s : squares_) sum += s;
        return sum;
    }

private:
    template <rounding R>
    void add_block(std::size_t b, float* __restrict output) {
        float* __restrict r = values_.data() + b * block_width;
        for (int i = 0; i < block_width; ++i) {
            r[i] = R::round(r[i] + R::round(output[i]));
            output[i] = 0;
        }
        look_at(b);
    }

    void look_at(std::size_t b) {
        const float* block = values_.data() + b * block_width;
        nonzero_[b] = nonzero(block);
        squares_[b] = sparse::sum_of_squares(block);
    }

    int hidden_;
    aligned_floats values_;
    std::vector<std::uint64_t> nonzero_;
    std::vector<double> squares_;
};

}  // namespace qwengpu::nn::sparse
