// SPDX-License-Identifier: MIT
// Levels 14 to 19 of the float unit: the leading one (or the marker, which is never passed), the 24 bits below it, what is
// lost, the rounding, and the exponent.
#pragma once

#include <qwengpu/circuit/bit_counts.hpp>
#include <qwengpu/circuit/float_unit/sum.hpp>

#include <algorithm>
#include <string>
#include <vector>

namespace qwengpu::circuit::float_unit {

/// A rounded magnitude: 23 bits of fraction, the biased exponent (9 bits, may be too large), and whether it is exactly 0.
struct rounded {
    word fraction, exponent;
    signal zero;
};

namespace detail {

struct normalised {
    word significand;  ///< 24 bits
    signal guard;
    word rest;         ///< counts of ones below the guard
};

// One level. The bits under a leading one at i come from i - 23 up; below that guard and rest.
inline normalised normalise(network& net, int layer, const std::string& name, const word& m, const word& lead) {
    normalised n{net.make_word(name + ".significand", 24), net.make(name + ".guard"), net.make_word(name + ".rest", 3)};
    for (std::size_t i = 0; i < m.size(); ++i) {
        for (std::size_t j = 0; j < 24; ++j) {
            if (i + j >= 23) net.gate(layer, all({lead[i], m[i + j - 23]}), {{n.significand[j], 1.0F}});
        }
        if (i >= 24) net.gate(layer, all({lead[i], m[i - 24]}), {{n.guard, 1.0F}});
    }
    for (std::size_t b = 0; b + 25 < m.size(); ++b) {
        linear led_above;
        for (std::size_t i = b + 25; i < m.size(); ++i) led_above += lead[i];
        net.gate(layer, all({m[b], led_above}), {{n.rest[b % 3], 1.0F}});
    }
    return n;
}

// One level: value + 1 where `up` is 1; out has one bit more. Steps, since the carries are ANDs of many bits.
inline void increment(network& net, int layer, const word& value, const linear& up, const word& out) {
    std::vector<linear> carry{up};
    for (std::size_t i = 0; i < out.size(); ++i) {
        net.step(layer, all(carry), 1, {{out[i], 1.0F}});
        if (i == value.size()) break;
        net.step(layer, value[i], 1, {{out[i], 1.0F}});
        carry.emplace_back(value[i]);
        net.step(layer, all(carry), 1, {{out[i], -2.0F}});
    }
}

}  // namespace detail

/// Levels `layer` (14th of the unit) to `layer + 5`.
inline rounded round(network& net, int layer, const std::string& name, const controls& k, const magnitude& m, const frame& f, signal sign) {
    word lead;
    const word place = net.make_word(name + ".place", 7);
    linear above;
    for (std::size_t i = frame_bits; i-- > 0;) {
        lead.push_back(net.make(name + ".lead" + std::to_string(i)));
        std::vector<std::pair<signal, float>> to{{lead.back(), 1.0F}};
        for (std::size_t b = 0; b < place.size(); ++b) {
            if (((i >> b) & 1U) != 0) to.emplace_back(place[b], 1.0F);
        }
        net.step(layer, linear(m.bits[i]) - above, 1, to);
        net.step(layer, all({f.marker[i], no(m.bits[i])}) - above, 1, to);
        above += linear(m.bits[i]) + linear(f.marker[i]);
    }
    std::reverse(lead.begin(), lead.end());
    rounded r{net.make_word(name + ".fraction", 23), net.make_word(name + ".exponent", 9), net.make(name + ".zero")};
    net.gate(layer, linear(k.any) - sum(m.bits), {{r.zero, 1.0F}});

    const auto n = detail::normalise(net, layer + 1, name, m.bits, lead);
    const signal rest = net.make(name + ".rest_of_bits");
    for (const signal count : n.rest) net.step(layer + 2, count, 1, {{rest, 1.0F}});
    const signal up = net.make(name + ".up");
    detail::decide_rounding(net, layer + 3, k, {sign, n.significand[0], n.guard, rest}, k.any, up);
    const word kept = net.make_word(name + ".kept", 25);
    detail::increment(net, layer + 4, n.significand, up, kept);

    // Exponent - 1 is the leading one's place less the marker's; the bits that the significand has at 23 and above add to it.
    const word less_one = net.make_word(name + ".less_one", exponent_bits);
    addition difference;
    for (std::size_t i = 0; i < exponent_bits; ++i) {
        difference.columns.push_back(no(f.marker_at[i]) + (i < place.size() ? linear(place[i]) : linear()));
        difference.bits.push_back({{less_one[i], 1.0F}});
    }
    difference.columns[0] += linear(1.0);
    difference.enable = k.any;
    difference.wanted.assign(exponent_bits / 4, k.any);
    add_columns(net, layer + 1, name + ".place_less_marker", difference);
    const word low(less_one.begin(), less_one.begin() + 9);
    for (std::size_t i = 0; i < 9; ++i) net.step(layer + 5, low[i], 1, {{r.exponent[i], 1.0F}});
    for (std::size_t start = 0; start < 2; ++start) {
        std::vector<linear> carry{kept[23 + start]};
        for (std::size_t i = start; i < 9; ++i) {
            net.step(layer + 5, all(carry), 1, {{r.exponent[i], 1.0F}});
            carry.emplace_back(low[i]);
            net.step(layer + 5, all(carry), 1, {{r.exponent[i], -2.0F}});
        }
    }
    for (std::size_t i = 0; i < 23; ++i) net.gate(layer + 5, kept[i], {{r.fraction[i], 1.0F}});
    return r;
}

}  // namespace qwengpu::circuit::float_unit
