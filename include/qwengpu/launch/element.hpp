// SPDX-License-Identifier: MIT
// The element types of buffers and scalars: name, size in bytes, kind, and the C++ type each stands for.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace qwengpu {

/// Element types of a launch's buffers and scalars.
enum class element : std::uint8_t { i8, u8, i16, u16, i32, u32, i64, u64, f32 };

struct element_row {
    element id;
    std::string_view name;
    int bytes;
    bool is_signed;
    bool is_float;
};

inline constexpr std::array<element_row, 9> elements = {{
    {element::i8, "i8", 1, true, false},
    {element::u8, "u8", 1, false, false},
    {element::i16, "i16", 2, true, false},
    {element::u16, "u16", 2, false, false},
    {element::i32, "i32", 4, true, false},
    {element::u32, "u32", 4, false, false},
    {element::i64, "i64", 8, true, false},
    {element::u64, "u64", 8, false, false},
    {element::f32, "f32", 4, true, true},
}};

constexpr const element_row& row(element e) { return elements[static_cast<std::size_t>(e)]; }

/// The element type of a name (`i32`), or nothing.
constexpr std::optional<element> element_named(std::string_view name) {
    for (const auto& r : elements)
        if (r.name == name) return r.id;
    return std::nullopt;
}

namespace detail {
template <class T>
struct element_for;
template <> struct element_for<std::int8_t> { static constexpr element value = element::i8; };
template <> struct element_for<std::uint8_t> { static constexpr element value = element::u8; };
template <> struct element_for<std::int16_t> { static constexpr element value = element::i16; };
template <> struct element_for<std::uint16_t> { static constexpr element value = element::u16; };
template <> struct element_for<std::int32_t> { static constexpr element value = element::i32; };
template <> struct element_for<std::uint32_t> { static constexpr element value = element::u32; };
template <> struct element_for<std::int64_t> { static constexpr element value = element::i64; };
template <> struct element_for<std::uint64_t> { static constexpr element value = element::u64; };
template <> struct element_for<float> { static constexpr element value = element::f32; };
}  // namespace detail

/// A C++ type a buffer can hold: the fixed-width integers and float.
template <class T>
concept element_type = requires { detail::element_for<T>::value; };

template <element_type T>
inline constexpr element element_of = detail::element_for<T>::value;

}  // namespace qwengpu
