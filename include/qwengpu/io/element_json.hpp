// SPDX-License-Identifier: MIT
// Elements of buffers in JSON: integers are numbers (64-bit ones decimal strings), f32 are bit patterns "0x3f800000".
// Read: numbers are also taken for 64-bit integers and for f32 (rounded to nearest). Written: always as above.
#pragma once

#include <qwengpu/launch/argument.hpp>
#include <qwengpu/io/json_cursor.hpp>

#include <bit>
#include <charconv>
#include <cstdint>
#include <optional>
#include <string>

namespace qwengpu::io {

namespace detail {

template <class T>
std::optional<T> number_in(std::string_view text, int base = 10) {
    T value{};
    const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), value, base);
    if (failed != std::errc{} || end != text.data() + text.size() || text.empty()) return std::nullopt;
    return value;
}

inline std::uint64_t float_bits(const json_cursor& at) {
    if (at.value().is_number()) return std::bit_cast<std::uint32_t>(at.value().get<float>());
    const auto text = at.text();
    const auto bits = text.starts_with("0x") && text.size() == 10 ? number_in<std::uint32_t>(std::string_view(text).substr(2), 16)
                                                                  : std::nullopt;
    if (!bits) throw at.complaint(fmt::format("\"{}\" is no f32; write its 32 bits as \"0x3f800000\"", text));
    return *bits;
}

/// An integer of 64 bits given as a number or as a decimal string; negative ones as two's complement.
inline std::uint64_t wide_bits(const json_cursor& at, element type) {
    const auto text = at.value().is_number_integer() ? at.value().dump() : at.text();
    const auto value = row(type).is_signed ? number_in<std::int64_t>(text) : std::nullopt;
    const auto positive = row(type).is_signed ? std::nullopt : number_in<std::uint64_t>(text);
    if (!value && !positive) throw at.complaint(fmt::format("\"{}\" is no {}; write a decimal string", text, row(type).name));
    return value ? static_cast<std::uint64_t>(*value) : *positive;
}

inline std::uint64_t narrow_bits(const json_cursor& at, element type) {
    const auto& r = row(type);
    const auto value = at.integer();
    const std::int64_t range = std::int64_t{1} << 8 * r.bytes, lowest = r.is_signed ? -range / 2 : 0;
    if (value < lowest || value >= lowest + range)
        throw at.complaint(fmt::format("{} is outside {}, which goes from {} to {}", value, r.name, lowest, lowest + range - 1));
    return static_cast<std::uint64_t>(value) & static_cast<std::uint64_t>(range - 1);
}

}  // namespace detail

/// The type named here. Error "io.format" with the names there are.
inline element read_element_type(const json_cursor& at) {
    const auto name = at.text();
    const auto type = element_named(name);
    if (!type) throw at.complaint(fmt::format("unknown type \"{}\"; use i8, u8, i16, u16, i32, u32, i64, u64 or f32", name));
    return *type;
}

/// The bits of one value of a type, zero-extended to 64.
inline std::uint64_t read_element(const json_cursor& at, element type) {
    if (row(type).is_float) return detail::float_bits(at);
    return row(type).bytes == 8 ? detail::wide_bits(at, type) : detail::narrow_bits(at, type);
}

/// A buffer of this name and type from an array of values.
inline buffer read_buffer(const json_cursor& at, std::string name, element type) {
    buffer b{std::move(name), type, {}, 0};
    for (const auto& item : at.items()) b.append(read_element(item, type));
    return b;
}

/// Element i of a buffer as JSON.
inline json element_json(const buffer& b, std::size_t i) {
    const auto bits = b.bits(i);
    switch (b.type) {
        case element::f32: return fmt::format("0x{:08x}", bits);
        case element::i64: return std::to_string(static_cast<std::int64_t>(bits));
        case element::u64: return std::to_string(bits);
        case element::i8: return static_cast<std::int8_t>(bits);
        case element::i16: return static_cast<std::int16_t>(bits);
        case element::i32: return static_cast<std::int32_t>(bits);
        default: return bits;
    }
}

/// A buffer's values as a JSON array.
inline json buffer_json(const buffer& b) {
    auto values = json::array();
    for (std::size_t i = 0; i < b.size(); ++i) values.push_back(element_json(b, i));
    return values;
}

}  // namespace qwengpu::io
