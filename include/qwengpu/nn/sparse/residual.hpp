// SPDX-License-Identifier: MIT
// The residual of one token in the sparse engine: its values, and per block of 64 what is not zero and the sum of squares,
// kept up to date where a sublayer adds something. And the normed inputs of a sublayer that are not zero.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "qwengpu/nn/matrix.hpp"
#include "qwengpu/nn/rms_norm.hpp"
#include "qwengpu/nn/rounding.hpp"
#include "qwengpu/nn/sparse/aligned.hpp"
#include "qwengpu/nn/sparse/block64.hpp"

namespace qwengpu::nn::sparse {

/// Residual of one token.
class residual {
public:
    explicit residual(int hidden)
        : hidden_(hidden), values_(static_cast<std::size_t>(padded(hidden))),
          nonzero_(static_cast<std::size_t>(blocks_for(hidden))), squares_(nonzero_.size()) {}

    template <rounding R>
    void load(const const_vector_ref& x) {
        for (Eigen::Index i = 0; i < x.size(); ++i) values_[static_cast<std::size_t>(i)] = R::round(x(i));
        for (std::size_t b = 0; b < nonzero_.size(); ++b) look_at(b);
    }

    /// Adds what a sublayer put out, rounded, and clears it. Bit b mod 64 of `reached` says whether block b has any.
    template <rounding R>
    void add(aligned_floats& output, std::uint64_t reached) {
        for (std::size_t b = 0; b < nonzero_.size(); ++b)
            if ((reached >> (b % 64) & 1U) != 0) add_block<R>(b, output.data() + b * block_width);
    }

    [[nodiscard]] Eigen::Map<const tokens> view() const { return {values_.data(), hidden_, 1}; }
    [[nodiscard]] const float* values() const { return values_.data(); }
    [[nodiscard]] std::uint64_t nonzero_in(std::size_t block) const { return nonzero_[block]; }
    [[nodiscard]] int hidden() const { return hidden_; }

    [[nodiscard]] double sum_of_squares() const {
        double sum = 0;
        for (const double s : squares_) sum += s;
        return sum;
    }

private:
    template <rounding R>
    void add_block(std::size_t b, float* __restrict output) {
        float* __restrict r = values_.data() + b * block_width;
        for (int i = 0; i < block_width; ++i) {
            r[i] = R::round(r[i] + R::round(output[i]));
            output[i] = 0;
        }
        look_at(b);
    }

    void look_at(std::size_t b) {
        const float* block = values_.data() + b * block_width;
        nonzero_[b] = nonzero(block);
        squares_[b] = sparse::sum_of_squares(block);
    }

    int hidden_;
    aligned_floats values_;
    std::vector<std::uint64_t> nonzero_;
    std::vector<double> squares_;
};

/// What a norm multiplies by, and which channels the sublayer after it reads at all.
struct norm_gains {
    std::vector<float> gain;          ///< 1 + weight
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

/// The normed inputs of a sublayer, of which only those that are not zero are listed.
class inputs {
public:
    explicit inputs(int hidden) : values_(static_cast<std::size_t>(padded(hidden))) { active_.reserve(values_.size()); }

    template <rounding R>
    void norm(const residual& r, const norm_gains& norm, float eps) {
        for (const int i : active_) values_[static_cast<std::size_t>(i)] = 0;
        active_.clear();
        const float scale = inverse_rms(r.sum_of_squares(), r.hidden(), eps);
        for (std::size_t b = 0; b < norm.read.size(); ++b)
            for_each_bit(r.nonzero_in(b) & norm.read[b], [&](int bit) {
                const std::size_t i = b * block_width + static_cast<std::size_t>(bit);
                values_[i] = R::round(r.values()[i] * scale * norm.gain[i]);
                active_.push_back(static_cast<int>(i));
            });
    }

    [[nodiscard]] const std::vector<int>& active() const { return active_; }
    [[nodiscard]] const float* values() const { return values_.data(); }
    [[nodiscard]] float operator[](int channel) const { return values_[static_cast<std::size_t>(channel)]; }

private:
    aligned_floats values_;
    std::vector<int> active_;
};

}  // namespace qwengpu::nn::sparse
