// SPDX-License-Identifier: MIT
// CUDA for clang without a toolkit, part 4: integer functions on the bytes or half words of a word, and the minima and maxima of dynamic
// programming (DPX). A word is computed with at once: `top` has the highest bit of each lane, carries do not leave a lane.
#pragma once

#include <string_view>

namespace qwengpu::cuda::detail {

inline constexpr std::string_view device_header_simd = R"cuda(
template <unsigned top> struct qg_lanes {
    static constexpr unsigned low = ~top, bits = top == 0x80008000u ? 16 : 8, ones = top >> (bits - 1), even = ~ones;
    // All bits of each lane as its highest bit.
    static __device__ QG_INLINE unsigned spread(unsigned x) { return __nvvm_prmt(x, 0, bits == 16 ? 0xbb99 : 0xba98); }
    static __device__ QG_INLINE unsigned pick(unsigned mask, unsigned yes, unsigned no) { return (yes & mask) | (no & ~mask); }
    static __device__ QG_INLINE unsigned add(unsigned a, unsigned b) { return ((a & low) + (b & low)) ^ ((a ^ b) & top); }
    static __device__ QG_INLINE unsigned sub(unsigned a, unsigned b) { return ((a | top) - (b & low)) ^ ((a ^ ~b) & top); }
    static __device__ QG_INLINE unsigned addus(unsigned a, unsigned b) { const unsigned s = add(a, b); return s | spread((a & b) | ((a | b) & ~s)); }
    static __device__ QG_INLINE unsigned subus(unsigned a, unsigned b) { return sub(a, b) & cmpgeu(a, b); }
    static __device__ QG_INLINE unsigned edge(unsigned a) { return low ^ spread(a); }
    static __device__ QG_INLINE unsigned addss(unsigned a, unsigned b) { const unsigned s = add(a, b); return pick(spread((a ^ s) & (b ^ s)), edge(a), s); }
    static __device__ QG_INLINE unsigned subss(unsigned a, unsigned b) { const unsigned s = sub(a, b); return pick(spread((a ^ b) & (a ^ s)), edge(a), s); }
    static __device__ QG_INLINE unsigned haddu(unsigned a, unsigned b) { return (a & b) + (((a ^ b) & even) >> 1); }
    static __device__ QG_INLINE unsigned avgu(unsigned a, unsigned b) { return (a | b) - (((a ^ b) & even) >> 1); }
    // Rounded away from zero.
    static __device__ QG_INLINE unsigned avgs(unsigned a, unsigned b) { const unsigned r = haddu(a ^ top, b ^ top) ^ top; return add(r, (a ^ b) & ones & ~(r >> (bits - 1))); }
    static __device__ QG_INLINE unsigned cmpeq(unsigned a, unsigned b) { const unsigned x = a ^ b; return spread(~(((x & low) + low) | x)); }
    static __device__ QG_INLINE unsigned cmpne(unsigned a, unsigned b) { return ~cmpeq(a, b); }
    static __device__ QG_INLINE unsigned cmpgeu(unsigned a, unsigned b) { return spread((a & ~b) | (~(a ^ b) & ((a | top) - (b & low)))); }
    static __device__ QG_INLINE unsigned cmpges(unsigned a, unsigned b) { return cmpgeu(a ^ top, b ^ top); }
    static __device__ QG_INLINE unsigned cmpleu(unsigned a, unsigned b) { return cmpgeu(b, a); }
    static __device__ QG_INLINE unsigned cmples(unsigned a, unsigned b) { return cmpges(b, a); }
    static __device__ QG_INLINE unsigned cmpgtu(unsigned a, unsigned b) { return ~cmpgeu(b, a); }
    static __device__ QG_INLINE unsigned cmpgts(unsigned a, unsigned b) { return ~cmpges(b, a); }
    static __device__ QG_INLINE unsigned cmpltu(unsigned a, unsigned b) { return ~cmpgeu(a, b); }
    static __device__ QG_INLINE unsigned cmplts(unsigned a, unsigned b) { return ~cmpges(a, b); }
    static __device__ QG_INLINE unsigned maxu(unsigned a, unsigned b) { return pick(cmpgeu(a, b), a, b); }
    static __device__ QG_INLINE unsigned minu(unsigned a, unsigned b) { return pick(cmpgeu(a, b), b, a); }
    static __device__ QG_INLINE unsigned maxs(unsigned a, unsigned b) { return pick(cmpges(a, b), a, b); }
    static __device__ QG_INLINE unsigned mins(unsigned a, unsigned b) { return pick(cmpges(a, b), b, a); }
    static __device__ QG_INLINE unsigned absdiffu(unsigned a, unsigned b) { const unsigned ge = cmpgeu(a, b); return pick(ge, a, b) - pick(ge, b, a); }
    static __device__ QG_INLINE unsigned absdiffs(unsigned a, unsigned b) { return absdiffu(a ^ top, b ^ top); }
    static __device__ QG_INLINE unsigned neg(unsigned a) { return sub(0, a); }
    static __device__ QG_INLINE unsigned negss(unsigned a) { return subss(0, a); }
    static __device__ QG_INLINE unsigned abs(unsigned a) { const unsigned m = spread(a); return sub(a ^ m, m); }
    static __device__ QG_INLINE unsigned absss(unsigned a) { const unsigned r = abs(a); return r - (r >> (bits - 1) & ones); }
    static __device__ QG_INLINE unsigned sum(unsigned a) {
        if constexpr (bits == 16) return (a & 0xffff) + (a >> 16);
        const unsigned pairs = (a & 0xff00ff) + (a >> 8 & 0xff00ff);
        return (pairs & 0xffff) + (pairs >> 16);
    }
    static __device__ QG_INLINE unsigned sadu(unsigned a, unsigned b) { return sum(absdiffu(a, b)); }
    static __device__ QG_INLINE unsigned sads(unsigned a, unsigned b) { return sum(absdiffs(a, b)); }
};
#define QG_LANES1(name) \
    QG_FN unsigned __v##name##2(unsigned a) { return qg_lanes<0x80008000u>::name(a); } \
    QG_FN unsigned __v##name##4(unsigned a) { return qg_lanes<0x80808080u>::name(a); }
#define QG_LANES2(name) \
    QG_FN unsigned __v##name##2(unsigned a, unsigned b) { return qg_lanes<0x80008000u>::name(a, b); } \
    QG_FN unsigned __v##name##4(unsigned a, unsigned b) { return qg_lanes<0x80808080u>::name(a, b); }
#define QG_RELATION(name) QG_LANES2(cmp##name) \
    QG_FN unsigned __vset##name##2(unsigned a, unsigned b) { return __vcmp##name##2(a, b) & 0x00010001u; } \
    QG_FN unsigned __vset##name##4(unsigned a, unsigned b) { return __vcmp##name##4(a, b) & 0x01010101u; }
QG_LANES1(neg) QG_LANES1(negss) QG_LANES1(abs) QG_LANES1(absss)
QG_LANES2(add) QG_LANES2(addss) QG_LANES2(addus) QG_LANES2(sub) QG_LANES2(subss) QG_LANES2(subus) QG_LANES2(avgs) QG_LANES2(avgu) QG_LANES2(haddu)
QG_LANES2(maxs) QG_LANES2(maxu) QG_LANES2(mins) QG_LANES2(minu) QG_LANES2(absdiffs) QG_LANES2(absdiffu) QG_LANES2(sads) QG_LANES2(sadu)
QG_RELATION(eq) QG_RELATION(ne) QG_RELATION(ges) QG_RELATION(geu) QG_RELATION(gts) QG_RELATION(gtu) QG_RELATION(les) QG_RELATION(leu) QG_RELATION(lts) QG_RELATION(ltu)

// DPX, for one number and for two half words.
#define QG_DPX(suffix, T, add, least, greatest) \
    QG_FN T __vimax3_##suffix(T a, T b, T c) { return greatest(greatest(a, b), c); } \
    QG_FN T __vimin3_##suffix(T a, T b, T c) { return least(least(a, b), c); } \
    QG_FN T __viaddmax_##suffix(T a, T b, T c) { return greatest(add(a, b), c); } \
    QG_FN T __viaddmin_##suffix(T a, T b, T c) { return least(add(a, b), c); }
#define QG_DPX_RELU(suffix, T, add, least, greatest) QG_DPX(suffix, T, add, least, greatest) \
    QG_FN T __vimax_##suffix##_relu(T a, T b) { return greatest(greatest(a, b), (T)0); } \
    QG_FN T __vimin_##suffix##_relu(T a, T b) { return greatest(least(a, b), (T)0); } \
    QG_FN T __vimax3_##suffix##_relu(T a, T b, T c) { return greatest(__vimax3_##suffix(a, b, c), (T)0); } \
    QG_FN T __vimin3_##suffix##_relu(T a, T b, T c) { return greatest(__vimin3_##suffix(a, b, c), (T)0); } \
    QG_FN T __viaddmax_##suffix##_relu(T a, T b, T c) { return greatest(__viaddmax_##suffix(a, b, c), (T)0); } \
    QG_FN T __viaddmin_##suffix##_relu(T a, T b, T c) { return greatest(__viaddmin_##suffix(a, b, c), (T)0); }
QG_FN int qg_sum(int a, int b) { return (int)((unsigned)a + (unsigned)b); }
QG_FN unsigned qg_sum(unsigned a, unsigned b) { return a + b; }
QG_DPX_RELU(s32, int, qg_sum, min, max) QG_DPX(u32, unsigned, qg_sum, min, max)
QG_DPX_RELU(s16x2, unsigned, __vadd2, __vmins2, __vmaxs2) QG_DPX(u16x2, unsigned, __vadd2, __vminu2, __vmaxu2)
#define QG_DPX_WHICH(suffix, T) \
    QG_FN T __vibmax_##suffix(T a, T b, bool* first) { *first = a >= b; return a >= b ? a : b; } \
    QG_FN T __vibmin_##suffix(T a, T b, bool* first) { *first = a <= b; return a <= b ? a : b; }
QG_DPX_WHICH(s32, int) QG_DPX_WHICH(u32, unsigned)
#define QG_DPX_WHICH2(name, relation, pick) \
    QG_FN unsigned name(unsigned a, unsigned b, bool* high, bool* low) { \
        const unsigned m = relation(a, b); \
        *high = m >> 31; \
        *low = m & 1; \
        return pick(a, b); \
    }
QG_DPX_WHICH2(__vibmax_s16x2, __vcmpges2, __vmaxs2) QG_DPX_WHICH2(__vibmin_s16x2, __vcmples2, __vmins2)
QG_DPX_WHICH2(__vibmax_u16x2, __vcmpgeu2, __vmaxu2) QG_DPX_WHICH2(__vibmin_u16x2, __vcmpleu2, __vminu2)
)cuda";

}  // namespace qwengpu::cuda::detail
