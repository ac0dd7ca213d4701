// SPDX-License-Identifier: MIT
// Units that need one level each: ones in a word, bits in which two differ, leading zeros, bits reversed, and any function of
// three bits.
#pragma once

#include <qwengpu/circuit/adder.hpp>

#include <string>

namespace qwengpu::circuit {

/// The bit that is 1 where a's leading one stands, as a sum that is 1 there and 0 or less elsewhere.
inline linear leading(const word& a, std::size_t i) {
    linear n = a[i];
    for (std::size_t j = i + 1; j < a.size(); ++j) n += -1.0 * linear(a[j]);
    return n;
}

namespace detail {

inline outputs binary(unsigned value, const word& out) {
    outputs to;
    for (unsigned b = 0; b < out.size() && (value >> b) != 0; ++b) {
        if (((value >> b) & 1U) != 0) to.emplace_back(out[b], 1.0F);
    }
    return to;
}

}  // namespace detail

/// out += number of ones of a.
inline void count_ones(network& net, int layer, const word& a, const linear& enable, const word& out) {
    for (unsigned t = 1; t <= a.size(); ++t) {
        outputs to;
        for (unsigned b = 0; t % (1U << b) == 0; ++b) to.emplace_back(out[b], (t >> b) % 2 != 0 ? 1.0F : -1.0F);
        net.step(layer, enabled(sum(a), enable), t, to);
    }
}

/// out += number of bits in which a and b differ.
inline void count_differences(network& net, int layer, const word& a, const word& b, signal out) {
    for (std::size_t i = 0; i < a.size(); ++i) {
        net.gate(layer, all({a[i], no(b[i])}), {{out, 1.0F}});
        net.gate(layer, all({b[i], no(a[i])}), {{out, 1.0F}});
    }
}

/// out += number of zeros above a's leading one; all of them for a = 0.
inline void count_leading_zeros(network& net, int layer, const word& a, const linear& enable, const word& out) {
    const auto bits = static_cast<unsigned>(a.size());
    for (unsigned i = 0; i + 1 < bits; ++i) net.gate(layer, all({leading(a, i), enable}), detail::binary(bits - 1 - i, out));
    net.gate(layer, enable - sum(a), detail::binary(bits, out));
}

/// out += a with its bits in reverse order.
inline void reverse_bits(network& net, int layer, const word& a, const linear& enable, const word& out) {
    for (std::size_t i = 0; i < a.size(); ++i) net.gate(layer, all({a[i], enable}), {{out[a.size() - 1 - i], 1.0F}});
}

/// out += the function of a, b, c, bit by bit, whose table is `table` (bit 4a + 2b + c).
inline void look_up(network& net, int layer, const word& a, const word& b, const word& c, const word& table, const linear& enable, const word& out) {
    for (std::size_t i = 0; i < a.size(); ++i) {
        for (unsigned m = 0; m < 8; ++m) net.gate(layer, all({equals({c[i], b[i], a[i]}, m), table[m], enable}), {{out[i], 1.0F}});
    }
}

}  // namespace qwengpu::circuit
