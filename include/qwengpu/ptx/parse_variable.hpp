// SPDX-License-Identifier: MIT
// Declarations of variables: .extern .shared .align 16 .b8 s[]; .const .u32 t[4] = {...}; and the parameters of functions.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>

#include <qwengpu/ptx/parse_initializer.hpp>
#include <qwengpu/ptx/parse_type.hpp>

namespace qwengpu::ptx {

namespace detail {

/// .attribute(.managed) and its like: read and dropped.
inline void skip_attribute(cursor& in) {
    if (!in.accept_dotted("attribute")) return;
    in.expect("(");
    while (!in.at(")")) {
        if (in.at_end() || in.at(";")) in.fail("expected ')'");
        in.take();
    }
    in.take();
}

/// .align, .v4, type: in any order but the type last, as compilers and people write them.
inline void parse_shape(cursor& in, variable& v) {
    for (bool more = true; more;) {
        skip_attribute(in);
        const std::uint64_t align = parse_alignment(in);
        const int vector = parse_vector(in);
        if (align != 0) v.alignment = align;
        if (vector != 1) v.vector = vector;
        more = align != 0 || vector != 1;
    }
    v.type = parse_scalar_type(in);
}

/// .ptr .global .align 4, of a kernel's parameter.
inline void parse_pointer(cursor& in, variable& v) {
    if (!in.accept_dotted("ptr")) return;
    v.is_pointer = true;
    if (const auto space = in.peek().kind == token_kind::dotted ? space_named(in.peek().text) : std::nullopt) {
        v.pointer_space = *space;
        in.take();
    }
    v.pointer_alignment = std::max<std::uint64_t>(parse_alignment(in), 1);
}

inline void finish_variable(variable& v) {
    const std::uint64_t natural = static_cast<std::uint64_t>(std::max(bytes_of(v.type), 1) * v.vector);
    if (v.alignment == 0) v.alignment = natural;
}

inline token parse_name(cursor& in, variable& v) {
    const token name = in.expect(token_kind::word, "the name of a variable");
    v.name = std::string(name.text);
    v.where = name.where;
    v.dims = parse_dims(in);
    return name;
}

}  // namespace detail

/// The variables of one declaration, after the space; `add` gets the name's token and the variable. Reads the `;`.
template <class Add>
void parse_variables(parse_context& c, variable v, Add add) {
    detail::parse_shape(c.in, v);
    do {
        variable one = v;
        const token name = detail::parse_name(c.in, one);
        detail::finish_variable(one);
        if (c.in.at("=") && one.space != state_space::global && one.space != state_space::constant)
            c.in.fail("expected ';': only variables in .global and .const begin with values; store them at the start of the kernel");
        if (c.in.accept("=")) parse_initializer(c.in, one);
        add(name, std::move(one));
    } while (c.in.accept(","));
    c.in.expect(";");
}

/// One parameter or result: `.param .align 8 .b8 p[16]`, `.param .u64 .ptr .global p` or `.reg .b32 %r`.
inline void parse_parameter(parse_context& c, function_context& fc, std::vector<parameter>& list) {
    if (c.in.accept_dotted("reg")) {
        const scalar_type type = parse_scalar_type(c.in);
        const token name = c.in.expect(token_kind::word, "the name of a register");
        fc.names.declare_register(name, type, 1);
        list.push_back({true, fc.names.find(name.text, fc.f)->id});
        return;
    }
    if (!c.in.accept_dotted("param")) c.in.fail("expected .param or .reg");
    variable v;
    v.space = state_space::param;
    detail::parse_shape(c.in, v);
    detail::parse_pointer(c.in, v);
    v.alignment = std::max(v.alignment, parse_alignment(c.in));
    const token name = detail::parse_name(c.in, v);
    detail::finish_variable(v);
    const auto id = static_cast<std::uint32_t>(fc.f.variables.size());
    if (name.text != "_") fc.names.declare_variable(name, id);
    fc.f.variables.push_back(std::move(v));
    list.push_back({false, id});
}

/// ( parameter, parameter ); nothing where there is no parenthesis.
inline void parse_parameters(parse_context& c, function_context& fc, std::vector<parameter>& list) {
    if (!c.in.accept("(")) return;
    if (c.in.accept(")")) return;
    do parse_parameter(c, fc, list);
    while (c.in.accept(","));
    c.in.expect(")");
}

/// A module variable; `link` and `space` have been read.
inline void parse_module_variables(parse_context& c, linkage link, state_space space) {
    variable v;
    v.space = space;
    v.link = link;
    parse_variables(c, v, [&](const token& name, variable&& one) {
        const symbol s{symbol_kind::module_variable, static_cast<std::uint32_t>(c.out.variables.size())};
        const auto [known, fresh] = c.globals.try_emplace(name.text, s);
        if (fresh) return c.out.variables.push_back(std::move(one));
        variable* first = known->second.kind == symbol_kind::module_variable ? &c.out.variables[known->second.id] : nullptr;
        if (first == nullptr || (first->link != linkage::external && one.link != linkage::external))
            throw syntax_error(name.where, "'" + printable(name.text) + "' is declared twice");
        if (first->link == linkage::external) *first = std::move(one);
    });
}

/// .local, .shared or .param inside a body.
inline void parse_function_variables(parse_context& c, function_context& fc, linkage link, state_space space) {
    variable v;
    v.space = space;
    v.link = link;
    parse_variables(c, v, [&](const token& name, variable&& one) {
        fc.names.declare_variable(name, static_cast<std::uint32_t>(fc.f.variables.size()));
        fc.f.variables.push_back(std::move(one));
    });
}

}  // namespace qwengpu::ptx
