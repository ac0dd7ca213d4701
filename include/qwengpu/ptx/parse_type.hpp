// SPDX-License-Identifier: MIT
// The parts that all declarations share: .align 16 .v4 .u32 name[2][3].
#pragma once

#include <bit>
#include <cstdint>
#include <string>
#include <vector>

#include <qwengpu/ptx/ast.hpp>
#include <qwengpu/ptx/constant_expression.hpp>
#include <qwengpu/ptx/context.hpp>

namespace qwengpu::ptx {

/// No object of a PTX module is larger; sizes are multiplied without care for overflow below this.
inline constexpr std::uint64_t largest_object = 1ULL << 40;

/// .align N; 0 where none is written.
inline std::uint64_t parse_alignment(cursor& in) {
    if (!in.accept_dotted("align")) return 0;
    const std::uint64_t n = parse_integer_constant(in);
    if (!std::has_single_bit(n) || n > (1U << 30)) in.fail("expected an alignment that is a power of two");
    return n;
}

/// .v2 .v4 .v8; 1 where none is written.
inline int parse_vector(cursor& in) {
    for (int n : {2, 4, 8})
        if (in.accept_dotted("v" + std::to_string(n))) return n;
    return 1;
}

inline scalar_type parse_scalar_type(cursor& in) {
    const token& t = in.peek();
    const auto type = t.kind == token_kind::dotted ? type_named(t.text) : std::nullopt;
    if (!type) in.fail("expected a type such as .b32");
    in.take();
    return *type;
}

/// [2][3][]; an open dimension is 0 and may only be the first.
inline std::vector<std::uint64_t> parse_dims(cursor& in) {
    std::vector<std::uint64_t> dims;
    std::uint64_t total = 1;
    while (in.accept("[")) {
        if (in.at("]") && !dims.empty()) in.fail("expected a size: only the first dimension may be open");
        const bool open = in.at("]");
        const std::uint64_t n = open ? 0 : parse_integer_constant(in);
        if (!open && (n == 0 || n > largest_object / total)) in.fail("expected a size of 1 up to 2^40 bytes in all");
        total *= open ? 1 : n;
        dims.push_back(n);
        in.expect("]");
    }
    return dims;
}

/// .reg .b32 %r<9>, %a, b; after ".reg".
inline void parse_registers(parse_context& c, function_context& fc) {
    int vector = parse_vector(c.in);
    const scalar_type type = parse_scalar_type(c.in);
    if (vector == 1) vector = parse_vector(c.in);
    do {
        const token name = c.in.expect(token_kind::word, "the name of a register");
        if (c.in.accept("<")) {
            const std::uint64_t count = c.in.expect_integer("the number of registers");
            c.in.expect(">");
            fc.names.declare_range(name, count, type, vector);
        } else {
            fc.names.declare_register(name, type, vector);
        }
    } while (c.in.accept(","));
    c.in.expect(";");
}

}  // namespace qwengpu::ptx
