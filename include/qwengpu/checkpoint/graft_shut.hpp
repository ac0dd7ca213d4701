// SPDX-License-Identifier: MIT
// Front layers moved to a base's channels, and shut for ordinary text: every row through which something could get out
// has a large multiple of the separating direction subtracted (or added), which is zero for the machine's own tokens.
#pragma once

#include <qwengpu/checkpoint/front_model.hpp>
#include <qwengpu/checkpoint/graft_channels.hpp>
#include <qwengpu/checkpoint/layer_tensors.hpp>

#include <cmath>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace qwengpu::checkpoint {

/// What shutting needs to know.
struct shutter {
    channel_map map;
    nn::vector direction;  ///< on map.free, bf16 numbers
    double least = 0;      ///< tokens whose product with it is at least this are shut out for certain
    double reach = 0;      ///< the length that the front's channels of a normed vector can have at most
};

/// The smallest product with the direction that shuts the layers for certain. A sum of `hidden` floats, in whatever order, errs by
/// at most hidden 2^-24 times the sum of its terms' sizes, which for a direction of length 1 is sqrt(hidden) at most; this is twice that.
inline double certain_side(int hidden) { return 2.0 * hidden * 0x1p-24 * std::sqrt(static_cast<double>(hidden)); }

namespace detail {

/// 2^k, the smallest that makes half of `least` of the direction outweigh all that a row of this length can sum up to, by more
/// than the 104 from which silu and sigmoid are exactly zero. The other half is for the rounding of the sum (certain_side).
inline double outweighing(const shutter& s, double row_length) { return std::exp2(std::ceil(std::log2(2 * (1.01 * row_length * s.reach + 128.0) / s.least))); }

inline std::vector<std::vector<std::pair<int, float>>> rows_of(const nn::sparse_matrix& m) {
    std::vector<std::vector<std::pair<int, float>>> rows(static_cast<std::size_t>(m.rows()));
    m.for_each([&](int row, int col, float value) { rows[static_cast<std::size_t>(row)].emplace_back(col, value); });
    return rows;
}

inline double length(const std::vector<std::pair<int, float>>& row) {
    double squares = 0;
    for (const auto& [col, value] : row) squares += static_cast<double>(value) * static_cast<double>(value);
    return std::sqrt(squares);
}

}  // namespace detail

/// A matrix [out, hidden] of the front. `sign(row)`: -1 shuts where the direction is positive, 1 where it is negative,
/// 0 not at all. Rows of zeros stay so. `more(row, floats)` may add to a row.
inline planned_tensor plan_shut(std::string name, element_type type, const nn::sparse_matrix& m, std::shared_ptr<const shutter> s, std::function<int(int)> sign,
                                std::function<void(int, std::span<float>)> more = {}) {
    auto rows = std::make_shared<std::vector<std::vector<std::pair<int, float>>>>(detail::rows_of(m));
    return plan_rows(std::move(name), type, m.rows(), m.cols(), [rows, s, sign = std::move(sign), more = std::move(more)](int row, std::span<float> out) {
        const auto& entries = (*rows)[static_cast<std::size_t>(row)];
        for (const auto& [col, value] : entries) out[static_cast<std::size_t>(s->map.place[static_cast<std::size_t>(col)])] = value;
        const int side = entries.empty() ? 0 : sign(row);
        const auto factor = static_cast<float>(side * detail::outweighing(*s, detail::length(entries)));
        for (std::size_t i = 0; side != 0 && i < s->map.free.size(); ++i) out[static_cast<std::size_t>(s->map.free[i])] = factor * s->direction[static_cast<Eigen::Index>(i)];
        if (more) more(row, out);
    });
}

/// A matrix [hidden, in] of the front. `change(channel, value)` is applied to its entries, in the front's channels;
/// `more(base channel, floats)` may add to a row.
inline planned_tensor plan_moved(std::string name, element_type type, const nn::sparse_matrix& m, const channel_map& map, std::function<float(int, float)> change = {},
                                 std::function<void(int, std::span<float>)> more = {}) {
    auto rows = std::make_shared<std::vector<std::vector<std::pair<int, float>>>>(static_cast<std::size_t>(m.rows()));
    m.for_each([&](int row, int col, float value) {
        (*rows)[static_cast<std::size_t>(map.place[static_cast<std::size_t>(row)])].emplace_back(col, change ? change(row, value) : value);
    });
    return plan_rows(std::move(name), type, m.rows(), m.cols(), [rows, more = std::move(more)](int row, std::span<float> out) {
        for (const auto& [col, value] : (*rows)[static_cast<std::size_t>(row)]) out[static_cast<std::size_t>(col)] = value;
        if (more) more(row, out);
    });
}

/// A norm of the front; channels that are not the front's get the weight 0, so that they are seen as they are.
inline nn::vector moved_norm(const nn::vector& w, const channel_map& map) {
    nn::vector moved = nn::vector::Zero(w.size());
    for (std::size_t c = 0; c < map.place.size(); ++c) moved[map.place[c]] = w[static_cast<Eigen::Index>(c)];
    return moved;
}

}  // namespace qwengpu::checkpoint
