// SPDX-License-Identifier: MIT
// Final norm, logits and argmax.
#include "qwengpu/nn/bf16_matrix.hpp"
#include "qwengpu/nn/head.hpp"
#include "support/catch.hpp"

namespace {

using namespace qwengpu::nn;

}  // namespace

TEST_CASE("logits are rounded products of the normed residual with the head's rows", "[nn]") {
    dense_matrix head(3, 2);
    head << 1, 0, 0, 1, 100, 257;
    const Eigen::Vector2f normed(1, 1);
    CHECK(logits<fp32>(head, normed) == Eigen::Vector3f(1, 1, 357));
    CHECK(logits<bf16>(head, normed) == Eigen::Vector3f(1, 1, 356));
    CHECK(logits<bf16>(bf16_matrix::from_dense(head), normed) == Eigen::Vector3f(1, 1, 356));  // 257 is stored as 256
}

TEST_CASE("the final norm is an RMSNorm centred on zero", "[nn]") {
    tokens residual(2, 1);
    residual << 8, -8;
    const tokens y = final_norm<bf16>(residual, Eigen::Vector2f(0, -1), 1e-6F);
    CHECK(y(0, 0) == 1.0F);
    CHECK(y(1, 0) == 0.0F);
}

TEST_CASE("argmax is the first of the largest", "[nn]") {
    vector x = vector::Constant(100, -5.0F);
    CHECK(argmax(x) == 0);
    x(37) = x(38) = x(99) = 2;
    CHECK(argmax(x) == 37);
}
