// SPDX-License-Identifier: MIT
// What the ALU instructions of docs/machine.md ("ALU instructions") give, in the host's own wider arithmetic, and random
// instructions of every operation with the bits of `mod` it may have. Written from that page, apart from the library.
#pragma once

#include "support/choices.hpp"
#include "support/host_float.hpp"

#include <array>
#include <bit>
#include <cstdint>
#include <string_view>

namespace qwengpu::test {

/// An operation's number on the page, and the masks of its `mod`.
struct host_operation {
    std::string_view name;
    unsigned code;
    std::uint8_t mod_bits;  ///< bits that may be set
};

inline constexpr std::array<host_operation, 26> host_operations{{
    {"add", 1, 0x0f},    {"lop", 2, 0xff},  {"shl", 3, 0},       {"shr", 4, 0},       {"sar", 5, 0},       {"cmp", 6, 0x7f},  {"sel", 7, 0},
    {"min", 8, 0x08},    {"max", 9, 0x08},  {"prmt", 10, 0},     {"insert", 11, 1},   {"funnel", 12, 1},   {"fcmp", 13, 0xff}, {"fmin", 14, 0x0c},
    {"fmax", 15, 0x0c},  {"mul", 16, 0x03}, {"popc", 17, 0},     {"clz", 18, 0},      {"brev", 19, 0},     {"rcp", 20, 0},    {"fma", 21, 0x3f},
    {"fadd", 22, 0x3f},  {"fmul", 23, 0x1f}, {"i2f", 24, 0x4b},  {"f2i", 25, 0xcf},   {"fround", 26, 0x0f},
}};
/// Whether it computes with the f32 that its operands are.
inline bool takes_floats(const host_operation& op) { return (op.code >= 13 && op.code <= 15) || (op.code >= 21 && op.name != "i2f"); }

/// Those that stages 1 and 4 have too.
inline constexpr std::size_t short_operations = 15;

/// A legal `mod` of an operation from random bits: subtraction has no shift; an inverted operand is for combinations only, as the
/// high word is for wide integers.
inline std::uint8_t legal_mod(const host_operation& op, std::uint32_t random) {
    auto mod = static_cast<std::uint8_t>(random & op.mod_bits);
    if (op.name == "add" && (mod & 4) != 0) mod = mod & 0x0c;
    if ((op.name == "cmp" || op.name == "fcmp") && (mod & 0x30) == 0) mod = static_cast<std::uint8_t>(mod & ~0x40U);
    if (op.name == "f2i" && (mod & 0x40) == 0) mod = mod & 0x7f;
    return mod;
}

namespace detail {

/// As a whole number, signed or not.
constexpr std::int64_t whole(std::uint32_t x, bool is_signed) { return is_signed ? std::int64_t{static_cast<std::int32_t>(x)} : std::int64_t{x}; }

constexpr bool combine(bool r, std::uint32_t c, unsigned mod) {
    const bool other = ((c & 1) != 0) != ((mod & 0x40) != 0);
    switch (mod >> 4 & 3) {
        case 1: return r && other;
        case 2: return r || other;
        case 3: return r != other;
        default: return r;
    }
}

constexpr std::uint32_t host_add(std::uint32_t a, std::uint32_t b, std::uint32_t c, unsigned mod) {
    const std::uint32_t carry = (mod & 8) != 0 ? c & 1 : 0;
    return (mod & 4) != 0 ? a - b - carry : a + (b << (mod & 3)) + carry;
}

constexpr std::uint32_t host_cmp(std::uint32_t a, std::uint32_t b, std::uint32_t c, unsigned mod) {
    const auto x = whole(a, (mod & 8) != 0), y = whole(b, (mod & 8) != 0);
    return combine((x < y && (mod & 1) != 0) || (x == y && (mod & 2) != 0) || (x > y && (mod & 4) != 0), c, mod) ? 1 : 0;
}

constexpr std::uint32_t host_prmt(std::uint32_t a, std::uint32_t b, std::uint32_t c) {
    const std::uint64_t both = std::uint64_t{b} << 32 | a;
    std::uint32_t r = 0;
    for (unsigned i = 0; i < 4; ++i) {
        const unsigned nibble = c >> 4 * i & 15;
        const auto byte = static_cast<std::uint32_t>(both >> 8 * (nibble & 7) & 255);
        r |= ((nibble & 8) == 0 ? byte : byte >= 128 ? 255U : 0U) << 8 * i;
    }
    return r;
}

constexpr std::uint32_t host_insert(std::uint32_t a, std::uint32_t b, std::uint32_t c, bool half) {
    const unsigned at = half ? 16 * (c >> 1 & 1) : 8 * (c & 3);
    const std::uint32_t field = (half ? 0xffffU : 0xffU);
    return (a & ~(field << at)) | (b & field) << at;
}

constexpr std::uint32_t host_funnel(std::uint32_t a, std::uint32_t b, std::uint32_t c, bool left) {
    const std::uint64_t both = std::uint64_t{b} << 32 | a;
    return static_cast<std::uint32_t>(left ? both << (c & 31) >> 32 : both >> (c & 31));
}

constexpr std::uint32_t host_lop(std::uint32_t a, std::uint32_t b, std::uint32_t c, unsigned table) {
    std::uint32_t r = 0;
    for (unsigned row = 0; row < 8; ++row) {
        if ((table >> row & 1) != 0) r |= ((row & 4) != 0 ? a : ~a) & ((row & 2) != 0 ? b : ~b) & ((row & 1) != 0 ? c : ~c);
    }
    return r;
}

constexpr std::uint32_t host_mul(std::uint32_t a, std::uint32_t b, std::uint32_t c, unsigned mod) {
    const auto unsigned_product = std::uint64_t{a} * b;
    const auto signed_product = static_cast<std::uint64_t>(whole(a, true) * whole(b, true));
    const auto product = (mod & 2) != 0 ? signed_product : unsigned_product;
    return static_cast<std::uint32_t>((mod & 1) != 0 ? product >> 32 : product) + c;
}

constexpr std::uint32_t host_brev(std::uint32_t a) {
    std::uint32_t r = 0;
    for (int i = 0; i < 32; ++i, a /= 2) r = 2 * r + a % 2;
    return r;
}

constexpr std::uint32_t host_rcp(std::uint32_t a) {
    if (a == 0) return 0;
    const int p = 31 - std::countl_zero(a);
    const std::uint64_t f = (std::uint64_t{a} << 10 >> p) - 1024;
    const std::uint64_t t = (1U << 21) / (1025 + f);
    return static_cast<std::uint32_t>(t << 21 >> p);
}

}  // namespace detail

/// The result of operation number `code`; 0 for none.
inline std::uint32_t host_result(unsigned code, std::uint32_t a, std::uint32_t b, std::uint32_t c, unsigned mod) {
    using detail::whole;
    switch (code) {
        case 1: return detail::host_add(a, b, c, mod);
        case 2: return detail::host_lop(a, b, c, mod);
        case 3: return b > 31 ? 0 : a << b;
        case 4: return b > 31 ? 0 : a >> b;
        case 5: return static_cast<std::uint32_t>(whole(a, true) >> (b > 31 ? 31 : b));
        case 6: return detail::host_cmp(a, b, c, mod);
        case 7: return (c & 1) != 0 ? a : b;
        case 8: return whole(a, (mod & 8) != 0) < whole(b, (mod & 8) != 0) ? a : b;
        case 9: return whole(a, (mod & 8) != 0) < whole(b, (mod & 8) != 0) ? b : a;
        case 10: return detail::host_prmt(a, b, c);
        case 11: return detail::host_insert(a, b, c, (mod & 1) != 0);
        case 12: return detail::host_funnel(a, b, c, (mod & 1) != 0);
        case 13: return detail::combine(host_float_compare(mod & 15, (mod & 0x80) != 0, a, b), c, mod) ? 1 : 0;
        case 14: return host_float_extreme(false, mod, a, b);
        case 15: return host_float_extreme(true, mod, a, b);
        case 16: return detail::host_mul(a, b, c, mod);
        case 17: return static_cast<std::uint32_t>(std::popcount(a));
        case 18: return static_cast<std::uint32_t>(std::countl_zero(a));
        case 19: return detail::host_brev(a);
        case 20: return detail::host_rcp(a);
        case 21:
        case 22:
        case 23:
        case 26: return host_float(code, mod, a, b, c);
        case 24: return host_from_int(mod, a, b);
        case 25: return host_to_int(mod, a);
        default: return 0;
    }
}

}  // namespace qwengpu::test
