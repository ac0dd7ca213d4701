// SPDX-License-Identifier: MIT
// The type checker: every instruction of every function against the opcode table, every call against the function it calls.
// Finds all errors of a module (ids ptx.parse and ptx.type).
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include <qwengpu/ptx/check_special.hpp>
#include <qwengpu/ptx/check_operand.hpp>
#include <qwengpu/ptx/check_video.hpp>

namespace qwengpu::ptx {

namespace detail {

/// Arguments or results of a call against what the function declares: their number, and the size of each .param.
inline void check_call_list(const operand_judge& j, const operand& list, const std::vector<parameter>& wanted,
                            const function& callee, std::string_view what, diagnostics& wrong) {
    if (list.items.size() != wanted.size())
        return wrong.add("ptx.type", list.where,
                         "function " + printable(callee.name) + " has " + std::to_string(wanted.size()) + " " +
                             std::string(what) + ", the call has " + std::to_string(list.items.size()));
    for (std::size_t k = 0; k < wanted.size(); ++k) {
        const operand& given = list.items[k];
        if (wanted[k].in_register || given.kind != operand_kind::symbol_value || given.sym.kind == symbol_kind::function)
            continue;
        const std::uint64_t has = j.m.variable_of(given.sym, j.f).bytes(), want = callee.variables[wanted[k].id].bytes();
        if (has != want)
            wrong.add("ptx.type", given.where,
                      printable(given.text) + " has " + std::to_string(has) + " bytes, function " + printable(callee.name) +
                          " takes " + std::to_string(want) + " here");
    }
}

inline void check_call(const operand_judge& j, diagnostics& wrong) {
    const operand& callee = j.i.operands[1];
    if (callee.kind == operand_kind::reg) return;
    if (callee.kind != operand_kind::symbol_value || callee.sym.kind != symbol_kind::function)
        return wrong.add("ptx.type", callee.where, printable(callee.text) + " is no function, so it cannot be called");
    const function& f = j.m.functions[callee.sym.id];
    check_call_list(j, j.i.operands[0], f.results, f, "results", wrong);
    check_call_list(j, j.i.operands[2], f.parameters, f, "arguments", wrong);
}

/// A .bN register in a float instruction is allowed, but in a file with .fN registers it often is the slip behind another
/// error.
inline bool is_suspect(const operand_judge& j, const operand& o, std::string_view spec) {
    return o.kind == operand_kind::reg && is_float(j.wanted(spec)) && class_of(j.reg(o).type) == type_class::untyped &&
           (spec[0] == 's' || spec[0] == 'd') &&
           std::any_of(j.f.registers.begin(), j.f.registers.end(),
                       [&](const register_entry& r) { return r.type == j.wanted(spec); });
}

inline void check_operands(const operand_judge& j, const std::vector<std::string_view>& specs, diagnostics& wrong,
                           std::vector<diagnostic>& suspects) {
    for (std::size_t k = 0; k < specs.size() && specs[k] != "*"; ++k) {
        const operand& o = j.i.operands[k];
        const place at = o.where.line == 0 ? j.i.where : o.where;
        const std::string before = "operand " + std::to_string(k + 1) + " of " + printable(j.i.full_name()) + ": ";
        if (const verdict v = j.judge(o, specs[k])) wrong.add(v->id, at, before + v->text);
        else if (is_suspect(j, o, specs[k]))
            suspects.push_back({"ptx.type",
                                before + "." + std::string(name_of(j.reg(o).type)) + " " + printable(o.text) + " for ." +
                                    std::string(name_of(j.wanted(specs[k]))) +
                                    " is allowed, but looks like a slip beside the other errors",
                                at});
    }
}

inline void check_instruction(const operand_judge& j, diagnostics& wrong, std::vector<diagnostic>& suspects) {
    const opcode_row* row = form_of(j.i);
    if (row == nullptr) return;
    check_modifiers(*row, j.i, wrong);
    const bool types = check_types(*row, j.i, wrong);
    if (j.i.opcode == "call") return check_call(j, wrong);
    check_single(j.i, wrong);
    if (types) check_float_modifiers(j.i, wrong);
    if (types && j.i.opcode == "cvt") check_cvt(j.i, wrong);
    if (row->operands == "*") return;
    bool count = false;
    const auto specs = match_operands(*row, j.i, wrong, count);
    if (types && count) check_operands(j, specs, wrong, suspects);
    if (types && count && is_video(j.i.opcode)) check_video(j.i, wrong);
}

}  // namespace detail

/// Checks all functions of a module whose syntax is good.
inline void check(const parsed_module& m, diagnostics& wrong) {
    for (const function& f : m.functions) {
        std::vector<diagnostic> suspects;
        const std::size_t before = wrong.all().size();
        for (const instruction& i : f.code) detail::check_instruction({m, f, i}, wrong, suspects);
        if (wrong.all().size() == before) continue;
        for (const diagnostic& d : suspects) wrong.add(d.id, d.where, d.message);
    }
}

}  // namespace qwengpu::ptx
