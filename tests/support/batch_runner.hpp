// SPDX-License-Identifier: MIT
// A circuit without heads on many columns at once, side by side in memory, for sweeps of ten million cases. fp32, the norms and
// activations of the engines; sums go by channel, and a row is scaled by its norm after it is summed. What is the same in all
// columns is worked out once, and units that the bounds of their inputs shut are passed over.
#pragma once

#include <qwengpu/circuit/assemble.hpp>
#include <qwengpu/nn/activation.hpp>
#include <qwengpu/nn/rms_norm.hpp>

#include "support/circuit_runner.hpp"
#include "support/clear_bit.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <utility>
#include <vector>

namespace qwengpu::test {

inline constexpr std::size_t batch_columns = 256;

/// A number for every column, and the least and the greatest of them.
struct alignas(64) batch_row {
    std::array<float, batch_columns> of{};
    float least = 0.0F, most = 0.0F;

    void add(const batch_row& x, float weight) {
        for (std::size_t c = 0; c < batch_columns; ++c) of[c] += weight * x.of[c];
    }
    void bound() {
        std::array<float, 16> low{}, high{};
        std::copy_n(of.begin(), 16, low.begin());
        high = low;
        for (std::size_t c = 16; c < batch_columns; c += 16)
            for (std::size_t k = 0; k < 16; ++k) {
                low[k] = of[c + k] < low[k] ? of[c + k] : low[k];
                high[k] = of[c + k] > high[k] ? of[c + k] : high[k];
            }
        least = *std::min_element(low.begin(), low.end());
        most = *std::max_element(high.begin(), high.end());
    }
    [[nodiscard]] bool is_same_everywhere() const { return least == most; }
    /// silu of every column; where none is between the ends at which it is exactly 0 or x, without an exponential.
    void activate() {
        int between = 0;
        for (std::size_t c = 0; c < batch_columns; ++c) between += of[c] > nn::dead_below && of[c] < nn::linear_above ? 1 : 0;
        if (between != 0)
            for (float& x : of) x = nn::silu(x);
        else
            for (float& x : of) x = x > 0.0F ? x : 0.0F;
    }
};

/// The residual of all columns, and the sums of its squares.
struct batch_residual {
    std::vector<batch_row> rows;
    std::array<double, batch_columns> squares{};

    void change_squares(const batch_row& row, double sign) {
        for (std::size_t c = 0; c < batch_columns; ++c) squares[c] += sign * double{row.of[c]} * double{row.of[c]};
    }
};

/// The SwiGLU of a layer, unit by unit.
class batch_layer {
public:
    batch_layer(const circuit::assembler::layer_weights& w, const nn::shape& shape) : eps_(shape.eps()) {
        if (w.mixer.in_proj_qkv.nonzeros() != 0) throw std::logic_error("a batch has no state: the circuit may have no heads");
        units_.resize(static_cast<std::size_t>(shape.mlp));
        const auto norm_of = [&](int channel) { return 1.0F + w.post_norm[channel]; };
        w.mlp.gate.for_each([&](int row, int col, float value) { units_[static_cast<std::size_t>(row)].gate.emplace_back(col, value * norm_of(col)); });
        w.mlp.up.for_each([&](int row, int col, float value) { units_[static_cast<std::size_t>(row)].up.emplace_back(col, value * norm_of(col)); });
        w.mlp.down.for_each([&](int row, int col, float value) { units_[static_cast<std::size_t>(col)].down.emplace_back(row, value); });
        std::erase_if(units_, [](const unit& u) { return u.down.empty(); });
    }

    void run(batch_residual& r) {
        std::array<float, batch_columns> scale{};
        for (std::size_t c = 0; c < batch_columns; ++c) scale[c] = nn::inverse_rms(r.squares[c], static_cast<Eigen::Index>(r.rows.size()), eps_);
        const float most_scale = *std::max_element(scale.begin(), scale.end());
        sums_.resize(r.rows.size());
        is_touched_.resize(r.rows.size());
        std::vector<int> touched;
        for (const unit& u : units_) {
            // Above this no column's gate can be. A shut unit gives exactly 0.
            float above = 0;
            for (const auto& [channel, weight] : u.gate) {
                const batch_row& x = r.rows[static_cast<std::size_t>(channel)];
                above += weight > 0 ? weight * x.most : weight * x.least;
            }
            if (above * most_scale < nn::dead_below - 1) continue;
            const batch_row gate = summed(u.gate, r, scale);
            add_unit(u, gate, r, scale, touched);
        }
        for (const int channel : touched) take_up(channel, r);
    }

private:
    using weights = std::vector<std::pair<int, float>>;
    struct unit {
        weights gate, up, down;  ///< by channel; those of gate and up hold the norm's weight too
    };

