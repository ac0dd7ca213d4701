// SPDX-License-Identifier: MIT
// A circuit without heads on many columns at once, side by side in memory, so that the compiler makes vector code of it: for
// sweeps of ten million cases. fp32, the same norms, products and activations as the engines; the order of sums is by channel.
#pragma once

#include <qwengpu/circuit/assemble.hpp>
#include <qwengpu/nn/activation.hpp>
#include <qwengpu/nn/rms_norm.hpp>

#include "support/circuit_runner.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace qwengpu::test {

inline constexpr std::size_t batch_columns = 64;

/// A number for every column.
struct alignas(64) batch_row {
    std::array<float, batch_columns> of{};

    void add(const batch_row& x, float weight) {
        for (std::size_t c = 0; c < batch_columns; ++c) of[c] += weight * x.of[c];
    }
    /// Whether a column is above x. Counted, not searched: that is vector code.
    [[nodiscard]] bool any_above(float x) const {
        int above = 0;
        for (std::size_t c = 0; c < batch_columns; ++c) above += of[c] > x ? 1 : 0;
        return above != 0;
    }
    [[nodiscard]] bool is_zero() const {
        int others = 0;
        for (std::size_t c = 0; c < batch_columns; ++c) others += of[c] != 0.0F ? 1 : 0;
        return others == 0;
    }
    /// silu of every column; where none is between the ends at which it is exactly 0 or x, without an exponential.
    void activate() {
        int between = 0;
        for (std::size_t c = 0; c < batch_columns; ++c) between += of[c] > nn::dead_below && of[c] < nn::linear_above ? 1 : 0;
        for (std::size_t c = 0; c < batch_columns; ++c) of[c] = between != 0 ? nn::silu(of[c]) : of[c] > 0.0F ? of[c] : 0.0F;
    }
};

/// A sparse matrix by rows or by columns: what index i meets, and with which weight.
using links = std::vector<std::vector<std::pair<int, float>>>;

/// The SwiGLU of a layer, ordered as the batch needs it.
class batch_layer {
public:
    batch_layer(const circuit::assembler::layer_weights& w, const nn::shape& shape, const std::vector<int>& constant_channels)
        : norm_(w.post_norm), eps_(shape.eps()), gate_(links_by(w.mlp.gate, true)), up_(links_by(w.mlp.up, false)), down_(links_by(w.mlp.down, true)),
          constants_(static_cast<std::size_t>(shape.mlp)), is_constant_(static_cast<std::size_t>(shape.hidden)), is_touched_(is_constant_.size()) {
        if (w.mixer.in_proj_qkv.nonzeros() != 0) throw std::logic_error("a batch has no state: the circuit may have no heads");
        for (const int c : constant_channels) {
            is_constant_[static_cast<std::size_t>(c)] = true;
            for (const auto& [unit, weight] : gate_[static_cast<std::size_t>(c)]) constants_[static_cast<std::size_t>(unit)].emplace_back(c, weight);
        }
        // Units whose constants alone do not shut them: they are worked out whatever the inputs are.
        for (std::size_t unit = 0; unit < constants_.size(); ++unit) {
            float sum = 0;
            for (const auto& [c, weight] : constants_[unit]) sum += weight;
            if (sum > nn::dead_below - 1 && !(constants_[unit].empty() && up_[unit].empty())) always_.push_back(static_cast<int>(unit));
        }
    }

    /// `used`: the channels that may be other than zero, ascending; it grows.
    void run(std::vector<batch_row>& residual, std::vector<int>& used) {
        const auto normed = normalise(residual, used);
        const auto units = gates(normed);
        sums_.resize(residual.size());
        std::vector<int> touched;
        for (const int unit : units) {
            batch_row& value = gate_sums_[static_cast<std::size_t>(unit)];
            if (value.any_above(nn::dead_below)) activate(unit, value, normed, touched);
        }
        for (const int channel : touched) {
            residual[static_cast<std::size_t>(channel)].add(sums_[static_cast<std::size_t>(channel)], 1.0F);
            is_touched_[static_cast<std::size_t>(channel)] = false;
            if (std::find(used.begin(), used.end(), channel) == used.end()) used.push_back(channel);
        }
        std::sort(used.begin(), used.end());
    }

private:
    struct normed_rows {
        std::vector<std::pair<int, batch_row>> rows;  ///< that are not all zero
        std::vector<int> place;                       ///< of a channel among them, -1: zero
    };

    static links links_by(const nn::sparse_matrix& m, bool by_column) {
        links l(static_cast<std::size_t>(by_column ? m.cols() : m.rows()));
        m.for_each([&](int row, int col, float value) { l[static_cast<std::size_t>(by_column ? col : row)].emplace_back(by_column ? row : col, value); });
        return l;
    }

    [[nodiscard]] normed_rows normalise(const std::vector<batch_row>& residual, const std::vector<int>& used) const {
        std::array<double, batch_columns> squares{};
        normed_rows n{{}, std::vector<int>(residual.size(), -1)};
        n.rows.reserve(used.size());
        for (const int used_channel : used) {
            const auto channel = static_cast<std::size_t>(used_channel);
            if (residual[channel].is_zero()) continue;
            for (std::size_t c = 0; c < batch_columns; ++c) squares[c] += double{residual[channel].of[c]} * double{residual[channel].of[c]};
            if (norm_[static_cast<Eigen::Index>(channel)] == -1.0F) continue;
            n.place[channel] = static_cast<int>(n.rows.size());
            n.rows.emplace_back(used_channel, residual[channel]);
        }
        std::array<float, batch_columns> scale{};
        for (std::size_t c = 0; c < batch_columns; ++c) scale[c] = nn::inverse_rms(squares[c], static_cast<Eigen::Index>(residual.size()), eps_);
        for (auto& [channel, row] : n.rows)
            for (std::size_t c = 0; c < batch_columns; ++c) row.of[c] = row.of[c] * scale[c] * (1.0F + norm_[channel]);
        return n;
    }

