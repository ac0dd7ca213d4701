// SPDX-License-Identifier: MIT
// A circuit without heads on many columns at once, side by side in memory, for sweeps of ten million cases. fp32, the norms of
// the engines, their activations with Eigen's exponential; sums go by channel, and a row is scaled by its norm after it is summed.
// What is the same in all columns is worked out once, and units that the bounds of their inputs shut are passed over.
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
#include <span>
#include <stdexcept>
#include <utility>
#include <vector>

#include <Eigen/Core>

namespace qwengpu::test {

inline constexpr std::size_t batch_columns = 256;

/// A number for every column.
struct alignas(64) batch_row {
    std::array<float, batch_columns> of{};

    void add(const batch_row& x, float weight) {
        for (std::size_t c = 0; c < batch_columns; ++c) of[c] += weight * x.of[c];
    }
    /// The least and the greatest.
    [[nodiscard]] std::pair<float, float> ends() const {
        std::array<float, 16> low{}, high{};
        std::copy_n(of.begin(), 16, low.begin());
        high = low;
        for (std::size_t c = 16; c < batch_columns; c += 16)
            for (std::size_t k = 0; k < 16; ++k) {
                low[k] = of[c + k] < low[k] ? of[c + k] : low[k];
                high[k] = of[c + k] > high[k] ? of[c + k] : high[k];
            }
        return {*std::min_element(low.begin(), low.end()), *std::max_element(high.begin(), high.end())};
    }
    /// silu of every column, with Eigen's exponential; none is needed where all are beyond the ends at which silu is exactly 0 or x.
    void activate() {
        const std::array<float, batch_columns> x = of;
        int open = 0;
        for (std::size_t c = 0; c < batch_columns; ++c) {
            of[c] = x[c] > 0.0F ? x[c] : 0.0F;
            open |= static_cast<int>(x[c] > nn::dead_below) & static_cast<int>(x[c] < nn::linear_above);
        }
        if (open == 0) return;
        Eigen::Map<Eigen::Array<float, batch_columns, 1>> y(of.data());
        const Eigen::Map<const Eigen::Array<float, batch_columns, 1>> v(x.data());
        const Eigen::Array<float, batch_columns, 1> silu = v / (1.0F + (-v).exp());
        y = (v <= nn::dead_below || v >= nn::linear_above).select(y, silu);
    }
};

/// The residual of all columns, the ends of every row, and the sums of the squares of every column.
struct batch_residual {
    std::vector<batch_row> rows;
    std::vector<std::pair<float, float>> ends;  ///< beside the rows, as every unit of every layer asks for them
    std::array<double, batch_columns> squares{};

    /// After a row was written.
    void take_up(std::size_t channel) {
        ends[channel] = rows[channel].ends();
        change_squares(rows[channel], 1.0);
    }
    void change_squares(const batch_row& row, double sign) {
        for (std::size_t c = 0; c < batch_columns; ++c) {
            const auto x = static_cast<double>(row.of[c]);
            squares[c] += sign * x * x;
        }
    }
    [[nodiscard]] bool is_same_everywhere(std::size_t channel) const { return ends[channel].first == ends[channel].second; }
};

/// The SwiGLU of a layer, unit by unit.
class batch_layer {
public:
    batch_layer(const circuit::assembler::layer_weights& w, const nn::shape& shape) : eps_(shape.eps()) {
        if (w.mixer.in_proj_qkv.nonzeros() != 0) throw std::logic_error("a batch has no state: the circuit may have no heads");
        const auto norm_of = [&](int channel) { return 1.0F + w.post_norm[channel]; };
        std::vector<weights> gate(static_cast<std::size_t>(shape.mlp)), up(gate), down(gate);
        w.mlp.gate.for_each([&](int row, int col, float value) { gate[static_cast<std::size_t>(row)].push_back({static_cast<std::size_t>(col), value * norm_of(col)}); });
        w.mlp.up.for_each([&](int row, int col, float value) { up[static_cast<std::size_t>(row)].push_back({static_cast<std::size_t>(col), value * norm_of(col)}); });
        w.mlp.down.for_each([&](int row, int col, float value) { down[static_cast<std::size_t>(col)].push_back({static_cast<std::size_t>(row), value}); });
        for (std::size_t u = 0; u < gate.size(); ++u)
            if (!down[u].empty()) units_.push_back({laid_down(gate[u]), laid_down(up[u]), laid_down(down[u])});
    }

