// SPDX-License-Identifier: MIT
// Integer arithmetic of PTX in 16, 32 and 64 bits, each instruction compiled by itself and compared with 128-bit arithmetic
// of the host.
#include <algorithm>
#include <bit>
#include <cstdint>

#include "support/catch.hpp"

#include "instruction_bench.hpp"

namespace {

using namespace qwengpu::test;
using i16 = std::int16_t;
using i32 = std::int32_t;
using i64 = std::int64_t;
using u16 = std::uint16_t;
using u32 = std::uint32_t;
__extension__ using u128 = unsigned __int128;
__extension__ using i128 = __int128;

constexpr i64 s16(u64 x) { return static_cast<i16>(x); }
constexpr i64 s32(u64 x) { return static_cast<i32>(x); }
constexpr i64 s64(u64 x) { return static_cast<i64>(x); }
constexpr u64 z16(u64 x) { return static_cast<u16>(x); }
constexpr u64 z32(u64 x) { return static_cast<u32>(x); }
constexpr u64 of(i64 x) { return static_cast<u64>(x); }
constexpr u64 of128(i128 x) { return static_cast<u64>(x); }
constexpr u64 saturated(i64 x) { return of(std::clamp<i64>(x, INT32_MIN, INT32_MAX)); }
constexpr i64 s24(u64 x) { return s32(x << 8) >> 8; }
constexpr u64 z24(u64 x) { return x & 0xffffffU; }
constexpr u64 byte_of(u64 x, int k) { return x >> (8 * k) & 255; }
constexpr i64 s8_of(u64 x, int k) { return static_cast<std::int8_t>(x >> (8 * k)); }

const instruction_case sums[] = {
    {"add.u16 %r16, %a16, %b16;", 16, [](u64 a, u64 b, u64) { return a + b; }},
    {"add.s16 %r16, %a16, -5;", 16, [](u64 a, u64, u64) { return a - 5; }},
    {"add.s32 %r32, %a32, %b32;", 32, [](u64 a, u64 b, u64) { return a + b; }},
    {"add.u64 %r64, %a64, %b64;", 64, [](u64 a, u64 b, u64) { return a + b; }},
    {"add.s64 %r64, %a64, -1;", 64, [](u64 a, u64, u64) { return a - 1; }},
    {"add.s64 %r64, %a64, 81985529216486895;", 64, [](u64 a, u64, u64) { return a + 81985529216486895U; }},
    {"sub.s16 %r16, %a16, %b16;", 16, [](u64 a, u64 b, u64) { return a - b; }},
    {"sub.u32 %r32, %a32, %b32;", 32, [](u64 a, u64 b, u64) { return a - b; }},
    {"sub.s64 %r64, %a64, %b64;", 64, [](u64 a, u64 b, u64) { return a - b; }},
    {"sub.s64 %r64, 0, %b64;", 64, [](u64, u64 b, u64) { return 0 - b; }},
    {"add.sat.s32 %r32, %a32, %b32;", 32, [](u64 a, u64 b, u64) { return saturated(s32(a) + s32(b)); }},
    {"sub.sat.s32 %r32, %a32, %b32;", 32, [](u64 a, u64 b, u64) { return saturated(s32(a) - s32(b)); }},
    {"neg.s16 %r16, %a16;", 16, [](u64 a, u64, u64) { return 0 - a; }},
    {"neg.s32 %r32, %a32;", 32, [](u64 a, u64, u64) { return 0 - a; }},
    {"neg.s64 %r64, %a64;", 64, [](u64 a, u64, u64) { return 0 - a; }},
    {"abs.s16 %r16, %a16;", 16, [](u64 a, u64, u64) { return s16(a) < 0 ? 0 - a : a; }},
    {"abs.s32 %r32, %a32;", 32, [](u64 a, u64, u64) { return s32(a) < 0 ? 0 - a : a; }},
    {"abs.s64 %r64, %a64;", 64, [](u64 a, u64, u64) { return s64(a) < 0 ? 0 - a : a; }},
};

const instruction_case carries[] = {
    {"add.cc.u32 %w1, %a32, %b32;\naddc.u32 %r32, 0, 0;", 32, [](u64 a, u64 b, u64) { return (z32(a) + z32(b)) >> 32; }},
    {"add.cc.u32 %w1, %a32, %b32;\naddc.cc.u32 %w2, %a32, %c32;\naddc.u32 %r32, %w2, 0;", 32,
     [](u64 a, u64 b, u64 c) { const u64 in = (z32(a) + z32(b)) >> 32, all = z32(a) + z32(c) + in; return all + (all >> 32); }},
    {"sub.cc.s32 %w1, %a32, %b32;\nsubc.cc.s32 %w2, %a32, %c32;\nsubc.s32 %r32, %w2, 0;", 32,
     [](u64 a, u64 b, u64 c) { const u64 in = z32(a) < z32(b) ? 1 : 0, out = z32(a) < z32(c) + in ? 1 : 0; return a - c - in - out; }},
    {"add.cc.u64 %d1, %a64, %b64;\naddc.u64 %r64, %c64, 0;", 64, [](u64 a, u64 b, u64 c) { return c + static_cast<u64>((u128{a} + b) >> 64); }},
    {"add.cc.s64 %d1, %a64, %b64;\naddc.cc.s64 %d2, %b64, %c64;\naddc.s64 %r64, %d2, 0;", 64,
     [](u64 a, u64 b, u64 c) { const u128 all = u128{b} + c + ((u128{a} + b) >> 64); return static_cast<u64>(all + (all >> 64)); }},
    {"sub.cc.u64 %d1, %a64, %b64;\nsubc.cc.u64 %d2, %b64, %c64;\nsubc.u64 %r64, %d2, 0;", 64,
     [](u64 a, u64 b, u64 c) { const u64 in = a < b ? 1 : 0; return b - c - in - (u128{b} < u128{c} + in ? 1 : 0); }},
    {"mad.lo.cc.u32 %w1, %a32, %b32, %c32;\nmadc.hi.u32 %r32, %a32, %b32, 0;", 32, [](u64 a, u64 b, u64 c) { return (z32(a) * z32(b) + z32(c)) >> 32; }},
    {"mad.hi.cc.u32 %w1, %a32, %b32, %c32;\nmadc.lo.cc.u32 %w2, %a32, %c32, %b32;\naddc.u32 %r32, %w2, 0;", 32,
     [](u64 a, u64 b, u64 c) {
         const u64 in = ((z32(a) * z32(b) >> 32) + z32(c)) >> 32, all = z32(a * c) + z32(b) + in;
         return all + (all >> 32);
     }},
    {"mad.lo.cc.u64 %d1, %a64, %b64, %c64;\nmadc.hi.u64 %r64, %a64, %b64, 0;", 64,
     [](u64 a, u64 b, u64 c) { return static_cast<u64>((u128{a} * b + c) >> 64); }},
    {"mad.lo.cc.s64 %d1, %a64, %b64, %c64;\nmadc.hi.cc.s64 %d2, %a64, %b64, %c64;\naddc.s64 %r64, %d2, 0;", 64,
     [](u64 a, u64 b, u64 c) {
         const u64 in = static_cast<u64>((u128{a * b} + c) >> 64), high = of128(i128{s64(a)} * s64(b) >> 64);
         const u128 all = u128{high} + c + in;
         return static_cast<u64>(all + (all >> 64));
     }},
};

const instruction_case products[] = {
    {"mul.lo.s16 %r16, %a16, %b16;", 16, [](u64 a, u64 b, u64) { return a * b; }},
    {"mul.hi.s16 %r16, %a16, %b16;", 16, [](u64 a, u64 b, u64) { return of(s16(a) * s16(b) >> 16); }},
    {"mul.hi.u16 %r16, %a16, %b16;", 16, [](u64 a, u64 b, u64) { return z16(a) * z16(b) >> 16; }},
    {"mul.wide.s16 %r32, %a16, %b16;", 32, [](u64 a, u64 b, u64) { return of(s16(a) * s16(b)); }},
    {"mul.wide.u16 %r32, %a16, %b16;", 32, [](u64 a, u64 b, u64) { return z16(a) * z16(b); }},
    {"mul.lo.s32 %r32, %a32, %b32;", 32, [](u64 a, u64 b, u64) { return a * b; }},
    {"mul.hi.s32 %r32, %a32, %b32;", 32, [](u64 a, u64 b, u64) { return of(s32(a) * s32(b) >> 32); }},
    {"mul.hi.u32 %r32, %a32, %b32;", 32, [](u64 a, u64 b, u64) { return z32(a) * z32(b) >> 32; }},
    {"mul.wide.s32 %r64, %a32, %b32;", 64, [](u64 a, u64 b, u64) { return of(s32(a) * s32(b)); }},
    {"mul.wide.u32 %r64, %a32, %b32;", 64, [](u64 a, u64 b, u64) { return z32(a) * z32(b); }},
    {"mul.lo.u64 %r64, %a64, %b64;", 64, [](u64 a, u64 b, u64) { return a * b; }},
    {"mul.hi.u64 %r64, %a64, %b64;", 64, [](u64 a, u64 b, u64) { return static_cast<u64>(u128{a} * b >> 64); }},
    {"mul.hi.s64 %r64, %a64, %b64;", 64, [](u64 a, u64 b, u64) { return of128(i128{s64(a)} * s64(b) >> 64); }},
    {"mul.hi.s64 %r64, %a64, 7378697629483820647;", 64, [](u64 a, u64, u64) { return of128(i128{s64(a)} * 7378697629483820647LL >> 64); }},
    {"mad.lo.u16 %r16, %a16, %b16, %c16;", 16, [](u64 a, u64 b, u64 c) { return a * b + c; }},
    {"mad.hi.s16 %r16, %a16, %b16, %c16;", 16, [](u64 a, u64 b, u64 c) { return of(s16(a) * s16(b) >> 16) + c; }},
    {"mad.wide.s16 %r32, %a16, %b16, %c32;", 32, [](u64 a, u64 b, u64 c) { return of(s16(a) * s16(b)) + c; }},
    {"mad.lo.s32 %r32, %a32, %b32, %c32;", 32, [](u64 a, u64 b, u64 c) { return a * b + c; }},
    {"mad.hi.u32 %r32, %a32, %b32, %c32;", 32, [](u64 a, u64 b, u64 c) { return (z32(a) * z32(b) >> 32) + c; }},
    {"mad.hi.sat.s32 %r32, %a32, %b32, %c32;", 32, [](u64 a, u64 b, u64 c) { return saturated((s32(a) * s32(b) >> 32) + s32(c)); }},
    {"mad.wide.u32 %r64, %a32, %b32, %c64;", 64, [](u64 a, u64 b, u64 c) { return z32(a) * z32(b) + c; }},
    {"mad.wide.s32 %r64, %a32, %b32, %c64;", 64, [](u64 a, u64 b, u64 c) { return of(s32(a) * s32(b)) + c; }},
    {"mad.lo.s64 %r64, %a64, %b64, %c64;", 64, [](u64 a, u64 b, u64 c) { return a * b + c; }},
    {"mad.hi.u64 %r64, %a64, %b64, %c64;", 64, [](u64 a, u64 b, u64 c) { return static_cast<u64>(u128{a} * b >> 64) + c; }},
    {"mul24.lo.s32 %r32, %a32, %b32;", 32, [](u64 a, u64 b, u64) { return of(s24(a) * s24(b)); }},
    {"mul24.hi.s32 %r32, %a32, %b32;", 32, [](u64 a, u64 b, u64) { return of(s24(a) * s24(b) >> 16); }},
    {"mul24.hi.u32 %r32, %a32, %b32;", 32, [](u64 a, u64 b, u64) { return z24(a) * z24(b) >> 16; }},
    {"mad24.lo.u32 %r32, %a32, %b32, %c32;", 32, [](u64 a, u64 b, u64 c) { return z24(a) * z24(b) + c; }},
    {"mad24.hi.sat.s32 %r32, %a32, %b32, %c32;", 32, [](u64 a, u64 b, u64 c) { return saturated(s32(of(s24(a) * s24(b) >> 16)) + s32(c)); }},
    {"dp4a.u32.u32 %r32, %a32, %b32, %c32;", 32,
     [](u64 a, u64 b, u64 c) { for (int k = 0; k < 4; ++k) c += byte_of(a, k) * byte_of(b, k); return c; }},
    {"dp4a.s32.u32 %r32, %a32, %b32, %c32;", 32,
     [](u64 a, u64 b, u64 c) { for (int k = 0; k < 4; ++k) c += of(s8_of(a, k)) * byte_of(b, k); return c; }},
    {"dp4a.s32.s32 %r32, %a32, %b32, %c32;", 32,
     [](u64 a, u64 b, u64 c) { for (int k = 0; k < 4; ++k) c += of(s8_of(a, k) * s8_of(b, k)); return c; }},
    {"dp2a.lo.s32.u32 %r32, %a32, %b32, %c32;", 32, [](u64 a, u64 b, u64 c) { return c + of(s16(a)) * byte_of(b, 0) + of(s16(a >> 16)) * byte_of(b, 1); }},
    {"dp2a.hi.u32.s32 %r32, %a32, %b32, %c32;", 32, [](u64 a, u64 b, u64 c) { return c + z16(a) * of(s8_of(b, 2)) + z16(a >> 16) * of(s8_of(b, 3)); }},
};

const instruction_case quotients[] = {
    {"div.u16 %r16, %a16, %b16;", 16, [](u64 a, u64 b, u64) { return z16(b) == 0 ? ~u64{0} : z16(a) / z16(b); }},
    {"rem.s16 %r16, %a16, %b16;", 16, [](u64 a, u64 b, u64) { return s16(b) == 0 ? a : of(s16(a) % s16(b)); }},
    {"div.s32 %r32, %a32, %b32;", 32, [](u64 a, u64 b, u64) { return s32(b) == 0 ? ~u64{0} : of(s32(a) / s32(b)); }},
    {"rem.u32 %r32, %a32, %b32;", 32, [](u64 a, u64 b, u64) { return z32(b) == 0 ? a : z32(a) % z32(b); }},
    {"div.u64 %r64, %a64, %b64;", 64, [](u64 a, u64 b, u64) { return b == 0 ? ~u64{0} : a / b; }},
    {"rem.u64 %r64, %a64, %b64;", 64, [](u64 a, u64 b, u64) { return b == 0 ? a : a % b; }},
    {"div.s64 %r64, %a64, %b64;", 64, [](u64 a, u64 b, u64) { return b == 0 ? ~u64{0} : of128(i128{s64(a)} / s64(b)); }},
    {"rem.s64 %r64, %a64, %b64;", 64, [](u64 a, u64 b, u64) { return b == 0 ? a : of128(i128{s64(a)} % s64(b)); }},
    {"div.u64 %d1, %a64, %b64;\nrem.u64 %d2, %a64, %b64;\nmad.lo.u64 %r64, %d1, %b64, %d2;", 64, [](u64 a, u64, u64) { return a; }},
    {"div.u64 %r64, %a64, 1000000007;", 64, [](u64 a, u64, u64) { return a / 1000000007U; }},
    {"rem.s64 %r64, %a64, -10;", 64, [](u64 a, u64, u64) { return of(s64(a) % -10); }},
};

const instruction_case extremes[] = {
    {"min.s16 %r16, %a16, %b16;", 16, [](u64 a, u64 b, u64) { return of(std::min(s16(a), s16(b))); }},
    {"max.u16 %r16, %a16, %b16;", 16, [](u64 a, u64 b, u64) { return std::max(z16(a), z16(b)); }},
    {"min.u32 %r32, %a32, %b32;", 32, [](u64 a, u64 b, u64) { return std::min(z32(a), z32(b)); }},
    {"max.s32 %r32, %a32, %b32;", 32, [](u64 a, u64 b, u64) { return of(std::max(s32(a), s32(b))); }},
    {"min.relu.s32 %r32, %a32, %b32;", 32, [](u64 a, u64 b, u64) { return of(std::max<i64>(0, std::min(s32(a), s32(b)))); }},
    {"min.s64 %r64, %a64, %b64;", 64, [](u64 a, u64 b, u64) { return of(std::min(s64(a), s64(b))); }},
    {"max.u64 %r64, %a64, %b64;", 64, [](u64 a, u64 b, u64) { return std::max(a, b); }},
    {"add.u16x2 %r32, %a32, %b32;", 32, [](u64 a, u64 b, u64) { return z16(a + b) | ((a >> 16) + (b >> 16)) << 16; }},
    {"min.s16x2 %r32, %a32, %b32;", 32, [](u64 a, u64 b, u64) { return z16(of(std::min(s16(a), s16(b)))) | of(std::min(s16(a >> 16), s16(b >> 16))) << 16; }},
    {"max.u16x2 %r32, %a32, %b32;", 32, [](u64 a, u64 b, u64) { return std::max(z16(a), z16(b)) | std::max(z16(a >> 16), z16(b >> 16)) << 16; }},
    {"max.relu.s16x2 %r32, %a32, %b32;", 32, [](u64 a, u64 b, u64) { return of(std::max({s16(a), s16(b), i64{0}})) | of(std::max({s16(a >> 16), s16(b >> 16), i64{0}})) << 16; }},
    {"sad.u16 %r16, %a16, %b16, %c16;", 16, [](u64 a, u64 b, u64 c) { return c + (z16(a) < z16(b) ? b - a : a - b); }},
    {"sad.s32 %r32, %a32, %b32, %c32;", 32, [](u64 a, u64 b, u64 c) { return c + (s32(a) < s32(b) ? b - a : a - b); }},
    {"sad.s64 %r64, %a64, %b64, %c64;", 64, [](u64 a, u64 b, u64 c) { return c + (s64(a) < s64(b) ? b - a : a - b); }},
};

}  // namespace

TEST_CASE("sums, differences, negation, magnitudes in every width") { check_all(sums, 1); }
TEST_CASE("carry and borrow chains in 32 and 64 bits") { check_all(carries, 100); }
TEST_CASE("products: low, high, wide, with sums, of 24 bits, of bytes") { check_all(products, 200); }
TEST_CASE("quotients and rests in every width, by zero too") { check_all(quotients, 300); }
TEST_CASE("minimum, maximum, sum of absolute differences") { check_all(extremes, 400); }
