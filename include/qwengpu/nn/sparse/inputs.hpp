// SPDX-License-Identifier: MIT
// The normed inputs of a sublayer in the sparse engine, of which only those that are not zero are listed.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "qwengpu/nn/rms_norm.hpp"
#include "qwengpu/nn/sparse/aligned.hpp"
#include "qwengpu/nn/sparse/block64.hpp"
#include "qwengpu/nn/sparse/packed_columns.hpp"
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

class inputs {
public:
    explicit inputs(int hidden)
        : values_(static_cast<std::size_t>(padded(hidden))), filled_(static_cast<std::size_t>(blocks_for(hidden))),
          active_(values_.size()) {}

    template <rounding R>
    void norm(const residual& r, const norm_gains& norm, float eps) {
        const float scale = inverse_rms(r.sum_of_squares(), r.hidden(), eps);
        count_ = 0;
        for (std::size_t b = 0; b < filled_.size(); ++b) {
            const std::uint64_t active = r.nonzero_in(b) & norm.read[b];
            if (active != 0) fill<R>(b, r.values(), scale, norm.gain.data());
            else if (filled_[b]) std::fill_n(values_.data() + b * block_width, block_width, 0.0F);
            filled_[b] = active != 0;
            for_each_bit(active, [&](int bit) { active_[count_++] = static_cast<int>(b) * block_width + bit; });
        }
    }

    /// Channels that the sublayer reads and that are not zero, ascending.
    [[nodiscard]] std::span<const int> active() const { return std::span(active_).first(count_); }
    [[nodiscard]] const float* values() const { return values_.data(); }
    [[nodiscard]] float operator[](int channel) const { return values_[static_cast<std::size_t>(channel)]; }

private:
    template <rounding R>
    void fill(std::size_t b, const float* __restrict r, float scale, const float* __restrict gain) {
        float* __restrict x = values_.data() + b * block_width;
        r += b * block_width;
        gain += b * block_width;
        for (int i = 0; i < block_width; ++i) x[i] = R::round(r[i] * scale * gain[i]);
    }

    aligned_floats values_;
    std::vector<char> filled_;  ///< per block, whether values_ may hold anything but zeros
    std::vector<int> active_;
    std::size_t count_ = 0;
};

/// out += matrix * h.
inline void add_product(const packed_columns& matrix, const inputs& h, float* out) {
    constexpr std::size_t ahead = 6;
    const std::span<const int> active = h.active();
    for (std::size_t i = 0; i < std::min(2 * ahead, active.size()); ++i) matrix.announce(active[i]);
    for (std::size_t i = 0; i < active.size(); ++i) {
        if (i + 2 * ahead < active.size()) matrix.announce(active[i + 2 * ahead]);
        if (i + ahead < active.size()) matrix.announce_rest(active[i + ahead]);
        matrix.add(active[i], h[active[i]], out);
    }
}

}  // namespace qwengpu::nn::sparse
