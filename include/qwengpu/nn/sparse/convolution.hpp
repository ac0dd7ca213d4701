// SPDX-License-Identifier: MIT
// The causal convolution of the sparse engine, one channel at a time: which earlier tokens a channel sees, and its output.
// Channels that see one token as it is (one tap of 1, the others 0) are put together by the age of that token.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <vector>

#include "qwengpu/nn/matrix.hpp"
#include "qwengpu/nn/rounding.hpp"
#include "qwengpu/nn/sparse/entry_lists.hpp"
#include "qwengpu/nn/sparse/past_inputs.hpp"

namespace qwengpu::nn::sparse {

class convolution {
public:
    /// taps: [channels, taps] of the model, oldest first; place: where a channel lies, or -1; `channels` places in all.
    convolution(const Eigen::MatrixXf& taps, const std::vector<int>& place, int channels)
        : oldest_(static_cast<std::size_t>(taps.cols()) - 1), kinds_(static_cast<std::size_t>(channels)) {
        for (std::size_t row = 0; row < place.size(); ++row)
            if (place[row] >= 0) kinds_[static_cast<std::size_t>(place[row])] = kind_of(taps.row(static_cast<Eigen::Index>(row)));
    }

    /// Age of the oldest token that a channel may see.
    [[nodiscard]] std::size_t oldest() const { return oldest_; }
    /// Age of the only token that a channel sees, and sees as it is; or `mixed`.
    [[nodiscard]] int age(int channel) const { return kinds_[static_cast<std::size_t>(channel)].age; }
    static constexpr int mixed = -1;
    /// Whether a channel sees earlier tokens.
    [[nodiscard]] bool remembers(int channel) const {
        const kind& k = kinds_[static_cast<std::size_t>(channel)];
        return k.age > 0 || std::any_of(k.taps.begin(), k.taps.end(), [](const tap& t) { return t.age > 0; });
    }

    /// Output of a channel whose projection has the given weights, rounded.
    template <rounding R>
    [[nodiscard]] float run(int channel, std::span<const entry> weights, const recent_inputs& h) const {
        const kind& k = kinds_[static_cast<std::size_t>(channel)];
        if (k.age != mixed) return R::round(dot(weights, h.values(static_cast<std::size_t>(k.age))));
        float y = 0;
        for (const tap& t : k.taps) y += t.weight * R::round(dot(weights, h.values(t.age)));
        return R::round(y);
    }

private:
    struct tap {
        std::size_t age;
        float weight;
    };
    struct kind {
        int age = mixed;
        std::vector<tap> taps{};  ///< of a mixed channel, oldest first, those that are not zero
    };

    template <class Row>
    [[nodiscard]] kind kind_of(const Row& row) const {
        kind k;
        for (std::size_t i = 0; i <= oldest_; ++i)
            if (const float weight = row(static_cast<Eigen::Index>(i)); weight != 0) k.taps.push_back({oldest_ - i, weight});
        if (k.taps.size() != 1 || k.taps.front().weight != 1.0F) return k;
        return {.age = static_cast<int>(k.taps.front().age)};
    }

    std::size_t oldest_;
    std::vector<kind> kinds_;
};

}  // namespace qwengpu::nn::sparse
