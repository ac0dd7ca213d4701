// SPDX-License-Identifier: MIT
// What the parts of the parser share: the tokens, the module under construction, the names of the module, and of the function
// that is being parsed its scopes and labels.
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include <qwengpu/ptx/ast.hpp>
#include <qwengpu/ptx/cursor.hpp>
#include <qwengpu/ptx/diagnostics.hpp>
#include <qwengpu/ptx/label_scope.hpp>
#include <qwengpu/ptx/scope.hpp>

namespace qwengpu::ptx {

/// A use of a branch table or call table, whose name may be defined further down.
struct table_use {
    std::uint32_t instruction = 0;
    std::uint32_t operand = 0;
};

/// The function that is being parsed.
struct function_context {
    function f;
    scope_stack names;
    label_scopes labels;
    std::unordered_map<std::string_view, std::uint32_t> branch_tables, call_tables;
    std::vector<table_use> table_uses;
};

struct parse_context {
    parse_context(std::string_view text, const std::string& file) : in(text), wrong(file) {}

    /// Notes an error of syntax and lets the caller go on behind it.
    void note(const syntax_error& e) { wrong.add("ptx.parse", e.where, e.what()); }

    cursor in;
    diagnostics wrong;
    parsed_module out;
    std::unordered_map<std::string_view, symbol> globals;
    cuda_place cuda{};
    bool video = false;  ///< the instruction in hand may select parts of registers
};

}  // namespace qwengpu::ptx
