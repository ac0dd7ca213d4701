// SPDX-License-Identifier: MIT
// Initialisers of module variables: 5, {1, 2, {3}}, the address of a symbol with an offset, generic(sym), 0xff00(sym).
// Flattened into (element, value); elements that are not named are zero.
#pragma once

#include <bit>
#include <cstdint>
#include <string>
#include <vector>

#include <qwengpu/ptx/constant_expression.hpp>
#include <qwengpu/ptx/context.hpp>

namespace qwengpu::ptx {

namespace detail {

inline float to_float(const constant& k) {
    if (k.kind == token_kind::f32) return std::bit_cast<float>(static_cast<std::uint32_t>(k.bits));
    if (k.kind == token_kind::f64) return static_cast<float>(std::bit_cast<double>(k.bits));
    return k.is_unsigned ? static_cast<float>(k.bits) : static_cast<float>(static_cast<std::int64_t>(k.bits));
}

inline double to_double(const constant& k) {
    if (k.kind == token_kind::f64) return std::bit_cast<double>(k.bits);
    if (k.kind == token_kind::f32) return static_cast<double>(to_float(k));
    return k.is_unsigned ? static_cast<double>(k.bits) : static_cast<double>(static_cast<std::int64_t>(k.bits));
}

/// Bits of a constant as an element of this type.
inline std::uint64_t bits_as(const constant& k, scalar_type type) {
    if (type == scalar_type::f32) return std::bit_cast<std::uint32_t>(to_float(k));
    if (type == scalar_type::f64) return std::bit_cast<std::uint64_t>(to_double(k));
    const int bits = bits_of(type);
    return bits >= 64 ? k.bits : k.bits & ((1ULL << bits) - 1);
}

/// Symbols of initialisers may be declared further down, so they are looked up when the module is complete.
inline void parse_address(cursor& in, initial_value& v) {
    v.generic = in.accept_word("generic");
    if (v.generic) in.expect("(");
    v.text = in.expect(token_kind::word, "the name of a variable or function").text;
    const auto offset = [&] {
        if (in.at("+") || in.at("-")) v.bits += parse_integer_constant(in);
    };
    if (!v.generic) return offset();
    in.expect(")");
    offset();
}

inline initial_value parse_element(cursor& in, scalar_type type) {
    initial_value v;
    v.where = in.peek().where;
    if (in.peek().kind == token_kind::word) {
        parse_address(in, v);
        return v;
    }
    const constant k = parse_constant(in);
    if (k.kind == token_kind::integer && in.accept("(")) {
        if (std::countr_zero(k.bits) % 8 != 0 || k.bits >> std::countr_zero(k.bits) != 0xff) in.fail("expected a mask of one byte (0xFF, 0xFF00, ...) before this");
        v.mask = k.bits;
        parse_address(in, v);
        in.expect(")");
        return v;
    }
    const bool bits = (k.kind == token_kind::f32 && type == scalar_type::b32) || (k.kind == token_kind::f64 && type == scalar_type::b64);
    if (k.kind != token_kind::integer && !is_float(type) && !bits) in.fail("expected an integer before this");
    v.bits = bits_as(k, type);
    return v;
}

/// One brace level: `stride` elements for each step of this dimension. Returns the number of steps taken.
inline std::uint64_t parse_braces(cursor& in, variable& v, std::size_t level, std::uint64_t base, std::uint64_t stride) {
    std::uint64_t steps = 0;
    in.expect("{");
    while (!in.at("}")) {
        const bool open = level < v.dims.size() && v.dims[level] == 0;
        if (!open && level < v.dims.size() && steps >= v.dims[level]) in.fail("expected '}': more values than the variable has elements");
        const std::uint64_t at = base + steps++ * stride;
        if (in.at("{")) {
            if (level + 1 >= v.dims.size()) in.fail("expected a value: more braces than the variable has dimensions");
            parse_braces(in, v, level + 1, at, stride / v.dims[level + 1]);
        } else {
            if (level + 1 < v.dims.size()) in.fail("expected '{' of the next dimension");
            v.initial.push_back(parse_element(in, v.type));
            v.initial.back().index = at;
        }
        if (!in.accept(",")) break;
    }
    in.expect("}");
    return steps;
}

}  // namespace detail

/// After the `=`: fills `v.initial`, and an open first dimension.
inline void parse_initializer(cursor& in, variable& v) {
    if (v.dims.empty() && v.vector == 1 && !in.at("{")) {
        v.initial.push_back(detail::parse_element(in, v.type));
        return;
    }
    const std::vector<std::uint64_t> dims = v.dims;
    if (v.vector > 1 || v.dims.empty()) v.dims.push_back(static_cast<std::uint64_t>(v.vector));
    std::uint64_t stride = 1;
    for (std::size_t k = 1; k < v.dims.size(); ++k) stride *= v.dims[k];
    const std::uint64_t steps = detail::parse_braces(in, v, 0, 0, stride);
    v.dims = dims;
    if (!v.dims.empty() && v.dims[0] == 0) v.dims[0] = steps;
}

}  // namespace qwengpu::ptx
