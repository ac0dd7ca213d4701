// SPDX-License-Identifier: MIT
// The inputs of the last few tokens, for convolutions: a convolution of projected inputs is a sum of projections of earlier
// inputs, so channels are projected and convolved only when somebody asks for them.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "qwengpu/nn/sparse/aligned.hpp"
#include "qwengpu/nn/sparse/inputs.hpp"

namespace qwengpu::nn::sparse {

/// A ring of tokens, of each those inputs that are not zero.
class past_inputs {
public:
    /// Remembers `tokens` tokens, zeros at first.
    explicit past_inputs(std::size_t tokens = 0) : ring_(tokens) {}

    /// The token `age` tokens ago, 1 ... tokens.
    [[nodiscard]] std::span<const active_input> at(std::size_t age) const { return ring_[(next_ + ring_.size() - age) % ring_.size()]; }

    void push(std::span<const active_input> token) {
        if (ring_.empty()) return;
        ring_[next_].assign(token.begin(), token.end());
        next_ = (next_ + 1) % ring_.size();
    }

    void clear() {
        for (auto& token : ring_) token.clear();
    }

private:
    std::vector<std::vector<active_input>> ring_;
    std::size_t next_ = 0;
};

/// Buffers of `recent_inputs`, zero between runs.
struct recent_scratch {
    std::vector<aligned_floats> values{};  ///< per age - 1: [padded hidden]
    std::vector<char> filled{};

    void fit(std::size_t ages, int hidden) {
        if (filled.size() >= ages) return;
        values.resize(ages, aligned_floats(static_cast<std::size_t>(padded(hidden))));
        filled.resize(ages);
    }
};

/// This token's inputs and those before it, as lists and, where they are asked for, in full.
class recent_inputs {
public:
    recent_inputs(const inputs& now, const past_inputs& past, recent_scratch& scratch) : now_(now), past_(past), scratch_(scratch) {}
    recent_inputs(const recent_inputs&) = delete;
    recent_inputs& operator=(const recent_inputs&) = delete;
    ~recent_inputs() {
        for (std::size_t i = 0; i < scratch_.filled.size(); ++i)
            if (scratch_.filled[i] != 0) set(i, [](const active_input&) { return 0.0F; }, 0);
    }

    [[nodiscard]] std::span<const active_input> active(std::size_t age) const { return age == 0 ? now_.active() : past_.at(age); }

    /// [padded hidden]
    [[nodiscard]] const float* values(std::size_t age) const {
        if (age == 0) return now_.values();
        if (scratch_.filled[age - 1] == 0) set(age - 1, [](const active_input& in) { return in.value; }, 1);
        return scratch_.values[age - 1].data();
    }

private:
    template <class Value>
    void set(std::size_t i, const Value& value, char filled) const {
        for (const active_input& in : past_.at(i + 1)) scratch_.values[i][static_cast<std::size_t>(in.channel)] = value(in);
        scratch_.filled[i] = filled;
    }

    const inputs& now_;
    const past_inputs& past_;
    recent_scratch& scratch_;
};

}  // namespace qwengpu::nn::sparse
