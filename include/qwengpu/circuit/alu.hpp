// SPDX-License-Identifier: MIT
// The ALU of stages 1, 3 and 4 (docs/machine.md, "ALU instructions"), operations 1 to 15: one level that picks the
// operands, three that compute. Every unit's inputs pass a door "this operation is mine", so idle units are exactly 0.
#pragma once

#include <qwengpu/circuit/adder.hpp>
#include <qwengpu/circuit/bit_counts.hpp>
#include <qwengpu/circuit/comparer.hpp>
#include <qwengpu/circuit/condition.hpp>
#include <qwengpu/circuit/float_comparer.hpp>
#include <qwengpu/circuit/funnel.hpp>
#include <qwengpu/circuit/insert.hpp>
#include <qwengpu/circuit/permute.hpp>
#include <qwengpu/circuit/shifter.hpp>

#include <array>
#include <string>
#include <vector>

namespace qwengpu::circuit {

/// The fields of an ALU group of 48 bits.
struct alu_fields {
    word op, a, b, c, mod, imm;

    explicit alu_fields(const word& group)
        : op(cut(group, 0, 6)), a(cut(group, 6, 4)), b(cut(group, 10, 4)), c(cut(group, 14, 4)), mod(cut(group, 18, 8)), imm(cut(group, 26, 16)) {}

