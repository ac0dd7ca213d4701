// SPDX-License-Identifier: MIT
// How loud the machine's code must be, and what its rows of the head are, so that in machine mode the next token wins the
// argmax through the base's layers, norm and head. All from the base's weights; nothing is assumed of what they compute.
#pragma once

#include <qwengpu/checkpoint/front_model.hpp>
#include <qwengpu/checkpoint/graft_channels.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

namespace qwengpu::checkpoint {

/// Channels of the front that hold the next token's code.
inline std::vector<int> code_channels(const front_model& m) {
    std::vector<int> code;
    for (int c = 0; c < m.channels; ++c)
        if (m.code_weight[c] != 0) code.push_back(c);
    return code;
}

/// Sizes, logits and margins of machine mode. Logits are those of fp32 arithmetic.
struct machine_mode {
    double amplification = 0;   ///< of the code, a power of two
    double head_scale = 0;      ///< entries of the machine's rows of the head, a power of two
    double least_logit = 0;     ///< of the right token, at least
    double base_logit = 0;      ///< of any token of the base, at most
    double lead = 0;            ///< of the right token over every other of the machine, at least, before noise
    double noise = 0;           ///< what the base's layers can do to any of these, at most
    /// The right token's lead over every other of the machine in steps of bf16 at the size of its logit, at least. Above 1 the two are
    /// still different numbers, in the same order, when they are rounded to bf16.
    double bf16_steps = 0;
    [[nodiscard]] double margin() const { return std::min(least_logit - base_logit, lead) - 2 * noise; }
};

namespace detail {

/// The shortest and the longest code of a next token, and the smallest sum of code weights.
struct code_extents {
    double shortest = std::numeric_limits<double>::infinity(), longest = 0, least_sum = std::numeric_limits<double>::infinity();
    double most_entries = 0, most_sum = 0;
};

inline code_extents extents_of(const front_model& m, const std::vector<int>& code, const std::vector<double>& gain) {
    code_extents e;
    std::vector<float> row(static_cast<std::size_t>(m.shape.hidden));
    for (int t = 0; t < m.tokens; ++t) {
        std::fill(row.begin(), row.end(), 0.0F);
        m.write_row(t, row);
        double squares = 0, sum = 0, entries = 0;
        for (std::size_t i = 0; i < code.size(); ++i) {
            const double bit = static_cast<double>(row[static_cast<std::size_t>(code[i])]), weight = bit * static_cast<double>(m.code_weight[code[i]]);
            squares += weight / gain[i] * weight / gain[i];
            sum += weight;
            entries += bit * bit;
        }
        e.shortest = std::min(e.shortest, std::sqrt(squares));
        e.longest = std::max(e.longest, std::sqrt(squares));
        e.least_sum = std::min(e.least_sum, sum);
        e.most_sum = std::max(e.most_sum, sum);
        e.most_entries = std::max(e.most_entries, entries);
    }
    return e;
}

/// What a base row can answer to a code at most: the heaviest channel's part (one class at a time), and all of the others.
inline double largest_answer(const tensor_view& head, int count, const front_model& m, const std::vector<int>& code, const channel_map& map, double& longest_row) {
    const auto hidden = static_cast<std::size_t>(m.shape.hidden);
    const float heaviest = m.code_weight.maxCoeff();
    std::vector<float> x(hidden);
    double most = 0;
    for (int t = 0; t < count; ++t) {
        read_row(head, static_cast<std::size_t>(t), x);
        double classes = 0, payload = 0, squares = 0;
        for (const int c : code) {
            const double answer = std::abs(static_cast<double>(x[static_cast<std::size_t>(map.place[static_cast<std::size_t>(c)])])) * static_cast<double>(m.code_weight[c]);
            if (m.code_weight[c] == heaviest) classes = std::max(classes, answer);
            else payload += answer;
        }
        for (const float v : x) squares += static_cast<double>(v) * static_cast<double>(v);
        most = std::max(most, classes + payload);
        longest_row = std::max(longest_row, std::sqrt(squares));
    }
    return most;
}

}  // namespace detail

/// @param bound   what all of the base's layers can add at most (base_bounds::total)
/// @param gains   1 + weight of the base's final norm, [hidden]
/// @param head    of the base, [count or more, hidden]
/// @throws error "checkpoint.graft" if no float is large enough.
inline machine_mode tune_machine_mode(const front_model& m, const channel_map& map, double bound, const nn::vector& gains, const tensor_view& head, int count) {
    const auto code = code_channels(m);
    std::vector<double> gain;
    for (const int c : code) gain.push_back(std::abs(static_cast<double>(gains[map.place[static_cast<std::size_t>(c)]])));
    const auto extent = detail::extents_of(m, code, gain);
    double longest_row = 0, lightest = std::numeric_limits<double>::infinity();
    const double answer = detail::largest_answer(head, count, m, code, map, longest_row);
    for (const int c : code) lightest = std::min(lightest, static_cast<double>(m.code_weight[c]));

    machine_mode mode;
    const double root = std::sqrt(static_cast<double>(m.shape.hidden));
    mode.head_scale = std::exp2(std::ceil(std::log2(2 * answer / extent.least_sum * extent.longest / extent.shortest)));
    mode.base_logit = answer * root / extent.shortest;
    mode.least_logit = mode.head_scale * extent.least_sum * root / extent.longest;
    mode.bf16_steps = lightest / extent.most_sum / 0x1p-7;
    mode.lead = mode.head_scale * lightest * root / extent.longest;
    const double row = std::max(longest_row, mode.head_scale * std::sqrt(extent.most_entries));
    const double gain_most = static_cast<double>(gains.cwiseAbs().maxCoeff());
    // Noise of length `bound` turns and shortens the normed code by twice its share of the whole, at most.
    const auto noise = [&](double loud) { return row * gain_most * root * 2 * bound / (loud * extent.shortest); };
    mode.amplification = std::exp2(std::ceil(std::log2(std::max(1.0, 4096 * noise(1.0) / mode.lead))));
    mode.noise = noise(mode.amplification);
    if (mode.amplification * extent.longest > 0x1p60) throw error("checkpoint.graft", "the base's weights are so large that no float can speak louder; is this a trained model?", place{head.file.path(), 0, 0});
    return mode;
}

/// What the last layer's code is multiplied by, per channel of the front: the final norm's gain is undone.
inline std::vector<float> loudness(const front_model& m, const channel_map& map, const machine_mode& mode, const nn::vector& gains) {
    std::vector<float> loud(static_cast<std::size_t>(m.channels), 1.0F);
    for (const int c : code_channels(m)) loud[static_cast<std::size_t>(c)] = nn::round_to_bf16(static_cast<float>(mode.amplification) / gains[map.place[static_cast<std::size_t>(c)]]);
    return loud;
}

}  // namespace qwengpu::checkpoint
