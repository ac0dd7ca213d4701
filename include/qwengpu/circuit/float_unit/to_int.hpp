// SPDX-License-Identifier: MIT
// Levels 14 to 18 of the float unit: a rounded magnitude as a signed or unsigned integer of 32 or 64 bits, saturated.
// NaN gives 0.
#pragma once

#include <qwengpu/circuit/float_unit/pack.hpp>

#include <string>
#include <vector>

namespace qwengpu::circuit::float_unit {

namespace detail {

// Whether the magnitude (bit 50 weighs 1) does not fit into `bits` bits, as unsigned or signed (two levels).
struct overflow {
    signal beyond, top, below;

    overflow(network& net, int layer, const std::string& name, const word& m, std::ptrdiff_t bits, const linear& door)
        : beyond(net.threshold(layer, name + ".beyond", enabled(sum(part(m, 50 + bits, 78 - bits)), door), 1)),
          top(net.all_of(layer, name + ".top", {m[static_cast<std::size_t>(49 + bits)], door})),
          below(net.threshold(layer, name + ".below", enabled(sum(part(m, 50, bits - 1)), door), 1)) {}

    void add_to(network& net, int layer, const linear& when, const linear& is_signed, const linear& negative, signal over) const {
        net.gate(layer, all({when, beyond}), {{over, 1.0F}});
        net.gate(layer, all({when, no(beyond), is_signed, top, no(negative)}), {{over, 1.0F}});
        net.gate(layer, all({when, no(beyond), is_signed, top, negative, below}), {{over, 1.0F}});
    }
};

}  // namespace detail

/// Levels `layer` (14th of the unit) to `layer + 4`; adds the result to `out`.
inline void to_integer(network& net, int layer, const std::string& name, const controls& k, const operands& o, const magnitude& m, const specials& s, const word& out) {
    const signal negative = net.all_of(layer, name + ".negative", {k.to_int, o.sign_c});
    const linear inverts = all({k.to_int, o.sign_c, k.is_signed});
    const signal inverted = net.all_of(layer, name + ".inverted", {inverts});
    const signal below_zero = net.all_of(layer, name + ".below_zero", {k.to_int, o.sign_c, no(k.is_signed)});
    const word raw = net.make_word(name + ".raw", 64), value = net.make_word(name, 64);
    for (std::size_t i = 0; i < 64; ++i) {
        net.gate(layer, all({k.to_int, m.bits[50 + i], no(o.sign_c)}), {{raw[i], 1.0F}});
        net.gate(layer, all({k.to_int, m.bits[50 + i], o.sign_c, no(k.is_signed)}), {{raw[i], 1.0F}});
        net.gate(layer, all({inverts, no(m.bits[50 + i])}), {{raw[i], 1.0F}});
    }
    const detail::overflow narrow(net, layer, name + ".32", m.bits, 32, k.to_int), wide(net, layer, name + ".64", m.bits, 64, k.to_int);
    const signal over = net.make(name + ".over");
    narrow.add_to(net, layer + 1, all({k.to_int, no(k.wide)}), k.is_signed, negative, over);
    wide.add_to(net, layer + 1, all({k.to_int, k.wide}), k.is_signed, negative, over);

    addition complement;
    for (std::size_t i = 0; i < 64; ++i) {
        complement.columns.emplace_back(raw[i]);
        complement.bits.push_back({{value[i], 1.0F}});
    }
    complement.columns[0] += inverted;
    complement.enable = k.to_int;
    complement.wanted.assign(16, k.to_int);
    add_columns(net, layer + 1, name + ".complement", complement);

    const int last = layer + 4;
    const linear number = all({k.to_int, no(s.nan)});
    const linear fits = all({number, no(over), no(below_zero)});
    for (std::size_t i = 0; i < 32; ++i) {
        net.gate(last, all({fits, no(k.high), value[i]}), {{out[i], 1.0F}});
        net.gate(last, all({fits, k.high, value[32 + i]}), {{out[i], 1.0F}});
    }
    const linear saturates = all({number, over});
    const linear top_word = linear(k.high) + no(k.wide);
    detail::put_number(net, last, all({saturates, k.is_signed, no(negative), top_word}), 0x7fffffffU, out);
    detail::put_number(net, last, all({saturates, k.is_signed, no(negative), no(top_word)}), 0xffffffffU, out);
    detail::put_number(net, last, all({saturates, k.is_signed, negative, top_word}), 0x80000000U, out);
    detail::put_number(net, last, all({saturates, no(k.is_signed), no(negative)}), 0xffffffffU, out);
}

}  // namespace qwengpu::circuit::float_unit
