// SPDX-License-Identifier: MIT
// Funnel shifts of two words by 0..31 in three levels. A shift to the left by n is one to the right by 32 - n; so the amount
// is 0..32, as two one-hot digits of base 8; then the shift by 0..7, and the one by 0, 8, 16, 24 or 32.
#pragma once

#include <qwengpu/circuit/adder.hpp>

#include <array>
#include <string>

namespace qwengpu::circuit {

/// Which way; at most one is 1.
struct funnel_enables {
    linear right, left;
};

namespace detail {

struct funnel_amount {
    std::array<signal, 8> low;
    std::array<signal, 5> high;
};

inline funnel_amount decode_funnel(network& net, int layer, const std::string& name, const word& n, const funnel_enables& on) {
    const word low_digit(n.begin(), n.begin() + 3), high_digit(n.begin() + 3, n.begin() + 5);
    funnel_amount amount;
    for (unsigned k = 0; k < 8; ++k) {
        amount.low[k] = net.make(name + ".low" + std::to_string(k));
        net.step(layer, all({equals(low_digit, k), on.right}), 1, {{amount.low[k], 1.0F}});
        net.step(layer, all({equals(low_digit, (8 - k) % 8), on.left}), 1, {{amount.low[k], 1.0F}});
    }
    // (32 - n) / 8 is 4 - n / 8, less 1 if n mod 8 is not 0: 0 from n = 25 on, 1 from 17, 2 from 9, 3 from 1, else 4.
    const linear left = enabled(number(n, 0, 5), on.left);
    for (unsigned k = 0; k < 5; ++k) {
        amount.high[k] = net.make(name + ".high" + std::to_string(k));
        if (k < 4) net.step(layer, all({equals(high_digit, k), on.right}), 1, {{amount.high[k], 1.0F}});
        net.step(layer, left, k < 4 ? 25.0 - 8.0 * k : 0.0, {{amount.high[k], 1.0F}});
        if (k > 0) net.step(layer, left, 33.0 - 8.0 * k, {{amount.high[k], -1.0F}});
    }
    return amount;
}

}  // namespace detail

/// out += low word of (b:a) >> n, or high word of (b:a) << n; n has 5 bits. Levels: `layer`, `layer + 1`, `layer + 2`.
inline void funnel(network& net, int layer, const std::string& name, const word& a, const word& b, const word& n, const funnel_enables& on, const word& out) {
    word both = a;
    both.insert(both.end(), b.begin(), b.end());
    const auto amount = detail::decode_funnel(net, layer, name, n, on);
    const word part = net.make_word(name + ".part", 64);
    for (std::size_t i = 0; i < 64; ++i) {
        for (std::size_t k = 0; k < 8 && i + k < 64; ++k) net.gate(layer + 1, all({amount.low[k], both[i + k]}), {{part[i], 1.0F}});
    }
    for (std::size_t i = 0; i < 32; ++i) {
        for (std::size_t k = 0; k < 5; ++k) net.gate(layer + 2, all({amount.high[k], part[i + 8 * k]}), {{out[i], 1.0F}});
    }
}

}  // namespace qwengpu::circuit
