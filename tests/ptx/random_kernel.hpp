// SPDX-License-Identifier: MIT
// Random PTX kernels with their meaning: a tree of instructions, branches and loops that is written as PTX text and run
// directly on the host. The host's rules are written here from the PTX manual, with nothing of the compiler.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <functional>
#include <memory>
#include <random>
#include <string>
#include <string_view>
#include <vector>

namespace qwengpu::test {

using u32 = std::uint32_t;
using s32 = std::int32_t;
using u64 = std::uint64_t;
using s64 = std::int64_t;

/// An instruction: its text with $0 (result) to $4, the kinds of these operands (r 32 bits, d 64 bits, p predicate), and
/// what it computes.
struct random_op {
    std::string_view text;
    std::string_view kinds;
    std::function<u64(u64, u64, u64, u64)> result;
};

inline u64 low(u64 x) { return x & 0xffffffffULL; }
inline s64 sx(u64 x) { return static_cast<s32>(static_cast<u32>(x)); }
inline u64 sx16(u64 x) { return static_cast<u64>(static_cast<s64>(static_cast<std::int16_t>(x))); }

inline u64 shl32(u64 a, u64 n) { return n > 31 ? 0 : low(a << n); }
inline u64 shr32(u64 a, u64 n) { return n > 31 ? 0 : low(a) >> n; }
inline u64 sar32(u64 a, u64 n) { return low(static_cast<u64>(sx(a) >> std::min<u64>(n, 31))); }
inline u64 shr64(u64 a, u64 n) { return n > 63 ? 0 : a >> n; }

/// bfe by the manual: bit by bit, sign bit at min(position + length - 1, 31).
inline u64 bfe(u64 a, u64 b, u64 c, bool is_signed) {
    const u64 position = b & 255, length = c & 255;
    const u64 at = length == 0 ? 0 : std::min<u64>(position + length - 1, 31);
    const bool sign = is_signed && length != 0 && ((a >> at) & 1) != 0;
    u64 d = 0;
    for (u64 i = 0; i < 32; ++i) {
        const bool bit = i < length && position + i <= 31 ? ((a >> (position + i)) & 1) != 0 : sign;
        d |= u64{bit} << i;
    }
    return d;
}

inline u64 bfi(u64 a, u64 b, u64 c, u64 e) {
    const u64 position = c & 255, length = e & 255;
    for (u64 i = 0; i < length && position + i <= 31; ++i) {
        b &= ~(1ULL << (position + i));
        b |= ((a >> i) & 1) << (position + i);
    }
    return b;
}

inline u64 prmt(u64 a, u64 b, u64 c) {
    const u64 both = low(b) << 32 | low(a);
    u64 d = 0;
    for (unsigned k = 0; k < 4; ++k) {
        const u64 nibble = (c >> (4 * k)) & 15;
        u64 byte = (both >> (8 * (nibble & 7))) & 255;
        if (nibble & 8) byte = (byte & 128) ? 255 : 0;
        d |= byte << (8 * k);
    }
    return d;
}

inline u64 div_u(u64 a, u64 b) { return b == 0 ? 0xffffffffULL : a / b; }
inline u64 rem_u(u64 a, u64 b) { return b == 0 ? a : a % b; }
inline u64 div_s(u64 a, u64 b) { return b == 0 ? 0xffffffffULL : low(static_cast<u64>(sx(a) / sx(b))); }
inline u64 rem_s(u64 a, u64 b) { return b == 0 ? a : low(static_cast<u64>(sx(a) % sx(b))); }

/// All instructions that the test knows. Operands of kind r come as their 32 bits, results are cut to their width.
inline const std::vector<random_op>& random_ops() {
    static const std::vector<random_op> ops{
        {"add.s32 $0, $1, $2;", "rrr", [](u64 a, u64 b, u64, u64) { return a + b; }},
        {"sub.u32 $0, $1, $2;", "rrr", [](u64 a, u64 b, u64, u64) { return a - b; }},
        {"add.sat.s32 $0, $1, $2;", "rrr", [](u64 a, u64 b, u64, u64) { return static_cast<u64>(std::clamp<s64>(sx(a) + sx(b), INT32_MIN, INT32_MAX)); }},
        {"sub.sat.s32 $0, $1, $2;", "rrr", [](u64 a, u64 b, u64, u64) { return static_cast<u64>(std::clamp<s64>(sx(a) - sx(b), INT32_MIN, INT32_MAX)); }},
        {"mul.lo.s32 $0, $1, $2;", "rrr", [](u64 a, u64 b, u64, u64) { return a * b; }},
        {"mul.hi.u32 $0, $1, $2;", "rrr", [](u64 a, u64 b, u64, u64) { return a * b >> 32; }},
        {"mul.hi.s32 $0, $1, $2;", "rrr", [](u64 a, u64 b, u64, u64) { return static_cast<u64>(sx(a) * sx(b)) >> 32; }},
        {"mad.lo.u32 $0, $1, $2, $3;", "rrrr", [](u64 a, u64 b, u64 c, u64) { return a * b + c; }},
        {"mad.hi.s32 $0, $1, $2, $3;", "rrrr", [](u64 a, u64 b, u64 c, u64) { return (static_cast<u64>(sx(a) * sx(b)) >> 32) + c; }},
        {"mul24.lo.u32 $0, $1, $2;", "rrr", [](u64 a, u64 b, u64, u64) { return (a & 0xffffff) * (b & 0xffffff); }},
        {"mul24.hi.s32 $0, $1, $2;", "rrr", [](u64 a, u64 b, u64, u64) { return static_cast<u64>((sx(a << 8) >> 8) * (sx(b << 8) >> 8)) >> 16; }},
        {"div.u32 $0, $1, $2;", "rrr", [](u64 a, u64 b, u64, u64) { return div_u(a, b); }},
        {"rem.u32 $0, $1, $2;", "rrr", [](u64 a, u64 b, u64, u64) { return rem_u(a, b); }},
        {"div.s32 $0, $1, $2;", "rrr", [](u64 a, u64 b, u64, u64) { return div_s(a, b); }},
        {"rem.s32 $0, $1, $2;", "rrr", [](u64 a, u64 b, u64, u64) { return rem_s(a, b); }},
        {"min.s32 $0, $1, $2;", "rrr", [](u64 a, u64 b, u64, u64) { return static_cast<u64>(std::min(sx(a), sx(b))); }},
        {"max.u32 $0, $1, $2;", "rrr", [](u64 a, u64 b, u64, u64) { return std::max(a, b); }},
        {"abs.s32 $0, $1;", "rr", [](u64 a, u64, u64, u64) { return static_cast<u64>(sx(a) < 0 ? -sx(a) : sx(a)); }},
        {"neg.s32 $0, $1;", "rr", [](u64 a, u64, u64, u64) { return 0 - a; }},
        {"sad.u32 $0, $1, $2, $3;", "rrrr", [](u64 a, u64 b, u64 c, u64) { return c + (a < b ? b - a : a - b); }},
        {"sad.s32 $0, $1, $2, $3;", "rrrr", [](u64 a, u64 b, u64 c, u64) { return c + static_cast<u64>(std::max(sx(a), sx(b)) - std::min(sx(a), sx(b))); }},
        {"and.b32 $0, $1, $2;", "rrr", [](u64 a, u64 b, u64, u64) { return a & b; }},
        {"or.b32 $0, $1, $2;", "rrr", [](u64 a, u64 b, u64, u64) { return a | b; }},
        {"xor.b32 $0, $1, $2;", "rrr", [](u64 a, u64 b, u64, u64) { return a ^ b; }},
        {"not.b32 $0, $1;", "rr", [](u64 a, u64, u64, u64) { return ~a; }},
        {"cnot.b32 $0, $1;", "rr", [](u64 a, u64, u64, u64) { return u64{a == 0}; }},
        {"lop3.b32 $0, $1, $2, $3, 0x96;", "rrrr", [](u64 a, u64 b, u64 c, u64) { return a ^ b ^ c; }},
        {"lop3.b32 $0, $1, $2, $3, 0xca;", "rrrr", [](u64 a, u64 b, u64 c, u64) { return (a & b) | (~a & c); }},
        {"shl.b32 $0, $1, $2;", "rrr", [](u64 a, u64 b, u64, u64) { return shl32(a, b); }},
        {"shr.u32 $0, $1, $2;", "rrr", [](u64 a, u64 b, u64, u64) { return shr32(a, b); }},
        {"shr.s32 $0, $1, $2;", "rrr", [](u64 a, u64 b, u64, u64) { return sar32(a, b); }},
        {"shf.l.wrap.b32 $0, $1, $2, $3;", "rrrr", [](u64 a, u64 b, u64 c, u64) { return (b << 32 | a) << (c & 31) >> 32; }},
        {"shf.r.clamp.b32 $0, $1, $2, $3;", "rrrr", [](u64 a, u64 b, u64 c, u64) { return (b << 32 | a) >> std::min<u64>(c, 32); }},
        {"popc.b32 $0, $1;", "rr", [](u64 a, u64, u64, u64) { return static_cast<u64>(std::popcount(a)); }},
        {"clz.b32 $0, $1;", "rr", [](u64 a, u64, u64, u64) { return static_cast<u64>(std::countl_zero(static_cast<u32>(a))); }},
        {"brev.b32 $0, $1;", "rr", [](u64 a, u64, u64, u64) { u64 r = 0; for (int i = 0; i < 32; ++i) r |= ((a >> i) & 1) << (31 - i); return r; }},
        {"bfind.u32 $0, $1;", "rr", [](u64 a, u64, u64, u64) { return static_cast<u64>(31 - std::countl_zero(static_cast<u32>(a))); }},
        {"bfind.shiftamt.s32 $0, $1;", "rr", [](u64 a, u64, u64, u64) {
             const u32 x = static_cast<u32>(sx(a) < 0 ? ~a : a);
             return static_cast<u64>(x == 0 ? -1 : std::countl_zero(x)); }},
        {"bfe.u32 $0, $1, $2, $3;", "rrrr", [](u64 a, u64 b, u64 c, u64) { return bfe(a, b, c, false); }},
        {"bfe.s32 $0, $1, $2, $3;", "rrrr", [](u64 a, u64 b, u64 c, u64) { return bfe(a, b, c, true); }},
        {"bfi.b32 $0, $1, $2, $3, $4;", "rrrrr", bfi},
        {"prmt.b32 $0, $1, $2, $3;", "rrrr", [](u64 a, u64 b, u64 c, u64) { return prmt(a, b, c); }},
        {"setp.lt.s32 $0, $1, $2;", "prr", [](u64 a, u64 b, u64, u64) { return u64{sx(a) < sx(b)}; }},
        {"setp.hs.u32 $0, $1, $2;", "prr", [](u64 a, u64 b, u64, u64) { return u64{a >= b}; }},
        {"setp.eq.and.s32 $0, $1, $2, $3;", "prrp", [](u64 a, u64 b, u64 c, u64) { return u64{a == b} & c; }},
        {"setp.gt.xor.u32 $0, $1, $2, !$3;", "prrp", [](u64 a, u64 b, u64 c, u64) { return u64{a > b} ^ (c ^ 1); }},
        {"set.le.or.u32.s32 $0, $1, $2, $3;", "rrrp", [](u64 a, u64 b, u64 c, u64) { return sx(a) <= sx(b) || c != 0 ? ~0ULL : 0; }},
        {"and.pred $0, $1, $2;", "ppp", [](u64 a, u64 b, u64, u64) { return a & b; }},
        {"xor.pred $0, $1, $2;", "ppp", [](u64 a, u64 b, u64, u64) { return a ^ b; }},
        {"not.pred $0, $1;", "pp", [](u64 a, u64, u64, u64) { return a ^ 1; }},
        {"selp.b32 $0, $1, $2, $3;", "rrrp", [](u64 a, u64 b, u64 c, u64) { return c != 0 ? a : b; }},
        {"slct.u32.s32 $0, $1, $2, $3;", "rrrr", [](u64 a, u64 b, u64 c, u64) { return sx(c) >= 0 ? a : b; }},
        {"mul.wide.s32 $0, $1, $2;", "drr", [](u64 a, u64 b, u64, u64) { return static_cast<u64>(sx(a) * sx(b)); }},
        {"mad.wide.u32 $0, $1, $2, $3;", "drrd", [](u64 a, u64 b, u64 c, u64) { return a * b + c; }},
        {"add.s64 $0, $1, $2;", "ddd", [](u64 a, u64 b, u64, u64) { return a + b; }},
        {"sub.s64 $0, $1, $2;", "ddd", [](u64 a, u64 b, u64, u64) { return a - b; }},
        {"mul.lo.s64 $0, $1, $2;", "ddd", [](u64 a, u64 b, u64, u64) { return a * b; }},
        {"xor.b64 $0, $1, $2;", "ddd", [](u64 a, u64 b, u64, u64) { return a ^ b; }},
        {"neg.s64 $0, $1;", "dd", [](u64 a, u64, u64, u64) { return 0 - a; }},
        {"min.s64 $0, $1, $2;", "ddd", [](u64 a, u64 b, u64, u64) { return static_cast<s64>(a) < static_cast<s64>(b) ? a : b; }},
        {"shl.b64 $0, $1, $2;", "ddr", [](u64 a, u64 b, u64, u64) { return b > 63 ? 0 : a << b; }},
        {"shr.u64 $0, $1, $2;", "ddr", [](u64 a, u64 b, u64, u64) { return shr64(a, b); }},
        {"shr.s64 $0, $1, $2;", "ddr", [](u64 a, u64 b, u64, u64) { return static_cast<u64>(static_cast<s64>(a) >> std::min<u64>(b, 63)); }},
        {"setp.lt.s64 $0, $1, $2;", "pdd", [](u64 a, u64 b, u64, u64) { return u64{static_cast<s64>(a) < static_cast<s64>(b)}; }},
        {"setp.ge.u64 $0, $1, $2;", "pdd", [](u64 a, u64 b, u64, u64) { return u64{a >= b}; }},
        {"setp.ne.s64 $0, $1, $2;", "pdd", [](u64 a, u64 b, u64, u64) { return u64{a != b}; }},
        {"selp.b64 $0, $1, $2, $3;", "dddp", [](u64 a, u64 b, u64 c, u64) { return c != 0 ? a : b; }},
        {"cvt.s64.s32 $0, $1;", "dr", [](u64 a, u64, u64, u64) { return static_cast<u64>(sx(a)); }},
        {"cvt.u64.u32 $0, $1;", "dr", [](u64 a, u64, u64, u64) { return a; }},
        {"cvt.u32.u64 $0, $1;", "rd", [](u64 a, u64, u64, u64) { return a; }},
        {"cvt.s32.s8 $0, $1;", "rr", [](u64 a, u64, u64, u64) { return static_cast<u64>(static_cast<s64>(static_cast<std::int8_t>(a))); }},
        {"cvt.u32.u16 $0, $1;", "rr", [](u64 a, u64, u64, u64) { return a & 0xffff; }},
        {"popc.b64 $0, $1;", "rd", [](u64 a, u64, u64, u64) { return static_cast<u64>(std::popcount(a)); }},
        {"clz.b64 $0, $1;", "rd", [](u64 a, u64, u64, u64) { return static_cast<u64>(std::countl_zero(a)); }},
        {"{ cvt.u16.u32 %h0, $1; cvt.u16.u32 %h1, $2; add.s16 %h2, %h0, %h1; cvt.s32.s16 $0, %h2; }", "rrr",
         [](u64 a, u64 b, u64, u64) { return sx16(a + b); }},
        {"{ cvt.u16.u32 %h0, $1; cvt.u16.u32 %h1, $2; mul.wide.s16 $0, %h0, %h1; }", "rrr",
         [](u64 a, u64 b, u64, u64) { return sx16(a) * sx16(b); }},
        {"{ cvt.u16.u32 %h0, $1; cvt.u16.u32 %h1, $2; setp.lt.s16 $0, %h0, %h1; }", "prr",
         [](u64 a, u64 b, u64, u64) { return u64{static_cast<std::int16_t>(a) < static_cast<std::int16_t>(b)}; }},
        {"{ cvt.u16.u32 %h0, $1; cvt.u16.u32 %h1, $2; shr.s16 %h2, %h0, 3; min.u16 %h3, %h2, %h1; cvt.u32.u16 $0, %h3; }", "rrr",
         [](u64 a, u64 b, u64, u64) { return std::min<u64>((sx16(a) >> 3) & 0xffff, b & 0xffff); }},
    };
    return ops;
}

}  // namespace qwengpu::test
