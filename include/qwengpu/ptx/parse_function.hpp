// SPDX-License-Identifier: MIT
// Functions: .visible .entry k(params) .maxntid 32 { body }, .func (result) f(params) { body } or ; and .alias.
#pragma once

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <utility>

#include <qwengpu/ptx/parse_body.hpp>

namespace qwengpu::ptx {

namespace detail {

inline constexpr std::array<std::string_view, 14> function_attributes{
    "maxntid", "reqntid", "minnctapersm", "maxnctapersm", "maxnreg", "noreturn", "unique", "abi_preserve", "abi_preserve_control",
    "explicitcluster", "reqnctapercluster", "maxclusterrank", "blocksareclusters", "language"};

inline void parse_attributes(parse_context& c, function& f) {
    while (c.in.peek().kind == token_kind::dotted) {
        if (parse_text_directive(c, &f.pragmas)) continue;
        skip_attribute(c.in);
        if (c.in.peek().kind != token_kind::dotted) continue;
        const std::string_view name = c.in.peek().text;
        if (std::find(function_attributes.begin(), function_attributes.end(), name) == function_attributes.end())
            c.in.fail("expected the body of the function, ';' or a directive such as .maxntid");
        c.in.take();
        attribute a{std::string(name), {}};
        while (c.in.peek().kind == token_kind::integer) {
            a.values.push_back(c.in.take().value);
            if (!c.in.accept(",")) break;
        }
        f.noreturn = f.noreturn || name == "noreturn";
        f.attributes.push_back(std::move(a));
    }
}

/// Enters the name, so that the body and later functions can call it. A declaration may come before its definition.
inline std::uint32_t enter_function(parse_context& c, const token& name) {
    const symbol fresh_symbol{symbol_kind::function, static_cast<std::uint32_t>(c.out.functions.size())};
    const auto [known, fresh] = c.globals.try_emplace(name.text, fresh_symbol);
    if (fresh) {
        c.out.functions.emplace_back();
        c.out.functions.back().name = std::string(name.text);
        c.out.functions.back().where = name.where;
    } else if (known->second.kind != symbol_kind::function) {
        throw syntax_error(name.where, "'" + printable(name.text) + "' is declared twice");
    }
    return known->second.id;
}

inline std::string described(const function& f) {
    return std::string(f.is_entry ? "kernel " : "function ") + printable(f.name);
}

inline void parse_head(parse_context& c, function_context& fc, std::uint32_t& id) {
    if (!fc.f.is_entry) parse_parameters(c, fc, fc.f.results);
    const token name = c.in.expect(token_kind::word, fc.f.is_entry ? "the name of a kernel" : "the name of a function");
    fc.f.name = std::string(name.text);
    fc.f.where = name.where;
    c.in.set_inside("the head of " + described(fc.f));
    id = enter_function(c, name);
    parse_parameters(c, fc, fc.f.parameters);
    parse_attributes(c, fc.f);
}

}  // namespace detail

/// A function, behind .entry or .func.
inline void parse_function(parse_context& c, linkage link, bool is_entry) {
    function_context fc;
    fc.f.link = link;
    fc.f.is_entry = is_entry;
    std::uint32_t id = 0;
    detail::parse_head(c, fc, id);
    c.cuda = {};
    if (c.in.accept(";")) {
        if (!c.out.functions[id].has_body) c.out.functions[id] = std::move(fc.f);
        return;
    }
    if (c.in.at("{") && c.out.functions[id].has_body) throw syntax_error(fc.f.where, detail::described(fc.f) + " has two bodies");
    c.in.expect("{");
    fc.f.has_body = true;
    c.in.set_inside("the body of " + detail::described(fc.f));
    parse_body(c, fc);
    c.out.functions[id] = std::move(fc.f);
    c.in.set_inside("a declaration");
}

}  // namespace qwengpu::ptx
