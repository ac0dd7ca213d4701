// SPDX-License-Identifier: MIT
// Levels 9 to 13 of the float unit: the frame's addends reduced to two bits of each weight, added, and made positive.
// For to_int and round, c is first cut off below bit 50, with the rounding added there; for from_int the integer enters.
#pragma once

#include <qwengpu/circuit/float_unit/align.hpp>

#include <string>
#include <vector>

namespace qwengpu::circuit::float_unit {

/// The sum, 128 bits, and whether the product's side won a subtraction.
struct magnitude {
    word bits;
    signal product_wins;
};

namespace detail {

// 1 if a number with these lowest bits is to be rounded away from zero; gates of one level, added to `out`.
struct rounding_bits {
    linear sign, lowest, guard;
    linear rest;  ///< a count, up to 63: 1 or more if anything is below the guard
};

inline void decide_rounding(network& net, int layer, const controls& k, const rounding_bits& r, const linear& door, signal out) {
    const auto [sign, lowest, guard, rest] = r;
    const auto& [rn, rz, rm, rp] = k.rounding;
    net.step(layer, enabled(rest, all({door, rn, guard, no(lowest)})), 1, {{out, 1.0F}});
    net.step(layer, all({door, rn, guard, lowest}), 1, {{out, 1.0F}});
    for (const auto& away : {all({door, rm, sign}), all({door, rp, no(sign)})}) {
        net.step(layer, all({away, guard}), 1, {{out, 1.0F}});
        net.step(layer, enabled(rest, all({away, no(guard)})), 1, {{out, 1.0F}});
    }
}

// An integer of 32 or 64 bits in a and b, inverted if it is negative (level 2 of the unit).
inline word take_integer(network& net, int layer, const std::string& name, const controls& k, const alu_operands& x, signal negative) {
    const word out = net.make_word(name, 64);
    for (std::size_t i = 0; i < 64; ++i) {
        const linear door = i < 32 ? linear(k.from_int) : all({k.from_int, k.wide});
        const signal bit = i < 32 ? x.a[i] : x.b[i - 32];
        net.gate(layer, all({door, bit, no(negative)}), {{out[i], 1.0F}});
        net.gate(layer, all({door, no(bit), negative}), {{out[i], 1.0F}});
    }
    return out;
}

// Level 9: at most two bits of each weight.
inline std::vector<linear> reduce(network& net, int layer, const std::string& name, const controls& k, const frame& f, const word& integer) {
    const word save = net.make_word(name + ".save", frame_bits + 1);
    std::vector<linear> columns(frame_bits);
    for (std::size_t i = 0; i < frame_bits; ++i) {
        linear n = f.c[i];
        const bool in_product = i >= product_bit && i - product_bit < f.product.size() && net.info(f.product[i - product_bit]).born != network::unborn;
        if (in_product) n += f.product[i - product_bit];
        if (i >= product_bit && i - product_bit < integer.size()) n += integer[i - product_bit];
        if (i < product_bit) n = n + 8.0 * (no(k.on_c) - linear(1.0));
        net.step(layer, n, 1, {{save[i], 1.0F}});
        net.step(layer, n, 2, {{save[i], -1.0F}, {save[i + 1], 1.0F}});
        net.step(layer, n, 3, {{save[i], 1.0F}});
        columns[i] += save[i];
    }
    return columns;
}

inline linear nibble(const std::vector<linear>& columns, std::size_t g) {
    linear n;
    for (std::size_t i = 0; i < 4; ++i) n += static_cast<double>(1U << i) * columns[4 * g + i];
    return n;
}

}  // namespace detail

/// Levels `layer` (9th of the unit) to `layer + 4`. `integer` comes from `take_integer`.
inline magnitude add_frame(network& net, int layer, const std::string& name, const controls& k, const operands& o, const frame& f, const word& integer) {
    constexpr std::size_t nibbles = frame_bits / 4;
    auto columns = detail::reduce(net, layer, name, k, f, integer);
    const signal up = net.make(name + ".up");
    detail::decide_rounding(net, layer, k, {o.sign_c, f.c[product_bit], f.c[product_bit - 1], sum(detail::part(f.c, 0, static_cast<std::ptrdiff_t>(product_bit) - 1))}, k.on_c, up);
    columns[product_bit] += up;
    const signal negative = net.all_of(layer, name + ".negative", {k.from_int, o.sign_product});
    columns[product_bit] += negative;

    word generate, propagate;
    for (std::size_t g = 0; g < nibbles; ++g) {
        const linear n = enabled(detail::nibble(columns, g), k.any);
        generate.push_back(net.make(name + ".generate" + std::to_string(g)));
        propagate.push_back(net.make(name + ".propagate" + std::to_string(g)));
        net.step(layer + 1, n, 16, {{generate[g], 1.0F}, {propagate[g], -1.0F}});
        net.step(layer + 1, n, 15, {{propagate[g], 1.0F}});
    }
    // Carries without and with a carry into bit 0; out of the top: the product is larger than what is subtracted.
    word plain(1), bumped(1);
    for (std::size_t g = 1; g <= nibbles; ++g) {
        plain.push_back(net.make(name + ".carry" + std::to_string(g)));
        for (std::size_t from = 0; from < g; ++from) {
            std::vector<linear> chain{generate[from]};
            for (std::size_t over = from + 1; over < g; ++over) chain.emplace_back(propagate[over]);
            net.gate(layer + 2, all(chain), {{plain[g], 1.0F}});
        }
        if (g == nibbles) break;
        bumped.push_back(net.make(name + ".bumped" + std::to_string(g)));
        net.gate(layer + 2, all({propagate.begin(), propagate.begin() + static_cast<std::ptrdiff_t>(g)}), {{bumped[g], 1.0F}});
    }
    magnitude m{net.make_word(name, frame_bits), net.make(name + ".product_wins")};
    const signal top = plain[nibbles];
    net.gate(layer + 3, top, {{m.product_wins, 1.0F}});
    const word digits = net.make_word(name + ".digits", frame_bits);
    std::vector<outputs> to;
    for (const signal s : digits) to.push_back({{s, 1.0F}});
    const linear wins = top;  // nothing that is added reaches bit 128
    for (std::size_t g = 0; g < nibbles; ++g) {
        linear n = detail::nibble(columns, g);
        if (g > 0) n += plain[g];
        // With a carry into bit 0 where the product wins: into a nibble all below which pass it on.
        const linear one_more = g == 0 ? linear(1.0) : linear(bumped[g]);
        circuit::detail::write_digit(net, layer + 3, enabled(n, linear(k.any) - wins), to, 4 * g);
        circuit::detail::write_digit(net, layer + 3, enabled(n + one_more, wins), to, 4 * g);
    }
    const linear invert = all({f.subtract, no(m.product_wins)});
    for (std::size_t i = 0; i < frame_bits; ++i) {
        net.step(layer + 4, all({digits[i], no(f.subtract)}), 1, {{m.bits[i], 1.0F}});
        net.step(layer + 4, all({digits[i], m.product_wins}), 1, {{m.bits[i], 1.0F}});
        net.step(layer + 4, all({invert, no(digits[i])}), 1, {{m.bits[i], 1.0F}});
    }
    return m;
}

}  // namespace qwengpu::circuit::float_unit
