// SPDX-License-Identifier: MIT
// Checks an instruction's modifiers, the number and names of its types and the number of its operands against the opcode table.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include <qwengpu/ptx/ast.hpp>
#include <qwengpu/ptx/diagnostics.hpp>
#include <qwengpu/ptx/opcode_table.hpp>

namespace qwengpu::ptx {

namespace detail {

inline bool is_so(std::string_view condition, const instruction& i) {
    const type_class last = i.types.empty() ? type_class::none : class_of(i.types.back());
    if (condition == "=float") return last == type_class::floating;
    if (condition == "=bits") return last == type_class::untyped;
    if (condition == "=signed") return last == type_class::signed_integer;
    if (condition == "=bool") return i.has("and") || i.has("or") || i.has("xor");
    return i.has(condition);
}

inline bool meant(const opcode_row& row, const instruction& i) {
    return !any_word(row.when, ' ', [&](std::string_view condition) { return !is_so(condition, i); });
}

/// `list` of modifiers, `lo|hi`, as a sentence: ".lo, .hi".
inline std::string dotted_list(std::string_view list, char separator) {
    std::string s;
    any_word(list, separator, [&](std::string_view word) {
        any_word(words_of(word), ' ', [&](std::string_view w) {
            s += (s.empty() ? "." : ", .") + std::string(w);
            return false;
        });
        return false;
    });
    return s;
}

inline bool needs_name(const opcode_row& row, std::string_view m) {
    return any_word(row.needs, ' ',
                    [&](std::string_view group) { return any_word(group, '|', [&](std::string_view w) { return w == m; }); });
}

inline bool allows(const opcode_row& row, std::string_view m) {
    if (row.modifiers == "*" || names(row.when, m) || needs_name(row, m) || names(row.modifiers, m)) return true;
    return m.find("::") != m.npos && names(row.modifiers, "::");
}

inline bool allowed_elsewhere(std::string_view opcode, std::string_view m) {
    const auto rows = rows_named(opcode);
    return std::any_of(rows.begin(), rows.end(), [&](const opcode_row& row) { return row.modifiers != "*" && allows(row, m); });
}

inline std::string wrong_modifier(const instruction& i, std::string_view m) {
    const std::string shown = "'." + printable(m) + "'";
    if (allowed_elsewhere(i.opcode, m))
        return "modifier " + shown + " does not go with this form of " + std::string(i.opcode) + ": " +
               printable(i.full_name());
    return "unknown modifier " + shown + " of " + std::string(i.opcode);
}

inline void check_modifiers(const opcode_row& row, const instruction& i, diagnostics& wrong) {
    for (std::size_t k = 0; k < i.modifiers.size(); ++k) {
        const std::string_view m = i.modifiers[k];
        if (type_named(m)) continue;
        if (!allows(row, m)) wrong.add("ptx.parse", i.where, wrong_modifier(i, m));
        else if (std::find(i.modifiers.begin(), i.modifiers.begin() + static_cast<std::ptrdiff_t>(k), m) !=
                 i.modifiers.begin() + static_cast<std::ptrdiff_t>(k))
            wrong.add("ptx.parse", i.where, "modifier '." + printable(m) + "' of " + std::string(i.opcode) + " is there twice");
    }
    any_word(row.needs, ' ', [&](std::string_view group) {
        int there = 0;
        any_word(group, '|', [&](std::string_view w) {
            there += i.has(w) ? 1 : 0;
            return false;
        });
        if (there != 1)
            wrong.add("ptx.parse", i.where,
                      printable(i.full_name()) + (there == 0 ? " needs a modifier: " : " may have only one of ") +
                          dotted_list(group, '|'));
        return false;
    });
}

/// The lists of a row's types, one for each type of the instruction.
inline std::vector<std::string_view> type_lists(std::string_view types) {
    std::vector<std::string_view> lists;
    any_word(types, ';', [&](std::string_view list) {
        lists.push_back(list);
        return false;
    });
    return lists;
}

/// Returns whether the types are good enough to check the operands against them.
inline bool check_types(const opcode_row& row, const instruction& i, diagnostics& wrong) {
    auto lists = type_lists(row.types);
    const bool optional = !lists.empty() && lists.back().back() == '?';
    if (optional) lists.back().remove_suffix(1);
    const std::size_t least = lists.size() - (optional ? 1 : 0);
    if (i.types.size() < least || i.types.size() > lists.size()) {
        wrong.add("ptx.parse", i.where,
                  printable(i.full_name()) + " has " + std::to_string(i.types.size()) + " types, " + std::string(i.opcode) +
                      " takes " + std::to_string(least) + (lists.empty() ? "" : ": " + dotted_list(lists[0], ' ')));
        return false;
    }
    bool good = true;
    for (std::size_t k = 0; k < i.types.size(); ++k) {
        if (names(lists[k], name_of(i.types[k]))) continue;
        wrong.add("ptx.type", i.where,
                  std::string(i.opcode) + " does not take the type ." + std::string(name_of(i.types[k])) + " in " +
                      printable(i.full_name()) + "; it takes " + dotted_list(lists[k], ' '));
        good = false;
    }
    return good;
}

/// The words of a row's operands.
inline std::vector<std::string_view> operand_specs(const opcode_row& row) {
    std::vector<std::string_view> specs;
    any_word(row.operands, ' ', [&](std::string_view word) {
        specs.push_back(word);
        return false;
    });
    return specs;
}

/// Leaves out optional operands, the last ones first, until the number is that of the instruction. Empty with an error if it
/// cannot be.
inline std::vector<std::string_view> match_operands(const opcode_row& row, const instruction& i, diagnostics& wrong,
                                                    bool& good) {
    std::vector<std::string_view> specs = operand_specs(row);
    const auto most = specs.size();
    const auto optional =
        static_cast<std::size_t>(std::count_if(specs.begin(), specs.end(), [](std::string_view s) { return s.back() == '?'; }));
    const std::size_t given = i.operands.size();
    good = given <= most && given + optional >= most;
    if (!good) {
        const std::string least = std::to_string(most - optional);
        wrong.add("ptx.parse", i.where,
                  printable(i.full_name()) + " takes " + least + (optional > 0 ? " to " + std::to_string(most) : "") +
                      (most == 1 ? " operand, " : " operands, ") + std::to_string(given) + " given");
        return {};
    }
    for (std::size_t k = most; k-- > 0 && specs.size() > given;)
        if (specs[k].back() == '?') specs.erase(specs.begin() + static_cast<std::ptrdiff_t>(k));
    return specs;
}

}  // namespace detail

/// The form of the instruction that the table means; nullptr for an instruction that may have anything.
inline const opcode_row* form_of(const instruction& i) {
    const opcode_row* last = nullptr;
    for (const opcode_row& row : rows_named(i.opcode)) {
        last = &row;
        if (detail::meant(row, i)) break;
    }
    return last != nullptr && last->modifiers == "*" ? nullptr : last;
}

}  // namespace qwengpu::ptx
