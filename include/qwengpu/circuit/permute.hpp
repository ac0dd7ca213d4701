// SPDX-License-Identifier: MIT
// Bytes of two words picked by the nibbles of a third (PTX prmt), in two levels: each nibble as sixteen one-hot bits,
// then the bits of the byte it names, or that byte's highest bit in all eight places.
#pragma once

#include <qwengpu/circuit/adder.hpp>

#include <string>

namespace qwengpu::circuit {

/// out += for i = 0..3 the byte that nibble i of c picks of b:a (docs/machine.md, `prmt`). Levels: `layer`, `layer + 1`.
inline void permute(network& net, int layer, const std::string& name, const word& a, const word& b, const word& c, const linear& enable, const word& out) {
    word both = a;
    both.insert(both.end(), b.begin(), b.end());
    for (std::size_t i = 0; i < 4; ++i) {
        const auto first = static_cast<std::ptrdiff_t>(4 * i);
        const word nibble(c.begin() + first, c.begin() + first + 4);
        for (unsigned k = 0; k < 8; ++k) {
            const auto label = name + "[" + std::to_string(i) + "]." + std::to_string(k);
            const signal whole = net.all_of(layer, label, {equals(nibble, k), enable}), sign = net.all_of(layer, label + ".sign", {equals(nibble, 8 + k), enable});
            outputs spread;
            for (std::size_t bit = 0; bit < 8; ++bit) {
                net.gate(layer + 1, all({whole, both[8 * k + bit]}), {{out[8 * i + bit], 1.0F}});
                spread.emplace_back(out[8 * i + bit], 1.0F);
            }
            net.gate(layer + 1, all({sign, both[8 * k + 7]}), spread);
        }
    }
}

}  // namespace qwengpu::circuit
