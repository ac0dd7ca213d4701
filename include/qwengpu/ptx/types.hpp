// SPDX-License-Identifier: MIT
// The fundamental types, state spaces and places of PTX, as plain enums with their names and sizes.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace qwengpu::ptx {

/// Line and column of the PTX text, both counted from 1; line 0 is "nowhere".
struct place {
    std::uint32_t line = 0, column = 0;
    friend bool operator==(const place&, const place&) = default;
};

/// Line of the CUDA source that an instruction came from (`.loc`); `file` is the number of a `.file`, line 0 is "not known".
struct cuda_place {
    std::uint32_t file = 0, line = 0, column = 0;
    friend bool operator==(const cuda_place&, const cuda_place&) = default;
};

/// Type of a register, variable or instruction. From `f16` on: parsed and checked by size only.
enum class scalar_type : std::uint8_t {
    none, pred, b8, b16, b32, b64, b128, u8, u16, u32, u64, s8, s16, s32, s64, f32, f64,
    f16, f16x2, bf16, bf16x2, tf32, u16x2, s16x2, e4m3, e5m2, e4m3x2, e5m2x2, texref, samplerref, surfref
};

enum class type_class : std::uint8_t { none, predicate, untyped, unsigned_integer, signed_integer, floating, opaque };

/// State space of a variable or an access; `none` in an access is the generic space.
enum class state_space : std::uint8_t { none, reg, global, shared, local, constant, param };

namespace detail {

struct type_row {
    scalar_type type;
    std::string_view name;
    int bits;
    type_class kind;
};

inline constexpr std::array<type_row, 30> type_rows{{
    {scalar_type::none, "", 0, type_class::none},
    {scalar_type::pred, "pred", 1, type_class::predicate},
    {scalar_type::b8, "b8", 8, type_class::untyped},
    {scalar_type::b16, "b16", 16, type_class::untyped},
    {scalar_type::b32, "b32", 32, type_class::untyped},
    {scalar_type::b64, "b64", 64, type_class::untyped},
    {scalar_type::b128, "b128", 128, type_class::untyped},
    {scalar_type::u8, "u8", 8, type_class::unsigned_integer},
    {scalar_type::u16, "u16", 16, type_class::unsigned_integer},
    {scalar_type::u32, "u32", 32, type_class::unsigned_integer},
    {scalar_type::u64, "u64", 64, type_class::unsigned_integer},
    {scalar_type::s8, "s8", 8, type_class::signed_integer},
    {scalar_type::s16, "s16", 16, type_class::signed_integer},
    {scalar_type::s32, "s32", 32, type_class::signed_integer},
    {scalar_type::s64, "s64", 64, type_class::signed_integer},
    {scalar_type::f32, "f32", 32, type_class::floating},
    {scalar_type::f64, "f64", 64, type_class::floating},
    {scalar_type::f16, "f16", 16, type_class::floating},
    {scalar_type::f16x2, "f16x2", 32, type_class::floating},
    {scalar_type::bf16, "bf16", 16, type_class::floating},
    {scalar_type::bf16x2, "bf16x2", 32, type_class::floating},
    {scalar_type::tf32, "tf32", 32, type_class::floating},
    {scalar_type::u16x2, "u16x2", 32, type_class::unsigned_integer},
    {scalar_type::s16x2, "s16x2", 32, type_class::signed_integer},
    {scalar_type::e4m3, "e4m3", 8, type_class::floating},
    {scalar_type::e5m2, "e5m2", 8, type_class::floating},
    {scalar_type::e4m3x2, "e4m3x2", 16, type_class::floating},
    {scalar_type::e5m2x2, "e5m2x2", 16, type_class::floating},
    {scalar_type::texref, "texref", 64, type_class::opaque},
    {scalar_type::samplerref, "samplerref", 64, type_class::opaque},
}};

constexpr type_row row_of(scalar_type t) {
    return t == scalar_type::surfref ? type_row{t, "surfref", 64, type_class::opaque} : type_rows[static_cast<std::size_t>(t)];
}

inline constexpr std::array<std::string_view, 7> space_names{"", "reg", "global", "shared", "local", "const", "param"};

}  // namespace detail

constexpr int bits_of(scalar_type t) { return detail::row_of(t).bits; }
/// Bytes in memory; 0 for predicates, which have no place in memory.
constexpr int bytes_of(scalar_type t) { return bits_of(t) / 8; }
constexpr std::string_view name_of(scalar_type t) { return detail::row_of(t).name; }
constexpr type_class class_of(scalar_type t) { return detail::row_of(t).kind; }
constexpr bool is_signed(scalar_type t) { return class_of(t) == type_class::signed_integer; }
constexpr bool is_float(scalar_type t) { return class_of(t) == type_class::floating; }

constexpr std::string_view name_of(state_space s) { return detail::space_names[static_cast<std::size_t>(s)]; }

/// The type with this name, without the dot ("s32").
constexpr std::optional<scalar_type> type_named(std::string_view name) {
    if (name == "surfref") return scalar_type::surfref;
    for (const detail::type_row& row : detail::type_rows)
        if (!name.empty() && row.name == name) return row.type;
    return std::nullopt;
}

/// The state space with this name, without the dot. Without clusters of blocks `shared::cluster` is `shared::cta`, which is `shared`.
constexpr std::optional<state_space> space_named(std::string_view name) {
    if (name == "shared::cta" || name == "shared::cluster") return state_space::shared;
    if (name == "param::entry" || name == "param::func") return state_space::param;
    for (std::size_t k = 1; k < detail::space_names.size(); ++k)
        if (detail::space_names[k] == name) return static_cast<state_space>(k);
    return std::nullopt;
}

}  // namespace qwengpu::ptx
