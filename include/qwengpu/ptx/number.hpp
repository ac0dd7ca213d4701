// SPDX-License-Identifier: MIT
// Numbers of PTX: 0x1F, 017, 0b101, 42, with U; 0f3F800000 and 0d3FF0000000000000; 1.5e3 (a double).
#pragma once

#include <bit>
#include <charconv>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include <qwengpu/ptx/token.hpp>

namespace qwengpu::ptx::detail {

constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }
constexpr bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
constexpr bool is_word_char(char c) { return is_digit(c) || is_letter(c) || c == '_' || c == '$'; }

/// Length of the number at the start of `s`, with everything that is glued to it (a wrong suffix must not become a name).
constexpr std::size_t number_length(std::string_view s) {
    const bool hex = s.size() > 1 && s[0] == '0' && is_letter(s[1]) && s[1] != 'e' && s[1] != 'E';
    std::size_t n = 0;
    while (n < s.size()) {
        const bool exponent_sign = !hex && n > 0 && (s[n] == '+' || s[n] == '-') && (s[n - 1] == 'e' || s[n - 1] == 'E');
        const bool point = !hex && s[n] == '.' && n + 1 < s.size() && is_digit(s[n + 1]);
        if (!is_word_char(s[n]) && !exponent_sign && !point) break;
        ++n;
    }
    return n;
}

/// Whole of `digits` as a number of this base; false if it is none or does not fit 64 bits.
inline bool digits_to(std::string_view digits, int base, std::uint64_t& value) {
    const auto [end, status] = std::from_chars(digits.data(), digits.data() + digits.size(), value, base);
    return status == std::errc{} && !digits.empty() && end == digits.data() + digits.size();
}

/// Decimal floating point as the bits of a double.
inline bool decimal_to(std::string_view text, std::uint64_t& bits) {
    const std::string copy(text);
    char* end = nullptr;
    bits = std::bit_cast<std::uint64_t>(std::strtod(copy.c_str(), &end));
    return end == copy.c_str() + copy.size();
}

/// Fills kind, value and is_unsigned of a token from its text. False if the text is no number of PTX.
inline bool read_number(token& t) {
    std::string_view s = t.text;
    const char second = s.size() > 1 && s[0] == '0' ? static_cast<char>(s[1] | 0x20) : '\0';
    if (second == 'f' || second == 'd') {
        t.kind = second == 'f' ? token_kind::f32 : token_kind::f64;
        return s.size() == (second == 'f' ? 10U : 18U) && digits_to(s.substr(2), 16, t.value);
    }
    if (second != 'x' && second != 'b' && s.find_first_of(".eE") != s.npos) {
        t.kind = token_kind::f64;
        return decimal_to(s, t.value);
    }
    t.kind = token_kind::integer;
    if (s.back() == 'U' || s.back() == 'u') {
        t.is_unsigned = true;
        s.remove_suffix(1);
    }
    const bool octal = s.size() > 1 && s[0] == '0' && is_digit(s[1]);
    const int base = second == 'x' ? 16 : second == 'b' ? 2 : octal ? 8 : 10;
    if (!digits_to(s.substr(base == 16 || base == 2 ? 2 : 0), base, t.value)) return false;
    t.is_unsigned = t.is_unsigned || (t.value >> 63) != 0;
    return true;
}

}  // namespace qwengpu::ptx::detail
