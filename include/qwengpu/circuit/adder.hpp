// SPDX-License-Identifier: MIT
// Carry look-ahead addition in three levels: nibble sums that generate or pass a carry, the carries, the digits.
// Works on columns: column i is a sum of bits of weight 2^i, at most 2 of them (and a carry into column 0).
#pragma once

#include <qwengpu/circuit/network.hpp>

#include <string>
#include <utility>
#include <vector>

namespace qwengpu::circuit {

using outputs = std::vector<std::pair<signal, float>>;

/// n if `enable` is 1, else far below every threshold: the door of a unit that idles at exactly zero.
inline linear enabled(const linear& n, const linear& enable) { return n + 64.0 * (enable - linear(1.0)); }

/// What to add, and which nibbles of the sum are wanted.
struct addition {
    std::vector<linear> columns;      ///< a multiple of four
    linear enable;                    ///< is there anything to add at all
    std::vector<linear> wanted;       ///< per nibble: 1 if its digit is to be written
    std::vector<outputs> bits;        ///< per column: where its bit of the sum goes
};

namespace detail {

inline linear nibble_sum(const addition& a, std::size_t nibble) {
    linear n;
    for (std::size_t i = 0; i < 4; ++i) n += static_cast<double>(1U << i) * a.columns[4 * nibble + i];
    return n;
}

// A sum n of 0..31 with carry has its four low bits written: bit b changes at every multiple of 2^b.
inline void write_digit(network& net, int layer, const linear& n, const std::vector<outputs>& bits, std::size_t first) {
    for (unsigned t = 1; t <= 31; ++t) {
        outputs to;
        for (unsigned b = 0; b < 4; ++b) {
            if (t % (1U << b) != 0) continue;
            for (const auto& [s, w] : bits[first + b]) to.emplace_back(s, (t >> b) % 2 != 0 ? w : -w);
        }
        if (!to.empty()) net.step(layer, n, t, to);
    }
}

}  // namespace detail

/// Levels: `layer` (generate, propagate), `layer + 1` (carries), `layer + 2` (digits, added to the outputs).
inline void add_columns(network& net, int layer, const std::string& name, const addition& a) {
    const std::size_t nibbles = a.columns.size() / 4;
    word generate, propagate;
    for (std::size_t g = 0; g < nibbles; ++g) {
        const auto label = name + "[" + std::to_string(g) + "]";
        const linear n = enabled(detail::nibble_sum(a, g), a.enable);
        generate.push_back(net.make(label + ".generate"));
        propagate.push_back(net.make(label + ".propagate"));
        net.step(layer, n, 16, {{generate[g], 1.0F}, {propagate[g], -1.0F}});
        net.step(layer, n, 15, {{propagate[g], 1.0F}});
    }
    for (std::size_t g = 0; g < nibbles; ++g) {
        linear n = detail::nibble_sum(a, g);
        if (g > 0) {
            const signal carry = net.make(name + "[" + std::to_string(g) + "].carry");
            for (std::size_t from = 0; from < g; ++from) {
                std::vector<linear> chain{generate[from]};
                for (std::size_t over = from + 1; over < g; ++over) chain.emplace_back(propagate[over]);
                net.gate(layer + 1, all(chain), {{carry, 1.0F}});
            }
            n += carry;
        }
        detail::write_digit(net, layer + 2, enabled(n, a.wanted[g]), a.bits, 4 * g);
    }
}

/// out += a + b + carry_in (mod 2^n) where `enable` is 1; a, b and out have n bits, n a multiple of four.
inline void add_words(network& net, int layer, const std::string& name, const word& a, const word& b, const linear& carry_in, const linear& enable,
                      const word& out) {
    addition sum;
    for (std::size_t i = 0; i < a.size(); ++i) {
        sum.columns.push_back(linear(a[i]) + linear(b[i]));
        sum.bits.push_back({{out[i], 1.0F}});
    }
    sum.columns[0] += carry_in;
    sum.enable = enable;
    sum.wanted.assign(a.size() / 4, enable);
    add_columns(net, layer, name, sum);
}

}  // namespace qwengpu::circuit