    static batch_row summed(const weights& sum, const batch_residual& r, const std::array<float, batch_columns>& scale) {
        float same = 0;
        batch_row total;
        for (const auto& [channel, weight] : sum) {
            const batch_row& x = r.rows[static_cast<std::size_t>(channel)];
            if (x.is_same_everywhere()) same += weight * x.most;
            else total.add(x, weight);
        }
        for (std::size_t c = 0; c < batch_columns; ++c) total.of[c] = (total.of[c] + same) * scale[c];
        return total;
    }

    void add_unit(const unit& u, batch_row value, const batch_residual& r, const std::array<float, batch_columns>& scale, std::vector<int>& touched) {
        value.activate();
        const batch_row up = summed(u.up, r, scale);
        for (std::size_t c = 0; c < batch_columns; ++c) value.of[c] *= up.of[c];
        for (const auto& [channel, weight] : u.down) {
            const auto to = static_cast<std::size_t>(channel);
            if (is_touched_[to] == 0) {
                is_touched_[to] = 1;
                sums_[to] = {};
                touched.push_back(channel);
            }
            sums_[to].add(value, weight);
        }
    }

    void take_up(int channel, batch_residual& r) {
        const auto at = static_cast<std::size_t>(channel);
        r.change_squares(r.rows[at], -1.0);
        r.rows[at].add(sums_[at], 1.0F);
        r.rows[at].bound();
        r.change_squares(r.rows[at], 1.0);
        is_touched_[at] = 0;
    }

    float eps_;
    std::vector<unit> units_;
    std::vector<batch_row> sums_;
    std::vector<char> is_touched_;
};

/// Like circuit_runner, `batch_columns` columns at a time. Inputs of every column are set after `clear`.
class batch_runner {
public:
    explicit batch_runner(circuit_bench& bench) : bench_(bench) {
        for (const auto& w : bench.compile()) layers_.emplace_back(w, bench.shape());
        Eigen::VectorXf empty = Eigen::VectorXf::Zero(bench.shape().hidden);
        circuit::constant_channels(bench.shape()).write(empty);
        empty_.rows.resize(static_cast<std::size_t>(empty.size()));
        for (std::size_t channel = 0; channel < empty_.rows.size(); ++channel) {
            batch_row& row = empty_.rows[channel];
            row.of.fill(empty[static_cast<Eigen::Index>(channel)]);
            row.bound();
            if (row.most != 0.0F) empty_.change_squares(row, 1.0);
        }
        clear();
    }

    void clear() {
        residual_ = empty_;
        inputs_.clear();
    }
    void set(const circuit::word& w, std::uint64_t value, int column) {
        for (std::size_t i = 0; i < w.size(); ++i) at(w[i]).of[static_cast<std::size_t>(column)] = static_cast<float>((value >> i) & 1U);
        if (column == 0) inputs_.insert(inputs_.end(), w.begin(), w.end());
    }
    void run() {
        for (const auto s : inputs_) {
            at(s).bound();
            residual_.change_squares(at(s), 1.0);
        }
        for (auto& layer : layers_) layer.run(residual_);
    }
    [[nodiscard]] std::uint64_t get(const circuit::word& w, int column) {
        std::uint64_t value = 0;
        for (std::size_t i = 0; i < w.size(); ++i) {
            if (bench_.net.info(w[i]).channel < 0) continue;
            value |= std::uint64_t{clear_bit(at(w[i]).of[static_cast<std::size_t>(column)], bench_.net.info(w[i]).name)} << i;
        }
        return value;
    }
    [[nodiscard]] static int columns() { return static_cast<int>(batch_columns); }

private:
    batch_row& at(circuit::signal s) { return residual_.rows[static_cast<std::size_t>(bench_.net.info(s).channel)]; }

    const circuit_bench& bench_;
    std::vector<batch_layer> layers_;
    batch_residual empty_, residual_;
    std::vector<circuit::signal> inputs_;  ///< those of the first column, which are those of every column
};

}  // namespace qwengpu::test
