// SPDX-License-Identifier: MIT
// An instruction: @!%p1 opcode.modifiers operands; and the operands that are special: labels, tables, calls.
#pragma once

#include <algorithm>
#include <bit>
#include <string>
#include <utility>

#include <qwengpu/ptx/opcode_table.hpp>
#include <qwengpu/ptx/parse_operand.hpp>

namespace qwengpu::ptx {

namespace detail {

inline guard parse_guard(parse_context& c, function_context& fc) {
    const bool negated = c.in.accept("!");
    const token name = c.in.expect(token_kind::word, "a predicate register");
    const operand o = resolve(c, fc, name);
    if (o.kind != operand_kind::reg || fc.f.registers[o.id].type != scalar_type::pred)
        throw syntax_error(name.where, printable(name.text) + " is no predicate register (.pred), so it cannot guard an instruction");
    return {o.id, negated};
}

inline operand parse_label(parse_context& c, function_context& fc) {
    const token name = c.in.expect(token_kind::word, "a label");
    operand o;
    o.kind = operand_kind::label;
    o.text = name.text;
    o.where = name.where;
    o.id = fc.labels.use(name.text, name.where);
    return o;
}

/// The name of a .branchtargets, .calltargets or .callprototype; its id is filled in at the end of the function.
inline operand parse_table(parse_context& c, function_context& fc, operand_kind kind, std::size_t position) {
    const token name = c.in.expect(token_kind::word, "the label of a table of targets");
    operand o;
    o.kind = kind;
    o.text = name.text;
    o.where = name.where;
    fc.table_uses.push_back({static_cast<std::uint32_t>(fc.f.code.size()), static_cast<std::uint32_t>(position)});
    return o;
}

/// (results), callee, (arguments), table: the lists are always there in the tree, empty where nothing is written.
inline void parse_call(parse_context& c, function_context& fc, instruction& i) {
    const auto list = [&] {
        operand o;
        o.kind = operand_kind::list;
        o.where = c.in.peek().where;
        return c.in.accept("(") ? parse_group(c, fc, operand_kind::list, ")") : o;
    };
    const bool results = c.in.at("(");
    i.operands.push_back(list());
    if (results) c.in.expect(",");
    const token callee = c.in.expect(token_kind::word, "the name of a function");
    i.operands.push_back(resolve(c, fc, callee));
    if (c.in.accept(",") && !c.in.at("(")) {
        i.operands.push_back(operand{operand_kind::list, false, false, 0, sreg::other, {}, 0, 0, {}, {}, callee.where});
        i.operands.push_back(parse_table(c, fc, operand_kind::call_table, 3));
        return;
    }
    i.operands.push_back(list());
    if (c.in.accept(",")) i.operands.push_back(parse_table(c, fc, operand_kind::call_table, 3));
}

inline void parse_operands(parse_context& c, function_context& fc, instruction& i) {
    if (i.opcode == "call") return parse_call(c, fc, i);
    if (c.in.at(";")) return;
    do {
        if (i.opcode == "bra") i.operands.push_back(parse_label(c, fc));
        else if (i.opcode == "brx" && i.operands.size() == 1) i.operands.push_back(parse_table(c, fc, operand_kind::branch_table, 1));
        else if (i.opcode == "mov" && i.vector == 4) i.operands.push_back(parts_of_special(parse_operand(c, fc)));
        else i.operands.push_back(parse_operand(c, fc));
    } while (c.in.accept(","));
}

/// A double written for an instruction that knows f32 but not f64 is that float.
inline void narrow_constants(instruction& i) {
    const auto has = [&](scalar_type t) { return std::find(i.types.begin(), i.types.end(), t) != i.types.end(); };
    if (!has(scalar_type::f32) || has(scalar_type::f64)) return;
    for (operand& o : i.operands)
        if (o.kind == operand_kind::f64_bits) {
            const auto value = std::bit_cast<double>(o.value);
            o.kind = operand_kind::f32_bits;
            o.value = std::bit_cast<std::uint32_t>(static_cast<float>(value));
        }
}

inline void read_modifier(instruction& i, std::string_view m) {
    i.modifiers.push_back(m);
    if (const auto type = type_named(m)) i.types.push_back(*type);
    else if (m == "v2") i.vector = 2;
    else if (m == "v4") i.vector = 4;
    else if (m == "v8") i.vector = 8;
    else if (const auto space = space_named(m); space && i.space == state_space::none) i.space = *space;
}

}  // namespace detail

/// Parses one instruction with its guard and `;` and adds it to the function. Throws syntax_error.
inline void parse_instruction(parse_context& c, function_context& fc) {
    instruction i;
    i.cuda = c.cuda;
    i.where = c.in.peek().where;
    if (c.in.accept("@")) i.predicate = detail::parse_guard(c, fc);
    const token root = c.in.expect(token_kind::word, "an instruction");
    i.where = root.where;
    while (c.in.peek().kind == token_kind::dotted) detail::read_modifier(i, c.in.take().text);
    i.opcode = opcode_named(root.text);
    if (i.opcode.empty()) {
        i.opcode = root.text;
        throw syntax_error(root.where, "unknown instruction '" + printable(i.full_name()) + "'");
    }
    c.video = is_video(i.opcode);
    detail::parse_operands(c, fc, i);
    if (!c.in.at(";")) c.in.fail("expected ',' or ';' after an operand of " + printable(i.full_name()));
    c.in.take();
    detail::narrow_constants(i);
    fc.f.code.push_back(std::move(i));
}

}  // namespace qwengpu::ptx
