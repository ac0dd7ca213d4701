// SPDX-License-Identifier: MIT
// Counting in a linear recurrence: the head's decay divides a value at every event, a constant is written again at
// every token, and their ratio, which is what the head's norm lets through, is rho^n (docs/decisions/0004). Between n and
// n + 1 lies a factor of 2 (positions) or 1.4 (fairness), so the count is exact in bf16 too.
#pragma once

#include <qwengpu/machine/block.hpp>
#include <qwengpu/nn/bf16.hpp>
#include <qwengpu/stage/plan.hpp>
#include <qwengpu/stage/signals.hpp>
#include <qwengpu/stage/words.hpp>

#include <cmath>
#include <string>
#include <utility>

namespace qwengpu::stage {

namespace detail {

inline float to_bf16(double value) { return nn::round_to_bf16(static_cast<float>(value)); }

/// A head whose reading is rho^n, n events (each counting `amount` times) since `reset`.
class ratio_counter {
public:
    explicit ratio_counter(double divisor) : a_log_(to_bf16(std::log(std::log(divisor) / 32.0))), log_rho_(-32.0 * std::exp(static_cast<double>(a_log_))) {}

    /// @param decay  0, or 100 + 32 * amount at an event
    signal place(network& net, const nn::shape& shape, int layer, const std::string& name, const linear& reset, const linear& decay) const {
        const signal ratio = net.make(name + ".ratio");
        memory head(name, shape.key_dim, shape.value_dim);
        head.write(0, reset).write(1, no(reset)).read(0, linear(1.0)).read(1, linear(1.0));
        head.values().push_back({reset, 1.0F, 0, {{ratio, 1.0F}}});
        for (int i = 0; i < 8; ++i) head.values().push_back({no(reset), 2.0F, 0, {}});
        head.holds(32).decay(decay, a_log_).place(net, layer);
        return ratio;
    }

    /// A signal [n >= k]: with y = ratio / rho^k, y is at most 1, else at least 1 / rho.
    signal at_least(network& net, int layer, const std::string& name, signal ratio, int k) const {
        const signal out = net.make(name);
        const double slope = std::round(8.0 * 3.9 / (std::exp(-log_rho_) - 1.0)) / 8.0;  // eighths, so that slope + 3 is a bf16
        const linear y = static_cast<double>(to_bf16(slope * std::exp(-log_rho_ * k))) * linear(ratio);
        net.add_unit(layer, linear(slope + 3.0) - y, linear(1.0), {{out, 0.5F}});
        net.add_unit(layer, linear(slope + 1.0) - y, linear(1.0), {{out, -0.5F}});
        return out;
    }

private:
    float a_log_;
    double log_rho_;
};

}  // namespace detail

namespace detail {

// `a` of the position counter: a token that completes a position counts once, or for all lanes if `all` was written.
template <machine::sizes M>
linear position_decay(network& net, const signals& s) {
    const linear completes = s.token.is_any({token_class::br, token_class::skip, token_class::short_word, token_class::hi});
    const linear together = all({s.context.all, s.context.hdr});
    linear decay;
    const signal single = net.make("count.single");
    net.gate(plan::fetch_header, all({completes, no(s.context.all)}), {{single, 1.0F}});
    net.gate(plan::fetch_header, all({completes, s.context.all, no(s.context.hdr)}), {{single, 1.0F}});
    decay += 132.0 * linear(single);
    for (int c = 1; c <= M.lanes; ++c) {
        const signal times = net.make("count.by" + std::to_string(c));
        const linear lanes = sum(s.context.mask) + 8.0 * (all({completes, together}) - linear(1.0));
        net.step(plan::fetch_header, lanes, c, {{times, 1.0F}});
        net.step(plan::fetch_header, lanes, c + 1, {{times, -1.0F}});
        decay += (100.0 + 32.0 * c) * linear(times);
    }
    return decay;
}

}  // namespace detail

/// Positions complete since the last `hdr` or `cta`, and the lanes of the record.
template <machine::sizes M>
void build_position_counter(network& net, const nn::shape& shape, signals& s) {
    const detail::ratio_counter counter(2.0);
    const linear reset = s.token.is_any({token_class::hdr, token_class::cta});
    const signal ratio = counter.place(net, shape, plan::count, "positions", reset, detail::position_decay<M>(net, s));
    auto& at_least = s.position.at_least;
    at_least.push_back({});
    for (int k = 1; k <= machine::slot_count * M.lanes; ++k)
        at_least.push_back(counter.at_least(net, plan::count, "position.at_least" + std::to_string(k), ratio, k));
    for (int c = 1; c <= M.lanes; ++c) {
        const signal is = net.make("position.lanes" + std::to_string(c));
        net.step(plan::count, sum(s.context.mask), c, {{is, 1.0F}});
        net.step(plan::count, sum(s.context.mask), c + 1, {{is, -1.0F}});
        s.position.count_is.push_back(is);
    }
}

}  // namespace qwengpu::stage
