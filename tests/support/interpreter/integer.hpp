// SPDX-License-Identifier: MIT
// Integer and bit instructions of PTX for the interpreter of the tests, written from the manual in 128-bit host arithmetic.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <string_view>

#include <qwengpu/ptx/ast.hpp>

#include "support/interpreter/value.hpp"

namespace qwengpu::test::interpreter {

/// Operands of an instruction: bits of a, b, c, d as they stand in their registers.
struct operands {
    u64 a = 0, b = 0, c = 0, d = 0;
};

namespace detail {

inline int magnitude_order(u64 x, int bits) { return static_cast<int>(std::bit_width(x & mask_of(bits))); }

inline u64 quotient(const ptx::instruction& i, s128 a, s128 b, scalar_type t) {
    const bool remainder = i.opcode == "rem";
    if (b == 0) return remainder ? cut(static_cast<u64>(a), t) : mask_of(ptx::bits_of(t));
    return cut(static_cast<u64>(remainder ? a % b : a / b), t);
}

inline u64 bit_field(u64 a, u64 b, u64 c, scalar_type t) {
    const int bits = ptx::bits_of(t), position = static_cast<int>(b & 255), length = static_cast<int>(c & 255);
    const int top = std::min(position + length - 1, bits - 1);
    const bool sign = ptx::is_signed(t) && length != 0 && ((a >> top) & 1) != 0;
    u64 d = 0;
    for (int k = 0; k < bits; ++k) {
        const bool bit = k < length && position + k < bits ? ((a >> (position + k)) & 1) != 0 : sign;
        d |= u64{bit} << k;
    }
    return d;
}

inline u64 bit_field_inserted(u64 a, u64 b, u64 c, u64 d, int bits) {
    const int position = static_cast<int>(c & 255), length = static_cast<int>(d & 255);
    for (int k = 0; k < length && position + k < bits; ++k) {
        b &= ~(u64{1} << (position + k));
        b |= ((a >> k) & 1) << (position + k);
    }
    return b;
}

/// The highest bit that is set (of a negative number: that is not set), -1 if there is none.
inline s64 leading_bit(u64 x, scalar_type t) {
    const int bits = ptx::bits_of(t);
    if (ptx::is_signed(t) && signed_of(x, bits) < 0) x = ~x;
    return magnitude_order(x, bits) - 1;
}

inline u64 permute_control(std::string_view mode, u64 c) {
    const u64 n = c & 3;
    constexpr u64 f4e[] = {0x3210, 0x4321, 0x5432, 0x6543}, b4e[] = {0x5670, 0x6701, 0x7012, 0x0123}, rc8[] = {0x0000, 0x1111, 0x2222, 0x3333},
                  ecl[] = {0x3210, 0x3211, 0x3222, 0x3333}, ecr[] = {0x0000, 0x1110, 0x2210, 0x3210}, rc16[] = {0x1010, 0x3232, 0x1010, 0x3232};
    if (mode == "f4e") return f4e[n];
    if (mode == "b4e") return b4e[n];
    if (mode == "rc8") return rc8[n];
    if (mode == "ecl") return ecl[n];
    if (mode == "ecr") return ecr[n];
    return mode == "rc16" ? rc16[n] : c;
}

inline u64 permuted(u64 a, u64 b, u64 control) {
    const u64 both = (b & mask_of(32)) << 32 | (a & mask_of(32));
    u64 d = 0;
    for (unsigned k = 0; k < 4; ++k) {
        const u64 nibble = (control >> (4 * k)) & 15;
        u64 byte = (both >> (8 * (nibble & 7))) & 255;
        if ((nibble & 8) != 0) byte = (byte & 128) != 0 ? 255 : 0;
        d |= byte << (8 * k);
    }
    return d;
}

inline u64 dot_product(const ptx::instruction& i, const operands& o) {
    const scalar_type ta = i.type(0), tb = i.type(1);
    const bool pairs = i.opcode == "dp2a";
    const auto part = [](u64 x, int width, int k, scalar_type t) {
        const u64 bits = (x >> (width * k)) & mask_of(width);
        return ptx::is_signed(t) ? signed_of(bits, width) : static_cast<s64>(bits);
    };
    s64 sum = 0;
    for (int k = 0; k < (pairs ? 2 : 4); ++k)
        sum += pairs ? part(o.a, 16, k, ta) * part(o.b, 8, k + (i.has("hi") ? 2 : 0), tb) : part(o.a, 8, k, ta) * part(o.b, 8, k, tb);
    return static_cast<u64>(sum) + o.c;
}

inline u64 lookup(const operands& o, u64 table) {
    u64 d = 0;
    for (unsigned k = 0; k < 32; ++k) {
        const u64 row = ((o.a >> k) & 1) << 2 | ((o.b >> k) & 1) << 1 | ((o.c >> k) & 1);
        d |= ((table >> row) & 1) << k;
    }
    return d;
}

inline u64 funnel_shift(const ptx::instruction& i, const operands& o) {
    const u64 n = i.has("wrap") ? o.c & 31 : std::min<u64>(o.c & mask_of(32), 32);
    const u128 both = u128{o.b & mask_of(32)} << 32 | (o.a & mask_of(32));
    return static_cast<u64>(i.has("l") ? (both << n) >> 32 : both >> n);
}

inline u64 product(const ptx::instruction& i, const operands& o, scalar_type t) {
    // Without sign, so that the largest products do not overflow; the bits that are wanted are the same.
    const u128 p = static_cast<u128>(number_of(o.a, t)) * static_cast<u128>(number_of(o.b, t));
    if (i.has("wide")) return static_cast<u64>(p);
    return static_cast<u64>(i.has("hi") ? p >> ptx::bits_of(t) : p);
}

inline u64 product24(const ptx::instruction& i, const operands& o, scalar_type t) {
    const auto part = [t](u64 x) { return ptx::is_signed(t) ? signed_of(x, 24) : static_cast<s64>(x & mask_of(24)); };
    const s64 p = part(o.a) * part(o.b);
    return static_cast<u64>(i.has("hi") ? p >> 16 : p);
}

}  // namespace detail

/// fns: position of the n-th one of a word, from a base on; 2^32 - 1 if it has none.
inline u64 nth_one(u64 word, u64 base, s64 n) {
    if (n == 0) return (word >> base & 1) != 0 ? base : mask_of(32);
    s64 left = n < 0 ? -n : n;
    for (s64 at = static_cast<s64>(base); at >= 0 && at < 32; at += n < 0 ? -1 : 1)
        if ((word >> at & 1) != 0 && --left == 0) return static_cast<u64>(at);
    return mask_of(32);
}

/// A comparison of two integers by name.
inline bool integer_compare(std::string_view how, u64 a, u64 b, scalar_type t) {
    const s128 x = number_of(a, t), y = number_of(b, t);
    if (how == "eq") return x == y;
    if (how == "ne") return x != y;
    if (how == "lt" || how == "lo") return x < y;
    if (how == "le" || how == "ls") return x <= y;
    return how == "gt" || how == "hi" ? x > y : x >= y;
}

/// Result of an arithmetic or bit instruction on integers whose result depends on its operands only; `known` false if it is none.
inline u64 integer_arithmetic(const ptx::instruction& i, const operands& o, bool& known) {
    using namespace detail;
    const std::string_view op = i.opcode;
    const scalar_type t = i.type(0);
    const int bits = ptx::bits_of(t);
    const s128 a = number_of(o.a, t), b = number_of(o.b, t), c = number_of(o.c, t);
    known = true;
    if (op == "add") return i.has("sat") ? clamped(a + b, t) : o.a + o.b;
    if (op == "sub") return i.has("sat") ? clamped(a - b, t) : o.a - o.b;
    if (op == "mul") return product(i, o, t);
    if (op == "mad") return i.has("sat") ? clamped((a * b >> bits) + c, t) : product(i, o, t) + o.c;
    if (op == "mul24") return product24(i, o, t);
    if (op == "mad24") return i.has("sat") ? clamped(s128{signed_of(product24(i, o, t), 32)} + c, t) : product24(i, o, t) + o.c;
    if (op == "div" || op == "rem") return quotient(i, a, b, t);
    if (op == "min") return static_cast<u64>(i.has("relu") ? std::max<s128>(0, std::min(a, b)) : std::min(a, b));
    if (op == "max") return static_cast<u64>(i.has("relu") ? std::max<s128>(0, std::max(a, b)) : std::max(a, b));
    if (op == "abs") return static_cast<u64>(a < 0 ? -a : a);
    if (op == "neg") return static_cast<u64>(-a);
    if (op == "sad") return o.c + static_cast<u64>(a < b ? b - a : a - b);
    if (op == "and") return o.a & o.b;
    if (op == "or") return o.a | o.b;
    if (op == "xor") return o.a ^ o.b;
    if (op == "not") return ~o.a;
    if (op == "cnot") return u64{cut(o.a, t) == 0};
    if (op == "shl") return (o.b & mask_of(32)) >= static_cast<u64>(bits) ? 0 : o.a << (o.b & 63);
    if (op == "shr") {
        const u64 n = std::min<u64>(o.b & mask_of(32), static_cast<u64>(bits));
        return ptx::is_signed(t) ? static_cast<u64>(a >> n) : static_cast<u64>(static_cast<u128>(cut(o.a, t)) >> n);
    }
    if (op == "shf") return funnel_shift(i, o);
    if (op == "popc") return static_cast<u64>(std::popcount(cut(o.a, t)));
    if (op == "clz") return static_cast<u64>(bits - magnitude_order(o.a, bits));
    if (op == "brev") {
        u64 r = 0;
        for (int k = 0; k < bits; ++k) r |= ((o.a >> k) & 1) << (bits - 1 - k);
        return r;
    }
    if (op == "bfind") {
        const s64 at = leading_bit(o.a, t);
        return at < 0 ? mask_of(32) : static_cast<u64>(i.has("shiftamt") ? bits - 1 - at : at);
    }
    if (op == "bfe") return bit_field(o.a, o.b, o.c, t);
    if (op == "bfi") return bit_field_inserted(o.a, o.b, o.c, o.d, bits);
    if (op == "bmsk") {
        const u64 first = i.has("wrap") ? o.a & 31 : std::min<u64>(o.a & mask_of(32), 32), count = i.has("wrap") ? o.b & 31 : std::min<u64>(o.b & mask_of(32), 32);
        return mask_of(static_cast<int>(count)) << first;
    }
    if (op == "szext") {
        const u64 n = i.has("wrap") ? o.b & 31 : std::min<u64>(o.b & mask_of(32), 32);
        if (n == 0) return 0;
        return ptx::is_signed(t) ? static_cast<u64>(signed_of(o.a, static_cast<int>(n))) : o.a & mask_of(static_cast<int>(n));
    }
    if (op == "prmt") {
        const std::string_view mode = i.modifiers.size() > 1 ? i.modifiers.back() : std::string_view{};
        return permuted(o.a, o.b, permute_control(mode, o.c));
    }
    if (op == "fns") return nth_one(cut(o.a, t), o.b & 31, signed_of(o.c, 32));
    if (op == "lop3") return lookup(o, o.d);
    if (op == "dp4a" || op == "dp2a") return dot_product(i, o);
    known = false;
    return 0;
}

}  // namespace qwengpu::test::interpreter
