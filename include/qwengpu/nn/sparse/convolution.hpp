// SPDX-License-Identifier: MIT
// The causal convolution and SiLU of the sparse engine, on renumbered channels, a block of 64 at a time. Blocks whose older
// taps are all zero keep no history.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "qwengpu/nn/activation.hpp"
#include "qwengpu/nn/rounding.hpp"
#include "qwengpu/nn/sparse/block64.hpp"

namespace qwengpu::nn::sparse {

/// Earlier inputs of the blocks that have older taps: a ring of taps - 1 tokens.
struct convolution_state {
    std::vector<float> ring;  ///< [taps - 1][blocks with history][64]
    std::size_t oldest = 0;   ///< where in the ring the oldest token lies

    void clear() { std::fill(ring.begin(), ring.end(), 0.0F); }
};

/// Weights of the convolution.
class convolution {
public:
    convolution() = default;

    /// taps: [channels, taps] of the model; place: where a channel lies, or -1; `channels` places in all.
    convolution(const Eigen::MatrixXf& taps, const std::vector<int>& place, int channels)
        : taps_(static_cast<std::size_t>(taps.cols()), std::vector<float>(static_cast<std::size_t>(channels))) {
        for (std::size_t row = 0; row < place.size(); ++row)
            for (std::size_t tap = 0; place[row] >= 0 && tap < taps_.size(); ++tap)
                taps_[tap][static_cast<std::size_t>(place[row])] = taps(static_cast<Eigen::Index>(row), static_cast<Eigen::Index>(tap));
        for (int first = 0; first < channels; first += block_width)
            history_.push_back(reads_history(static_cast<std::size_t>(first)) ? remembered_++ : none);
    }

    [[nodiscard]] convolution_state new_state() const {
        return {.ring = std::vector<float>((taps_.size() - 1) * token_size())};
    }

    /// Replaces x: [channels], the inputs of this token, by the outputs.
    template <rounding R>
    void run(float* x, convolution_state& state) const {
        for (std::size_t block = 0; block < history_.size(); ++block) run_block<R>(block, x + block * block_width, state);
        if (remembered_ > 0) state.oldest = (state.oldest + 1) % (taps_.size() - 1);
    }

private:
    static constexpr int none = -1;

    [[nodiscard]] std::size_t token_size() const { return static_cast<std::size_t>(remembered_) * block_width; }

    [[nodiscard]] bool reads_history(std::size_t first) const {
        const auto is_zero = [&](const std::vector<float>& tap) {
            const float* w = tap.data() + first;
            return std::all_of(w, w + block_width, [](float value) { return value == 0; });
        };
        return !std::all_of(taps_.begin(), taps_.end() - 1, is_zero);
    }

    template <rounding R>
    void run_block(std::size_t block, float* x, convolution_state& state) const {
        float y[block_width] = {};
        for (int i = 0; i < block_width; ++i) x[i] = R::round(x[i]);
        if (history_[block] != none) add_history(block, y, x, state);
        const float* last = taps_.back().data() + block * block_width;
        for (int i = 0; i < block_width; ++i) y[i] += last[i] * x[i];
        std::fill_n(x, block_width, 0.0F);
        for_each_bit(alive(y), [&](int i) { x[i] = R::round(silu(R::round(y[i]))); });
    }

    /// y += what the earlier tokens contribute, oldest first; then x takes the place of the oldest.
    void add_history(std::size_t block, float* y, const float* x, convolution_state& state) const {
        const std::size_t tokens_kept = taps_.size() - 1;
        const std::size_t offset = static_cast<std::size_t>(history_[block]) * block_width;
        for (std::size_t tap = 0; tap < tokens_kept; ++tap) {
            const float* past = state.ring.data() + (state.oldest + tap) % tokens_kept * token_size() + offset;
            const float* weight = taps_[tap].data() + block * block_width;
            for (int i = 0; i < block_width; ++i) y[i] += weight[i] * past[i];
        }
        std::copy_n(x, block_width, state.ring.data() + state.oldest * token_size() + offset);
    }

    std::vector<std::vector<float>> taps_;  ///< [taps][channels], oldest first
    std::vector<int> history_;              ///< per block its place in a token of the ring, or none
    int remembered_ = 0;
};

}  // namespace qwengpu::nn::sparse
