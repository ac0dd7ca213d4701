// SPDX-License-Identifier: MIT
// The tokens of the machine (docs/machine.md, "Tokens"): classes with up to two payload fields each, ids dense in the
// order of the table. A field keeps its position in the 16-bit half words of an embedding row on every size of
// machine; only its width shrinks.
#pragma once

#include <qwengpu/machine/sizes.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace qwengpu::text {

/// Token classes, in the order of their ids.
enum class token_class : std::uint8_t {
    launch, end, cta, all, skip, br, fair, trap, release, start, mask, constant, addr, prog, hdr, short_word, lo, hi
};
inline constexpr int token_class_count = 18;

/// A token: an index into the vocabulary, 0 <= token < vocabulary<M>::size.
using token = std::uint32_t;

/// How a field is spelled.
enum class field_style : std::uint8_t { decimal, signed_decimal, hex, lanes };

/// A payload field: `width` bits, at bit `at` of the 32 bits a row holds (0-15 low half, 16-31 high half).
struct token_field {
    std::string_view prefix{};
    int at = 0;
    int width = 0;
    field_style style = field_style::decimal;
};

/// A class: its name and its fields. The packed payload is `first + (second << first.width)`.
struct token_class_row {
    token_class id;
    std::string_view name;
    token_field first{}, second{};

    [[nodiscard]] constexpr int bits() const { return first.width + second.width; }
};

/// Windows are 5 bits on every machine: they are a part of a pointer, not of the machine's size.
inline constexpr int window_bits = 5;
inline constexpr int short_bits = 12;

/// The table of docs/machine.md for a machine of sizes M.
template <machine::sizes M = machine::mission>
inline constexpr std::array<token_class_row, token_class_count> token_classes = {{
    {token_class::launch, "launch"},
    {token_class::end, "end"},
    {token_class::cta, "cta"},
    {token_class::all, "all"},
    {token_class::skip, "skip"},
    {token_class::br, "br", {"", 0, 1}},
    {token_class::fair, "fair", {"l", 0, machine::bits_for(M.lanes)}},
    {token_class::trap, "trap", {"", 0, 3}},
    {token_class::release, "release", {"b", 0, machine::bits_for(M.barriers)}, {"p", machine::bits_for(machine::mission.barriers), 1}},
    {token_class::start, "start", {"l", 0, M.lanes, field_style::lanes}, {"w", 10, machine::bits_for(M.warps)}},
    {token_class::mask, "mask", {"l", 0, M.lanes, field_style::lanes}, {"w", 10, machine::bits_for(M.warps)}},
    {token_class::constant, "const", {"", 0, machine::bits_for(M.constants)}},
    {token_class::addr, "addr", {"", 0, machine::bits_for(M.words)}, {"v", 7, window_bits}},
    {token_class::prog, "prog", {"b", 0, machine::bits_for(M.blocks)}, {"g", 10, 3}},
    {token_class::hdr, "hdr", {"b", 0, machine::bits_for(M.blocks)}, {"w", 10, machine::bits_for(M.warps)}},
    {token_class::short_word, "short", {"", 0, short_bits, field_style::signed_decimal}},
    {token_class::lo, "lo", {"", 0, 16, field_style::hex}},
    {token_class::hi, "hi", {"", 16, 16, field_style::hex}},
}};

/// A token taken apart: its class and its two fields (0 where the class has none).
struct decoded_token {
    token_class id = token_class::launch;
    std::uint32_t first = 0, second = 0;

    friend constexpr bool operator==(const decoded_token&, const decoded_token&) = default;
};

/// What the row of a token holds of a 32-bit word: `bits` where `known` has ones; the other bits mean nothing.
struct row_bits {
    std::uint32_t bits = 0, known = 0;

    friend constexpr bool operator==(const row_bits&, const row_bits&) = default;
};

/// Ids and payloads of the tokens of a machine of sizes M. All functions are constexpr.
template <machine::sizes M = machine::mission>
struct vocabulary {
    static constexpr const auto& classes = token_classes<M>;

    static constexpr const token_class_row& row(token_class c) { return classes[static_cast<std::size_t>(c)]; }

    /// First id of each class; the last entry is the size of the vocabulary.
    static constexpr auto first_ids = [] {
        std::array<token, token_class_count + 1> at{};
        for (std::size_t i = 0; i < token_class_count; ++i) at[i + 1] = at[i] + (token{1} << classes[i].bits());
        return at;
    }();
    static constexpr token size = first_ids[token_class_count];

    static constexpr token first_id(token_class c) { return first_ids[static_cast<std::size_t>(c)]; }
    static constexpr token count(token_class c) { return token{1} << row(c).bits(); }

    /// The token of a class with its fields; bits of a field beyond its width are dropped.
    static constexpr token encode(token_class c, std::uint32_t first = 0, std::uint32_t second = 0) {
        const auto& r = row(c);
        const auto keep = [](std::uint32_t v, int width) { return v & ((std::uint32_t{1} << width) - 1); };
        return first_id(c) + (keep(first, r.first.width) | keep(second, r.second.width) << r.first.width);
    }

    /// Class of an id; ids from `size` on are nobody's and must not be asked for.
    static constexpr token_class class_of(token id) {
        std::size_t c = 0;
        while (c + 1 < token_class_count && id >= first_ids[c + 1]) ++c;
        return static_cast<token_class>(c);
    }

    /// Class and fields of an id below `size`.
    static constexpr decoded_token decode(token id) {
        const auto c = class_of(id);
        const std::uint32_t payload = id - first_id(c);
        const int width = row(c).first.width;
        return {c, payload & ((std::uint32_t{1} << width) - 1), payload >> width};
    }

    /// The bits a row of the embedding holds: every field at its place; a short word sign-extended to all 32.
    static constexpr row_bits expand(token id) {
        const auto d = decode(id);
        if (d.id == token_class::short_word) return {sign_extended(d.first), 0xffffffffu};
        const auto place = [](const token_field& f, std::uint32_t v) {
            return row_bits{v << f.at, ((std::uint32_t{1} << f.width) - 1) << f.at};
        };
        const auto a = place(row(d.id).first, d.first), b = place(row(d.id).second, d.second);
        return {a.bits | b.bits, a.known | b.known};
    }

    /// Whether a word is written as one `short` (-2048..2047).
    static constexpr bool fits_short(std::uint32_t word) { return sign_extended(word) == word; }

    /// The value of the payload of a `short`.
    static constexpr std::uint32_t sign_extended(std::uint32_t payload) {
        constexpr std::uint32_t sign = std::uint32_t{1} << (short_bits - 1);
        return ((payload & (2 * sign - 1)) ^ sign) - sign;
    }
};

}  // namespace qwengpu::text
