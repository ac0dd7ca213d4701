// SPDX-License-Identifier: MIT
// What the ALU instructions of docs/machine.md ("ALU instructions") give, in the host's own wider arithmetic, and random
// instructions of every operation with the bits of `mod` it may have. Written from that page, apart from the library.
#pragma once

#include "support/choices.hpp"

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

inline constexpr std::array<host_operation, 14> host_operations{{
    {"add", 1, 0x07}, {"lop", 2, 0xff}, {"shl", 3, 0}, {"shr", 4, 0}, {"sar", 5, 0}, {"cmp", 6, 0x7f}, {"sel", 7, 0},
    {"min", 8, 0x08}, {"max", 9, 0x08}, {"mul", 16, 0x03}, {"popc", 17, 0}, {"clz", 18, 0}, {"brev", 19, 0}, {"rcp", 20, 0},
}};
/// Those that stages 1 and 4 have too.
inline constexpr std::size_t short_operations = 9;

/// A legal `mod` of an operation from random bits: subtraction has no shift; an inverted operand is for combinations only.
inline std::uint8_t legal_mod(const host_operation& op, std::uint32_t random) {
    auto mod = static_cast<std::uint8_t>(random & op.mod_bits);
    if (op.name == "add" && (mod & 4) != 0) mod = 4;
    if (op.name == "cmp" && (mod & 0x30) == 0) mod = static_cast<std::uint8_t>(mod & 0x0f);
    return mod;
}

namespace detail {

/// As a whole number, signed or not.
constexpr std::int64_t whole(std::uint32_t x, bool is_signed) { return is_signed ? std::int64_t{static_cast<std::int32_t>(x)} : std::int64_t{x}; }

constexpr std::uint32_t host_cmp(std::uint32_t a, std::uint32_t b, std::uint32_t c, unsigned mod) {
    const auto x = whole(a, (mod & 8) != 0), y = whole(b, (mod & 8) != 0);
    const bool r = (x < y && (mod & 1) != 0) || (x == y && (mod & 2) != 0) || (x > y && (mod & 4) != 0);
    const bool other = ((c & 1) != 0) != ((mod & 0x40) != 0);
    switch (mod >> 4 & 3) {
        case 1: return r && other;
        case 2: return r || other;
        case 3: return r != other;
        default: return r;
    }
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
constexpr std::uint32_t host_result(unsigned code, std::uint32_t a, std::uint32_t b, std::uint32_t c, unsigned mod) {
    using detail::whole;
    switch (code) {
        case 1: return (mod & 4) != 0 ? a - b : a + (b << (mod & 3));
        case 2: return detail::host_lop(a, b, c, mod);
        case 3: return b > 31 ? 0 : a << b;
        case 4: return b > 31 ? 0 : a >> b;
        case 5: return static_cast<std::uint32_t>(whole(a, true) >> (b > 31 ? 31 : b));
        case 6: return detail::host_cmp(a, b, c, mod);
        case 7: return (c & 1) != 0 ? a : b;
        case 8: return whole(a, (mod & 8) != 0) < whole(b, (mod & 8) != 0) ? a : b;
        case 9: return whole(a, (mod & 8) != 0) < whole(b, (mod & 8) != 0) ? b : a;
        case 16: return detail::host_mul(a, b, c, mod);
        case 17: return static_cast<std::uint32_t>(std::popcount(a));
        case 18: return static_cast<std::uint32_t>(std::countl_zero(a));
        case 19: return detail::host_brev(a);
        case 20: return detail::host_rcp(a);
        default: return 0;
    }
}

}  // namespace qwengpu::test
