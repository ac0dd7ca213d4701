// SPDX-License-Identifier: MIT
// The body of a function: declarations, labels, nested scopes, instructions. An error in a statement is noted, and parsing goes on
// behind it, so that all errors of a file are found at once.
#pragma once

#include <string>
#include <utility>

#include <qwengpu/ptx/parse_directive.hpp>
#include <qwengpu/ptx/parse_instruction.hpp>
#include <qwengpu/ptx/parse_variable.hpp>

namespace qwengpu::ptx {

/// How deep scopes may nest. Compilers need two or three levels.
inline constexpr std::size_t scope_depth = 1000;

namespace detail {

inline void parse_branch_targets(parse_context& c, function_context& fc, const token& name) {
    branch_table table{std::string(name.text), {}, name.where};
    do table.labels.push_back(parse_label(c, fc).id);
    while (c.in.accept(","));
    c.in.expect(";");
    fc.branch_tables.emplace(name.text, static_cast<std::uint32_t>(fc.f.branch_tables.size()));
    fc.f.branch_tables.push_back(std::move(table));
}

/// .calltargets f, g; or .callprototype (...) _ (...);
inline void parse_call_table(parse_context& c, function_context& fc, const token& name, bool has_targets) {
    call_table table{std::string(name.text), {}, name.where};
    while (has_targets && !c.in.at(";")) {
        const token named = c.in.expect(token_kind::word, "the name of a function");
        const operand target = resolve(c, fc, named);
        if (target.sym.kind != symbol_kind::function) throw syntax_error(named.where, printable(named.text) + " is no function, so it cannot be called");
        table.functions.push_back(target.sym.id);
        if (!c.in.accept(",")) break;
    }
    while (!has_targets && !c.in.at(";")) {
        if (c.in.at_end() || c.in.at("{") || c.in.at("}")) c.in.fail("expected ';' after a .callprototype");
        c.in.take();
    }
    c.in.expect(";");
    fc.call_tables.emplace(name.text, static_cast<std::uint32_t>(fc.f.call_tables.size()));
    fc.f.call_tables.push_back(std::move(table));
}

/// After "name:".
inline void parse_labelled(parse_context& c, function_context& fc, const token& name) {
    if (c.in.accept_dotted("branchtargets")) return parse_branch_targets(c, fc, name);
    if (c.in.accept_dotted("calltargets")) return parse_call_table(c, fc, name, true);
    if (c.in.accept_dotted("callprototype")) return parse_call_table(c, fc, name, false);
    if (const auto d = fc.labels.define(name, static_cast<std::uint32_t>(fc.f.code.size()))) c.wrong.add(d->id, d->where, d->message);
}

/// A declaration inside a body; false if the cursor is at none.
inline bool parse_declaration(parse_context& c, function_context& fc) {
    if (c.in.accept_dotted("reg")) {
        parse_registers(c, fc);
        return true;
    }
    const linkage link = c.in.accept_dotted("extern") ? linkage::external : linkage::internal;
    if (c.in.peek().kind != token_kind::dotted) return false;
    const auto space = space_named(c.in.peek().text);
    if (!space || *space == state_space::reg) c.in.fail("expected a declaration or an instruction");
    c.in.take();
    parse_function_variables(c, fc, link, *space);
    return true;
}

inline void open_scope(parse_context& c, function_context& fc) {
    if (fc.names.depth() >= scope_depth) c.in.fail("scopes are nested deeper than " + std::to_string(scope_depth));
    fc.names.open();
    fc.labels.open();
}

/// One statement. Returns false behind the brace that closes the body.
inline bool parse_statement(parse_context& c, function_context& fc) {
    if (c.in.accept(";")) return true;
    if (c.in.at("{")) {
        open_scope(c, fc);
        c.in.take();
        return true;
    }
    if (c.in.at("}")) {
        fc.f.end = c.in.take().where;
        if (fc.names.depth() == 2) return false;
        fc.names.close();
        fc.labels.close();
        return true;
    }
    if (parse_text_directive(c, &fc.f.pragmas)) return true;
    if (c.in.peek().kind == token_kind::word && c.in.peek(1).is(":")) {
        const token name = c.in.take();
        c.in.take();
        parse_labelled(c, fc, name);
        return true;
    }
    if (!parse_declaration(c, fc)) parse_instruction(c, fc);
    return true;
}

/// Ids of the tables that brx and call name; a name without a table is an error.
inline void resolve_tables(parse_context& c, function_context& fc) {
    for (const table_use& use : fc.table_uses) {
        if (use.instruction >= fc.f.code.size() || use.operand >= fc.f.code[use.instruction].operands.size()) continue;
        operand& o = fc.f.code[use.instruction].operands[use.operand];
        if (o.kind != operand_kind::branch_table && o.kind != operand_kind::call_table) continue;
        const bool branch = o.kind == operand_kind::branch_table;
        const auto& tables = branch ? fc.branch_tables : fc.call_tables;
        if (const auto found = tables.find(o.text); found != tables.end()) o.id = found->second;
        else c.wrong.add("ptx.parse", o.where, "table " + printable(o.text) + " is not defined in this function: expected a label with " +
                                                   (branch ? ".branchtargets" : ".calltargets or .callprototype"));
    }
}

}  // namespace detail

namespace detail {

/// Notes the error of a statement and goes on behind it. Throws at the end of the file.
inline void recover(parse_context& c, function_context& fc, const syntax_error& e) {
    if (c.in.cut_off_at(e.where)) c.in.fail("expected '}'");
    if (c.wrong.full()) throw e;
    c.note(e);
    const std::size_t scopes = c.in.skip_statement();
    if (scopes + fc.names.depth() > scope_depth) c.in.fail("scopes are nested deeper than " + std::to_string(scope_depth));
    for (std::size_t k = 0; k < scopes; ++k) {
        fc.names.open();
        fc.labels.open();
    }
}

}  // namespace detail

/// The body, behind its opening brace. Throws syntax_error only where the file ends or has too many errors.
inline void parse_body(parse_context& c, function_context& fc) {
    fc.names.open();
    fc.labels.open();
    for (bool more = true; more;) {
        try {
            more = detail::parse_statement(c, fc);
        } catch (const syntax_error& e) {
            detail::recover(c, fc, e);
        }
    }
    for (const diagnostic& d : fc.labels.finish(fc.f)) c.wrong.add(d.id, d.where, d.message);
    detail::resolve_tables(c, fc);
}

}  // namespace qwengpu::ptx
