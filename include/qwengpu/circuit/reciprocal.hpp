// SPDX-License-Identifier: MIT
// The reciprocal that starts Newton's method (docs/machine.md, `rcp`), in five levels: the leading one, the ten bits
// below it, those as two one-hot digits, a table of 1024 numbers of 11 bits, and the shift back.
#pragma once

#include <qwengpu/circuit/bit_counts.hpp>

#include <string>

namespace qwengpu::circuit {

inline constexpr int reciprocal_levels = 5;

/// The table: floor(2^21 / (1025 + f)), 1024..2046 for f = 0..1023.
constexpr unsigned reciprocal_table(unsigned f) { return (1U << 21) / (1025 + f); }

/// out += rcp(a), for words of 32 bits. Levels: `layer` to `layer + 4`.
inline void reciprocal(network& net, int layer, const std::string& name, const word& a, const linear& enable, const word& out) {
    word lead;
    for (std::size_t p = 0; p < 32; ++p) lead.push_back(net.threshold(layer, name + ".lead" + std::to_string(p), all({leading(a, p), enable}), 1));
    const word below = net.make_word(name + ".below", 10);
    for (std::size_t p = 0; p < 32; ++p) {
        for (std::size_t j = 0; j < 10; ++j) {
            if (p + j >= 10) net.gate(layer + 1, all({lead[p], a[p + j - 10]}), {{below[j], 1.0F}});
        }
    }
    const signal on = net.any_of(layer + 1, name + ".on", {sum(lead)});
    const word low_bits(below.begin(), below.begin() + 5), high_bits(below.begin() + 5, below.end());
    word low, high;
    for (unsigned k = 0; k < 32; ++k) {
        low.push_back(net.all_of(layer + 2, name + ".low" + std::to_string(k), {equals(low_bits, k), on}));
        high.push_back(net.all_of(layer + 2, name + ".high" + std::to_string(k), {equals(high_bits, k), on}));
    }
    const word value = net.make_word(name + ".value", 11);
    for (unsigned f = 0; f < 1024; ++f) net.gate(layer + 3, all({high[f / 32], low[f % 32]}), detail::binary(reciprocal_table(f), value));
    for (std::size_t p = 0; p < 32; ++p) {
        for (std::size_t b = 0; b < 11; ++b) {
            if (b + 21 >= p && b + 21 - p < 32) net.gate(layer + 4, all({lead[p], value[b]}), {{out[b + 21 - p], 1.0F}});
        }
    }
}

}  // namespace qwengpu::circuit
