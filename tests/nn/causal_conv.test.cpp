// SPDX-License-Identifier: MIT
// The causal convolution: which token a tap reads, what comes before the first one, and where it rounds.
#include "qwengpu/nn/causal_conv.hpp"
#include "support/catch.hpp"

namespace {

using namespace qwengpu::nn;

/// Four channels, each of which reads one tap only: 3, 2, 1 and 0 tokens ago.
Eigen::MatrixXf one_tap_each() { return Eigen::MatrixXf::Identity(4, 4); }

/// x(channel, t) = 100 (t + 1) + channel, which silu leaves as it is.
tokens numbered(Eigen::Index first, Eigen::Index count) {
    return tokens::NullaryExpr(4, count, [&](Eigen::Index c, Eigen::Index t) { return static_cast<float>(100 * (first + t + 1) + c); });
}

float expected_at(Eigen::Index channel, Eigen::Index t) {
    const Eigen::Index read = t - (3 - channel);
    return read < 0 ? 0.0F : static_cast<float>(100 * (read + 1) + channel);
}

}  // namespace

TEST_CASE("tap j of four reads the token 3 - j ago, zero before the first", "[nn]") {
    Eigen::MatrixXf history = Eigen::MatrixXf::Zero(4, 3);
    const tokens y = causal_conv<fp32>(one_tap_each(), history, numbered(0, 6));
    for (Eigen::Index t = 0; t < 6; ++t)
        for (Eigen::Index channel = 0; channel < 4; ++channel) CHECK(y(channel, t) == expected_at(channel, t));
    CHECK(history == numbered(3, 3));
}

TEST_CASE("the history carries over, however the tokens are split", "[nn]") {
    Eigen::MatrixXf history = Eigen::MatrixXf::Zero(4, 3);
    Eigen::Index t = 0;
    for (const Eigen::Index count : {1, 1, 3, 2}) {
        const tokens y = causal_conv<fp32>(one_tap_each(), history, numbered(t, count));
        for (Eigen::Index i = 0; i < count; ++i)
            for (Eigen::Index channel = 0; channel < 4; ++channel) CHECK(y(channel, i) == expected_at(channel, t + i));
        t += count;
    }
}

TEST_CASE("silu follows, and bf16 rounds before and after it", "[nn]") {
    Eigen::MatrixXf taps(1, 1), history(1, 0);
    taps << 1.0F;
    CHECK(causal_conv<fp32>(taps, history, tokens::Constant(1, 1, -200.0F))(0, 0) == 0.0F);
    taps << 1.00390625F;
    CHECK(causal_conv<fp32>(taps, history, tokens::Constant(1, 1, 256.0F))(0, 0) == 257.0F);
    CHECK(causal_conv<bf16>(taps, history, tokens::Constant(1, 1, 256.0F))(0, 0) == 256.0F);
}
