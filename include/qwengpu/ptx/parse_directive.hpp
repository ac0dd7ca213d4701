// SPDX-License-Identifier: MIT
// Directives that are about the text and not the program: .loc, .file, .section (DWARF), .pragma. The first three end without `;`.
#pragma once

#include <cstdint>
#include <limits>
#include <string>

#include <qwengpu/ptx/constant_expression.hpp>
#include <qwengpu/ptx/context.hpp>

namespace qwengpu::ptx {

namespace detail {

/// Line, column and file numbers are 32 bits wide; what is larger is as good as not known.
inline std::uint32_t small_number(cursor& in, std::string_view what) {
    const std::uint64_t n = in.expect_integer(what);
    return n > std::numeric_limits<std::uint32_t>::max() ? 0 : static_cast<std::uint32_t>(n);
}

inline cuda_place parse_place(cursor& in) {
    const std::uint32_t file = small_number(in, "the number of a file"), line = small_number(in, "a line");
    return {file, line, small_number(in, "a column")};
}

/// function_name label+offset, inlined_at file line column: behind a comma of a .loc. Of code that was copied in from another
/// file, a header, the place counts that it was copied to: that is what the kernel's author wrote.
inline void parse_inlined(cursor& in, cuda_place& at) {
    if (in.accept_word("function_name")) {
        in.expect(token_kind::word, "the label of a function's name");
        if (in.accept("+")) in.expect_integer("an offset");
        return;
    }
    if (!in.accept_word("inlined_at")) in.fail("expected function_name or inlined_at");
    if (const cuda_place outer = parse_place(in); outer.file != at.file) at = outer;
}

/// The rest of .section NAME { ... }, braces and all.
inline void skip_section(cursor& in) {
    in.set_inside("a .section");
    while (!in.at("{")) {
        if (in.peek().kind != token_kind::dotted && in.peek().kind != token_kind::word) in.fail("expected the name of the section and '{'");
        in.take();
    }
    std::size_t depth = 0;
    do {
        if (in.at_end()) in.fail("expected '}'");
        const token t = in.take();
        depth += t.is("{") ? 1U : 0U;
        depth -= t.is("}") ? 1U : 0U;
    } while (depth > 0);
}

/// After ".file": number "name" [, time, size].
inline void parse_file(parse_context& c) {
    const std::uint32_t number = small_number(c.in, "the number of a file");
    c.out.files[number] = std::string(c.in.expect(token_kind::string, "the name of a file").text);
    for (const char* what : {"a time", "a size"})
        if (c.in.accept(",")) c.in.expect_integer(what);
}

/// After ".loc": file line column [, function_name ..., inlined_at ...].
inline void parse_loc(parse_context& c) {
    c.cuda = parse_place(c.in);
    while (c.in.accept(",")) parse_inlined(c.in, c.cuda);
}

}  // namespace detail

/// Reads the directive at the cursor if it is one of these. Strings of a .pragma go to `pragmas` if that is there.
inline bool parse_text_directive(parse_context& c, std::vector<std::string>* pragmas) {
    if (c.in.at("@") && c.in.peek(1).is("@")) {
        c.in.skip_line();
        return true;
    }
    if (c.in.accept_dotted("loc")) detail::parse_loc(c);
    else if (c.in.accept_dotted("file")) detail::parse_file(c);
    else if (c.in.accept_dotted("section")) detail::skip_section(c.in);
    else if (c.in.accept_dotted("pragma")) {
        do {
            const token text = c.in.expect(token_kind::string, "a string");
            if (pragmas != nullptr) pragmas->emplace_back(text.text);
        } while (c.in.accept(","));
        c.in.expect(";");
    } else return false;
    return true;
}

}  // namespace qwengpu::ptx
