// SPDX-License-Identifier: MIT
// Levels 2 to 9 of the float unit: the frame of 128 bits in which product and addend meet. The product's lowest bit is
// bit 50; c is shifted to D = ec + 200 - ea - eb, kept within 0..100 (beyond, the smaller one only decides roundings).
// The lowest bit that the result may keep, because of the smallest exponent, stands 23 below the marker.
#pragma once

#include <qwengpu/circuit/float_unit/unpack.hpp>
#include <qwengpu/circuit/multiplier.hpp>

#include <string>
#include <vector>

namespace qwengpu::circuit::float_unit {

inline constexpr std::size_t frame_bits = 128;
inline constexpr std::size_t product_bit = 50;
inline constexpr int exponent_bits = 12;

namespace detail {

/// One addend of an exponent's sum: bits, perhaps inverted (for a subtraction in two's complement).
struct exponent_term {
    const word* bits;
    bool minus;
};

// Levels `layer` to `layer + 3`: constant plus or minus 8-bit numbers, mod 2^12. Nibble sums below 64 are first split into
// digit and carry, so that at most two bits of each weight remain.
inline word add_exponents(network& net, int layer, const std::string& name, unsigned constant, const std::vector<exponent_term>& terms, const linear& enable) {
    unsigned fixed = constant;
    for (const auto& term : terms) fixed += term.minus ? 1U : 0U;
    const word digit = net.make_word(name + ".digit", exponent_bits), carry = net.make_word(name + ".carry", exponent_bits);
    for (std::size_t g = 0; g < exponent_bits / 4; ++g) {
        linear n(static_cast<double>((fixed >> (4 * g)) & 15U));
        for (const auto& term : terms) {
            for (std::size_t i = 4 * g; i < 4 * g + 4; ++i) {
                const linear bit = i < term.bits->size() ? linear((*term.bits)[i]) : linear(0.0);
                n += static_cast<double>(1U << (i - 4 * g)) * (term.minus ? no(bit) : bit);
            }
        }
        for (unsigned t = 1; t <= 15 * (1 + terms.size()); ++t) {
            std::vector<std::pair<signal, float>> to;
            for (unsigned b = 0; b < 6 && t % (1U << b) == 0; ++b) {
                const float w = (t >> b) % 2 != 0 ? 1.0F : -1.0F;
                if (b < 4) to.emplace_back(digit[4 * g + b], w);
                else if (4 * g + b < exponent_bits) to.emplace_back(carry[4 * g + b], w);
            }
            net.step(layer, enabled(n, enable), t, to);
        }
    }
    const word out = net.make_word(name, exponent_bits);
    addition total;
    for (std::size_t i = 0; i < exponent_bits; ++i) {
        total.columns.push_back(linear(digit[i]) + (net.info(carry[i]).born != network::unborn ? linear(carry[i]) : linear()));
        total.bits.push_back({{out[i], 1.0F}});
    }
    total.enable = enable;
    total.wanted.assign(exponent_bits / 4, enable);
    add_columns(net, layer + 1, name + ".sum", total);
    return out;
}

/// Where c goes: its shift as two one-hot digits of base 16.
struct distance {
    word low, high;
    signal beyond;  ///< more than 100
};

// One level. The bits of D, in two's complement; what lies outside of 0..100 is moved to the end.
inline distance clamp_distance(network& net, int layer, const std::string& name, const word& d, const linear& enable) {
    distance r{net.make_word(name + ".low", 16), net.make_word(name + ".high", 7), net.make(name + ".beyond")};
    const word low = part(d, 0, 4), high = part(d, 4, 3);
    const linear above = sum(part(d, 7, 4));
    auto put = [&](const linear& when, unsigned hi, unsigned lo, bool over) {
        std::vector<std::pair<signal, float>> to{{r.high[hi], 1.0F}, {r.low[lo], 1.0F}};
        if (over) to.emplace_back(r.beyond, 1.0F);
        net.step(layer, when, 1, to);
    };
    const linear positive = all({enable, no(d[11])});
    put(all({enable, d[11]}), 0, 0, false);
    put(enabled(above, positive), 6, 4, true);
    const linear near = positive - above;
    put(all({near, equals(high, 7)}), 6, 4, true);
    for (unsigned k = 0; k < 7; ++k) net.step(layer, all({near, equals(high, k)}), 1, {{r.high[k], 1.0F}});
    for (unsigned k = 0; k < 16; ++k) {
        const linear is = all({near, equals(low, k)});
        net.step(layer, is, 1, {{r.low[k], 1.0F}});
        net.step(layer, all({is, equals(high, 7)}), 1, {{r.low[k], -1.0F}});
        if (k > 4) net.step(layer, all({is, equals(high, 6)}), 1, {{r.low[k], -1.0F}, {r.low[4], 1.0F}, {r.beyond, 1.0F}});
    }
    return r;
}

// Two levels: c shifted into the frame, inverted where it is subtracted.
inline word place_c(network& net, int layer, const std::string& name, const word& c, const distance& d, const linear& subtract, const linear& keep) {
    const word part_shifted = net.make_word(name + ".part", 39), out = net.make_word(name, frame_bits);
    for (std::size_t i = 0; i < 24; ++i) {
        for (std::size_t k = 0; k < 16; ++k) net.gate(layer, all({c[i], d.low[k]}), {{part_shifted[i + k], 1.0F}});
    }
    for (std::size_t i = 0; i < part_shifted.size(); ++i) {
        for (std::size_t k = 0; k < 7 && i + 16 * k < frame_bits; ++k) {
            net.gate(layer + 1, all({part_shifted[i], d.high[k], keep}), {{out[i + 16 * k], 1.0F}});
            net.gate(layer + 1, all({part_shifted[i], d.high[k], subtract}), {{out[i + 16 * k], -1.0F}});
        }
    }
    for (std::size_t i = 0; i < frame_bits; ++i) net.gate(layer + 1, subtract, {{out[i], 1.0F}});
    return out;
}

// Levels `layer` to `layer + 3`: the product as at most two bits of each weight.
inline word multiply_significands(network& net, int layer, const std::string& name, const word& a, const word& b) {
    word columns = net.make_word(name + ".count", 48);
    std::vector<unsigned> most(64, 0);
    for (std::size_t i = 0; i < 24; ++i) {
        for (std::size_t j = 0; j < 24; ++j) {
            net.gate(layer, all({a[i], b[j]}), {{columns[i + j], 1.0F}});
            ++most[i + j];
        }
    }
    for (int level = 1; level <= 3; ++level) {
        columns = circuit::detail::recount(net, layer + level, name + ".recount" + std::to_string(level), columns, most);
        most = circuit::detail::recounted(most);
    }
    return columns;
}

}  // namespace detail

/// What meets in the frame.
struct frame {
    word product;    ///< from bit 50 on, at most 2 per bit
    word c;          ///< 128 bits, inverted if subtracted
    word marker;     ///< one-hot, or nothing if the result cannot become subnormal
    word marker_at;  ///< its place, 12 bits in two's complement
    signal subtract;
};

/// Levels `layer` (2nd of the unit) to `layer + 7`.
inline frame align(network& net, int layer, const std::string& name, const controls& k, const operands& o) {
    using detail::add_exponents;
    frame f;
    f.product = detail::multiply_significands(net, layer, name + ".product", o.a, o.b);
    f.subtract = net.make(name + ".subtract");
    detail::put_parity(net, layer, k.any, {o.sign_product, o.sign_c}, {{f.subtract, 1.0F}});
    const word d = add_exponents(net, layer, name + ".d", 200, {{&o.ec, false}, {&o.ea, true}, {&o.eb, true}}, k.any);
    const word from_product = add_exponents(net, layer, name + ".m1", 224, {{&o.ea, true}, {&o.eb, true}}, k.any);
    const word from_c = add_exponents(net, layer, name + ".m2", 124, {{&o.ec, true}}, k.any);
    const auto to = detail::clamp_distance(net, layer + 4, name + ".shift", d, k.any);
    f.c = detail::place_c(net, layer + 5, name + ".c", o.c, to, f.subtract, no(f.subtract));

    f.marker_at = net.make_word(name + ".marker_at", exponent_bits);
    for (std::size_t i = 0; i < exponent_bits; ++i) {
        net.gate(layer + 5, all({from_product[i], no(to.beyond)}), {{f.marker_at[i], 1.0F}});
        net.gate(layer + 5, all({from_c[i], to.beyond}), {{f.marker_at[i], 1.0F}});
    }
    word low, high;
    for (unsigned v = 0; v < 16; ++v) low.push_back(net.all_of(layer + 6, name + ".marker.low" + std::to_string(v), {equals(detail::part(f.marker_at, 0, 4), v), k.any}));
    for (unsigned v = 0; v < 8; ++v)
        high.push_back(net.all_of(layer + 6, name + ".marker.high" + std::to_string(v), {equals(detail::part(f.marker_at, 4, 3), v), k.any, no(sum(detail::part(f.marker_at, 7, 5)))}));
    for (std::size_t i = 0; i < frame_bits; ++i) f.marker.push_back(net.one_of(layer + 7, name + ".marker" + std::to_string(i), {all({high[i / 16], low[i % 16]})}));
    return f;
}

}  // namespace qwengpu::circuit::float_unit
