// SPDX-License-Identifier: MIT
// The gated delta rule in chunks of tokens: matrix products instead of a loop, one update of the memory per chunk.
// Equal to the recurrent form in exact arithmetic (Yang et al., "Gated Delta Networks", section 3.3); rounds differently.
#pragma once

#include <algorithm>

#include "qwengpu/nn/delta_rule.hpp"

namespace qwengpu::nn {

namespace detail {

inline vector running_sum(const vector& x) {
    vector sum = x;
    for (Eigen::Index i = 1; i < sum.size(); ++i) sum(i) += sum(i - 1);
    return sum;
}

/// decay(i, j) = exp(total(i) - total(j)) for j <= i, else 0: what is left at token i of what token j wrote.
inline Eigen::MatrixXf decay_between(const vector& total) {
    const Eigen::Index n = total.size();
    Eigen::MatrixXf decay = Eigen::MatrixXf::Zero(n, n);
    for (Eigen::Index j = 0; j < n; ++j)
        for (Eigen::Index i = j; i < n; ++i) decay(i, j) = std::exp(total(i) - total(j));
    return decay;
}

inline tokens delta_rule_chunk(dense_matrix& s, const head_inputs& in) {
    const vector total = running_sum(in.log_decay);
    const vector from_start = total.array().exp();
    const Eigen::MatrixXf decay = decay_between(total);
    // Token i corrects the memory by delta_i = beta_i (v_i - what it holds), which includes the deltas of the tokens before.
    const Eigen::MatrixXf coupling = in.beta.asDiagonal() * (in.k.transpose() * in.k).cwiseProduct(decay);
    const Eigen::MatrixXf held = from_start.asDiagonal() * (in.k.transpose() * s);
    Eigen::MatrixXf delta = in.beta.asDiagonal() * (in.v.transpose() - held);
    coupling.triangularView<Eigen::UnitLower>().solveInPlace(delta);

    const Eigen::MatrixXf seen = (in.q.transpose() * in.k).cwiseProduct(decay);
    const Eigen::MatrixXf o = from_start.asDiagonal() * (in.q.transpose() * s) + seen * delta;
    const vector to_end = decay.row(decay.rows() - 1);
    s = from_start(from_start.size() - 1) * s + in.k * to_end.asDiagonal() * delta;
    return o.transpose();
}

}  // namespace detail

/// As recurrent_delta_rule, `chunk` tokens at a time.
inline tokens chunked_delta_rule(dense_matrix& s, const head_inputs& in, Eigen::Index chunk = 64) {
    tokens o(in.v.rows(), in.v.cols());
    for (Eigen::Index first = 0; first < o.cols(); first += chunk) {
        const Eigen::Index n = std::min(chunk, o.cols() - first);
        o.middleCols(first, n) = detail::delta_rule_chunk(
            s, {in.q.middleCols(first, n), in.k.middleCols(first, n), in.v.middleCols(first, n),
                in.beta.segment(first, n), in.log_decay.segment(first, n)});
    }
    return o;
}

}  // namespace qwengpu::nn
