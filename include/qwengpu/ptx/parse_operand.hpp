// SPDX-License-Identifier: MIT
// Operands: %r1, 5, 0f3F800000, [%rd1+4], {%r1, %r2}, %p1|%p2, !%p1, %tid.x, table+8, _ . Names are resolved here.
#pragma once

#include <optional>
#include <string>
#include <utility>

#include <qwengpu/ptx/constant_expression.hpp>
#include <qwengpu/ptx/context.hpp>

namespace qwengpu::ptx {

namespace detail {

/// What the name means inside the function, else in the module.
inline operand resolve(parse_context& c, function_context& fc, const token& name) {
    operand o;
    o.text = name.text;
    o.where = name.where;
    if (const auto local = fc.names.find(name.text, fc.f)) {
        o.kind = local->is_register ? operand_kind::reg : operand_kind::symbol_value;
        o.id = local->id;
        if (!local->is_register) o.sym = {symbol_kind::function_variable, local->id};
        return o;
    }
    if (const auto global = c.globals.find(name.text); global != c.globals.end()) {
        o.kind = operand_kind::symbol_value;
        o.sym = global->second;
        return o;
    }
    const std::string shown = printable(name.text);
    throw syntax_error(name.where, name.text[0] == '%' ? "register " + shown + " is not declared"
                                                       : "parameter or symbol " + shown + " is not declared");
}

/// .x .y .z .w (also .r .g .b .a) glued to a name.
inline char part_at(cursor& in) {
    const token& t = in.peek();
    if (t.kind != token_kind::dotted || !t.glued || t.text.size() != 1) return 0;
    const std::size_t k = std::string_view("xyzwrgba").find(t.text[0]);
    return k == std::string_view::npos ? '\0' : "xyzwxyzw"[k];
}

inline std::optional<operand> parse_special(cursor& in, const token& name) {
    std::string full(name.text);
    if (const char part = part_at(in)) full += std::string(".") + part;
    const auto row = sreg_named(full);
    if (!row) return std::nullopt;
    if (full.size() > name.text.size()) in.take();
    operand o;
    o.kind = operand_kind::special;
    o.special = row->id;
    o.text = row->id == sreg::other ? name.text : row->name;
    o.where = name.where;
    return o;
}

/// %tid as {%tid.x, %tid.y, %tid.z, %tid.w}; what is no vector of special registers stays as it is.
inline operand parts_of_special(operand o) {
    const auto rows = o.kind == operand_kind::special && o.special == sreg::other ? parts_of_sreg(o.text) : std::nullopt;
    if (!rows) return o;
    operand all;
    all.kind = operand_kind::vector;
    all.where = o.where;
    for (const sreg_row& row : *rows) {
        o.special = row.id;
        o.text = row.name;
        all.items.push_back(o);
    }
    return all;
}

/// + constant or - constant, after a base; 0 where there is none.
inline std::int64_t parse_offset(cursor& in) {
    if (in.accept("+")) return static_cast<std::int64_t>(parse_integer_constant(in));
    return in.at("-") ? static_cast<std::int64_t>(parse_integer_constant(in)) : 0;
}

/// .b0, .h1, .b3210 and the like glued to a register: which of its bytes or half words are meant. Empty where there is none.
inline std::string_view parse_selector(cursor& in) {
    const token& t = in.peek();
    if (t.kind != token_kind::dotted || !t.glued || t.text.size() < 2 || (t.text[0] != 'b' && t.text[0] != 'h')) return {};
    if (t.text.find_first_not_of("01234567", 1) != std::string_view::npos) return {};
    return in.take().text;
}

inline operand parse_name(parse_context& c, function_context& fc) {
    const token name = c.in.take();
    if (name.text == "_") {
        operand o;
        o.where = name.where;
        o.text = name.text;
        return o;
    }
    const bool declared = fc.names.find(name.text, fc.f).has_value();
    if (!declared)
        if (auto special = parse_special(c.in, name)) return *special;
    operand o = resolve(c, fc, name);
    if (o.kind == operand_kind::symbol_value) {
        o.value = parse_offset(c.in);
    } else if (const char part = part_at(c.in)) {
        if (fc.f.registers[o.id].vector == 1) c.in.fail("expected no part: " + printable(name.text) + " is no vector register");
        o.part = part;
        c.in.take();
    } else if (c.video) {
        o.selector = parse_selector(c.in);
    }
    return o;
}

inline operand parse_number(cursor& in) {
    operand o;
    o.where = in.peek().where;
    const constant k = parse_constant(in);
    o.kind = k.kind == token_kind::f32   ? operand_kind::f32_bits
             : k.kind == token_kind::f64 ? operand_kind::f64_bits
                                         : operand_kind::integer;
    o.value = static_cast<std::int64_t>(k.bits);
    o.is_unsigned = k.is_unsigned;
    return o;
}

/// A register, special register, symbol, constant or `_`.
inline operand parse_simple(parse_context& c, function_context& fc) {
    return c.in.peek().kind == token_kind::word ? parse_name(c, fc) : parse_number(c.in);
}

/// {a, b, ...} or (a, b, ...), after the opening one.
inline operand parse_group(parse_context& c, function_context& fc, operand_kind kind, std::string_view close) {
    operand o;
    o.kind = kind;
    o.where = c.in.peek().where;
    if (kind == operand_kind::list && c.in.accept(close)) return o;
    do o.items.push_back(parse_simple(c, fc));
    while (c.in.accept(","));
    c.in.expect(close);
    return o;
}

/// The inside of [tex, coordinates...] behind its first comma.
inline operand parse_more_of_address(parse_context& c, function_context& fc, operand first) {
    operand o;
    o.kind = operand_kind::texture;
    o.where = first.where;
    o.items.push_back(std::move(first));
    while (c.in.accept(",")) {
        if (c.in.accept("{")) o.items.push_back(parse_group(c, fc, operand_kind::vector, "}"));
        else o.items.push_back(parse_simple(c, fc));
    }
    return o;
}

/// [base + offset], after the '['.
inline operand parse_address(parse_context& c, function_context& fc) {
    operand o;
    o.kind = operand_kind::address;
    o.where = c.in.peek().where;
    operand base = parse_simple(c, fc);
    if (base.kind == operand_kind::integer) {
        o.value = base.value;
    } else {
        if (base.kind != operand_kind::reg && base.kind != operand_kind::symbol_value)
            c.in.fail("expected an address in a register or variable");
        if (base.kind == operand_kind::reg) base.value = parse_offset(c.in);
        o.value = std::exchange(base.value, 0);
        o.items.push_back(std::move(base));
    }
    if (c.in.at(",")) o = parse_more_of_address(c, fc, std::move(o));
    c.in.expect("]");
    return o;
}

/// table[2]: the address of an element, as an older notation of PTX.
inline operand parse_indexed(parse_context& c, operand base, const variable& v) {
    c.in.expect("[");
    const std::uint64_t index = parse_integer_constant(c.in);
    c.in.expect("]");
    operand o;
    o.kind = operand_kind::address;
    o.where = base.where;
    o.value = static_cast<std::int64_t>(index * static_cast<std::uint64_t>(bytes_of(v.type) * v.vector));
    o.items.push_back(std::move(base));
    return o;
}

}  // namespace detail

/// One operand that is no label and no part of a call. Throws syntax_error.
inline operand parse_operand(parse_context& c, function_context& fc) {
    if (c.in.accept("{")) return detail::parse_group(c, fc, operand_kind::vector, "}");
    if (c.in.accept("[")) return detail::parse_address(c, fc);
    if (c.in.at("!") && c.in.peek(1).kind == token_kind::word) {
        c.in.take();
        operand o = detail::parse_name(c, fc);
        o.negated = true;
        return o;
    }
    if (c.video && c.in.at("-") && c.in.peek(1).kind == token_kind::word) {
        c.in.take();
        operand o = detail::parse_name(c, fc);
        o.minus = true;
        return o;
    }
    operand o = detail::parse_simple(c, fc);
    if (o.kind == operand_kind::symbol_value && o.sym.kind != symbol_kind::function && c.in.at("["))
        return detail::parse_indexed(c, o, c.out.variable_of(o.sym, fc.f));
    if ((o.kind == operand_kind::reg || o.kind == operand_kind::sink) && c.in.accept("|")) {
        operand both;
        both.kind = operand_kind::pair;
        both.where = o.where;
        both.items.push_back(std::move(o));
        both.items.push_back(detail::parse_simple(c, fc));
        return both;
    }
    return o;
}

}  // namespace qwengpu::ptx
