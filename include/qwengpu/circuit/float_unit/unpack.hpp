// SPDX-License-Identifier: MIT
// The float unit's first levels (docs/layers.md, "Float unit"): operation and rounding, the operands taken apart, and
// what does not go through the sum: NaN, infinities, signs.
#pragma once

#include <qwengpu/circuit/adder.hpp>
#include <qwengpu/circuit/alu.hpp>

#include <array>
#include <bit>
#include <string>
#include <utility>
#include <vector>

namespace qwengpu::circuit::float_unit {

/// Operation codes of stage 3 (docs/machine.md).
enum code : unsigned { code_fma = 21, code_add = 22, code_mul = 23, code_from_int = 24, code_to_int = 25, code_round = 26 };

/// Decoded controls; one operation at most.
struct controls {
    signal fma, add, mul, from_int, to_int, round;
    signal any;                      ///< one of them
    signal on_c;                     ///< to_int, round: the operand goes the way of c
    std::array<signal, 4> rounding;  ///< rn, rz, rm, rp
    signal ftz, saturate, negate_product, negate_c, is_signed, wide, high;
};

inline controls decode(network& net, int layer, const std::string& name, const word& group) {
    const alu_fields f(group);
    auto op = [&](const char* label, unsigned c) { return net.all_of(layer, name + "." + label, {equals(f.op, c)}); };
    controls k;
    k.fma = op("fma", code_fma);
    k.add = op("add", code_add);
    k.mul = op("mul", code_mul);
    k.from_int = op("from_int", code_from_int);
    k.to_int = op("to_int", code_to_int);
    k.round = op("round", code_round);
    k.any = net.make(name + ".any");
    k.on_c = net.make(name + ".on_c");
    for (unsigned c = code_fma; c <= code_round; ++c) net.step(layer, equals(f.op, c), 1, {{k.any, 1.0F}});
    for (const unsigned c : {code_to_int, code_round}) net.step(layer, equals(f.op, c), 1, {{k.on_c, 1.0F}});
    for (unsigned m = 0; m < 4; ++m) {
        k.rounding[m] = net.make(name + ".rounding" + std::to_string(m));
        for (unsigned c = code_fma; c <= code_round; ++c) net.step(layer, all({equals(f.op, c), equals({f.mod[0], f.mod[1]}, m)}), 1, {{k.rounding[m], 1.0F}});
    }
    auto flag = [&](const char* label, std::size_t bit, std::initializer_list<unsigned> ops) {
        const signal s = net.make(name + "." + label);
        for (const unsigned c : ops) net.step(layer, all({equals(f.op, c), f.mod[bit]}), 1, {{s, 1.0F}});
        return s;
    };
    k.ftz = flag("ftz", 2, {code_fma, code_add, code_mul, code_to_int, code_round});
    k.saturate = flag("saturate", 3, {code_fma, code_add, code_mul, code_round});
    k.is_signed = flag("is_signed", 3, {code_from_int, code_to_int});
    k.negate_product = flag("negate_product", 4, {code_fma, code_add, code_mul});
    k.negate_c = flag("negate_c", 5, {code_fma, code_add});
    k.wide = flag("wide", 6, {code_from_int, code_to_int});
    k.high = flag("high", 7, {code_to_int});
    return k;
}

/// What goes into a sum: significands with their implicit bits, biased exponents (1 for subnormals), signs. Operations on
/// one operand use exponents of 150 for a and b, so that bit 50 of the sum's frame weighs 1.
struct operands {
    word a, b, c;           ///< 24 bits
    word ea, eb, ec;        ///< 8 bits
    signal sign_product, sign_c;
    struct special {
        signal maximal, fraction;  ///< exponent 255; fraction not 0
    };
    special sa, sb, sc;
};

namespace detail {

inline word part(const word& x, std::ptrdiff_t first, std::ptrdiff_t count) { return {x.begin() + first, x.begin() + first + count}; }

// Adds an operand to significand, exponent and class where `door` is 1. Subnormals count as 0 under ftz. The exponent of a
// factor is 0 if the other factor is 0: then the product's place in the frame must not depend on it.
inline void unpack_one(network& net, int layer, const word& x, const word* other, const linear& door, signal ftz, const word& significand, const word& exponent,
                       const operands::special& kind) {
    const word e = part(x, 23, 8), f = part(x, 0, 23);
    for (std::size_t i = 0; i < 23; ++i) {
        net.gate(layer, all({f[i], door, no(ftz)}), {{significand[i], 1.0F}});
        net.step(layer, sum(e) + 16.0 * (all({f[i], door, ftz}) - linear(1.0)), 1, {{significand[i], 1.0F}});
    }
    net.step(layer, enabled(sum(e), door), 1, {{significand[23], 1.0F}});
    for (std::size_t i = 0; i < 8; ++i) {
        if (other == nullptr) {
            net.gate(layer, all({e[i], door}), {{exponent[i], 1.0F}});
            continue;
        }
        net.step(layer, enabled(sum(part(*other, 0, 31)), all({e[i], door, no(ftz)})), 1, {{exponent[i], 1.0F}});
        net.step(layer, enabled(sum(part(*other, 23, 8)), all({e[i], door, ftz})), 1, {{exponent[i], 1.0F}});
    }
    net.gate(layer, door - sum(e), {{exponent[0], 1.0F}});
    net.step(layer, enabled(sum(e), door), 8, {{kind.maximal, 1.0F}});
    net.step(layer, enabled(sum(f), door), 1, {{kind.fraction, 1.0F}});
}

inline void put_number(network& net, int layer, const linear& when, unsigned value, const word& out) {
    std::vector<std::pair<signal, float>> to;
    for (unsigned i = 0; i < out.size(); ++i) {
        if (((value >> i) & 1U) != 0) to.emplace_back(out[i], 1.0F);
    }
    net.gate(layer, when, to);
}

inline void put_parity(network& net, int layer, const linear& when, const std::vector<linear>& bits, const std::vector<std::pair<signal, float>>& to) {
    for (unsigned m = 0; m < (1U << bits.size()); ++m) {
        if (std::popcount(m) % 2 == 0) continue;
        std::vector<linear> terms{when};
        for (std::size_t i = 0; i < bits.size(); ++i) terms.push_back(((m >> i) & 1U) != 0 ? bits[i] : no(bits[i]));
        net.gate(layer, all(terms), to);
    }
}

}  // namespace detail

/// One level.
inline operands unpack(network& net, int layer, const std::string& name, const controls& k, const alu_operands& x) {
    auto special = [&](const char* label) { return operands::special{net.make(name + label + std::string(".max")), net.make(name + label + std::string(".frac"))}; };
    const operands o{net.make_word(name + ".a", 24), net.make_word(name + ".b", 24), net.make_word(name + ".c", 24),
                     net.make_word(name + ".ea", 8), net.make_word(name + ".eb", 8), net.make_word(name + ".ec", 8),
                     net.make(name + ".sign_product"), net.make(name + ".sign_c"), special(".a"), special(".b"), special(".c")};
    const linear by_b = linear(k.fma) + linear(k.mul), with_c = linear(k.fma) + linear(k.add);
    const linear single = linear(k.on_c) + linear(k.from_int);
    detail::unpack_one(net, layer, x.a, &x.b, by_b, k.ftz, o.a, o.ea, o.sa);
    detail::unpack_one(net, layer, x.a, nullptr, k.add, k.ftz, o.a, o.ea, o.sa);
    detail::unpack_one(net, layer, x.b, &x.a, by_b, k.ftz, o.b, o.eb, o.sb);
    detail::unpack_one(net, layer, x.c, nullptr, with_c, k.ftz, o.c, o.ec, o.sc);
    detail::unpack_one(net, layer, x.a, nullptr, k.on_c, k.ftz, o.c, o.ec, o.sc);
    net.gate(layer, k.add, {{o.b[23], 1.0F}});
    detail::put_number(net, layer, k.add, 127, o.eb);
    detail::put_number(net, layer, single, 150, o.ea);
    detail::put_number(net, layer, single, 150, o.eb);
    detail::put_number(net, layer, linear(k.mul) + linear(k.from_int), 1, o.ec);

    detail::put_parity(net, layer, k.fma, {x.a[31], x.b[31], k.negate_product}, {{o.sign_product, 1.0F}});
    detail::put_parity(net, layer, k.mul, {x.a[31], x.b[31], k.negate_product}, {{o.sign_product, 1.0F}, {o.sign_c, 1.0F}});
    detail::put_parity(net, layer, k.add, {x.a[31], k.negate_product}, {{o.sign_product, 1.0F}});
    detail::put_parity(net, layer, with_c, {x.c[31], k.negate_c}, {{o.sign_c, 1.0F}});
    for (const auto& negative : {all({k.on_c, x.a[31]}), all({k.from_int, k.is_signed, no(k.wide), x.a[31]}), all({k.from_int, k.is_signed, k.wide, x.b[31]})})
        net.gate(layer, negative, {{o.sign_product, 1.0F}, {o.sign_c, 1.0F}});
    return o;
}

}  // namespace qwengpu::circuit::float_unit
