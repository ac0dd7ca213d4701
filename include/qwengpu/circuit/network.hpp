// SPDX-License-Identifier: MIT
// A network under construction: what every layer's SwiGLU and DeltaNet heads compute, in terms of named signals.
// A moment is 2*layer for a layer's mixer and 2*layer + 1 for its MLP; -1 is the token's embedding.
// Numbers and reasons for the scales are in docs/layers.md, "Exact logic".
#pragma once

#include <qwengpu/circuit/linear.hpp>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace qwengpu::circuit {

/// One hidden unit of an MLP: silu(128 * gate) * up, added with a weight to signals.
struct hidden_unit {
    linear gate;  ///< in units of 128: what silu must see as 0 is -1 or less
    linear up;
    std::vector<std::pair<signal, float>> outputs;  ///< weights already hold the 1/128
};

/// One value channel of a head: which sum it takes, from how many tokens ago, and where it goes when read.
struct value_channel {
    linear value;         ///< 1 (times `magnitude`) or 0 or less
    float magnitude = 1;  ///< the stored value is 128 * magnitude
    int age = 0;          ///< conv tap: 0 this token, 1 the token before, up to 3
    std::vector<std::pair<signal, float>> outputs;
};

/// One DeltaNet head, used as a memory (circuit/memory.hpp builds them).
struct head {
    std::string name;
    struct key {
        int row;
        linear match;  ///< 1: this row; 0 or less: not
        int age = 0;
    };
    std::vector<key> writes, reads;
    std::vector<value_channel> values;
    linear decay;        ///< `a`: 0 keeps everything; 100 + 32 k divides k times
    float a_log = 0.0F;  ///< log of the decay of one step / 32
};

struct signal_info {
    std::string name;
    int born = 0;      ///< first moment that adds to it
    int ready = 0;     ///< last moment that adds to it
    int first_use = 0, last_use = 0;  ///< first and last moment that reads it
    int channel = -1;  ///< assigned by `allocate`; fixed for those of the embedding
};

struct layer_plan {
    std::vector<hidden_unit> units;
    std::vector<head> heads;
};

class network {
public:
    explicit network(int layers) : layers_(static_cast<std::size_t>(layers)) {}

    /// A signal that the token's embedding sets, at a fixed channel.
    signal input(std::string name, int channel) {
        signals_.push_back({std::move(name), -1, -1, unborn, -1, channel});
        return {static_cast<int>(signals_.size()) - 1};
    }

    /// A new signal; units and heads add to it.
    signal make(std::string name) {
        signals_.push_back({std::move(name), unborn, -1, unborn, -1, -1});
        return {static_cast<int>(signals_.size()) - 1};
    }
    word make_word(const std::string& name, int bits) {
        word w;
        for (int i = 0; i < bits; ++i) w.push_back(make(name + "[" + std::to_string(i) + "]"));
        return w;
    }

    /// out += weight, if `n` (1, or 0 and less) is 1: one hidden unit. Errors of the inputs pass with a gain of two.
    void gate(int layer, const linear& n, std::vector<std::pair<signal, float>> outputs) {
        add_unit(layer, 2.0 * n - linear(1.0), linear(1.0), std::move(outputs));
    }

    /// out += weight, if the whole number `n` is at least `t`: two hidden units, which wipe out errors of the inputs.
    /// n - t may not exceed 63 (bf16 holds 4 (n - t) + 3 exactly up to 255).
    void step(int layer, const linear& n, double t, const std::vector<std::pair<signal, float>>& outputs) {
        const linear x = 4.0 * (n - linear(t)) + linear(3.0);
        auto half = [&](double sign) {
            auto scaled = outputs;
            for (auto& output : scaled) output.second *= static_cast<float>(sign * 0.5);
            return scaled;
        };
        add_unit(layer, x, linear(1.0), half(1.0));
        add_unit(layer, x - linear(2.0), linear(1.0), half(-1.0));
    }

    /// A new signal [n >= t].
    signal threshold(int layer, std::string name, const linear& n, double t) {
        const signal s = make(std::move(name));
        step(layer, n, t, {{s, 1.0F}});
        return s;
    }

    /// A new signal: all of these bits.
    signal all_of(int layer, std::string name, const std::vector<linear>& bits) {
        return threshold(layer, std::move(name), all(bits), 1.0);
    }
    /// A new signal: any of these bits.
    signal any_of(int layer, std::string name, const std::vector<linear>& bits) {
        linear total;
        for (const auto& bit : bits) total += bit;
        return threshold(layer, std::move(name), total, 1.0);
    }
    /// A new signal: a bit that is the sum of bits of which at most one is 1.
    signal one_of(int layer, std::string name, const std::vector<linear>& terms) {
        const signal s = make(std::move(name));
        for (const auto& term : terms) gate(layer, term, {{s, 1.0F}});
        return s;
    }

    /// A general unit: silu(128 gate) * up / 128 to each output.
    void add_unit(int layer, const linear& gate_sum, const linear& up, std::vector<std::pair<signal, float>> outputs) {
        const int moment = 2 * layer + 1;
        use(gate_sum, moment);
        use(up, moment);
        for (auto& [s, w] : outputs) {
            grow(s, moment);
            w /= 128.0F;
        }
        plan(layer).units.push_back({gate_sum, up, std::move(outputs)});
    }

    void add_head(int layer, head h) {
        const int moment = 2 * layer;
        for (const auto& k : h.writes) use(k.match, moment);
        for (const auto& k : h.reads) use(k.match, moment);
        use(h.decay, moment);
        for (const auto& v : h.values) {
            use(v.value, moment);
            for (const auto& [s, w] : v.outputs) grow(s, moment);
        }
        plan(layer).heads.push_back(std::move(h));
    }

    /// Says that something outside the layers (a probe, the head) looks at a signal at the end of `layer`.
    void keep(signal s, int layer) { use(s, 2 * layer + 2); }

    [[nodiscard]] int layer_count() const { return static_cast<int>(layers_.size()); }
    [[nodiscard]] const std::vector<layer_plan>& layers() const { return layers_; }
    [[nodiscard]] const std::vector<signal_info>& signals() const { return signals_; }
    [[nodiscard]] std::vector<signal_info>& signals() { return signals_; }
    [[nodiscard]] const signal_info& info(signal s) const { return signals_[static_cast<std::size_t>(s.id)]; }

    static constexpr int unborn = 1 << 20;

private:
    layer_plan& plan(int layer) { return layers_.at(static_cast<std::size_t>(layer)); }
    signal_info& at(signal s) { return signals_.at(static_cast<std::size_t>(s.id)); }
    void use(const linear& sum, int moment) {
        for (const auto& term : sum.terms()) {
            auto& s = at(term.first);
            s.last_use = std::max(s.last_use, moment);
            s.first_use = std::min(s.first_use, moment);
        }
    }
    void grow(signal s, int moment) {
        at(s).born = std::min(at(s).born, moment);
        at(s).ready = std::max(at(s).ready, moment);
    }

    std::vector<layer_plan> layers_;
    std::vector<signal_info> signals_;
};

}  // namespace qwengpu::circuit
