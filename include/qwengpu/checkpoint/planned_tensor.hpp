// SPDX-License-Identifier: MIT
// A tensor that is to be written: name, type and shape are known at once, its numbers are made when its turn comes, so
// that a checkpoint of gigabytes is written with the memory of a few rows.
#pragma once

#include <qwengpu/checkpoint/element_type.hpp>
#include <qwengpu/checkpoint/safetensors_header.hpp>
#include <qwengpu/nn/sparse_matrix.hpp>

#include <algorithm>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace qwengpu::checkpoint {

/// Where bytes go, piece by piece.
using byte_sink = std::function<void(std::span<const std::byte>)>;

struct planned_tensor {
    std::string name;
    element_type type = element_type::f32;
    std::vector<std::uint64_t> shape;
    std::function<void(const byte_sink&)> write;  ///< gives all bytes, in order

    [[nodiscard]] std::uint64_t bytes() const { return *byte_size(type, shape); }
};

/// A planned tensor of rows x cols (or of `shape`, with as many elements) whose rows `fill(row, floats)` makes; they
/// are zero before.
inline planned_tensor plan_rows(std::string name, element_type type, int rows, int cols, std::function<void(int, std::span<float>)> fill,
                                std::vector<std::uint64_t> shape = {}) {
    if (shape.empty()) shape = {static_cast<std::uint64_t>(rows), static_cast<std::uint64_t>(cols)};
    auto write = [type, rows, cols, fill = std::move(fill)](const byte_sink& sink) {
        std::vector<float> values(static_cast<std::size_t>(cols));
        std::vector<std::byte> bytes(values.size() * bytes_of(type));
        for (int r = 0; r < rows; ++r) {
            std::fill(values.begin(), values.end(), 0.0F);
            fill(r, values);
            from_floats(type, values, bytes.data());
            sink(bytes);
        }
    };
    return {std::move(name), type, std::move(shape), std::move(write)};
}

/// A planned vector.
inline planned_tensor plan_vector(std::string name, element_type type, const Eigen::VectorXf& v) {
    const auto size = static_cast<int>(v.size());
    return plan_rows(std::move(name), type, 1, size, [v](int, std::span<float> out) { std::copy(v.data(), v.data() + v.size(), out.begin()); },
                     {static_cast<std::uint64_t>(size)});
}

/// A planned tensor from a sparse matrix, which is copied.
inline planned_tensor plan_sparse(std::string name, element_type type, const nn::sparse_matrix& m) {
    struct entry {
        int col;
        float value;
    };
    auto rows = std::make_shared<std::vector<std::vector<entry>>>(static_cast<std::size_t>(m.rows()));
    m.for_each([&](int row, int col, float value) { (*rows)[static_cast<std::size_t>(row)].push_back({col, value}); });
    return plan_rows(std::move(name), type, m.rows(), m.cols(), [rows](int row, std::span<float> out) {
        for (const auto& e : (*rows)[static_cast<std::size_t>(row)]) out[static_cast<std::size_t>(e.col)] = e.value;
    });
}

}  // namespace qwengpu::checkpoint
