// SPDX-License-Identifier: MIT
// The normed inputs of a sublayer in the sparse engine, of which only those that are not zero are listed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "qwengpu/nn/rms_norm.hpp"
#include "qwengpu/nn/sparse/aligned.hpp"
#include "qwengpu/nn/sparse/block64.hpp"
#include "qwengpu/nn/sparse/residual.hpp"

namespace qwengpu::nn::sparse {

/// What a norm multiplies by, and which channels the sublayer after it reads at all.
struct norm_gains {
    aligned_floats gain;              ///< 1 + weight
    std::vector<std::uint64_t> read;  ///< a bit per channel

    norm_gains() = default;
    explicit norm_gains(const vector& weight)
        : gain(static_cast<std::size_t>(padded(static_cast<int>(weight.size())))),
          read(static_cast<std::size_t>(blocks_for(static_cast<int>(weight.size())))) {
        for (Eigen::Index i = 0; i < weight.size(); ++i) gain[static_cast<std::size_t>(i)] = weight(i) + 1.0F;
    }

    [[nodiscard]] bool passes(int channel) const { return gain[static_cast<std::size_t>(channel)] != 0; }
    void mark_read(int channel) {
        read[static_cast<std::size_t>(channel / block_width)] |= std::uint64_t{1} << (channel % block_width);
    }
};

/// A channel that is not zero.
struct active_input {
    int channel = 0;
    float value = 0;
};

class inputs {
public:
    explicit inputs(int hidden) : values_(static_cast<std::size_t>(padded(hidden))), active_(values_.size()) {}

    template <rounding R>
    void norm(residual& r, const norm_gains& norm, float eps) {
        const float scale = inverse_rms(r.sum_of_squares(), r.hidden(), eps);
        for (const active_input& in : active()) values_[static_cast<std::size_t>(in.channel)] = 0;
        count_ = 0;
        for (std::size_t b = 0; b < norm.read.size(); ++b)
            for_each_bit(r.nonzero_in(b) & norm.read[b], [&](int bit) {
                const std::size_t channel = b * block_width + static_cast<std::size_t>(bit);
                values_[channel] = R::round(r.values()[channel] * scale * norm.gain[channel]);
                active_[count_++] = {static_cast<int>(channel), values_[channel]};
            });
    }

    /// Channels that the sublayer reads and that are not zero, ascending.
    [[nodiscard]] std::span<const active_input> active() const { return std::span(active_).first(count_); }
    /// [padded hidden], those that the sublayer does not read are zero
    [[nodiscard]] const float* values() const { return values_.data(); }

private:
    aligned_floats values_;
    std::vector<active_input> active_;
    std::size_t count_ = 0;
};

}  // namespace qwengpu::nn::sparse
