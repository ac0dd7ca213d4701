// SPDX-License-Identifier: MIT
// Shifts of a 32-bit word by a 32-bit amount, clamped at 32, in three levels: the amount as two one-hot digits, the
// shift by 0..7, the shift by 0, 8, 16 or 24. A right shift of a negative number fills in ones.
#pragma once

#include <qwengpu/circuit/adder.hpp>

#include <array>
#include <string>

namespace qwengpu::circuit {

/// Which shift is wanted; at most one is 1.
struct shift_enables {
    linear left, right, arithmetic;
};

namespace detail {

struct shift_amount {
    std::array<word, 2> low;   ///< [0] left, [1] right: amount mod 8, one-hot, 0 if not enabled
    std::array<word, 2> high;  ///< amount / 8, one-hot, all 0 from 32 on
    signal over;               ///< amount of 32 or more
    signal fill;               ///< arithmetic shift of a negative number
};

inline shift_amount decode_amount(network& net, int layer, const std::string& name, const word& a, const word& b, const shift_enables& on) {
    shift_amount amount;
    linear beyond;
    for (std::size_t i = 5; i < 32; ++i) beyond += b[i];
    const word low_digit(b.begin(), b.begin() + 3), high_digit(b.begin() + 3, b.begin() + 5);
    const std::array<linear, 2> enables{on.left, on.right + on.arithmetic};
    for (std::size_t way = 0; way < 2; ++way) {
        const auto label = name + (way == 0 ? ".left" : ".right");
        for (unsigned k = 0; k < 8; ++k) amount.low[way].push_back(net.all_of(layer, label + ".low" + std::to_string(k), {equals(low_digit, k), enables[way]}));
        for (unsigned k = 0; k < 4; ++k)
            amount.high[way].push_back(net.all_of(layer, label + ".high" + std::to_string(k), {equals(high_digit, k) - beyond, enables[way]}));
    }
    amount.over = net.threshold(layer, name + ".over", enabled(beyond, on.arithmetic), 1);
    amount.fill = net.all_of(layer, name + ".fill", {on.arithmetic, a[31]});
    return amount;
}

}  // namespace detail

/// out += the shifted word. Levels: `layer`, `layer + 1`, `layer + 2`.
inline void shift(network& net, int layer, const std::string& name, const word& a, const word& b, const shift_enables& on, const word& out) {
    const auto amount = detail::decode_amount(net, layer, name, a, b, on);
    const word part = net.make_word(name + ".part", 32);
    const word ones = net.make_word(name + ".ones", 32);
    for (std::size_t i = 0; i < 32; ++i) {
        for (std::size_t k = 0; k < 8; ++k) {
            if (i >= k) net.gate(layer + 1, all({amount.low[0][k], a[i - k]}), {{part[i], 1.0F}});
            if (i + k < 32) net.gate(layer + 1, all({amount.low[1][k], a[i + k]}), {{part[i], 1.0F}});
        }
        const linear shifted = number(b, 0, 5) + 32.0 * linear(amount.over);
        net.step(layer + 1, enabled(shifted, amount.fill), 32.0 - static_cast<double>(i), {{ones[i], 1.0F}});
    }
    for (std::size_t i = 0; i < 32; ++i) {
        for (std::size_t k = 0; k < 4; ++k) {
            if (i >= 8 * k) net.gate(layer + 2, all({amount.high[0][k], part[i - 8 * k]}), {{out[i], 1.0F}});
            if (i + 8 * k < 32) net.gate(layer + 2, all({amount.high[1][k], part[i + 8 * k]}), {{out[i], 1.0F}});
        }
        net.gate(layer + 2, ones[i], {{out[i], 1.0F}});
    }
}

}  // namespace qwengpu::circuit
