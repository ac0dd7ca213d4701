// SPDX-License-Identifier: MIT
// A sparse [out, in] matrix, compressed by column: a product goes over the non-zero inputs and adds their columns.
// Rows within a column ascend, and no stored value is zero.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "qwengpu/error.hpp"
#include "qwengpu/nn/matrix.hpp"

namespace qwengpu::nn {

/// One entry of a matrix.
struct triplet {
    int row, col;
    float value;

    friend bool operator==(const triplet&, const triplet&) = default;
};

/// Sparse matrix of floats, rows x cols, immutable once built.
class sparse_matrix {
public:
    sparse_matrix() = default;

    /// A matrix of zeros.
    sparse_matrix(int rows, int cols) : rows_(rows), cols_(cols), starts_(static_cast<std::size_t>(cols) + 1, 0) {}

    /// Entries in any order; those of the same place are summed, and what is zero then is dropped.
    /// @throws error "nn.triplet" if an entry lies outside of the matrix.
    static sparse_matrix from_triplets(int rows, int cols, std::vector<triplet> entries) {
        for (const triplet& t : entries) check_inside(rows, cols, t);
        std::stable_sort(entries.begin(), entries.end(), [](const triplet& a, const triplet& b) {
            return std::tie(a.col, a.row) < std::tie(b.col, b.row);
        });
        sparse_matrix result(rows, cols);
        for (auto it = entries.begin(); it != entries.end();) {
            const auto place = *it;
            float sum = 0;
            for (; it != entries.end() && it->row == place.row && it->col == place.col; ++it) sum += it->value;
            result.append(place.row, place.col, sum);
        }
        result.close_columns();
        return result;
    }

    /// The non-zero entries of a dense matrix.
    static sparse_matrix from_dense(const dense_matrix& dense) {
        sparse_matrix result(static_cast<int>(dense.rows()), static_cast<int>(dense.cols()));
        for (int col = 0; col < result.cols(); ++col)
            for (int row = 0; row < result.rows(); ++row) result.append(row, col, dense(row, col));
        result.close_columns();
        return result;
    }

    [[nodiscard]] int rows() const { return rows_; }
    [[nodiscard]] int cols() const { return cols_; }
    [[nodiscard]] std::size_t nonzeros() const { return values_.size(); }

    /// Rows of the entries of a column, ascending.
    [[nodiscard]] std::span<const int> column_rows(int col) const { return column(row_of_, col); }
    /// Values of the entries of a column, in the order of `column_rows`.
    [[nodiscard]] std::span<const float> column_values(int col) const { return column(values_, col); }

    /// Calls visit(row, col, value) for every entry, column by column.
    template <class Visit>
    void for_each(Visit&& visit) const {
        for (int col = 0; col < cols_; ++col)
            for (std::size_t i = start(col); i < start(col + 1); ++i) visit(row_of_[i], col, values_[i]);
    }

    /// Every entry, column by column.
    [[nodiscard]] std::vector<triplet> triplets() const {
        std::vector<triplet> all;
        all.reserve(nonzeros());
        for_each([&](int row, int col, float value) { all.push_back({row, col, value}); });
        return all;
    }

    [[nodiscard]] dense_matrix to_dense() const {
        dense_matrix dense = dense_matrix::Zero(rows_, cols_);
        for_each([&](int row, int col, float value) { dense(row, col) = value; });
        return dense;
    }

    friend bool operator==(const sparse_matrix&, const sparse_matrix&) = default;

private:
    static void check_inside(int rows, int cols, const triplet& t) {
        if (t.row >= 0 && t.row < rows && t.col >= 0 && t.col < cols) return;
        throw error("nn.triplet", "entry (" + std::to_string(t.row) + ", " + std::to_string(t.col) +
                                      ") lies outside of a matrix of " + std::to_string(rows) + " x " +
                                      std::to_string(cols) + "; give rows and columns within it");
    }

    // While a matrix is built, starts_[col + 1] counts the entries of a column; entries come column by column.
    void append(int row, int col, float value) {
        if (value == 0) return;
        row_of_.push_back(row);
        values_.push_back(value);
        ++starts_[static_cast<std::size_t>(col) + 1];
    }

    void close_columns() {
        for (std::size_t col = 1; col < starts_.size(); ++col) starts_[col] += starts_[col - 1];
    }

    [[nodiscard]] std::size_t start(int col) const { return starts_[static_cast<std::size_t>(col)]; }

    template <class T>
    [[nodiscard]] std::span<const T> column(const std::vector<T>& all, int col) const {
        return std::span<const T>(all).subspan(start(col), start(col + 1) - start(col));
    }

    int rows_ = 0, cols_ = 0;
    std::vector<std::size_t> starts_ = {0};
    std::vector<int> row_of_;
    std::vector<float> values_;
};

}  // namespace qwengpu::nn
