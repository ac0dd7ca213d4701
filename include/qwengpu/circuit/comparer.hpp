// SPDX-License-Identifier: MIT
// Comparison of two words in two levels: nibble by nibble, then the highest nibble that differs decides.
#pragma once

#include <qwengpu/circuit/adder.hpp>

#include <string>
#include <vector>

namespace qwengpu::circuit {

/// Both 0 if the comparer is not enabled.
struct comparison {
    signal less;   ///< a < b
    signal equal;  ///< a == b
};

namespace detail {

inline linear nibble_difference(const word& a, const word& b, std::size_t first, bool top_is_sign) {
    linear d;
    for (std::size_t i = 0; i < 4; ++i) {
        const double weight = i == 3 && top_is_sign ? -8.0 : static_cast<double>(1U << i);
        d += weight * (linear(b[first + i]) - linear(a[first + i]));
    }
    return d;
}

}  // namespace detail

/// Words of n bits, n a multiple of four. At most one of the enables is 1. Levels: `layer`, `layer + 1`.
inline comparison compare(network& net, int layer, const std::string& name, const word& a, const word& b, const linear& as_unsigned, const linear& as_signed) {
    const std::size_t nibbles = a.size() / 4;
    word less, equal;
    for (std::size_t g = 0; g < nibbles; ++g) {
        const auto label = name + "[" + std::to_string(g) + "]";
        less.push_back(net.make(label + ".less"));
        equal.push_back(net.make(label + ".equal"));
        auto levels = [&](const linear& d) {
            net.step(layer, d, 1, {{less[g], 1.0F}, {equal[g], -1.0F}});
            net.step(layer, d, 0, {{equal[g], 1.0F}});
        };
        const auto plain = detail::nibble_difference(a, b, 4 * g, false);
        if (g + 1 < nibbles) {
            levels(enabled(plain, as_unsigned + as_signed));
        } else {
            levels(enabled(plain, as_unsigned));
            levels(enabled(detail::nibble_difference(a, b, 4 * g, true), as_signed));
        }
    }
    const comparison result{net.make(name + ".less"), net.make(name + ".equal")};
    std::vector<linear> above;
    for (std::size_t g = nibbles; g-- > 0;) {
        auto decides = above;
        decides.emplace_back(less[g]);
        net.gate(layer + 1, all(decides), {{result.less, 1.0F}});
        above.emplace_back(equal[g]);
    }
    net.step(layer + 1, all(above), 1, {{result.equal, 1.0F}});
    return result;
}

}  // namespace qwengpu::circuit
