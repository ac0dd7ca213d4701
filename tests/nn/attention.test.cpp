// SPDX-License-Identifier: MIT
// Rotary positions and full attention where they can be followed by hand (golden files hold the rest).
#include <cmath>

#include "qwengpu/nn/attention.hpp"
#include "support/catch.hpp"

namespace {

using namespace qwengpu::nn;

constexpr shape small{.hidden = 4, .query_heads = 2, .kv_heads = 1, .head_dim = 4, .rotary_dims = 2};

/// Query and key are the normed input itself, the value its double, and every gate is 64, which sigmoid opens fully.
attention_weights<dense_matrix> plain_weights() {
    attention_weights<dense_matrix> w{.q_proj = dense_matrix::Zero(16, 4), .k_proj = dense_matrix::Identity(4, 4),
                                      .v_proj = 2 * dense_matrix::Identity(4, 4), .q_norm = vector::Zero(4),
                                      .k_norm = vector::Zero(4), .o_proj = dense_matrix::Zero(4, 8)};
    for (int head = 0; head < 2; ++head) {
        w.q_proj.block(8 * head, 0, 4, 4).setIdentity();
        w.q_proj.block(8 * head + 4, 3, 4, 1).setConstant(64.0F);
    }
    w.o_proj.leftCols(4).setIdentity();
    return w;
}

}  // namespace

TEST_CASE("dimension i turns with dimension i + half, and the rest stays", "[nn]") {
    shape s{.head_dim = 6, .rotary_dims = 4, .rope_theta = 100};
    vector head(6);
    head << 1, 0, 0, 1, 5, 6;
    rotate<fp32>(rotation_at<fp32>(s, 3), head);
    const double first = 3.0, second = 3.0 / 10.0;  // 3 * 100^(-2/4)
    const double expected[] = {std::cos(first), -std::sin(second), std::sin(first), std::cos(second), 5, 6};
    for (int i = 0; i < 6; ++i) CHECK(std::abs(static_cast<double>(head(i)) - expected[i]) < 1e-6);
}

TEST_CASE("cosine and sine are stored in bf16 for a bf16 model", "[nn]") {
    const rotation r = rotation_at<bf16>(qwen35_2b, 1);
    CHECK(r.cos.size() == 32);
    CHECK(r.cos(0) == 0.5390625F);  // cos 1 = 0.540302
    CHECK(r.sin(0) == 0.83984375F);  // sin 1 = 0.841471
}

TEST_CASE("a single token attends to itself alone", "[nn]") {
    attention_state state(small);
    const Eigen::Vector4f h(0, 0, 3, 4);
    const tokens y = gated_attention<fp32>(plain_weights(), small, state, h);
    CHECK((y - 2 * h).cwiseAbs().maxCoeff() < 1e-6F);
    CHECK(state.length == 1);
}

TEST_CASE("attention weighs earlier tokens by the softmax of key and query", "[nn]") {
    attention_state state(small);
    tokens h(4, 2);
    h << 0, 0, 0, 0, 2, 0, 2, 2;  // (0,0,2,2) and (0,0,0,2): normed keys (0,0,r,r) with r = sqrt 2, and (0,0,0,2)
    const tokens y = gated_attention<fp32>(plain_weights(), small, state, h);
    // Scores of the second token: q.k / 2 = 2 r / 2 with the first token, 4 / 2 with itself.
    const double a = std::exp(std::sqrt(2.0)), b = std::exp(2.0);
    CHECK(std::abs(static_cast<double>(y(2, 1)) - 4 * a / (a + b)) < 1e-5);
    CHECK(std::abs(static_cast<double>(y(3, 1)) - 4.0) < 1e-5);
}

TEST_CASE("the cache grows with the tokens and is copied with the state", "[nn]") {
    attention_state state(small);
    for (int t = 0; t < 50; ++t) (void)gated_attention<fp32>(plain_weights(), small, state, Eigen::Vector4f(0, 0, 1, static_cast<float>(t)));
    const attention_state fork = state;
    (void)gated_attention<fp32>(plain_weights(), small, state, Eigen::Vector4f(0, 0, 1, 0));
    CHECK(state.length == 51);
    CHECK(fork.length == 50);
    CHECK(state.values.leftCols(50) == fork.values.leftCols(50));
    CHECK(state.values(3, 7) == 14.0F);
}

TEST_CASE("a shut gate lets nothing through", "[nn]") {
    attention_state state(small);
    auto w = plain_weights();
    w.q_proj.block(4, 3, 4, 1).setConstant(-64.0F);
    CHECK(gated_attention<fp32>(w, small, state, Eigen::Vector4f(0, 0, 3, 4)).isZero(0));
}
