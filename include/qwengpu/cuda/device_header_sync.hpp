// SPDX-License-Identifier: MIT
// CUDA for clang without a toolkit, part 2: barriers, fences, atomics, exchange between lanes, votes.
// Inline PTX where the builtins of some clang between 14 and 19 are missing or need a newer PTX version than it picks; and for
// barriers and fences, since clang 14 takes it that an intrinsic of the target changes no variable of the file, so it
// carries a __shared__ word over its own __syncthreads(). Assembly that clobbers memory may change any.
#pragma once

#include <string_view>

namespace qwengpu::cuda::detail {

inline constexpr std::string_view device_header_sync = R"cuda(
QG_FN void qg_syncthreads() { asm volatile("bar.sync 0;" : : : "memory"); }
#define __syncthreads qg_syncthreads
QG_FN int __syncthreads_count(int p) {
    int r;
    asm volatile("{ .reg .pred %%p1; setp.ne.s32 %%p1, %1, 0; bar.red.popc.u32 %0, 0, %%p1; }" : "=r"(r) : "r"(p) : "memory");
    return r;
}
#define QG_BARRIER_RED(name, op) \
    QG_FN int name(int p) { \
        int r; \
        asm volatile("{ .reg .pred %%p1; .reg .pred %%p2; setp.ne.s32 %%p1, %1, 0; bar.red." op ".pred %%p2, 0, %%p1; selp.s32 %0, 1, 0, %%p2; }" \
                     : "=r"(r) : "r"(p) : "memory"); \
        return r; \
    }
QG_BARRIER_RED(__syncthreads_or, "or")
QG_BARRIER_RED(__syncthreads_and, "and")
QG_FN void __syncwarp(unsigned mask = 0xffffffffu) { asm volatile("bar.warp.sync %0;" : : "r"(mask) : "memory"); }
QG_FN void __threadfence() { asm volatile("membar.gl;" : : : "memory"); }
QG_FN void __threadfence_block() { asm volatile("membar.cta;" : : : "memory"); }
QG_FN void __threadfence_system() { asm volatile("membar.sys;" : : : "memory"); }
extern "C" {
__device__ int printf(const char*, ...);
__device__ void __assertfail(const char*, const char*, unsigned, const char*, size_t);
static inline __device__ QG_INLINE void __assert_fail(const char* what, const char* file, unsigned line, const char* function) { __assertfail(what, file, line, function, 1); }
}
QG_FN void __trap() { asm volatile("trap;"); }
QG_FN void __brkpt() { asm volatile("brkpt;"); }
QG_FN void __nanosleep(unsigned ns) { asm volatile("nanosleep.u32 %0;" : : "r"(ns)); }
QG_FN long long clock64() { return __nvvm_read_ptx_sreg_clock64(); }
QG_FN long clock() { return __nvvm_read_ptx_sreg_clock(); }

QG_FN int atomicAdd(int* p, int v) { return __nvvm_atom_add_gen_i(p, v); }
QG_FN unsigned atomicAdd(unsigned* p, unsigned v) { return (unsigned)__nvvm_atom_add_gen_i((int*)p, (int)v); }
QG_FN unsigned long long atomicAdd(unsigned long long* p, unsigned long long v) { return (unsigned long long)__nvvm_atom_add_gen_ll((long long*)p, (long long)v); }
QG_FN float atomicAdd(float* p, float v) { return __nvvm_atom_add_gen_f(p, v); }
QG_FN double atomicAdd(double* p, double v) { return __nvvm_atom_add_gen_d(p, v); }
QG_FN int atomicSub(int* p, int v) { return __nvvm_atom_add_gen_i(p, (int)(0u - (unsigned)v)); }
QG_FN unsigned atomicSub(unsigned* p, unsigned v) { return atomicAdd(p, 0u - v); }
QG_FN int atomicMin(int* p, int v) { return __nvvm_atom_min_gen_i(p, v); }
QG_FN int atomicMax(int* p, int v) { return __nvvm_atom_max_gen_i(p, v); }
QG_FN unsigned atomicMin(unsigned* p, unsigned v) { return __nvvm_atom_min_gen_ui(p, v); }
QG_FN unsigned atomicMax(unsigned* p, unsigned v) { return __nvvm_atom_max_gen_ui(p, v); }
QG_FN long long atomicMin(long long* p, long long v) { return __nvvm_atom_min_gen_ll(p, v); }
QG_FN long long atomicMax(long long* p, long long v) { return __nvvm_atom_max_gen_ll(p, v); }
QG_FN unsigned long long atomicMin(unsigned long long* p, unsigned long long v) { return __nvvm_atom_min_gen_ull(p, v); }
QG_FN unsigned long long atomicMax(unsigned long long* p, unsigned long long v) { return __nvvm_atom_max_gen_ull(p, v); }
#define QG_BIT_ATOMIC(name, op) \
    QG_FN int name(int* p, int v) { return __nvvm_atom_##op##_gen_i(p, v); } \
    QG_FN unsigned name(unsigned* p, unsigned v) { return (unsigned)__nvvm_atom_##op##_gen_i((int*)p, (int)v); } \
    QG_FN unsigned long long name(unsigned long long* p, unsigned long long v) { return (unsigned long long)__nvvm_atom_##op##_gen_ll((long long*)p, (long long)v); }
QG_BIT_ATOMIC(atomicAnd, and)
QG_BIT_ATOMIC(atomicOr, or)
QG_BIT_ATOMIC(atomicXor, xor)
QG_BIT_ATOMIC(atomicExch, xchg)
QG_FN float atomicExch(float* p, float v) { return __builtin_bit_cast(float, atomicExch((int*)p, __builtin_bit_cast(int, v))); }
QG_FN int atomicCAS(int* p, int c, int v) { return __nvvm_atom_cas_gen_i(p, c, v); }
QG_FN unsigned atomicCAS(unsigned* p, unsigned c, unsigned v) { return (unsigned)__nvvm_atom_cas_gen_i((int*)p, (int)c, (int)v); }
QG_FN unsigned long long atomicCAS(unsigned long long* p, unsigned long long c, unsigned long long v) { return (unsigned long long)__nvvm_atom_cas_gen_ll((long long*)p, (long long)c, (long long)v); }
QG_FN unsigned atomicInc(unsigned* p, unsigned m) { return __nvvm_atom_inc_gen_ui(p, m); }
QG_FN unsigned atomicDec(unsigned* p, unsigned m) { return __nvvm_atom_dec_gen_ui(p, m); }
QG_FN unsigned short atomicCAS(unsigned short* p, unsigned short c, unsigned short v) { unsigned short r; asm volatile("atom.cas.b16 %0, [%1], %2, %3;" : "=h"(r) : "l"(p), "h"(c), "h"(v) : "memory"); return r; }
template <class T> struct qg_same { typedef T type; };
#define QG_SCOPED_AS(name, suffix) template <class T> QG_FN T name##suffix(T* p, typename qg_same<T>::type v) { return name(p, v); }
#define QG_SCOPED(name) QG_SCOPED_AS(name, _block) QG_SCOPED_AS(name, _system)
#define QG_SCOPED_CAS(suffix) template <class T> QG_FN T atomicCAS##suffix(T* p, typename qg_same<T>::type c, typename qg_same<T>::type v) { return atomicCAS(p, c, v); }
QG_SCOPED_CAS(_block) QG_SCOPED_CAS(_system) QG_SCOPED(atomicInc) QG_SCOPED(atomicDec)
QG_SCOPED(atomicAdd) QG_SCOPED(atomicSub) QG_SCOPED(atomicMin) QG_SCOPED(atomicMax) QG_SCOPED(atomicAnd) QG_SCOPED(atomicOr)
QG_SCOPED(atomicXor) QG_SCOPED(atomicExch)

#define QG_SHFL(name, mode, clamp) \
    QG_FN int name(unsigned mask, int v, int d, int width = 32) { \
        int r; \
        asm volatile("shfl.sync." mode ".b32 %0, %1, %2, %3, %4;" : "=r"(r) : "r"(v), "r"(d), "r"((32 - width) << 8 | clamp), "r"(mask)); \
        return r; \
    } \
    QG_FN unsigned name(unsigned mask, unsigned v, int d, int width = 32) { return (unsigned)name(mask, (int)v, d, width); } \
    QG_FN float name(unsigned mask, float v, int d, int width = 32) { return __builtin_bit_cast(float, name(mask, __builtin_bit_cast(int, v), d, width)); } \
    QG_FN unsigned long long name(unsigned mask, unsigned long long v, int d, int width = 32) { \
        const unsigned lo = name(mask, (unsigned)v, d, width), hi = name(mask, (unsigned)(v >> 32), d, width); \
        return (unsigned long long)hi << 32 | lo; \
    } \
    QG_FN long long name(unsigned mask, long long v, int d, int width = 32) { return (long long)name(mask, (unsigned long long)v, d, width); } \
    QG_FN unsigned long name(unsigned mask, unsigned long v, int d, int width = 32) { return (unsigned long)name(mask, (unsigned long long)v, d, width); } \
    QG_FN long name(unsigned mask, long v, int d, int width = 32) { return (long)name(mask, (unsigned long long)v, d, width); }
QG_SHFL(__shfl_sync, "idx", 0x1f)
QG_SHFL(__shfl_up_sync, "up", 0)
QG_SHFL(__shfl_down_sync, "down", 0x1f)
QG_SHFL(__shfl_xor_sync, "bfly", 0x1f)

QG_FN unsigned __ballot_sync(unsigned mask, int p) {
    unsigned r;
    asm volatile("{ .reg .pred %%p1; setp.ne.s32 %%p1, %1, 0; vote.sync.ballot.b32 %0, %%p1, %2; }" : "=r"(r) : "r"(p), "r"(mask));
    return r;
}
#define QG_VOTE(name, mode) \
    QG_FN int name(unsigned mask, int p) { \
        int r; \
        asm volatile("{ .reg .pred %%p1; .reg .pred %%p2; setp.ne.s32 %%p1, %1, 0; vote.sync." mode ".pred %%p2, %%p1, %2; selp.s32 %0, 1, 0, %%p2; }" \
                     : "=r"(r) : "r"(p), "r"(mask)); \
        return r; \
    }
QG_VOTE(__any_sync, "any")
QG_VOTE(__all_sync, "all")
QG_VOTE(__uni_sync, "uni")
QG_FN unsigned __activemask() { unsigned r; asm volatile("activemask.b32 %0;" : "=r"(r)); return r; }
#define QG_MATCH(T, bits, kind) \
    QG_FN unsigned __match_any_sync(unsigned mask, T v) { unsigned r; asm volatile("match.any.sync." bits " %0, %1, %2;" : "=r"(r) : kind(v), "r"(mask)); return r; } \
    QG_FN unsigned __match_all_sync(unsigned mask, T v, int* all) { \
        unsigned r; int p; \
        asm volatile("{ .reg .pred same; match.all.sync." bits " %0|same, %2, %3; selp.s32 %1, 1, 0, same; }" : "=r"(r), "=r"(p) : kind(v), "r"(mask)); \
        *all = p; \
        return r; \
    }
QG_MATCH(int, "b32", "r") QG_MATCH(unsigned, "b32", "r") QG_MATCH(long long, "b64", "l") QG_MATCH(unsigned long long, "b64", "l")
#define QG_REDUX(name, op, T) QG_FN T name(unsigned mask, T v) { T r; asm volatile("redux.sync." op " %0, %1, %2;" : "=r"(r) : "r"(v), "r"(mask)); return r; }
QG_REDUX(__reduce_add_sync, "add.s32", int) QG_REDUX(__reduce_add_sync, "add.u32", unsigned)
QG_REDUX(__reduce_min_sync, "min.s32", int) QG_REDUX(__reduce_min_sync, "min.u32", unsigned)
QG_REDUX(__reduce_max_sync, "max.s32", int) QG_REDUX(__reduce_max_sync, "max.u32", unsigned)
QG_REDUX(__reduce_and_sync, "and.b32", unsigned) QG_REDUX(__reduce_or_sync, "or.b32", unsigned) QG_REDUX(__reduce_xor_sync, "xor.b32", unsigned)
#define QG_SREG(name, reg) QG_FN unsigned name() { unsigned r; asm("mov.u32 %0, %%" reg ";" : "=r"(r)); return r; }
QG_SREG(__laneid, "laneid") QG_SREG(__warpid, "warpid") QG_SREG(__lanemask_lt, "lanemask_lt") QG_SREG(__lanemask_gt, "lanemask_gt")
)cuda";

}  // namespace qwengpu::cuda::detail
