// SPDX-License-Identifier: MIT
// The PTX parser: text in, syntax tree out, or one error that lists all that is wrong with the syntax and the names.
// Grammar: PTX ISA 6.0 to 9.0 as nvcc and clang write it. Types are checked by check.hpp, which read.hpp puts behind this.
#pragma once

#include <algorithm>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include <qwengpu/ptx/parse_function.hpp>

namespace qwengpu::ptx {

namespace detail {

/// Text may hold any byte in comments and strings, but a zero or a control character is never text.
inline void check_is_text(std::string_view text, diagnostics& wrong) {
    if (text.find_first_not_of(" \t\r\n\f\v") == text.npos)
        return wrong.add("ptx.parse", {1, 1}, "the file is empty: expected PTX text, beginning with .version");
    const auto bad = std::find_if(text.begin(), text.end(),
                                  [](char c) { return (c >= 0 && c < 0x20 && (c < '\t' || c > '\r')) || c == 0x7f; });
    const bool starts_badly = static_cast<unsigned char>(text[0]) > 0x7e;
    if (bad == text.end() && !starts_badly) return;
    const auto offset = starts_badly ? 0 : bad - text.begin();
    const auto line = 1 + std::count(text.begin(), text.begin() + offset, '\n');
    wrong.add("ptx.parse", {static_cast<std::uint32_t>(line), 0},
              "this is not PTX text: a byte at offset " + std::to_string(offset) +
                  " is no text (is it a cubin or an object file? expected the output of nvcc -ptx)");
}

/// .version 9.0: the lexer reads the number as one token.
inline void parse_version(parse_context& c) {
    if (!c.in.at_dotted("version")) c.in.fail("this is not PTX: expected .version first");
    c.in.take();
    const token number = c.in.peek();
    const std::size_t dot = number.text.find('.');
    std::uint64_t major = 0, minor = 0;
    const bool good = number.kind == token_kind::f64 && dot != number.text.npos &&
                      digits_to(number.text.substr(0, dot), 10, major) && digits_to(number.text.substr(dot + 1), 10, minor) &&
                      major >= 1 && major < 100 && minor < 100;
    if (!good) c.in.fail("expected a version such as 7.8");
    c.in.take();
    c.out.version_major = static_cast<int>(major);
    c.out.version_minor = static_cast<int>(minor);
}

inline void parse_target(parse_context& c) {
    do c.out.target.emplace_back(c.in.expect(token_kind::word, "a target such as sm_70").text);
    while (c.in.accept(","));
}

inline void parse_address_size(parse_context& c) {
    if (c.in.peek().kind != token_kind::integer || (c.in.peek().value != 32 && c.in.peek().value != 64))
        c.in.fail("expected 32 or 64");
    c.out.address_size = static_cast<int>(c.in.take().value);
}

inline linkage parse_linkage(cursor& in) {
    if (in.accept_dotted("visible")) return linkage::visible;
    if (in.accept_dotted("extern")) return linkage::external;
    if (in.accept_dotted("weak")) return linkage::weak;
    return in.accept_dotted("common") ? linkage::common : linkage::internal;
}

/// .alias name, target; : both are functions declared before.
inline void parse_alias(parse_context& c) {
    c.in.expect(token_kind::word, "the name of a function");
    c.in.expect(",");
    const token target = c.in.expect(token_kind::word, "the name of a function");
    if (!c.globals.contains(target.text))
        throw syntax_error(target.where, "parameter or symbol " + printable(target.text) + " is not declared");
    c.in.expect(";");
}

inline void parse_top(parse_context& c) {
    if (parse_text_directive(c, nullptr)) return;
    if (c.in.accept_dotted("version")) c.in.fail("expected no second .version");
    if (c.in.accept_dotted("target")) return parse_target(c);
    if (c.in.accept_dotted("address_size")) return parse_address_size(c);
    if (c.in.accept_dotted("alias")) return parse_alias(c);
    if (c.in.accept(";")) return;
    const linkage link = parse_linkage(c.in);
    skip_attribute(c.in);
    if (c.in.accept_dotted("entry")) return parse_function(c, link, true);
    if (c.in.accept_dotted("func")) return parse_function(c, link, false);
    const token& t = c.in.peek();
    const bool tex = t.is_dotted("tex");
    const auto space = t.kind != token_kind::dotted ? std::nullopt
                       : tex                        ? std::optional(state_space::global)
                                                    : space_named(t.text);
    if (!space || *space == state_space::reg) c.in.fail("expected a directive, a variable, .entry or .func");
    c.in.take();
    parse_module_variables(c, link, *space);
}

/// Symbols of initialisers, now that all are known.
inline void resolve_initializers(parse_context& c) {
    for (variable& v : c.out.variables)
        for (initial_value& i : v.initial) {
            if (i.text.empty()) continue;
            if (const auto found = c.globals.find(i.text); found != c.globals.end()) i.sym = found->second;
            else c.wrong.add("ptx.parse", i.where, "parameter or symbol " + printable(i.text) + " is not declared");
        }
}

inline void parse_all(parse_context& c) {
    bool version = false;
    while (!c.wrong.full()) {
        try {
            if (!version) parse_version(c);
            version = true;
            if (c.in.at_end()) return;
            parse_top(c);
        } catch (const syntax_error& e) {
            c.note(e);
            if (!version) return;
            c.in.skip_declaration();
        }
    }
}

}  // namespace detail

/// Parses PTX. `file` is its name for messages; all errors found go to `wrong` (ptx.parse). The tree is whole only if none was
/// added.
inline parsed_module parse(std::string text, const std::string& file, diagnostics& wrong) {
    const auto owned = std::make_shared<const std::string>(std::move(text));
    parse_context c(*owned, file);
    c.out.file = file;
    c.out.text = owned;
    detail::check_is_text(*owned, c.wrong);
    if (c.wrong.empty()) detail::parse_all(c);
    if (c.wrong.empty()) detail::resolve_initializers(c);
    for (const diagnostic& d : c.wrong.all()) wrong.add(d.id, d.where, d.message);
    return std::move(c.out);
}

}  // namespace qwengpu::ptx
