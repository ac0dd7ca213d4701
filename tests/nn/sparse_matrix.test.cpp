// SPDX-License-Identifier: MIT
// Sparse matrices: triplets in any order, sums, zeros, columns; and products of all three kinds of matrices.
#include <random>

#include "qwengpu/nn/product.hpp"
#include "qwengpu/nn/sparse_matrix.hpp"
#include "support/catch.hpp"

namespace {

using namespace qwengpu::nn;

/// Whole numbers, which all sums below are exact for, many of them zero.
dense_matrix small_numbers(int rows, int cols, unsigned seed) {
    std::mt19937 random(seed);
    std::uniform_int_distribution<int> number(-3, 3), zero(0, 2);
    return dense_matrix::NullaryExpr(rows, cols, [&](Eigen::Index, Eigen::Index) {
        return zero(random) == 0 ? static_cast<float>(number(random)) : 0.0F;
    });
}

tokens product_by_hand(const dense_matrix& w, const tokens& x) {
    tokens y = tokens::Zero(w.rows(), x.cols());
    for (Eigen::Index row = 0; row < w.rows(); ++row)
        for (Eigen::Index col = 0; col < w.cols(); ++col)
            for (Eigen::Index token = 0; token < x.cols(); ++token) y(row, token) += w(row, col) * x(col, token);
    return y;
}

}  // namespace

TEST_CASE("triplets are sorted, summed, and dropped where they cancel", "[nn]") {
    const auto m = sparse_matrix::from_triplets(3, 4, {{2, 3, 1.0F}, {0, 1, 2.0F}, {2, 1, 5.0F}, {0, 1, 3.0F}, {1, 2, 4.0F}, {1, 2, -4.0F}});
    dense_matrix expected = dense_matrix::Zero(3, 4);
    expected(2, 3) = 1;
    expected(0, 1) = 5;
    expected(2, 1) = 5;
    CHECK(m.rows() == 3);
    CHECK(m.cols() == 4);
    CHECK(m.nonzeros() == 3);
    CHECK(m.to_dense() == expected);
    CHECK(m == sparse_matrix::from_dense(expected));
    CHECK(std::vector<int>(m.column_rows(1).begin(), m.column_rows(1).end()) == std::vector<int>{0, 2});
    CHECK(std::vector<float>(m.column_values(1).begin(), m.column_values(1).end()) == std::vector<float>{5, 5});
    CHECK(m.column_rows(2).empty());
    CHECK(m.triplets() == std::vector<triplet>{{0, 1, 5.0F}, {2, 1, 5.0F}, {2, 3, 1.0F}});
}

TEST_CASE("a sparse matrix of zeros has a size and no entries", "[nn]") {
    const sparse_matrix m(2, 3);
    CHECK(m.nonzeros() == 0);
    CHECK(m.to_dense() == dense_matrix::Zero(2, 3));
    CHECK(m == sparse_matrix::from_triplets(2, 3, {}));
}

TEST_CASE("an entry outside of a matrix is refused with its place", "[nn]") {
    const triplet outside = GENERATE(triplet{3, 0, 1}, triplet{0, 4, 1}, triplet{-1, 0, 1}, triplet{0, -1, 1});
    try {
        (void)sparse_matrix::from_triplets(3, 4, {{0, 0, 1}, outside});
        FAIL("accepted");
    } catch (const qwengpu::error& e) {
        CHECK(e.id() == "nn.triplet");
        const std::string place = "(" + std::to_string(outside.row) + ", " + std::to_string(outside.col) + ")";
        CHECK(e.message().find(place) != std::string::npos);
    }
}

TEST_CASE("products of dense, bf16 and sparse matrices", "[nn]") {
    const int tokens_count = GENERATE(1, 2, 5);
    const dense_matrix w = small_numbers(70, 33, 1);
    const tokens x = small_numbers(33, tokens_count, 2);
    const tokens expected = product_by_hand(w, x);
    CHECK(multiply(w, x) == expected);
    CHECK(multiply(bf16_matrix::from_dense(w), x) == expected);
    CHECK(multiply(sparse_matrix::from_dense(w), x) == expected);
}

TEST_CASE("a product is rounded once, after the sum", "[nn]") {
    const dense_matrix w = dense_matrix::Constant(1, 3, 1.0F);
    const Eigen::Vector3f x(256.0F, 0.75F, 0.75F);
    CHECK(project<fp32>(w, x)(0, 0) == 257.5F);
    CHECK(project<bf16>(w, x)(0, 0) == 258.0F);
}

TEST_CASE("a bf16 matrix rounds what it stores", "[nn]") {
    dense_matrix w(1, 2);
    w << 257.0F, 0.5F;
    bf16_matrix stored = bf16_matrix::from_dense(w);
    CHECK(stored(0, 0) == 256.0F);
    CHECK(stored(0, 1) == 0.5F);
    stored.set(0, 1, 259.0F);
    CHECK(stored.to_dense()(0, 1) == 260.0F);
    CHECK(stored.bits()[0] == 0x4380);
}
