// SPDX-License-Identifier: MIT
// A row of the opcode table, and the small language it is written in.
#pragma once

#include <string_view>

#include <qwengpu/ptx/types.hpp>

namespace qwengpu::ptx {

/// One form of a PTX instruction. Words are separated by spaces; a `$word` is one of the groups below.
///
/// `when`      the form is meant if all of this is so: a modifier is there; "=float" "=bits" "=signed": the last type is of that class;
///             "=bool": one of .and .or .xor is there. "": always.
/// `needs`     from each word one alternative must be there: "lo|hi|wide".
/// `modifiers` what else may be there, in any order; "*": anything.
/// `types`     one list for each type, separated by `;`, the last list may end with `?` (that type may be missing).
/// `operands`  a kind, a type and perhaps `?` (may be missing) for each:
///   kinds: d destination, s source, D S the same of loads and stores (a vector if .v2 is there, registers may be wider),
///          x y the same of cvt (registers may be wider), A B the same of atomics (vectors, not wider), M N of mov (pack and unpack),
///          p predicate written, q predicate read, P predicate or pair p|q written, e destination, perhaps with |p, E with it,
///          V destination of a video instruction, W source of one (a part of it may be selected: %r1.b0, %r1.h32)
///          m address, l label, t branch table, i integer or 32-bit register, * whatever follows
///   types: none or 0, 1: that type of the instruction; L the last; w twice as wide as the first; u 32 bits; h 64 bits
struct opcode_row {
    std::string_view name;
    std::string_view when;
    std::string_view needs;
    std::string_view modifiers;
    std::string_view types;
    std::string_view operands;
};

namespace detail {

struct word_group {
    std::string_view name;
    std::string_view words;
};

inline constexpr word_group word_groups[] = {
    {"$int", "u16 u32 u64 s16 s32 s64"},
    {"$bits", "b16 b32 b64"},
    {"$float", "f32 f64 f16 f16x2 bf16 bf16x2"},
    {"$wide", "u32 s32 u64 s64"},
    {"$any", "b16 b32 b64 u16 u32 u64 s16 s32 s64 f32 f64"},
    {"$mem", "b8 b16 b32 b64 b128 u8 u16 u32 u64 s8 s16 s32 s64 f32 f64"},
    {"$cvt", "u8 u16 u32 u64 s8 s16 s32 s64 f16 f16x2 bf16 bf16x2 tf32 f32 f64 e4m3x2 e5m2x2"},
    {"$round", "rn rz rm rp"},
    {"$iround", "rni rzi rmi rpi"},
    {"$space", "global shared local const param shared::cta shared::cluster param::entry param::func"},
    {"$shared", "global shared shared::cta shared::cluster"},
    {"$scope", "cta cluster gpu sys"},
    {"$cache", "ca cg cs lu cv nc unified"},
    {"$half", "f16 f16x2 bf16 bf16x2"},
};

/// Calls `f(word)` for each word of `list` until it returns true. Separators: spaces, or the one given.
template <class F>
constexpr bool any_word(std::string_view list, char separator, F f) {
    while (!list.empty()) {
        const std::size_t end = list.find(separator);
        const std::string_view word = list.substr(0, end);
        if (!word.empty() && f(word)) return true;
        list = end == list.npos ? std::string_view{} : list.substr(end + 1);
    }
    return false;
}

/// The words of a group, or the word itself.
constexpr std::string_view words_of(std::string_view word) {
    for (const word_group& g : word_groups)
        if (g.name == word) return g.words;
    return word;
}

/// Whether `list` names `wanted`, also through a group.
constexpr bool names(std::string_view list, std::string_view wanted) {
    return any_word(list, ' ', [&](std::string_view word) {
        return word[0] == '$' ? any_word(words_of(word), ' ', [&](std::string_view w) { return w == wanted; }) : word == wanted;
    });
}

}  // namespace detail

}  // namespace qwengpu::ptx
