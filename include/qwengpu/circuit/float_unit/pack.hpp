// SPDX-License-Identifier: MIT
// Levels 2 to 4 and 20 to 21 of the float unit: which kind of result it is, and its 32 bits. NaN is always 0x7fffffff.
#pragma once

#include <qwengpu/circuit/float_unit/round.hpp>

#include <string>
#include <vector>

namespace qwengpu::circuit::float_unit {

/// Results that do not come from the sum.
struct specials {
    signal nan, infinite, negative;  ///< `negative`: sign of the infinity
};

/// Levels `layer` (2nd of the unit) to `layer + 2`.
inline specials find_specials(network& net, int layer, const std::string& name, const controls& k, const operands& o) {
    struct kind {
        signal nan, infinite, zero;
    };
    auto classify = [&](const char* label, const operands::special& s, const word& significand) {
        return kind{net.all_of(layer, name + label + std::string(".nan"), {s.maximal, s.fraction}), net.all_of(layer, name + label + std::string(".infinite"), {s.maximal, no(s.fraction)}),
                    net.threshold(layer, name + label + std::string(".zero"), enabled(no(sum(significand)), k.any), 1)};
    };
    const kind a = classify(".a", o.sa, o.a), b = classify(".b", o.sb, o.b), c = classify(".c", o.sc, o.c);
    const signal subtract = net.make(name + ".opposed");
    detail::put_parity(net, layer, k.any, {o.sign_product, o.sign_c}, {{subtract, 1.0F}});
    const linear product_infinite = linear(a.infinite) + linear(b.infinite);
    const signal reasons = net.make(name + ".reasons_for_nan");
    for (const signal nan : {a.nan, b.nan, c.nan}) net.gate(layer + 1, nan, {{reasons, 1.0F}});
    net.gate(layer + 1, all({a.infinite, b.zero}), {{reasons, 1.0F}});
    net.gate(layer + 1, all({b.infinite, a.zero}), {{reasons, 1.0F}});
    net.step(layer + 1, product_infinite + 4.0 * (all({c.infinite, subtract}) - linear(1.0)), 1, {{reasons, 1.0F}});
    const specials r{net.threshold(layer + 2, name + ".nan", reasons, 1), net.make(name + ".infinite"), net.make(name + ".infinite.negative")};
    net.step(layer + 1, product_infinite + linear(c.infinite), 1, {{r.infinite, 1.0F}});
    net.step(layer + 1, product_infinite + 4.0 * (linear(o.sign_product) - linear(1.0)), 1, {{r.negative, 1.0F}});
    net.gate(layer + 1, all({c.infinite, no(product_infinite), o.sign_c}), {{r.negative, 1.0F}});
    return r;
}

/// Levels `layer` (20th of the unit) and `layer + 1`; adds the result to `out`.
inline void pack(network& net, int layer, const std::string& name, const controls& k, const rounded& r, const specials& s, signal sign, const word& out) {
    const linear result = linear(k.any) - linear(k.to_int);
    const signal is_nan = net.all_of(layer, name + ".nan", {result, s.nan, no(k.saturate)});
    const linear number = all({result, no(s.nan)}), finite = all({number, no(s.infinite)});
    const auto top = linear(r.exponent[8]), full = all({r.exponent.begin(), r.exponent.begin() + 8});
    const signal over = net.make(name + ".over");
    net.gate(layer, all({finite, no(r.zero), top}), {{over, 1.0F}});
    net.gate(layer, all({finite, no(r.zero), no(top), full}), {{over, 1.0F}});
    const signal infinite = net.all_of(layer, name + ".inf", {number, s.infinite});
    const signal flush = net.all_of(layer, name + ".flush", {k.ftz, no(sum(r.exponent))});
    const signal ordinary = net.all_of(layer, name + ".ordinary", {finite, no(r.zero)});
    // Overflow: infinity, or the largest number where the mode rounds towards zero there.
    const signal to_largest = net.one_of(layer, name + ".largest", {k.rounding[1], all({k.rounding[2], no(sign)}), all({k.rounding[3], sign})});
    const signal negative = net.one_of(layer, name + ".sign", {all({number, s.infinite, s.negative}), all({number, no(s.infinite), sign})});
    // .sat: below 0 (and NaN) gives 0, from 1 on 1.
    const signal large = net.make(name + ".one_or_more");
    net.gate(layer, all({k.saturate, top}), {{large, 1.0F}});
    net.gate(layer, all({k.saturate, no(top), r.exponent[7]}), {{large, 1.0F}});
    net.gate(layer, all({k.saturate, no(top), no(r.exponent[7]), r.exponent[0], r.exponent[1], r.exponent[2], r.exponent[3], r.exponent[4], r.exponent[5], r.exponent[6]}), {{large, 1.0F}});

    const int last = layer + 1;
    auto fill = [&](const linear& when, unsigned bits) { detail::put_number(net, last, when, bits, out); };
    fill(is_nan, 0x7fffffffU);
    const linear shown = all({ordinary, no(over), no(flush), no(large)});
    for (std::size_t i = 0; i < 23; ++i) {
        net.gate(last, all({shown, r.fraction[i], no(k.saturate)}), {{out[i], 1.0F}});
        net.gate(last, all({shown, r.fraction[i], k.saturate, no(negative)}), {{out[i], 1.0F}});
    }
    for (std::size_t i = 0; i < 8; ++i) {
        net.gate(last, all({shown, r.exponent[i], no(k.saturate)}), {{out[23 + i], 1.0F}});
        net.gate(last, all({shown, r.exponent[i], k.saturate, no(negative)}), {{out[23 + i], 1.0F}});
    }
    fill(all({infinite, no(k.saturate)}), 0x7f800000U);
    fill(all({over, no(k.saturate), no(to_largest)}), 0x7f800000U);
    fill(all({over, no(k.saturate), to_largest}), 0x7f7fffffU);
    fill(all({infinite, k.saturate, no(negative)}), 0x3f800000U);
    fill(all({ordinary, large, no(negative)}), 0x3f800000U);
    net.gate(last, all({negative, no(k.saturate)}), {{out[31], 1.0F}});
}

}  // namespace qwengpu::circuit::float_unit
