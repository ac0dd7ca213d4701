// SPDX-License-Identifier: MIT
// A PTX module as data: what the parser makes and the compiler walks. Scopes are resolved away: a function is a flat list of
// instructions, labels are positions in it, and registers, variables and labels are ids into the function's tables.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <qwengpu/ptx/operand.hpp>
#include <qwengpu/ptx/types.hpp>

namespace qwengpu::ptx {

enum class linkage : std::uint8_t { internal, visible, external, weak, common };

/// One element of an initialiser: bits, or the address of a symbol plus `bits` as offset.
struct initial_value {
    std::uint64_t index = 0;      ///< element of the flattened array
    std::uint64_t bits = 0;
    symbol sym{};                 ///< kind none: a plain number
    bool generic = false;         ///< generic(sym): address in the generic space
    std::uint64_t mask = ~0ULL;   ///< 0xff00(sym): the part of the address that is taken
    std::string_view text{};      ///< name of the symbol as written
    place where{};
};

/// A variable in .global .const .shared .local or .param, or an opaque reference.
struct variable {
    std::string name;
    state_space space = state_space::none;
    scalar_type type = scalar_type::none;
    int vector = 1;                            ///< 1, 2 or 4
    std::vector<std::uint64_t> dims;           ///< empty: scalar; a 0 is an open dimension (`x[]`)
    std::uint64_t alignment = 0;               ///< bytes; natural alignment where none is written
    linkage link = linkage::internal;
    std::vector<initial_value> initial;        ///< elements not named are zero
    bool is_pointer = false;                   ///< parameter with .ptr
    state_space pointer_space = state_space::none;
    std::uint64_t pointer_alignment = 0;
    place where{};

    /// Elements in all dimensions (a vector counts its parts); 0 if a dimension is open.
    [[nodiscard]] std::uint64_t elements() const {
        std::uint64_t n = static_cast<std::uint64_t>(vector);
        for (std::uint64_t d : dims) n *= d;
        return n;
    }
    [[nodiscard]] std::uint64_t bytes() const { return elements() * static_cast<std::uint64_t>(bytes_of(type)); }
};

/// A register that is used (declared ranges that nobody uses make no entry).
struct register_entry {
    std::string name;
    scalar_type type = scalar_type::none;
    int vector = 1;
    place declared{};
};

/// `position` is the index of the instruction the label stands before; code.size() at the end.
struct label_entry {
    std::string name;
    std::uint32_t position = 0;
    place where{};
};

/// `.branchtargets`: label ids in the order of the index.
struct branch_table {
    std::string name;
    std::vector<std::uint32_t> labels;
    place where{};
};

/// `.calltargets` (functions) or `.callprototype` (no functions): both are only for indirect calls.
struct call_table {
    std::string name;
    std::vector<std::uint32_t> functions;
    place where{};
};

/// @%p or @!%p.
struct guard {
    std::uint32_t reg = 0;
    bool negated = false;
};

struct instruction {
    std::optional<guard> predicate;
    std::string_view opcode;                  ///< root: "add"; points into the opcode table
    std::vector<std::string_view> modifiers;  ///< all of them in order without dots, types and spaces too: {"lo", "s32"}
    std::vector<scalar_type> types;           ///< the modifiers that are types, in order: cvt.rn.f32.s32 has {f32, s32}
    state_space space = state_space::none;    ///< of ld, st, atom, red, ... : none is generic
    int vector = 1;                           ///< 2 or 4 for .v2, .v4 (8 in .v8)
    std::vector<operand> operands;            ///< in the order written; a call: [list of results] callee [list of arguments] [table]
    place where{};
    cuda_place cuda{};

    [[nodiscard]] bool has(std::string_view modifier) const {
        return std::find(modifiers.begin(), modifiers.end(), modifier) != modifiers.end();
    }
    /// The n-th type, or none.
    [[nodiscard]] scalar_type type(std::size_t n = 0) const { return n < types.size() ? types[n] : scalar_type::none; }
    /// As written, with dots: "add.sat.s32".
    [[nodiscard]] std::string full_name() const {
        std::string s(opcode);
        for (std::string_view m : modifiers) (s += '.') += m;
        return s;
    }
};

/// A parameter or result of a function: a variable in .param, or a register.
struct parameter {
    bool in_register = false;
    std::uint32_t id = 0;  ///< of a variable of the function, or of a register
};

/// A directive of performance or size before the body: {"maxntid", {16, 16, 1}}.
struct attribute {
    std::string name;
    std::vector<std::uint64_t> values;
};

/// A kernel (.entry) or device function (.func), or its declaration only.
struct function {
    std::string name;
    bool is_entry = false;
    bool has_body = false;
    linkage link = linkage::internal;
    bool noreturn = false;
    std::vector<parameter> results, parameters;
    std::vector<attribute> attributes;
    std::vector<register_entry> registers;
    std::vector<variable> variables;  ///< parameters, .param of calls, .local, .shared of the body
    std::vector<label_entry> labels;
    std::vector<branch_table> branch_tables;
    std::vector<call_table> call_tables;
    std::vector<std::string> pragmas;
    std::vector<instruction> code;
    place where{}, end{};             ///< of the name, of the closing brace

    /// Which of the parameters a variable of the function is; its number, or -1.
    [[nodiscard]] int parameter_number(std::uint32_t variable_id) const {
        const auto p = std::find_if(parameters.begin(), parameters.end(), [&](const parameter& x) { return !x.in_register && x.id == variable_id; });
        return p == parameters.end() ? -1 : static_cast<int>(p - parameters.begin());
    }
};

struct parsed_module {
    std::string file;                              ///< name for messages
    std::shared_ptr<const std::string> text;       ///< owns what the string_views of operands and modifiers point into
    int version_major = 0, version_minor = 0;
    std::vector<std::string> target;               ///< {"sm_75", "debug"}
    int address_size = 32;                         ///< PTX's default; compilers write .address_size 64
    std::map<std::uint32_t, std::string> files;    ///< .file: number -> name
    std::vector<variable> variables;
    std::vector<function> functions;

    [[nodiscard]] const function* find_function(std::string_view name) const {
        const auto f = std::find_if(functions.begin(), functions.end(), [&](const function& x) { return x.name == name; });
        return f == functions.end() ? nullptr : &*f;
    }
    /// The variable that a symbol of an operand in `f` means.
    [[nodiscard]] const variable& variable_of(const symbol& s, const function& f) const {
        return s.kind == symbol_kind::module_variable ? variables[s.id] : f.variables[s.id];
    }
};

}  // namespace qwengpu::ptx
