// SPDX-License-Identifier: MIT
// What becomes of every ordinary token on its way through the front layers: exactly nothing, or the push of the first
// layer, or (if it is too close to the border for either) something that must be run to be known.
#pragma once

#include <qwengpu/checkpoint/graft_base.hpp>
#include <qwengpu/checkpoint/graft_separator.hpp>
#include <qwengpu/checkpoint/graft_shut.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

namespace qwengpu::checkpoint {

/// Ordinary tokens of a vocabulary, counted.
struct token_report {
    std::int64_t exact = 0;        ///< pass through to the bit
    std::int64_t empty = 0;        ///< rows of zeros, which pass through as well
    std::int64_t pushed = 0;       ///< are changed by the push, then by nothing
    std::vector<int> undecided;    ///< too close to the border
    double largest_deviation = 0;  ///< of the pushed: length of the change over that of the row
    double mean_deviation = 0;
    int most_deviating = -1;
    double least_side = std::numeric_limits<double>::infinity();  ///< smallest product with the direction
};

namespace detail {

/// The product of the direction with a normed row, as a layer sees it.
template <nn::rounding R>
double seen_side(const nn::vector& x, const shutter& s, float eps) {
    const float scale = nn::inverse_rms(nn::sum_of_squares(x), x.size(), eps);
    double sum = 0;
    for (std::size_t i = 0; i < s.map.free.size(); ++i) sum += static_cast<double>(R::round(x[s.map.free[i]] * scale)) * static_cast<double>(s.direction[static_cast<Eigen::Index>(i)]);
    return sum;
}

/// The row after the push, with the roundings of the layer's output and of the residual.
template <nn::rounding R>
nn::vector pushed_row(const nn::vector& x, double side, const shutter& s, double reach) {
    nn::vector y = x;
    for (std::size_t i = 0; i < s.map.free.size(); ++i) {
        const float change = R::round(static_cast<float>(-reach * side) * s.direction[static_cast<Eigen::Index>(i)]);
        y[s.map.free[i]] = R::round(x[s.map.free[i]] + change);
    }
    return y;
}

}  // namespace detail

/// Looks at rows [0, count) of an embedding. `reach` is the pusher's.
template <nn::rounding R>
token_report report_tokens(const tensor_view& embedding, int count, const shutter& s, double reach, float eps) {
    token_report r;
    nn::vector x(static_cast<Eigen::Index>(embedding.shape.at(1)));
    for (int t = 0; t < count; ++t) {
        read_row(embedding, static_cast<std::size_t>(t), {x.data(), static_cast<std::size_t>(x.size())});
        if (!x.allFinite()) throw detail::not_finite("row " + std::to_string(t) + " of the embedding", embedding.file.path());
        x = nn::rounded<R>(x).eval();
        const double side = detail::seen_side<R>(x, s, eps);
        r.least_side = std::min(r.least_side, side);
        if (x.isZero(0.0F)) {
            ++r.empty;
        } else if (side >= s.least) {
            ++r.exact;
        } else {
            const auto y = detail::pushed_row<R>(x, side, s, reach);
            if (side > -s.least || detail::seen_side<R>(y, s, eps) < s.least) {
                r.undecided.push_back(t);
                continue;
            }
            ++r.pushed;
            const double deviation = static_cast<double>((y - x).norm() / x.norm());
            r.mean_deviation += deviation;
            if (deviation > r.largest_deviation) r.largest_deviation = deviation, r.most_deviating = t;
        }
    }
    if (r.pushed > 0) r.mean_deviation /= static_cast<double>(r.pushed);
    return r;
}

/// The push must outdo the rms of every token on the wrong side by half.
template <nn::rounding R>
double needed_reach(const tensor_view& embedding, int count, const shutter& s, float eps) {
    nn::vector x(static_cast<Eigen::Index>(embedding.shape.at(1)));
    double most = 0;
    for (int t = 0; t < count; ++t) {
        read_row(embedding, static_cast<std::size_t>(t), {x.data(), static_cast<std::size_t>(x.size())});
        if (detail::seen_side<R>(x, s, eps) < s.least) most = std::max(most, std::sqrt(nn::sum_of_squares(x) / static_cast<double>(x.size())));
    }
    return 1.5 * most;
}

}  // namespace qwengpu::checkpoint
