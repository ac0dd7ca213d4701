// SPDX-License-Identifier: MIT
// The float unit: fused multiply-add with one rounding (and add, mul as its special cases), conversions between f32 and
// integers of 32 and 64 bits, rounding to an integral value. IEEE binary32 with subnormals; 21 levels.
#pragma once

#include <qwengpu/circuit/float_unit/to_int.hpp>

#include <string>

namespace qwengpu::circuit::float_unit {

inline constexpr int levels = 21;

/// Controls are decoded in `decode_layer`, the operands come out of a layer before `layer`, which is the first of 21.
inline void build(network& net, int decode_layer, int layer, const std::string& name, const word& group, const alu_operands& x, const word& out) {
    const controls k = decode(net, decode_layer, name, group);
    const operands o = unpack(net, layer, name, k, x);
    const specials s = find_specials(net, layer + 1, name, k, o);
    const word integer = detail::take_integer(net, layer + 1, name + ".integer", k, x, o.sign_product);
    const frame f = align(net, layer + 1, name, k, o);
    const magnitude m = add_frame(net, layer + 8, name + ".sum", k, o, f, integer);
    to_integer(net, layer + 13, name + ".to_int", k, o, m, s, out);

    const signal sign = net.make(name + ".sign");
    rounded r = round(net, layer + 13, name + ".round", k, m, f, sign);
    const int at = layer + 14;
    net.step(at, all({k.any, no(f.subtract), o.sign_product}), 1, {{sign, 1.0F}});
    net.step(at, all({m.product_wins, o.sign_product}), 1, {{sign, 1.0F}});
    net.step(at, all({f.subtract, no(m.product_wins), no(r.zero), o.sign_c}), 1, {{sign, 1.0F}});
    net.step(at, all({f.subtract, no(m.product_wins), r.zero, k.rounding[2]}), 1, {{sign, 1.0F}});
    pack(net, layer + 19, name + ".result", k, r, s, sign, out);
}

}  // namespace qwengpu::circuit::float_unit
