// SPDX-License-Identifier: MIT
// Video instructions for the tests' PTX interpreter, word by word from the PTX manual: numbers are picked, worked on without any
// limit, clamped, and put together with the third source.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string_view>

#include <qwengpu/ptx/ast.hpp>

#include "support/interpreter/value.hpp"

namespace qwengpu::test::interpreter {

namespace detail {

inline bool video_signed(scalar_type t) { return t == scalar_type::s32; }

/// `bits` bits of a word from bit `at` on, as a number.
inline s128 video_field(u64 word, int at, int bits, bool with_sign) {
    const u64 x = (word >> at) & ((u64{1} << bits) - 1);
    return with_sign && (x >> (bits - 1)) != 0 ? s128{x} - (s128{1} << bits) : s128{x};
}

/// b0 to b3, h0, h1, or the whole word.
inline s128 video_source(u64 word, std::string_view part, bool with_sign) {
    if (part.empty()) return video_field(word, 0, 32, with_sign);
    const int bits = part[0] == 'b' ? 8 : 16;
    return video_field(word, bits * (part[1] - '0'), bits, with_sign);
}

inline s128 video_clamped(s128 x, int bits, bool with_sign) {
    const s128 least = with_sign ? -(s128{1} << (bits - 1)) : 0, most = (s128{1} << (with_sign ? bits - 1 : bits)) - 1;
    return std::clamp(x, least, most);
}

inline bool video_compare(const ptx::instruction& i, s128 a, s128 b) {
    if (i.has("eq")) return a == b;
    if (i.has("ne")) return a != b;
    if (i.has("lt")) return a < b;
    if (i.has("le")) return a <= b;
    return i.has("gt") ? a > b : a >= b;
}

/// The operation by name, without the number of parts.
inline s128 video_operation(const ptx::instruction& i, std::string_view name, s128 a, s128 b) {
    if (name == "vadd") return a + b;
    if (name == "vsub") return a - b;
    if (name == "vabsdiff") return a < b ? b - a : a - b;
    if (name == "vmin") return std::min(a, b);
    if (name == "vmax") return std::max(a, b);
    if (name == "vset") return video_compare(i, a, b) ? 1 : 0;
    if (name == "vavrg") return a + b >= 0 ? (a + b + 1) >> 1 : (a + b) >> 1;
    const s128 n = i.has("wrap") ? b % 32 : std::min<s128>(b, 32);
    if (name == "vshr") return a >> n;
    const s128 shifted = a * (s128{1} << n), kept = shifted & ((s128{1} << 34) - 1);  // .s34
    return kept >> 33 != 0 ? kept - (s128{1} << 34) : kept;
}

inline u64 video_scalar(const ptx::instruction& i, u64 a, u64 b, u64 c) {
    const bool sets = i.opcode == "vset", with_sign = !sets && video_signed(i.type(0));
    const s128 x = video_source(a, i.operands[1].selector, video_signed(i.type(sets ? 0 : 1)));
    const s128 y = video_source(b, i.operands[2].selector, video_signed(i.type(sets ? 1 : 2)));
    s128 r = video_operation(i, i.opcode, x, y);
    const std::string_view into = i.operands[0].selector;
    const int bits = into.empty() ? 32 : into[0] == 'b' ? 8 : 16;
    if (i.has("sat")) r = video_clamped(r, bits, with_sign);
    const s128 third = video_field(c, 0, 32, with_sign);
    if (i.has("add")) r += third;
    if (i.has("min")) r = std::min(r, third);
    if (i.has("max")) r = std::max(r, third);
    if (into.empty()) return static_cast<u64>(r) & 0xffffffffU;
    const u64 mask = (u64{1} << bits) - 1;
    const int at = bits * (into[1] - '0');
    return (c & ~(mask << at)) | (static_cast<u64>(r) & mask) << at;
}

inline u64 video_parts(const ptx::instruction& i, int parts, u64 a, u64 b, u64 c) {
    const std::string_view name = i.opcode.substr(0, i.opcode.size() - 1), mask = i.operands[0].selector;
    const bool sets = name == "vset";
    const int bits = 32 / parts;
    const u64 both = b << 32 | a, all = (u64{1} << bits) - 1;
    u64 merged = c, sum = c;
    for (int k = 0; k < parts; ++k) {
        if (!mask.empty() && mask.find(static_cast<char>('0' + k)) == mask.npos) continue;
        const auto picked = [&](std::size_t n, bool with_sign) {
            const std::string_view chosen = i.operands[n].selector;
            const int from = chosen.empty() ? k + (n == 2 ? parts : 0) : chosen[static_cast<std::size_t>(parts - k)] - '0';
            return video_field(both, from * bits, bits, with_sign);
        };
        const s128 x = picked(1, video_signed(i.type(sets ? 0 : 1))), y = picked(2, video_signed(i.type(sets ? 1 : 2)));
        s128 r = video_operation(i, name, x, y);
        if (i.has("sat")) r = video_clamped(r, bits, video_signed(i.type(0)));
        sum += static_cast<u64>(r);
        merged = (merged & ~(all << (bits * k))) | (static_cast<u64>(r) & all) << (bits * k);
    }
    return (i.has("add") ? sum : merged) & 0xffffffffU;
}

inline u64 video_multiply(const ptx::instruction& i, u64 a, u64 b, u64 c) {
    const bool negates = i.operands[1].minus != i.operands[2].minus, c_negates = i.operands[3].minus;
    const bool with_sign = video_signed(i.type(1)) || video_signed(i.type(2)) || negates || c_negates;
    s128 r = video_source(a, i.operands[1].selector, video_signed(i.type(1))) * video_source(b, i.operands[2].selector, video_signed(i.type(2)));
    if (negates) r = -r;
    const s128 third = video_field(c_negates ? ~c : c, 0, 32, with_sign);
    r += third + (c_negates || i.has("po") ? 1 : 0);
    if (i.has("shr7")) r >>= 7;
    if (i.has("shr15")) r >>= 15;
    if (i.has("sat")) r = video_clamped(r, 32, with_sign);
    return static_cast<u64>(r) & 0xffffffffU;
}

}  // namespace detail

/// The result of a video instruction on the words of its sources.
inline u64 video_result(const ptx::instruction& i, u64 a, u64 b, u64 c) {
    if (i.opcode == "vmad") return detail::video_multiply(i, a, b, c);
    const char last = i.opcode.back();
    return last == '2' || last == '4' ? detail::video_parts(i, last - '0', a, b, c) : detail::video_scalar(i, a, b, c);
}

}  // namespace qwengpu::test::interpreter
