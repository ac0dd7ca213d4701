// SPDX-License-Identifier: MIT
// CUDA for clang without a toolkit, part 3: integer functions, copies of bytes, loads with cache hints (which this machine has no caches for).
#pragma once

#include <string_view>

namespace qwengpu::cuda::detail {

inline constexpr std::string_view device_header_int = R"cuda(
#define QG_MINMAX(T) \
    QG_BOTH T min(T a, T b) { return a < b ? a : b; } \
    QG_BOTH T max(T a, T b) { return a > b ? a : b; }
QG_MINMAX(int) QG_MINMAX(unsigned) QG_MINMAX(long) QG_MINMAX(unsigned long) QG_MINMAX(long long) QG_MINMAX(unsigned long long)
#define QG_MIXED_SIGNS(T, U) \
    QG_BOTH U min(T a, U b) { return min((U)a, b); } \
    QG_BOTH U min(U a, T b) { return min(a, (U)b); } \
    QG_BOTH U max(T a, U b) { return max((U)a, b); } \
    QG_BOTH U max(U a, T b) { return max(a, (U)b); }
QG_MIXED_SIGNS(int, unsigned) QG_MIXED_SIGNS(long, unsigned long) QG_MIXED_SIGNS(long long, unsigned long long)
QG_BOTH unsigned umin(unsigned a, unsigned b) { return min(a, b); }
QG_BOTH unsigned umax(unsigned a, unsigned b) { return max(a, b); }
QG_BOTH long long llmin(long long a, long long b) { return min(a, b); }
QG_BOTH long long llmax(long long a, long long b) { return max(a, b); }
QG_BOTH unsigned long long ullmin(unsigned long long a, unsigned long long b) { return min(a, b); }
QG_BOTH unsigned long long ullmax(unsigned long long a, unsigned long long b) { return max(a, b); }
QG_FN int abs(int a) { int r; asm("abs.s32 %0, %1;" : "=r"(r) : "r"(a)); return r; }
QG_FN long long llabs(long long a) { long long r; asm("abs.s64 %0, %1;" : "=l"(r) : "l"(a)); return r; }
QG_FN long labs(long a) { return (long)llabs(a); }
QG_FN long abs(long a) { return (long)llabs(a); }
QG_FN long long abs(long long a) { return llabs(a); }

QG_FN int __popc(unsigned x) { return __builtin_popcount(x); }
QG_FN int __popcll(unsigned long long x) { return __builtin_popcountll(x); }
QG_FN int __clz(int x) { int r; asm("clz.b32 %0, %1;" : "=r"(r) : "r"(x)); return r; }
QG_FN int __clzll(long long x) { int r; asm("clz.b64 %0, %1;" : "=r"(r) : "l"(x)); return r; }
QG_FN unsigned __brev(unsigned x) { return __builtin_bitreverse32(x); }
QG_FN unsigned long long __brevll(unsigned long long x) { return __builtin_bitreverse64(x); }
QG_FN int __ffs(int x) { return __builtin_ffs(x); }
QG_FN int __ffsll(long long x) { return __builtin_ffsll(x); }
QG_FN unsigned __byte_perm(unsigned a, unsigned b, unsigned s) { return __nvvm_prmt(a, b, s & 0x7777); }
#define QG_FUNNEL(name, mode) \
    QG_FN unsigned name(unsigned lo, unsigned hi, unsigned s) { unsigned r; asm("shf." mode ".b32 %0, %1, %2, %3;" : "=r"(r) : "r"(lo), "r"(hi), "r"(s)); return r; }
QG_FUNNEL(__funnelshift_l, "l.wrap") QG_FUNNEL(__funnelshift_r, "r.wrap")
QG_FUNNEL(__funnelshift_lc, "l.clamp") QG_FUNNEL(__funnelshift_rc, "r.clamp")
QG_FN int __mulhi(int a, int b) { return __nvvm_mulhi_i(a, b); }
QG_FN unsigned __umulhi(unsigned a, unsigned b) { return __nvvm_mulhi_ui(a, b); }
QG_FN long long __mul64hi(long long a, long long b) { return __nvvm_mulhi_ll(a, b); }
QG_FN unsigned long long __umul64hi(unsigned long long a, unsigned long long b) { return __nvvm_mulhi_ull(a, b); }
QG_FN int __mul24(int a, int b) { return __nvvm_mul24_i(a, b); }
QG_FN unsigned __umul24(unsigned a, unsigned b) { return __nvvm_mul24_ui(a, b); }
QG_FN unsigned __sad(int a, int b, unsigned c) { unsigned r; asm("sad.s32 %0, %1, %2, %3;" : "=r"(r) : "r"(a), "r"(b), "r"(c)); return r; }
QG_FN unsigned __usad(unsigned a, unsigned b, unsigned c) { unsigned r; asm("sad.u32 %0, %1, %2, %3;" : "=r"(r) : "r"(a), "r"(b), "r"(c)); return r; }
QG_FN int __hadd(int a, int b) { return (int)(((long long)a + b) >> 1); }
QG_FN int __rhadd(int a, int b) { return (int)(((long long)a + b + 1) >> 1); }
QG_FN unsigned __uhadd(unsigned a, unsigned b) { return (unsigned)(((unsigned long long)a + b) >> 1); }
QG_FN unsigned __urhadd(unsigned a, unsigned b) { return (unsigned)(((unsigned long long)a + b + 1) >> 1); }
QG_FN int __dp4a(int a, int b, int c) { int r; asm("dp4a.s32.s32 %0, %1, %2, %3;" : "=r"(r) : "r"(a), "r"(b), "r"(c)); return r; }
QG_FN unsigned __dp4a(unsigned a, unsigned b, unsigned c) { unsigned r; asm("dp4a.u32.u32 %0, %1, %2, %3;" : "=r"(r) : "r"(a), "r"(b), "r"(c)); return r; }
#define QG_DP2A(name, half, T, V, u, sign) \
    QG_FN T name(T a, T b, T c) { T r; asm("dp2a." half "." u "32." u "32 %0, %1, %2, %3;" : "=r"(r) : "r"(a), "r"(b), "r"(c)); return r; } \
    QG_FN T name(V##2 a, sign##4 b, T c) { return name(__builtin_bit_cast(T, a), __builtin_bit_cast(T, b), c); }
QG_DP2A(__dp2a_lo, "lo", int, short, "s", char) QG_DP2A(__dp2a_hi, "hi", int, short, "s", char)
QG_DP2A(__dp2a_lo, "lo", unsigned, ushort, "u", uchar) QG_DP2A(__dp2a_hi, "hi", unsigned, ushort, "u", uchar)
QG_FN int __dp4a(char4 a, char4 b, int c) { return __dp4a(__builtin_bit_cast(int, a), __builtin_bit_cast(int, b), c); }
QG_FN unsigned __dp4a(uchar4 a, uchar4 b, unsigned c) { return __dp4a(__builtin_bit_cast(unsigned, a), __builtin_bit_cast(unsigned, b), c); }
QG_FN unsigned __fns(unsigned mask, unsigned base, int offset) { unsigned r; asm("fns.b32 %0, %1, %2, %3;" : "=r"(r) : "r"(mask), "r"(base), "r"(offset)); return r; }
QG_FN int mulhi(int a, int b) { return __mulhi(a, b); }
QG_FN unsigned mulhi(unsigned a, unsigned b) { return __umulhi(a, b); }
QG_FN int mul24(int a, int b) { return __mul24(a, b); }
QG_FN unsigned umul24(unsigned a, unsigned b) { return __umul24(a, b); }
QG_FN long long mul64hi(long long a, long long b) { return __mul64hi(a, b); }
QG_FN unsigned long long umul64hi(unsigned long long a, unsigned long long b) { return __umul64hi(a, b); }

// The device's own beside the host's, which <string.h> declares.
QG_FN void* memcpy(void* to, const void* from, size_t n) { return __builtin_memcpy(to, from, n); }
QG_FN void* memmove(void* to, const void* from, size_t n) { return __builtin_memmove(to, from, n); }
QG_FN void* memset(void* to, int byte, size_t n) { return __builtin_memset(to, byte, n); }

#define QG_SPACE(name, space) QG_FN unsigned name(const void* p) { return __nvvm_isspacep_##space(p); }
QG_SPACE(__isGlobal, global) QG_SPACE(__isShared, shared) QG_SPACE(__isConstant, const) QG_SPACE(__isLocal, local)
QG_FN size_t __cvta_generic_to_shared(const void* p) { return (size_t)(__attribute__((address_space(3))) const void*)p; }
QG_FN size_t __cvta_generic_to_global(const void* p) { return (size_t)(__attribute__((address_space(1))) const void*)p; }

#define QG_LOAD(name) template <class T> QG_FN T name(const T* p) { return *p; }
#define QG_STORE(name) template <class T> QG_FN void name(T* p, T v) { *p = v; }
QG_LOAD(__ldg) QG_LOAD(__ldca) QG_LOAD(__ldcg) QG_LOAD(__ldcs) QG_LOAD(__ldcv) QG_LOAD(__ldlu)
QG_STORE(__stwb) QG_STORE(__stcg) QG_STORE(__stcs) QG_STORE(__stwt)
)cuda";

}  // namespace qwengpu::cuda::detail
