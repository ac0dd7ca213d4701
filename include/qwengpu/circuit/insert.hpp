// SPDX-License-Identifier: MIT
// The low byte, or half, of a word put into another word at a place of its own, in one level.
#pragma once

#include <qwengpu/circuit/adder.hpp>

namespace qwengpu::circuit {

/// Which part is put in; at most one is 1.
struct insert_enables {
    linear byte, half;
};

/// out += a with its byte number place[1:0], or its half number place[1], replaced by b's lowest.
inline void insert(network& net, int layer, const word& a, const word& b, const word& place, const insert_enables& on, const word& out) {
    auto part = [&](std::size_t width, const word& number, const linear& enable) {
        for (std::size_t i = 0; i < 32; ++i) {
            const linear here = all({enable, equals(number, static_cast<unsigned>(i / width))});
            net.gate(layer, all({enable, a[i]}), {{out[i], 1.0F}});
            net.gate(layer, all({here, a[i]}), {{out[i], -1.0F}});
            net.gate(layer, all({here, b[i % width]}), {{out[i], 1.0F}});
        }
    };
    part(8, {place[0], place[1]}, on.byte);
    part(16, {place[1]}, on.half);
}

}  // namespace qwengpu::circuit
