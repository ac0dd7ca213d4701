// SPDX-License-Identifier: MIT
// Bitwise instructions of PTX, each compiled by itself and compared with what the manual says, worked bit by bit on the host.
#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>

#include "support/catch.hpp"

#include "instruction_bench.hpp"

namespace {

using namespace qwengpu::test;
using u32 = std::uint32_t;

constexpr u32 w(u64 x) { return static_cast<u32>(x); }

u64 reversed(u64 x, int bits) {
    u64 r = 0;
    for (int k = 0; k < bits; ++k) r |= (x >> k & 1) << (bits - 1 - k);
    return r;
}

/// bfe as the manual words it.
u64 field(u64 a, u64 position, u64 length, bool is_signed, u64 width) {
    const u64 pos = position & 255, len = length & 255, msb = width - 1;
    const u64 sign = !is_signed || len == 0 ? 0 : a >> std::min(pos + len - 1, msb) & 1;
    u64 d = 0;
    for (u64 k = 0; k <= msb; ++k) d |= (k < len && pos + k <= msb ? a >> (pos + k) & 1 : sign) << k;
    return d;
}

/// bfi as the manual words it.
u64 inserted(u64 a, u64 b, u64 position, u64 length, u64 width) {
    const u64 pos = position & 255, len = length & 255;
    u64 f = b;
    for (u64 k = 0; k < len && pos + k < width; ++k) f = (f & ~(u64{1} << (pos + k))) | (a >> k & 1) << (pos + k);
    return f;
}

u64 highest(u64 a, bool is_signed, int width, bool shift) {
    if (width == 32) a = is_signed ? static_cast<u64>(std::int64_t{static_cast<std::int32_t>(a)}) : a & 0xffffffffU;
    if (is_signed && (a >> 63) != 0) a = ~a;
    if (width == 32) a &= 0xffffffffU;
    for (int k = width; k-- > 0;)
        if (a >> k & 1) return static_cast<u64>(shift ? width - 1 - k : k);
    return 0xffffffffU;
}

/// fns as the manual words it.
u64 nth_one(u32 mask, int base, int offset) {
    if (offset == 0) return (mask >> base & 1) != 0 ? static_cast<u64>(base) : 0xffffffffU;
    int count = (offset < 0 ? -offset : offset) - 1;
    for (int at = base; at >= 0 && at < 32; at += offset > 0 ? 1 : -1)
        if ((mask >> at & 1) != 0 && count-- == 0) return static_cast<u64>(at);
    return 0xffffffffU;
}

u64 byte_at(u64 pair, u64 n) {
    const u64 byte = pair >> (8 * (n & 7)) & 255;
    return (n & 8) ? (byte > 127 ? 255 : 0) : byte;
}
u64 permuted(u64 a, u64 b, std::array<u64, 4> chosen) {
    const u64 pair = u64{w(b)} << 32 | w(a);
    u64 r = 0;
    for (std::size_t k = 0; k < 4; ++k) r |= byte_at(pair, chosen[k]) << (8 * k);
    return r;
}

const instruction_case logic[] = {
    {"and.b16 %r16, %a16, %b16;", 16, [](u64 a, u64 b, u64) { return a & b; }},
    {"or.b32 %r32, %a32, %b32;", 32, [](u64 a, u64 b, u64) { return a | b; }},
    {"xor.b64 %r64, %a64, %b64;", 64, [](u64 a, u64 b, u64) { return a ^ b; }},
    {"and.b64 %r64, %a64, -256;", 64, [](u64 a, u64, u64) { return a & ~u64{255}; }},
    {"not.b16 %r16, %a16;", 16, [](u64 a, u64, u64) { return ~a; }},
    {"not.b64 %r64, %a64;", 64, [](u64 a, u64, u64) { return ~a; }},
    {"and.pred %p1, %pa, %pb;", 1, [](u64 a, u64 b, u64) { return a & b; }},
    {"xor.pred %p1, %pa, %pb;", 1, [](u64 a, u64 b, u64) { return a ^ b; }},
    {"not.pred %p1, %pa;", 1, [](u64 a, u64, u64) { return ~a; }},
    {"cnot.b16 %r16, %a16;", 16, [](u64 a, u64, u64) { return u64{(a & 0xffff) == 0}; }},
    {"cnot.b32 %r32, %a32;", 32, [](u64 a, u64, u64) { return u64{w(a) == 0}; }},
    {"cnot.b64 %r64, %a64;", 64, [](u64 a, u64, u64) { return u64{a == 0}; }},
    {"lop3.b32 %r32, %a32, %b32, %c32, 0x96;", 32, [](u64 a, u64 b, u64 c) { return a ^ b ^ c; }},
    {"lop3.b32 %r32, %a32, %b32, %c32, 0xe8;", 32, [](u64 a, u64 b, u64 c) { return (a & b) | (a & c) | (b & c); }},
    {"lop3.and.b32 _|%p1, %a32, %b32, %c32, 0x80, %pa;", 1, [](u64 a, u64 b, u64 c) { return u64{w(a & b & c) != 0 && (a & 1) != 0}; }},
    {"lop3.or.b32 %w1|%p2, %a32, %b32, %c32, 0x96, %pb;\nselp.b32 %r32, %w1, 5, %p2;", 32,
     [](u64 a, u64 b, u64 c) { return w(a ^ b ^ c) != 0 || (b & 1) != 0 ? a ^ b ^ c : u64{5}; }},
};

const instruction_case shifts[] = {
    {"shl.b16 %r16, %a16, %b32;", 16, [](u64 a, u64 b, u64) { return w(b) > 15 ? 0 : a << (b & 15); }},
    {"shr.u16 %r16, %a16, %b32;", 16, [](u64 a, u64 b, u64) { return w(b) > 15 ? 0 : (a & 0xffff) >> (b & 15); }},
    {"shr.s16 %r16, %a16, %b32;", 16, [](u64 a, u64 b, u64) { return static_cast<u64>(static_cast<std::int16_t>(a) >> std::min(w(b), 15U)); }},
    {"shl.b32 %r32, %a32, %b32;", 32, [](u64 a, u64 b, u64) { return w(b) > 31 ? 0 : a << (b & 31); }},
    {"shr.b32 %r32, %a32, %b32;", 32, [](u64 a, u64 b, u64) { return w(b) > 31 ? 0 : u64{w(a) >> (b & 31)}; }},
    {"shr.s32 %r32, %a32, %b32;", 32, [](u64 a, u64 b, u64) { return static_cast<u64>(static_cast<std::int32_t>(a) >> std::min(w(b), 31U)); }},
    {"shl.b64 %r64, %a64, %b32;", 64, [](u64 a, u64 b, u64) { return w(b) > 63 ? 0 : a << (b & 63); }},
    {"shr.u64 %r64, %a64, %b32;", 64, [](u64 a, u64 b, u64) { return w(b) > 63 ? 0 : a >> (b & 63); }},
    {"shr.s64 %r64, %a64, %b32;", 64, [](u64 a, u64 b, u64) { return static_cast<u64>(static_cast<std::int64_t>(a) >> std::min(w(b), 63U)); }},
    {"and.b32 %w1, %b32, 63;\nshl.b64 %r64, %a64, %w1;", 64, [](u64 a, u64 b, u64) { return a << (b & 63); }},
    {"and.b32 %w1, %b32, 63;\nshr.s64 %r64, %a64, %w1;", 64, [](u64 a, u64 b, u64) { return static_cast<u64>(static_cast<std::int64_t>(a) >> (b & 63)); }},
    {"shl.b64 %r64, %a64, 5;", 64, [](u64 a, u64, u64) { return a << 5; }},
    {"shl.b64 %r64, %a64, 32;", 64, [](u64 a, u64, u64) { return a << 32; }},
    {"shl.b64 %r64, %a64, 45;", 64, [](u64 a, u64, u64) { return a << 45; }},
    {"shr.u64 %r64, %a64, 1;", 64, [](u64 a, u64, u64) { return a >> 1; }},
    {"shr.u64 %r64, %a64, 33;", 64, [](u64 a, u64, u64) { return a >> 33; }},
    {"shr.s64 %r64, %a64, 63;", 64, [](u64 a, u64, u64) { return a >> 63 ? ~u64{0} : 0; }},
    {"shf.l.wrap.b32 %r32, %a32, %b32, %c32;", 32, [](u64 a, u64 b, u64 c) { return (u64{w(b)} << 32 | w(a)) << (c & 31) >> 32; }},
    {"shf.r.wrap.b32 %r32, %a32, %b32, %c32;", 32, [](u64 a, u64 b, u64 c) { return (u64{w(b)} << 32 | w(a)) >> (c & 31); }},
    {"shf.l.clamp.b32 %r32, %a32, %b32, %c32;", 32, [](u64 a, u64 b, u64 c) { return (u64{w(b)} << 32 | w(a)) << std::min(w(c), 32U) >> 32; }},
    {"shf.r.clamp.b32 %r32, %a32, %b32, %c32;", 32, [](u64 a, u64 b, u64 c) { return (u64{w(b)} << 32 | w(a)) >> std::min(w(c), 32U); }},
    {"shf.l.wrap.b32 %r32, %a32, %a32, 13;", 32, [](u64 a, u64, u64) { return u64{std::rotl(w(a), 13)}; }},
    {"and.b32 %w1, %c32, 63;\nshf.r.clamp.b32 %r32, %a32, %b32, %w1;", 32, [](u64 a, u64 b, u64 c) { return (u64{w(b)} << 32 | w(a)) >> std::min(w(c) & 63U, 32U); }},
};

const instruction_case counts[] = {
    {"popc.b32 %r32, %a32;", 32, [](u64 a, u64, u64) { return static_cast<u64>(std::popcount(w(a))); }},
    {"popc.b64 %r32, %a64;", 32, [](u64 a, u64, u64) { return static_cast<u64>(std::popcount(a)); }},
    {"clz.b32 %r32, %a32;", 32, [](u64 a, u64, u64) { return static_cast<u64>(std::countl_zero(w(a))); }},
    {"clz.b64 %r32, %a64;", 32, [](u64 a, u64, u64) { return static_cast<u64>(std::countl_zero(a)); }},
    {"brev.b32 %r32, %a32;", 32, [](u64 a, u64, u64) { return reversed(a, 32); }},
    {"brev.b64 %r64, %a64;", 64, [](u64 a, u64, u64) { return reversed(a, 64); }},
    {"bfind.u32 %r32, %a32;", 32, [](u64 a, u64, u64) { return highest(a, false, 32, false); }},
    {"bfind.s32 %r32, %a32;", 32, [](u64 a, u64, u64) { return highest(a, true, 32, false); }},
    {"bfind.u64 %r32, %a64;", 32, [](u64 a, u64, u64) { return highest(a, false, 64, false); }},
    {"bfind.s64 %r32, %a64;", 32, [](u64 a, u64, u64) { return highest(a, true, 64, false); }},
    {"bfind.shiftamt.u32 %r32, %a32;", 32, [](u64 a, u64, u64) { return highest(a, false, 32, true); }},
    {"bfind.shiftamt.s64 %r32, %a64;", 32, [](u64 a, u64, u64) { return highest(a, true, 64, true); }},
};

const instruction_case nth_ones[] = {
    {"and.b32 %w1, %b32, 31;\nbfe.s32 %w2, %c32, 3, 6;\nfns.b32 %r32, %a32, %w1, %w2;", 32,
     [](u64 a, u64 b, u64 c) { return nth_one(w(a), static_cast<int>(b & 31), static_cast<int>(c >> 3 & 63) - ((c >> 8 & 1) != 0 ? 64 : 0)); }},
    {"and.b32 %w1, %b32, 31;\nbfe.s32 %w2, %c32, 3, 3;\nfns.b32 %r32, %a32, %w1, %w2;", 32,
     [](u64 a, u64 b, u64 c) { return nth_one(w(a), static_cast<int>(b & 31), static_cast<int>(c >> 3 & 7) - ((c >> 5 & 1) != 0 ? 8 : 0)); }},
    {"and.b32 %w2, %b32, 31;\nadd.u32 %w2, %w2, 1;\nfns.b32 %r32, %a32, 0, %w2;", 32, [](u64 a, u64 b, u64) { return nth_one(w(a), 0, static_cast<int>(b & 31) + 1); }},
    {"and.b32 %w1, %b32, 31;\nfns.b32 %r32, %a32, %w1, 0;", 32, [](u64 a, u64 b, u64) { return nth_one(w(a), static_cast<int>(b & 31), 0); }},
    {"and.b32 %w1, %b32, 31;\nfns.b32 %r32, %a32, %w1, -2;", 32, [](u64 a, u64 b, u64) { return nth_one(w(a), static_cast<int>(b & 31), -2); }},
    {"fns.b32 %r32, %a32, 31, %c32;", 32, [](u64 a, u64, u64 c) { return nth_one(w(a), 31, std::clamp(static_cast<std::int32_t>(w(c)), -99, 99)); }},
    {"fns.b32 %r32, 0xaaaaaaaa, 2, 1;", 32, [](u64, u64, u64) { return u64{3}; }},
    {"fns.b32 %r32, 0xaaaaaaaa, 2, -1;", 32, [](u64, u64, u64) { return u64{1}; }},
};

const instruction_case fields[] = {
    {"bfe.u32 %r32, %a32, %b32, %c32;", 32, [](u64 a, u64 b, u64 c) { return field(w(a), b, c, false, 32); }},
    {"bfe.s32 %r32, %a32, %b32, %c32;", 32, [](u64 a, u64 b, u64 c) { return field(w(a), b, c, true, 32); }},
    {"bfe.u64 %r64, %a64, %b32, %c32;", 64, [](u64 a, u64 b, u64 c) { return field(a, b, c, false, 64); }},
    {"bfe.s64 %r64, %a64, %b32, %c32;", 64, [](u64 a, u64 b, u64 c) { return field(a, b, c, true, 64); }},
    {"and.b32 %w1, %b32, 63;\nand.b32 %w2, %c32, 63;\nbfe.s64 %r64, %a64, %w1, %w2;", 64, [](u64 a, u64 b, u64 c) { return field(a, b & 63, c & 63, true, 64); }},
    {"and.b32 %w1, %b32, 31;\nand.b32 %w2, %c32, 31;\nbfe.s32 %r32, %a32, %w1, %w2;", 32, [](u64 a, u64 b, u64 c) { return field(w(a), b & 31, c & 31, true, 32); }},
    {"bfe.u32 %r32, %a32, 7, 9;", 32, [](u64 a, u64, u64) { return a >> 7 & 511; }},
    {"bfi.b32 %r32, %a32, %b32, %c32, 7;", 32, [](u64 a, u64 b, u64 c) { return inserted(a, w(b), c, 7, 32); }},
    {"bfi.b32 %r32, %a32, %b32, 9, %c32;", 32, [](u64 a, u64 b, u64 c) { return inserted(a, w(b), 9, c, 32); }},
    {"and.b32 %w1, %c32, 63;\nbfi.b64 %r64, %a64, %b64, %w1, 20;", 64, [](u64 a, u64 b, u64 c) { return inserted(a, b, c & 63, 20, 64); }},
    {"bfi.b64 %r64, %a64, %b64, 12, %c32;", 64, [](u64 a, u64 b, u64 c) { return inserted(a, b, 12, c, 64); }},
    {"bmsk.clamp.b32 %r32, %a32, %b32;", 32, [](u64 a, u64 b, u64) {
         u64 r = 0;
         for (u64 k = 0; k < 32; ++k) r |= (k >= w(a) && k - w(a) < w(b) ? u64{1} : 0) << k;
         return r; }},
    {"bmsk.wrap.b32 %r32, %a32, %b32;", 32, [](u64 a, u64 b, u64) { return ((u64{1} << (b & 31)) - 1) << (a & 31); }},
    {"szext.clamp.u32 %r32, %a32, %b32;", 32, [](u64 a, u64 b, u64) { return w(b) > 31 ? a : a & ((u64{1} << (b & 31)) - 1); }},
    {"szext.wrap.s32 %r32, %a32, %b32;", 32, [](u64 a, u64 b, u64) { return field(w(a), 0, b & 31, true, 32); }},
    {"szext.clamp.s32 %r32, %a32, %b32;", 32, [](u64 a, u64 b, u64) { return w(b) > 31 ? a : field(w(a), 0, b & 31, true, 32); }},
};

const instruction_case permutations[] = {
    {"prmt.b32 %r32, %a32, %b32, %c32;", 32, [](u64 a, u64 b, u64 c) { return permuted(a, b, {c & 15, c >> 4 & 15, c >> 8 & 15, c >> 12 & 15}); }},
    {"prmt.b32 %r32, %a32, %b32, 0xf0c3;", 32, [](u64 a, u64 b, u64) { return permuted(a, b, {3, 12, 0, 15}); }},
    {"prmt.b32.f4e %r32, %a32, %b32, %c32;", 32, [](u64 a, u64 b, u64 c) { c &= 3; return permuted(a, b, {c, c + 1, c + 2, c + 3}); }},
    {"prmt.b32.b4e %r32, %a32, %b32, %c32;", 32, [](u64 a, u64 b, u64 c) { c = (c & 3) + 8; return permuted(a, b, {c % 8, (c - 1) % 8, (c - 2) % 8, (c - 3) % 8}); }},
    {"prmt.b32.rc8 %r32, %a32, %b32, %c32;", 32, [](u64 a, u64 b, u64 c) { c &= 3; return permuted(a, b, {c, c, c, c}); }},
    {"prmt.b32.ecl %r32, %a32, %b32, %c32;", 32, [](u64 a, u64 b, u64 c) { c &= 3; return permuted(a, b, {std::max<u64>(0, c), std::max<u64>(1, c), std::max<u64>(2, c), 3}); }},
    {"prmt.b32.ecr %r32, %a32, %b32, %c32;", 32, [](u64 a, u64 b, u64 c) { c &= 3; return permuted(a, b, {0, std::min<u64>(1, c), std::min<u64>(2, c), std::min<u64>(3, c)}); }},
    {"prmt.b32.rc16 %r32, %a32, %b32, %c32;", 32, [](u64 a, u64 b, u64 c) { c = (c & 1) * 2; return permuted(a, b, {c, c + 1, c, c + 1}); }},
};

}  // namespace

TEST_CASE("logic of words, pairs and predicates") { check_all(logic, 1); }
TEST_CASE("shifts with amounts beyond the width, funnel shifts") { check_all(shifts, 100); }
TEST_CASE("counts, reversal, highest bits") { check_all(counts, 200); }
TEST_CASE("the n-th one from a base, up and down") { check_all(nth_ones, 250); }
TEST_CASE("bit fields, masks, extensions of low bits") { check_all(fields, 300); }
TEST_CASE("permutations of bytes, in all modes") { check_all(permutations, 400); }
