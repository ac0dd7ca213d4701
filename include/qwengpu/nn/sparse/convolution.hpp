// SPDX-License-Identifier: MIT
// The causal convolution of the sparse engine, on renumbered channels, a block of 64 at a time. Blocks whose older taps are
// all zero keep no history; where the last taps are 1 too, nothing is left to do.
#pragma once

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include "qwengpu/nn/matrix.hpp"
#include "qwengpu/nn/rounding.hpp"
#include "qwengpu/nn/sparse/aligned.hpp"
#include "qwengpu/nn/sparse/block64.hpp"

namespace qwengpu::nn::sparse {

/// Earlier inputs of the blocks that have older taps: a ring of taps - 1 tokens.
struct convolution_state {
    aligned_floats ring;     ///< [taps - 1][blocks with history][64]
    std::size_t oldest = 0;  ///< where in the ring the oldest token lies

    void clear() { std::fill(ring.begin(), ring.end(), 0.0F); }
};

/// Weights of the convolution.
class convolution {
public:
    /// taps: [channels, taps] of the model; place: where a channel lies, or -1; `channels` places in all.
    convolution(const Eigen::MatrixXf& taps, const std::vector<int>& place, int channels)
        : taps_(static_cast<std::size_t>(taps.cols()), aligned_floats(static_cast<std::size_t>(channels))) {
        for (std::size_t row = 0; row < place.size(); ++row)
            for (std::size_t tap = 0; place[row] >= 0 && tap < taps_.size(); ++tap)
                taps_[tap][static_cast<std::size_t>(place[row])] =
                    taps(static_cast<Eigen::Index>(row), static_cast<Eigen::Index>(tap));
        for (std::size_t block = 0; block < static_cast<std::size_t>(blocks_for(channels)); ++block) {
            block_kind kind{.place = none, .scales = !is_all(taps_.back(), block, 1), .taps = {}};
            for (std::size_t tap = 0; tap + 1 < taps_.size(); ++tap)
                if (!is_all(taps_[tap], block, 0)) kind.taps.push_back(tap);
            if (!kind.taps.empty()) kind.place = remembered_++;
            blocks_.push_back(std::move(kind));
        }
    }

    [[nodiscard]] convolution_state new_state() const { return {.ring = aligned_floats((taps_.size() - 1) * token_size())}; }

    /// Whether one of the channels first ... first + count - 1 (whole blocks) reads earlier tokens.
    [[nodiscard]] bool remembers(int first, int count) const {
        const auto begin = blocks_.begin() + first / block_width;
        return std::any_of(begin, begin + blocks_for(count), [](const block_kind& b) { return b.place != none; });
    }

    /// Replaces 64 inputs of this token, those from channel `first` on, by the outputs, rounded.
    template <rounding R>
    void run_block(int first, float* __restrict x, convolution_state& state) const {
        const block_kind& kind = blocks_[static_cast<std::size_t>(first / block_width)];
        round_block<R>(x);
        if (kind.place == none && !kind.scales) return;
        const auto at = static_cast<std::size_t>(first);
        float y[block_width] = {};
        if (kind.place != none) add_history(kind, at, y, x, state);
        const float* __restrict last = taps_.back().data() + at;
        for (int i = 0; i < block_width; ++i) x[i] = R::round(y[i] + last[i] * x[i]);
    }

    /// The token is done.
    void advance(convolution_state& state) const {
        if (remembered_ > 0) state.oldest = (state.oldest + 1) % (taps_.size() - 1);
    }

private:
    static constexpr int none = -1;

    struct block_kind {
        int place;  ///< in a token of the ring, or none
        bool scales;  ///< the last taps are not all 1
        std::vector<std::size_t> taps;  ///< older taps that are not all zero
    };

    [[nodiscard]] std::size_t token_size() const { return static_cast<std::size_t>(remembered_) * block_width; }

    // Where all taps are zero, so are the inputs (places without a channel, and channels that the plan leaves out).
    [[nodiscard]] static bool is_all(const aligned_floats& tap, std::size_t block, float value) {
        const float* w = tap.data() + block * block_width;
        return std::all_of(w, w + block_width, [&](float x) { return x == value || x == 0; });
    }

    /// y += what the earlier tokens contribute, oldest first; then x takes the place of the oldest.
    void add_history(const block_kind& kind, std::size_t first, float* __restrict y, const float* x,
                     convolution_state& state) const {
        const std::size_t kept = taps_.size() - 1;
        const std::size_t offset = static_cast<std::size_t>(kind.place) * block_width;
        for (const std::size_t tap : kind.taps) {
            const float* __restrict past = state.ring.data() + (state.oldest + tap) % kept * token_size() + offset;
            const float* __restrict weight = taps_[tap].data() + first;
            for (int i = 0; i < block_width; ++i) y[i] += weight[i] * past[i];
        }
        std::copy_n(x, block_width, state.ring.data() + state.oldest * token_size() + offset);
    }

    std::vector<aligned_floats> taps_;  ///< [taps][channels], oldest first
    std::vector<block_kind> blocks_;
    int remembered_ = 0;
};

}  // namespace qwengpu::nn::sparse
