// SPDX-License-Identifier: MIT
// The rows of an embedding or a head, in blocks that are kept sparse or dense, whichever their numbers ask for: rows that
// are product codes have a few dozen non-zeros, rows of a trained model have none but.
#pragma once

#include <qwengpu/checkpoint/tensor_source.hpp>
#include <qwengpu/nn/bf16_matrix.hpp>
#include <qwengpu/nn/product.hpp>

#include <algorithm>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace qwengpu::checkpoint {

/// [vocabulary, hidden]. Blocks are `block_rows` rows each; neighbours of a kind are one.
class head_rows {
public:
    /// The tensor must be [vocabulary, hidden]. @throws error "checkpoint.tensor".
    head_rows(const tensor_view& t, int vocabulary, int hidden) : tensor_(t), hidden_(hidden) {
        check_tensor(t, {static_cast<std::uint64_t>(vocabulary), static_cast<std::uint64_t>(hidden)});
        for (int begin = 0; begin < vocabulary;) {
            const bool thin = is_thin(begin);
            int end = begin;
            while (end < vocabulary && is_thin(end) == thin) end = std::min(end + block_rows, vocabulary);
            blocks_.push_back(thin ? block{begin, sparse_rows(begin, end)} : block{begin, dense_rows(begin, end)});
            begin = end;
        }
        t.file.forget(t.bytes);
    }

    /// Row of a token, into a vector [hidden].
    void read(int token, nn::vector& to) const { read_row(tensor_, static_cast<std::size_t>(token), {to.data(), static_cast<std::size_t>(to.size())}); }

    /// The token with the largest product with `x`, rounded as the model's logits are; the first of equals. x: [hidden].
    template <nn::rounding R>
    [[nodiscard]] int argmax(const nn::vector& x) const {
        int best = 0;
        float most = -std::numeric_limits<float>::infinity();
        for (const auto& b : blocks_) {
            const nn::tokens y = std::visit([&](const auto& m) { return nn::project<R>(m, x); }, b.rows);
            Eigen::Index at = 0;
            const float top = y.col(0).maxCoeff(&at);
            if (top > most) most = top, best = b.first + static_cast<int>(at);
        }
        return best;
    }

    /// All products, [vocabulary].
    template <nn::rounding R>
    [[nodiscard]] nn::vector logits(const nn::vector& x) const {
        nn::vector all(static_cast<Eigen::Index>(tensor_.shape[0]));
        for (const auto& b : blocks_)
            std::visit([&](const auto& m) { all.segment(b.first, m.rows()) = nn::project<R>(m, x); }, b.rows);
        return all;
    }

private:
    struct block {
        int first;
        std::variant<nn::sparse_matrix, nn::bf16_matrix, nn::dense_matrix> rows;
    };
    using rows_variant = decltype(block::rows);
    static constexpr int block_rows = 4096;

    [[nodiscard]] bool is_thin(int row) const {
        nn::vector line(hidden_);
        read(row, line);
        return (line.array() != 0).count() * 8 < hidden_;
    }

    [[nodiscard]] rows_variant sparse_rows(int begin, int end) const {
        std::vector<nn::triplet> entries;
        nn::vector line(hidden_);
        for (int r = begin; r < end; ++r) {
            read(r, line);
            for (int c = 0; c < hidden_; ++c)
                if (line[c] != 0) entries.push_back({r - begin, c, line[c]});
        }
        return nn::sparse_matrix::from_triplets(end - begin, hidden_, std::move(entries));
    }

    [[nodiscard]] rows_variant dense_rows(int begin, int end) const {
        if (tensor_.type == element_type::bf16) {
            nn::bf16_matrix m(end - begin, hidden_);
            nn::vector line(hidden_);
            for (int r = begin; r < end; ++r) {
                read(r, line);
                for (int c = 0; c < hidden_; ++c) m.set(r - begin, c, line[c]);
            }
            return m;
        }
        nn::dense_matrix m(end - begin, hidden_);
        for (int r = begin; r < end; ++r) read_row(tensor_, static_cast<std::size_t>(r), {m.row(r - begin).data(), static_cast<std::size_t>(hidden_)});
        return m;
    }

    tensor_view tensor_;
    int hidden_;
    std::vector<block> blocks_;
};

}  // namespace qwengpu::checkpoint
