// SPDX-License-Identifier: MIT
// A dense [out, in] matrix stored in bfloat16: half the memory of floats (45 layers of Qwen3.5-2B's shape take 5.3 GB).
// Products convert it on the fly, a panel of rows at a time; the arithmetic is float32.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "qwengpu/nn/bf16.hpp"
#include "qwengpu/nn/matrix.hpp"

namespace qwengpu::nn {

/// Dense matrix of bf16 numbers, rows x cols, row by row.
class bf16_matrix {
public:
    bf16_matrix() = default;

    /// A matrix of zeros.
    bf16_matrix(int rows, int cols)
        : rows_(rows), cols_(cols), bits_(static_cast<std::size_t>(rows) * static_cast<std::size_t>(cols)) {}

    /// Every element rounded to the nearest bf16.
    static bf16_matrix from_dense(const dense_matrix& dense) {
        bf16_matrix result(static_cast<int>(dense.rows()), static_cast<int>(dense.cols()));
        std::transform(dense.data(), dense.data() + dense.size(), result.bits_.begin(), float_to_bf16);
        return result;
    }

    [[nodiscard]] int rows() const { return rows_; }
    [[nodiscard]] int cols() const { return cols_; }
    /// Bit patterns of all elements, row by row.
    [[nodiscard]] const std::vector<std::uint16_t>& bits() const { return bits_; }

    void set(int row, int col, float value) { bits_[index(row, col)] = float_to_bf16(value); }
    [[nodiscard]] float operator()(int row, int col) const { return bf16_to_float(bits_[index(row, col)]); }

    /// Rows first ... first + panel.rows() - 1 as floats.
    void copy_rows(int first, dense_matrix& panel) const {
        const std::uint16_t* from = bits_.data() + index(first, 0);
        std::transform(from, from + panel.size(), panel.data(), bf16_to_float);
    }

    [[nodiscard]] dense_matrix to_dense() const {
        dense_matrix dense(rows_, cols_);
        copy_rows(0, dense);
        return dense;
    }

    friend bool operator==(const bf16_matrix&, const bf16_matrix&) = default;

private:
    [[nodiscard]] std::size_t index(int row, int col) const {
        return static_cast<std::size_t>(row) * static_cast<std::size_t>(cols_) + static_cast<std::size_t>(col);
    }

    int rows_ = 0, cols_ = 0;
    std::vector<std::uint16_t> bits_;
};

}  // namespace qwengpu::nn
