// SPDX-License-Identifier: MIT
// The residual of one token in the sparse engine: its values, which of them are not zero, and the sum of their squares, all
// kept up to date where a sublayer adds something.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "qwengpu/nn/matrix.hpp"
#include "qwengpu/nn/rounding.hpp"
#include "qwengpu/nn/sparse/aligned.hpp"
#include "qwengpu/nn/sparse/block64.hpp"
#include "qwengpu/nn/sparse/output.hpp"

namespace qwengpu::nn::sparse {

class residual {
public:
    explicit residual(int hidden)
        : hidden_(hidden), values_(static_cast<std::size_t>(padded(hidden))),
          nonzero_(static_cast<std::size_t>(blocks_for(hidden))) {}

    template <rounding R>
    void load(const const_vector_ref& x) {
        std::transform(x.data(), x.data() + x.size(), values_.begin(), R::round);
        for (std::size_t b = 0; b < nonzero_.size(); ++b) nonzero_[b] = nonzero(values_.data() + b * block_width);
        sum_in_full();
    }

    /// Adds what a sublayer put out, rounded, and clears it.
    template <rounding R>
    void add(output& out) {
        for (std::size_t b = 0; b < nonzero_.size(); ++b) {
            if (out.touched[b] == 0) continue;
            for_each_bit(out.touched[b], [&](int bit) { add_one<R>(b, bit, out.values[b * block_width + static_cast<std::size_t>(bit)]); });
            out.touched[b] = 0;
        }
    }

    /// [hidden, 1]
    [[nodiscard]] Eigen::Map<const tokens> view() const { return {values_.data(), hidden_, 1}; }
    [[nodiscard]] const float* values() const { return values_.data(); }
    [[nodiscard]] std::uint64_t nonzero_in(std::size_t block) const { return nonzero_[block]; }
    [[nodiscard]] int hidden() const { return hidden_; }

    /// A sum of squares whose mean, as a float, is that of the sum in full: the sum that is kept, if all within its error
    /// have the same mean.
    [[nodiscard]] double sum_of_squares() {
        const double error = error_ + error_in_full();
        if (mean(sum_ - error) != mean(sum_ + error)) sum_in_full();
        return sum_;
    }

private:
    static constexpr double step_error = 0x1p-51;  ///< more than that of one addition, relative

    /// More than the error of a sum in full, whatever its order.
    [[nodiscard]] double error_in_full() const { return sum_ * hidden_ * step_error; }

    template <rounding R>
    void add_one(std::size_t b, int bit, float& added) {
        float& value = values_[b * block_width + static_cast<std::size_t>(bit)];
        const double before = static_cast<double>(value) * static_cast<double>(value);
        value = R::round(value + R::round(added));
        added = 0;
        nonzero_[b] = (nonzero_[b] & ~(std::uint64_t{1} << bit)) | std::uint64_t{value != 0.0F} << bit;
        const double after = static_cast<double>(value) * static_cast<double>(value);
        sum_ += after - before;
        error_ += (std::abs(sum_) + after + before) * step_error;
    }

    void sum_in_full() {
        sum_ = 0;
        for (std::size_t b = 0; b < nonzero_.size(); ++b)
            if (nonzero_[b] != 0) sum_ += sparse::sum_of_squares(values_.data() + b * block_width);
        error_ = error_in_full();
    }

    [[nodiscard]] float mean(double sum) const { return static_cast<float>(sum / hidden_); }

    int hidden_;
    aligned_floats values_;
    std::vector<std::uint64_t> nonzero_;
    double sum_ = 0;    ///< of the squares
    double error_ = 0;  ///< bound of its error
};

}  // namespace qwengpu::nn::sparse
