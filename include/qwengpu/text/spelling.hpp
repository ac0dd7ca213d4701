// SPDX-License-Identifier: MIT
// How a token is written for people, and read back: the class, then its fields, the warp or group before the rest:
// `hdr:w3:b12`, `start:w0:l013` (the lanes of the mask), `addr:v2:17`, `short:-5`, `lo:1a2b`, `launch`.
#pragma once

#include <qwengpu/text/vocabulary.hpp>

#include <algorithm>
#include <charconv>
#include <fmt/format.h>
#include <optional>
#include <string>
#include <string_view>

namespace qwengpu::text {

namespace detail {

inline std::string spell_field(const token_field& f, std::uint32_t value) {
    switch (f.style) {
        case field_style::hex: return fmt::format("{}{:04x}", f.prefix, value);
        case field_style::signed_decimal:
            return fmt::format("{}{}", f.prefix, static_cast<std::int32_t>(vocabulary<>::sign_extended(value)));
        case field_style::lanes: {
            auto text = std::string(f.prefix);
            for (int lane = 0; lane < f.width; ++lane)
                if (value >> lane & 1) text += static_cast<char>('0' + lane);
            return text;
        }
        case field_style::decimal: break;
    }
    return fmt::format("{}{}", f.prefix, value);
}

/// All of `text` as a number, or nothing.
inline std::optional<int> whole_number(std::string_view text, int base) {
    int value = 0;
    const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), value, base);
    if (failed != std::errc{} || end != text.data() + text.size()) return std::nullopt;
    return value;
}

inline std::optional<int> read_lanes(std::string_view text) {
    int mask = 0;
    for (const char c : text) {
        if (c < '0' || c > '7') return std::nullopt;
        mask |= 1 << (c - '0');
    }
    return mask;
}

inline std::optional<std::uint32_t> read_field(const token_field& f, std::string_view text) {
    if (!text.starts_with(f.prefix)) return std::nullopt;
    text.remove_prefix(f.prefix.size());
    const auto value = f.style == field_style::lanes ? read_lanes(text)
                       : whole_number(text, f.style == field_style::hex ? 16 : 10);
    if (!value) return std::nullopt;
    const int range = 1 << f.width, offset = f.style == field_style::signed_decimal ? range / 2 : 0;
    if (*value < -offset || *value >= range - offset) return std::nullopt;
    return static_cast<std::uint32_t>(*value) & static_cast<std::uint32_t>(range - 1);
}

}  // namespace detail

/// The spelling of a token below `vocabulary<M>::size`. Unambiguous: parse_token reads it back.
template <machine::sizes M = machine::mission>
std::string spell(token id) {
    const auto d = vocabulary<M>::decode(id);
    const auto& row = vocabulary<M>::row(d.id);
    auto text = std::string(row.name);
    if (row.second.width > 0) text += ':' + detail::spell_field(row.second, d.second);
    if (row.first.width > 0) text += ':' + detail::spell_field(row.first, d.first);
    return text;
}

/// The token of a spelling, or nothing if it names none of this machine.
template <machine::sizes M = machine::mission>
std::optional<token> parse_token(std::string_view text) {
    const auto next_part = [&text] {
        const auto colon = text.find(':');
        const auto part = text.substr(0, colon);
        text = colon == std::string_view::npos ? std::string_view{} : text.substr(colon + 1);
        return part;
    };
    const auto parts = 1 + std::count(text.begin(), text.end(), ':');
    const auto name = next_part();
    for (const auto& row : token_classes<M>) {
        if (row.name != name) continue;
        if (parts != 1 + (row.first.width > 0) + (row.second.width > 0)) return std::nullopt;
        std::optional<std::uint32_t> second = 0, first = 0;
        if (row.second.width > 0) second = detail::read_field(row.second, next_part());
        if (row.first.width > 0) first = detail::read_field(row.first, next_part());
        if (!first || !second) return std::nullopt;
        return vocabulary<M>::encode(row.id, *first, *second);
    }
    return std::nullopt;
}

}  // namespace qwengpu::text
