// SPDX-License-Identifier: MIT
// 32 x 32 -> 64 bits plus a word, of which the low or the high half is wanted, in seven levels: column counts of all
// partial products, two recounts of the columns in binary, carry-save to at most 2 per column, and a 64-bit addition.
// Signed products are taken the way of Baugh and Wooley: partial products with one sign bit are counted inverted.
#pragma once

#include <qwengpu/circuit/adder.hpp>

#include <string>
#include <vector>

namespace qwengpu::circuit {

/// Which half is wanted; at most one of `low` and `high` is 1. `negative` is 1 for a signed product.
struct multiply_enables {
    signal low, high;
    signal negative;  ///< only together with low or high
};

namespace detail {

// Level 1. The product a_i b_j is one hidden unit; down_proj adds it straight into its column's count.
inline word count_columns(network& net, int layer, const std::string& name, const word& a, const word& b, const word& c, const multiply_enables& on) {
    const word columns = net.make_word(name + ".count", 64);
    const linear enable = linear(on.low) + linear(on.high);
    for (std::size_t i = 0; i < 32; ++i) {
        for (std::size_t j = 0; j < 32; ++j) {
            net.gate(layer, all({a[i], b[j], enable}), {{columns[i + j], 1.0F}});
            if ((i == 31) != (j == 31)) net.gate(layer, all({a[i], b[j], on.negative}), {{columns[i + j], -2.0F}});
        }
        net.gate(layer, all({c[i], on.low}), {{columns[i], 1.0F}});
        net.gate(layer, all({c[i], on.high}), {{columns[i + 32], 1.0F}});
    }
    outputs corrections{{columns[32], 1.0F}, {columns[63], 1.0F}};
    for (std::size_t i = 31; i < 62; ++i) corrections.emplace_back(columns[i], 2.0F);
    net.gate(layer, on.negative, corrections);
    return columns;
}

// A count n of up to `most` in column i becomes one bit in each of the columns i, i+1, ...
inline word recount(network& net, int layer, const std::string& name, const word& columns, const std::vector<unsigned>& most) {
    const word result = net.make_word(name, 64);
    for (std::size_t i = 0; i < 64; ++i) {
        for (unsigned t = 1; t <= most[i]; ++t) {
            std::vector<std::pair<signal, float>> to;
            for (unsigned b = 0; t % (1U << b) == 0; ++b) {
                if (i + b < 64) to.emplace_back(result[i + b], (t >> b) % 2 != 0 ? 1.0F : -1.0F);
            }
            net.step(layer, columns[i], t, to);
        }
    }
    return result;
}

// What a recount of columns with these maxima can leave in each column.
inline std::vector<unsigned> recounted(const std::vector<unsigned>& most) {
    std::vector<unsigned> result(64, 0);
    for (std::size_t i = 0; i < 64; ++i) {
        for (unsigned b = 0; (most[i] >> b) != 0; ++b) {
            if (i + b < 64) ++result[i + b];
        }
    }
    return result;
}

inline std::vector<unsigned> full_columns() {
    std::vector<unsigned> most(64, 0);
    for (unsigned i = 0; i < 32; ++i) {
        for (unsigned j = 0; j < 32; ++j) ++most[i + j];
        ++most[i];
        ++most[i + 32];
    }
    ++most[32];
    ++most[63];
    return most;
}

}  // namespace detail

inline constexpr int multiply_levels = 7;

/// out += low(a*b + c) or high(a*b) + c. Levels: `layer` to `layer + 6`.
inline void multiply(network& net, int layer, const std::string& name, const word& a, const word& b, const word& c, const multiply_enables& on, const word& out) {
    word columns = detail::count_columns(net, layer, name, a, b, c, on);
    auto most = detail::full_columns();
    for (int level = 1; level <= 3; ++level) {
        columns = detail::recount(net, layer + level, name + ".recount" + std::to_string(level), columns, most);
        most = detail::recounted(most);
    }
    addition sum;
    const linear enable = linear(on.low) + linear(on.high);
    for (std::size_t i = 0; i < 64; ++i) {
        sum.columns.emplace_back(columns[i]);
        sum.bits.push_back({{out[i % 32], 1.0F}});
    }
    sum.enable = enable;
    for (std::size_t g = 0; g < 16; ++g) sum.wanted.emplace_back(g < 8 ? on.low : on.high);
    add_columns(net, layer + 4, name + ".sum", sum);
}

}  // namespace qwengpu::circuit