    /// The gate sums of all units that an input reaches or nothing shuts; the constants come last.
    std::vector<int> gates(const normed_rows& n) {
        gate_sums_.resize(constants_.size());
        std::vector<bool> seen(constants_.size());
        std::vector<int> units;
        const auto open = [&](int unit) {
            if (seen[static_cast<std::size_t>(unit)]) return;
            seen[static_cast<std::size_t>(unit)] = true;
            gate_sums_[static_cast<std::size_t>(unit)] = {};
            units.push_back(unit);
        };
        for (const auto& [channel, row] : n.rows) {
            if (is_constant_[static_cast<std::size_t>(channel)]) continue;
            for (const auto& [unit, weight] : gate_[static_cast<std::size_t>(channel)]) {
                open(unit);
                gate_sums_[static_cast<std::size_t>(unit)].add(row, weight);
            }
        }
        for (const int unit : always_) open(unit);
        for (const int unit : units)
            for (const auto& [channel, weight] : constants_[static_cast<std::size_t>(unit)])
                gate_sums_[static_cast<std::size_t>(unit)].add(n.rows[static_cast<std::size_t>(n.place[static_cast<std::size_t>(channel)])].second, weight);
        return units;
    }

    void activate(int unit, batch_row& value, const normed_rows& n, std::vector<int>& touched) {
        value.activate();
        batch_row up;
        for (const auto& [channel, weight] : up_[static_cast<std::size_t>(unit)])
            if (const int at = n.place[static_cast<std::size_t>(channel)]; at >= 0) up.add(n.rows[static_cast<std::size_t>(at)].second, weight);
        for (std::size_t c = 0; c < batch_columns; ++c) value.of[c] *= up.of[c];
        for (const auto& [channel, weight] : down_[static_cast<std::size_t>(unit)]) {
            const auto to = static_cast<std::size_t>(channel);
            if (!is_touched_[to]) {
                is_touched_[to] = true;
                sums_[to] = {};
                touched.push_back(channel);
            }
            sums_[to].add(value, weight);
        }
    }

    Eigen::VectorXf norm_;
    float eps_;
    links gate_, up_, down_;  ///< units by channel; channels by unit; channels by unit
    links constants_;         ///< constant channels by unit
    std::vector<bool> is_constant_;
    std::vector<int> always_;
    std::vector<bool> is_touched_;
    std::vector<batch_row> gate_sums_, sums_;
};

/// Like circuit_runner, `batch_columns` columns at a time.
class batch_runner {
public:
    explicit batch_runner(circuit_bench& bench) : bench_(bench) {
        const circuit::constant_channels constants(bench.shape());
        for (const auto& w : bench.compile()) layers_.emplace_back(w, bench.shape(), std::vector<int>{constants.one, constants.second_one});
        Eigen::VectorXf empty = Eigen::VectorXf::Zero(bench.shape().hidden);
        constants.write(empty);
        empty_.resize(static_cast<std::size_t>(empty.size()));
        for (std::size_t channel = 0; channel < empty_.size(); ++channel) {
            empty_[channel].of.fill(empty[static_cast<Eigen::Index>(channel)]);
            if (empty[static_cast<Eigen::Index>(channel)] != 0.0F) used_.push_back(static_cast<int>(channel));
        }
        constant_channels_ = used_;
        residual_ = empty_;
    }

    void clear() {
        for (const int channel : used_) residual_[static_cast<std::size_t>(channel)] = empty_[static_cast<std::size_t>(channel)];
        used_.assign(constant_channels_.begin(), constant_channels_.end());
        set_.clear();
    }
    void set(const circuit::word& w, std::uint64_t value, int column) {
        for (std::size_t i = 0; i < w.size(); ++i) at(w[i]).of[static_cast<std::size_t>(column)] = static_cast<float>((value >> i) & 1U);
        if (column == 0) set_.insert(set_.end(), w.begin(), w.end());
    }
    void run() {
        for (const auto s : set_) used_.push_back(bench_.net.info(s).channel);
        std::sort(used_.begin(), used_.end());
        for (auto& layer : layers_) layer.run(residual_, used_);
    }
    [[nodiscard]] std::uint64_t get(const circuit::word& w, int column) {
        std::uint64_t value = 0;
        for (std::size_t i = 0; i < w.size(); ++i) {
            if (bench_.net.info(w[i]).channel < 0) continue;
            const float v = at(w[i]).of[static_cast<std::size_t>(column)];
            const bool bit = v > 0.5F;
            if (!(std::abs(v - (bit ? 1.0F : 0.0F)) < 0.25F)) throw std::runtime_error("'" + bench_.net.info(w[i]).name + "' is " + std::to_string(v) + ", which is no bit");
            value |= std::uint64_t{bit} << i;
        }
        return value;
    }
    [[nodiscard]] static int columns() { return static_cast<int>(batch_columns); }

private:
    batch_row& at(circuit::signal s) { return residual_[static_cast<std::size_t>(bench_.net.info(s).channel)]; }

    const circuit_bench& bench_;
    std::vector<batch_layer> layers_;
    std::vector<batch_row> empty_, residual_;
    std::vector<int> used_, constant_channels_;  ///< channels that may be other than zero
    std::vector<circuit::signal> set_;  ///< inputs of the first column, which are those of every column
};

}  // namespace qwengpu::test