    static word cut(const word& bits, std::ptrdiff_t first, std::ptrdiff_t count) { return {bits.begin() + first, bits.begin() + first + count}; }
};

/// A source that the stage may use: its code (4 bits) and its bits (32 or fewer; missing ones are 0).
struct operand_source {
    unsigned code = 0;
    word bits;
};

/// Decoded control signals, made in one level.
struct alu_controls {
    struct pick {
        signal a, c, b_inverted;
        std::array<signal, 4> b;  ///< by shift
    };
    std::vector<pick> picks;  ///< one per source
    signal add, subtract, lop, shl, shr, sar, sel;
    signal add_carry, subtract_carry;                  ///< besides add: bit 0 of c counts
    signal permute, insert_byte, insert_half, funnel_right, funnel_left;
    signal as_unsigned, as_signed;                     ///< comparer at work
    signal min, max;
    std::array<signal, 4> combine;                     ///< cmp with combination none, and, or, xor
    float_comparer_controls floats;
};

namespace detail {

enum alu_code : unsigned { code_add = 1, code_lop, code_shl, code_shr, code_sar, code_cmp, code_sel, code_min, code_max, code_prmt, code_insert, code_funnel, code_fcmp, code_fmin, code_fmax };

inline alu_controls::pick decode_pick(network& net, int layer, const std::string& name, const alu_fields& f, const operand_source& source) {
    alu_controls::pick p;
    const auto label = name + ".pick" + std::to_string(source.code);
    const linear is_add = equals(f.op, code_add);
    p.a = net.all_of(layer, label + ".a", {equals(f.a, source.code)});
    p.c = net.all_of(layer, label + ".c", {equals(f.c, source.code)});
    const linear is_b = equals(f.b, source.code);
    p.b[0] = net.make(label + ".b");
    p.b_inverted = net.make(label + ".b_inverted");
    net.step(layer, is_b, 1, {{p.b[0], 1.0F}});
    net.step(layer, all({is_b, is_add, f.mod[2]}), 1, {{p.b[0], -1.0F}, {p.b_inverted, 1.0F}});
    for (unsigned s = 1; s < 4; ++s) {
        p.b[s] = net.make(label + ".b" + std::to_string(s));
        net.step(layer, all({is_b, is_add, no(f.mod[2]), equals({f.mod[0], f.mod[1]}, s)}), 1, {{p.b[0], -1.0F}, {p.b[s], 1.0F}});
    }
    return p;
}

inline float_comparer_controls decode_float_comparer(network& net, int layer, const std::string& name, const alu_fields& f) {
    float_comparer_controls k;
    const linear compare = equals(f.op, code_fcmp), min = equals(f.op, code_fmin), max = equals(f.op, code_fmax);
    k.compare = net.all_of(layer, name + ".fcmp", {compare});
    k.compare_ftz = net.all_of(layer, name + ".fcmp.ftz", {compare, f.mod[7]});
    k.min = net.all_of(layer, name + ".fmin", {min});
    k.max = net.all_of(layer, name + ".fmax", {max});
    k.flush = net.make(name + ".flush");
    k.nan_wins = net.make(name + ".nan_wins");
    for (const auto& op : {min, max}) {
        net.step(layer, all({op, f.mod[2]}), 1, {{k.flush, 1.0F}});
        net.step(layer, all({op, f.mod[3]}), 1, {{k.nan_wins, 1.0F}});
    }
    for (unsigned m = 0; m < 4; ++m) k.combine[m] = net.all_of(layer, name + ".fcmp.combine" + std::to_string(m), {compare, equals({f.mod[4], f.mod[5]}, m)});
    return k;
}

}  // namespace detail

/// Level `layer`: group bits to control signals.
inline alu_controls decode_alu(network& net, int layer, const std::string& name, const word& group, const std::vector<operand_source>& sources) {
    const alu_fields f(group);
    alu_controls k;
    for (const auto& source : sources) k.picks.push_back(detail::decode_pick(net, layer, name, f, source));
    auto op = [&](const char* label, unsigned code) { return net.all_of(layer, name + "." + label, {equals(f.op, code)}); };
    k.add = op("add", detail::code_add);
    auto op_with = [&](const char* label, unsigned code, const linear& bit) { return net.all_of(layer, name + "." + label, {equals(f.op, code), bit}); };
    k.subtract = op_with("subtract", detail::code_add, f.mod[2]);
    k.add_carry = op_with("add_carry", detail::code_add, all({f.mod[3], no(f.mod[2])}));
    k.subtract_carry = op_with("subtract_carry", detail::code_add, all({f.mod[3], f.mod[2]}));
    k.lop = op("lop", detail::code_lop);
    k.shl = op("shl", detail::code_shl);
    k.shr = op("shr", detail::code_shr);
    k.sar = op("sar", detail::code_sar);
    k.sel = op("sel", detail::code_sel);
    k.min = op("min", detail::code_min);
    k.max = op("max", detail::code_max);
    k.permute = op("permute", detail::code_prmt);
    k.insert_byte = op_with("insert_byte", detail::code_insert, no(f.mod[0]));
    k.insert_half = op_with("insert_half", detail::code_insert, f.mod[0]);
    k.funnel_right = op_with("funnel_right", detail::code_funnel, no(f.mod[0]));
    k.funnel_left = op_with("funnel_left", detail::code_funnel, f.mod[0]);
    k.floats = detail::decode_float_comparer(net, layer, name, f);
    k.as_unsigned = net.make(name + ".as_unsigned");
    k.as_signed = net.make(name + ".as_signed");
    for (const unsigned code : {detail::code_cmp, detail::code_min, detail::code_max}) {
        net.step(layer, all({equals(f.op, code), no(f.mod[3])}), 1, {{k.as_unsigned, 1.0F}});
        net.step(layer, all({equals(f.op, code), f.mod[3]}), 1, {{k.as_signed, 1.0F}});
    }
    for (const unsigned code : {detail::code_fcmp, detail::code_fmin, detail::code_fmax}) net.step(layer, equals(f.op, code), 1, {{k.as_signed, 1.0F}});
    for (unsigned m = 0; m < 4; ++m)
        k.combine[m] = net.all_of(layer, name + ".combine" + std::to_string(m), {equals(f.op, detail::code_cmp), equals({f.mod[4], f.mod[5]}, m)});
    return k;
}

/// The operands a, b, c of an ALU, each of 32 bits, and what an addition adds to the lowest place.
struct alu_operands {
    word a, b, c;
    signal carry;
};

/// Level `layer`: the operands from their sources.
inline alu_operands pick_operands(network& net, int layer, const std::string& name, const alu_controls& k, const std::vector<operand_source>& sources) {
    const alu_operands x{net.make_word(name + ".a", 32), net.make_word(name + ".b", 32), net.make_word(name + ".c", 32), net.make(name + ".carry")};
    net.gate(layer, k.subtract, {{x.carry, 1.0F}});
    for (std::size_t s = 0; s < sources.size(); ++s) {
        const auto& bits = sources[s].bits;
        const auto& pick = k.picks[s];
        if (!bits.empty()) {
            net.gate(layer, all({k.add_carry, pick.c, bits[0]}), {{x.carry, 1.0F}});
            net.gate(layer, all({k.subtract_carry, pick.c, bits[0]}), {{x.carry, -1.0F}});
        }
        for (std::size_t i = 0; i < bits.size(); ++i) {
            net.gate(layer, all({pick.a, bits[i]}), {{x.a[i], 1.0F}});
            net.gate(layer, all({pick.c, bits[i]}), {{x.c[i], 1.0F}});
            for (std::size_t shift = 0; shift < 4; ++shift) {
                if (i + shift < 32) net.gate(layer, all({pick.b[shift], bits[i]}), {{x.b[i + shift], 1.0F}});
            }
        }
        for (std::size_t i = 0; i < 32; ++i) {
            const linear inverted = i < bits.size() ? all({pick.b_inverted, no(bits[i])}) : linear(pick.b_inverted);
            net.gate(layer, inverted, {{x.b[i], 1.0F}});
        }
    }
    return x;
}

namespace detail {

inline void write_comparison(network& net, int layer, const alu_controls& k, const alu_fields& f, const comparison& c, signal combined, signal out) {
    const linear is_cmp = linear(k.combine[0]) + linear(k.combine[1]) + linear(k.combine[2]) + linear(k.combine[3]);
    write_condition(net, layer, k.combine, {{c.less, f.mod[0]}, {c.equal, f.mod[1]}, {is_cmp - linear(c.less) - linear(c.equal), f.mod[2]}}, combined, out);
}

inline void write_extremes(network& net, int layer, const alu_controls& k, const comparison& c, const alu_operands& x, const word& out) {
    for (std::size_t i = 0; i < 32; ++i) {
        net.gate(layer, all({k.min, c.less, x.a[i]}), {{out[i], 1.0F}});
        net.gate(layer, all({k.min, no(c.less), x.b[i]}), {{out[i], 1.0F}});
        net.gate(layer, all({k.max, no(c.less), x.a[i]}), {{out[i], 1.0F}});
        net.gate(layer, all({k.max, c.less, x.b[i]}), {{out[i], 1.0F}});
    }
}

}  // namespace detail

inline constexpr int alu_levels = 3;

/// out += the result of operations 1..15. Levels: `layer` to `layer + 2`; whole at the end of the last.
inline void alu(network& net, int layer, const std::string& name, const word& group, const alu_controls& k, const alu_operands& x, const word& out) {
    const alu_fields f(group);
    add_words(net, layer, name + ".add", x.a, x.b, x.carry, k.add, out);
    look_up(net, layer, x.a, x.b, x.c, f.mod, k.lop, out);
    shift(net, layer, name + ".shift", x.a, x.b, {k.shl, k.shr, k.sar}, out);
    for (std::size_t i = 0; i < 32; ++i) {
        net.gate(layer, all({k.sel, x.c[0], x.a[i]}), {{out[i], 1.0F}});
        net.gate(layer, all({k.sel, no(x.c[0]), x.b[i]}), {{out[i], 1.0F}});
    }
    const auto compared = compare(net, layer, name + ".compare", x.a, x.b, k.as_unsigned, k.as_signed);
    const signal combined = net.one_of(layer, name + ".combined", {all({x.c[0], no(f.mod[6])}), all({no(x.c[0]), f.mod[6]})});
    detail::write_comparison(net, layer + 2, k, f, compared, combined, out[0]);
    detail::write_extremes(net, layer + 2, k, compared, x, out);
    permute(net, layer, name + ".permute", x.a, x.b, x.c, k.permute, out);
    insert(net, layer, x.a, x.b, {x.c[0], x.c[1]}, {k.insert_byte, k.insert_half}, out);
    funnel(net, layer, name + ".funnel", x.a, x.b, {x.c.begin(), x.c.begin() + 5}, {k.funnel_right, k.funnel_left}, out);
    compare_floats(net, layer, name + ".floats", x.a, x.b, compared, k.floats, {f.mod[0], f.mod[1], f.mod[2], f.mod[3]}, combined, out);
}

}  // namespace qwengpu::circuit
