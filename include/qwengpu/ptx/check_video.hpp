// SPDX-License-Identifier: MIT
// Which parts of registers a video instruction may select, and what goes with each other in one. Source: PTX ISA, "Scalar Video
// Instructions" and "SIMD Video Instructions", checked against the assembler of the CUDA toolkit.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>

#include <qwengpu/ptx/ast.hpp>
#include <qwengpu/ptx/diagnostics.hpp>

namespace qwengpu::ptx {

/// How many numbers a video instruction works on: 1, 2 half words or 4 bytes.
constexpr int video_parts(std::string_view opcode) { return opcode.back() == '2' ? 2 : opcode.back() == '4' ? 4 : 1; }

namespace detail {

inline bool is_one_part(std::string_view s) { return s.size() == 2 && s[1] <= (s[0] == 'b' ? '3' : '1'); }

/// A source of several numbers: one digit for each, which are those of both sources.
inline bool is_choice(std::string_view s, int parts) {
    const char most = static_cast<char>('0' + 2 * parts - 1);
    return s.size() == static_cast<std::size_t>(parts) + 1 && s[0] == (parts == 2 ? 'h' : 'b') && std::all_of(s.begin() + 1, s.end(), [&](char c) { return c <= most; });
}

/// Which numbers are written: digits going down.
inline bool is_mask(std::string_view s, int parts) {
    const auto goes_up = [](char a, char b) { return a <= b; };
    return s[0] == (parts == 2 ? 'h' : 'b') && s[1] < static_cast<char>('0' + parts) && std::adjacent_find(s.begin() + 1, s.end(), goes_up) == s.end();
}

inline void check_selectors(const instruction& i, diagnostics& wrong) {
    const int parts = video_parts(i.opcode);
    for (std::size_t k = 0; k < i.operands.size(); ++k) {
        const operand& o = i.operands[k];
        if (o.selector.empty()) continue;
        const bool good = k == 3 ? false : parts == 1 ? is_one_part(o.selector) : k == 0 ? is_mask(o.selector, parts) : is_choice(o.selector, parts);
        if (!good) wrong.add("ptx.parse", o.where, "the parts '." + printable(o.selector) + "' cannot be selected in operand " + std::to_string(k + 1) + " of " + printable(i.full_name()));
    }
}

/// What a rule says of an instruction that breaks it, or nothing.
inline std::string_view broken_video_rule(const instruction& i) {
    const bool one = video_parts(i.opcode) == 1, mad = i.opcode == "vmad", merges = one && !i.operands[0].selector.empty();
    const auto joins = (i.has("add") ? 1 : 0) + (i.has("min") ? 1 : 0) + (i.has("max") ? 1 : 0);
    const auto minus = [&](std::size_t k) { return k < i.operands.size() && i.operands[k].minus; };
    const bool product = minus(1) != minus(2);
    if (joins > 1) return "may have only one of .add, .min, .max";
    if (one && joins > 0 && i.operands.size() < 4) return "needs a third source for its second operation";
    if (merges && mad) return "cannot write a part of its destination";
    if (merges && i.operands.size() < 4) return "needs a third source, into which the part is put";
    if (merges && joins > 0) return "cannot both write a part of its destination and have a second operation";
    if (!one && i.has("sat") && i.has("add")) return "cannot have both .sat and .add";
    if (!one && std::any_of(i.operands.begin(), i.operands.end(), [](const operand& o) { return o.kind == operand_kind::integer; })) return "takes registers only";
    if (minus(0) || (!mad && (minus(1) || minus(2) || minus(3)))) return "cannot have '-' before an operand";
    if (mad && i.has("po") && (product || minus(3))) return "cannot negate anything beside .po";
    if (product && minus(3)) return "can negate either the product or the third source";
    if (i.has("shr7") && i.has("shr15")) return "may have only one of .shr7, .shr15";
    return {};
}

inline void check_video(const instruction& i, diagnostics& wrong) {
    check_selectors(i, wrong);
    if (const std::string_view broken = broken_video_rule(i); !broken.empty()) wrong.add("ptx.parse", i.where, printable(i.full_name()) + " " + std::string(broken));
}

}  // namespace detail

}  // namespace qwengpu::ptx
