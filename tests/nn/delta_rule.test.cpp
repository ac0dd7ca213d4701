// SPDX-License-Identifier: MIT
// The delta rule as a memory: overwrite, read, forget; and its chunked form against the recurrent one.
#include <random>

#include "qwengpu/nn/chunked_delta_rule.hpp"
#include "qwengpu/nn/delta_rule.hpp"
#include "support/catch.hpp"
#include "support/closeness.hpp"

namespace {

using namespace qwengpu::nn;

vector one_hot(Eigen::Index i) { return vector::Unit(4, i); }
vector values(float a, float b) { return Eigen::Vector2f(a, b); }

head_inputs random_inputs(Eigen::Index count, unsigned seed) {
    std::mt19937 random(seed);
    std::normal_distribution<float> normal;
    std::uniform_real_distribution<float> unit(0, 1);
    const auto matrix = [&](Eigen::Index rows) {
        return tokens(tokens::NullaryExpr(rows, count, [&](Eigen::Index, Eigen::Index) { return normal(random); }));
    };
    head_inputs in{.q = matrix(8), .k = matrix(8), .v = matrix(5), .beta = vector(count), .log_decay = vector(count)};
    in.q.colwise().normalize();
    in.k.colwise().normalize();
    for (Eigen::Index t = 0; t < count; ++t) {
        in.beta(t) = unit(random);
        in.log_decay(t) = -unit(random) * (t % 7 == 0 ? 5.0F : 0.1F);
    }
    return in;
}

}  // namespace

TEST_CASE("a write with beta 1 replaces the row of a one-hot key, and is seen at once", "[nn]") {
    dense_matrix s = dense_matrix::Zero(4, 2);
    CHECK(delta_rule_step(s, one_hot(1), one_hot(1), values(64, 0), 1, 1) == values(64, 0));
    CHECK(delta_rule_step(s, one_hot(1), one_hot(2), values(5, 6), 1, 1) == values(64, 0));
    CHECK(delta_rule_step(s, one_hot(1), one_hot(1), values(0, 64), 1, 1) == values(0, 64));
    dense_matrix expected = dense_matrix::Zero(4, 2);
    expected.row(1) << 0, 64;
    expected.row(2) << 5, 6;
    CHECK(s == expected);
}

TEST_CASE("beta weighs a write, decay comes before it, and no key writes nothing", "[nn]") {
    dense_matrix s = dense_matrix::Constant(4, 2, 8.0F);
    const vector o = delta_rule_step(s, one_hot(0), one_hot(0), values(10, 0), 0.5F, 0.25F);
    CHECK(o == values(6, 1));  // 8/4 = 2; 2 + (10 - 2)/2 and 2 + (0 - 2)/2
    CHECK(s.row(3) == Eigen::RowVector2f(2, 2));
    const dense_matrix before = s;
    delta_rule_step(s, one_hot(0), vector::Zero(4), values(9, 9), 1, 1);
    CHECK(s == before);
}

TEST_CASE("chunks give what the recurrence gives", "[nn]") {
    const Eigen::Index count = GENERATE(1, 5, 64, 65, 150);
    const Eigen::Index chunk = GENERATE(1, 16, 64);
    const head_inputs in = random_inputs(count, 7);
    dense_matrix recurrent = dense_matrix::Constant(8, 5, 0.3F), chunked = recurrent;
    const tokens a = recurrent_delta_rule(recurrent, in);
    const tokens b = chunked_delta_rule(chunked, in, chunk);
    CHECK(compare(b, a).largest_difference < 1e-5);
    CHECK(compare(chunked, recurrent).largest_difference < 1e-5);
}