    void run(batch_residual& r) {
        std::array<float, batch_columns> scale{};
        for (std::size_t c = 0; c < batch_columns; ++c) scale[c] = nn::inverse_rms(r.squares[c], static_cast<Eigen::Index>(r.rows.size()), eps_);
        const float most_scale = *std::max_element(scale.begin(), scale.end());
        sums_.resize(r.rows.size());
        is_touched_.resize(r.rows.size());
        std::vector<std::size_t> touched;
        for (const unit& u : units_) {
            // Above this no column's gate can be. A shut unit gives exactly 0.
            float above = 0;
            for (const auto& [channel, value] : of(u.gate)) above += value * (value > 0 ? r.ends[channel].second : r.ends[channel].first);
            if (above * most_scale >= nn::dead_below - 1) add_unit(u, r, scale, touched);
        }
        for (const std::size_t channel : touched) take_up(channel, r);
    }

private:
    struct weight {
        std::size_t channel;
        float value;
    };
    using weights = std::vector<weight>;
    /// Where the weights of a sum lie in weights_.
    struct place {
        std::size_t first, count;
    };
    struct unit {
        place gate, up, down;  ///< by channel; those of gate and up hold the norm's weight too
    };

    place laid_down(const weights& w) {
        weights_.insert(weights_.end(), w.begin(), w.end());
        return {weights_.size() - w.size(), w.size()};
    }
    [[nodiscard]] std::span<const weight> of(place p) const { return std::span(weights_).subspan(p.first, p.count); }

    [[nodiscard]] batch_row summed(place sum, const batch_residual& r, const std::array<float, batch_columns>& scale) const {
        float same = 0;
        batch_row total;
        for (const auto& [channel, value] : of(sum)) {
            if (r.is_same_everywhere(channel)) same += value * r.ends[channel].first;
            else total.add(r.rows[channel], value);
        }
        for (std::size_t c = 0; c < batch_columns; ++c) total.of[c] = (total.of[c] + same) * scale[c];
        return total;
    }

    void add_unit(const unit& u, const batch_residual& r, const std::array<float, batch_columns>& scale, std::vector<std::size_t>& touched) {
        batch_row value = summed(u.gate, r, scale);
        value.activate();
        const batch_row up = summed(u.up, r, scale);
        for (std::size_t c = 0; c < batch_columns; ++c) value.of[c] *= up.of[c];
        for (const auto& [channel, by] : of(u.down)) {
            if (is_touched_[channel] == 0) {
                is_touched_[channel] = 1;
                sums_[channel] = {};
                touched.push_back(channel);
            }
            sums_[channel].add(value, by);
        }
    }

    void take_up(std::size_t channel, batch_residual& r) {
        r.change_squares(r.rows[channel], -1.0);
        r.rows[channel].add(sums_[channel], 1.0F);
        r.take_up(channel);
        is_touched_[channel] = 0;
    }

    float eps_;
    weights weights_;
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
        empty_.ends.resize(empty_.rows.size());
        for (std::size_t channel = 0; channel < empty_.rows.size(); ++channel) {
            empty_.rows[channel].of.fill(empty[static_cast<Eigen::Index>(channel)]);
            empty_.take_up(channel);
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
        for (const auto s : inputs_) residual_.take_up(channel_of(s));
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
    [[nodiscard]] std::size_t channel_of(circuit::signal s) const { return static_cast<std::size_t>(bench_.net.info(s).channel); }
    batch_row& at(circuit::signal s) { return residual_.rows[channel_of(s)]; }

    const circuit_bench& bench_;
    std::vector<batch_layer> layers_;
    batch_residual empty_, residual_;
    std::vector<circuit::signal> inputs_;  ///< those of the first column, which are those of every column
};

}  // namespace qwengpu::test
