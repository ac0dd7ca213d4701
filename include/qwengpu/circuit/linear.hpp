// SPDX-License-Identifier: MIT
// Signals (named residual channels that hold small whole numbers, mostly bits) and sums of them.
// A `linear` is an integer combination of signals plus a constant, which the network reads from its channel `one`.
#pragma once

#include <cstddef>
#include <initializer_list>
#include <utility>
#include <vector>

namespace qwengpu::circuit {

/// A signal of a network: an index into its list of signals.
struct signal {
    int id = -1;
    [[nodiscard]] constexpr bool valid() const { return id >= 0; }
    friend constexpr bool operator==(signal, signal) = default;
};

/// A row of signals, lowest bit first.
using word = std::vector<signal>;

/// sum of weight * signal, plus a constant.
class linear {
public:
    linear() = default;
    linear(signal s) : terms_{{s, 1.0F}} {}            // NOLINT: a signal is a sum of one term
    linear(double constant) : constant_(static_cast<float>(constant)) {}  // NOLINT: so is a number of none

    [[nodiscard]] const std::vector<std::pair<signal, float>>& terms() const { return terms_; }
    [[nodiscard]] float constant() const { return constant_; }

    linear& operator+=(const linear& other) {
        for (const auto& [s, w] : other.terms_) add(s, w);
        constant_ += other.constant_;
        return *this;
    }
    linear& operator*=(double factor) {
        for (auto& term : terms_) term.second *= static_cast<float>(factor);
        constant_ *= static_cast<float>(factor);
        return *this;
    }
    friend linear operator+(linear a, const linear& b) { return a += b; }
    friend linear operator-(linear a, const linear& b) { return a += (linear(b) *= -1.0); }
    friend linear operator*(double factor, linear a) { return a *= factor; }

private:
    void add(signal s, float weight) {
        for (auto& term : terms_) {
            if (term.first == s) {
                term.second += weight;
                return;
            }
        }
        terms_.emplace_back(s, weight);
    }

    std::vector<std::pair<signal, float>> terms_;
    float constant_ = 0.0F;
};

/// The complement of a bit.
inline linear no(const linear& bit) { return linear(1.0) - bit; }

/// 1 if all of k bits are 1, else 0 or less: the form that `network::gate` and the keys of a head take.
inline linear all(const std::vector<linear>& bits) {
    linear sum(1.0 - static_cast<double>(bits.size()));
    for (const auto& bit : bits) sum += bit;
    return sum;
}

/// Sum of bits.
inline linear sum(const word& bits) {
    linear total;
    for (const signal s : bits) total += s;
    return total;
}

/// The number that bits [first, first + count) hold, lowest first.
inline linear number(const word& bits, std::size_t first, std::size_t count) {
    linear total;
    for (std::size_t i = 0; i < count; ++i) total += static_cast<double>(1U << i) * linear(bits[first + i]);
    return total;
}

/// 1 if `bits` hold exactly `value`, else 0 or less.
inline linear equals(const word& bits, unsigned value) {
    linear match(1.0 - static_cast<double>(bits.size()));
    for (std::size_t i = 0; i < bits.size(); ++i) match += ((value >> i) & 1U) != 0 ? linear(bits[i]) : no(bits[i]);
    return match;
}

}  // namespace qwengpu::circuit
