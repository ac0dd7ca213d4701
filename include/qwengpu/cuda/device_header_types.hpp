// SPDX-License-Identifier: MIT
// CUDA for clang without a toolkit, part 1: keywords, vector types, built-in variables. Text of a header, put before the source.
#pragma once

#include <string_view>

namespace qwengpu::cuda::detail {

inline constexpr std::string_view device_header_types = R"cuda(
#pragma once
#pragma clang system_header

#define __global__ __attribute__((global))
#define __device__ __attribute__((device))
#define __host__ __attribute__((host))
#define __shared__ __attribute__((shared))
#define __constant__ __attribute__((constant))
#define __managed__ __attribute__((device))
#define __grid_constant__
#if __clang_major__ < 15  // from then on it is a keyword
#define __noinline__ __attribute__((noinline))
#endif
#define __nv_pure__ __attribute__((pure))
#define __cluster_dims__(...)
#define __maxnreg__(...)
#define CUDARTAPI
#define CUDART_CB
#define CUDART_VERSION 12000
#define CUDA_VERSION 12000
#define __forceinline__ inline __attribute__((always_inline))
#define __inline__ inline
#define __align__(n) __attribute__((aligned(n)))
#define __builtin_align__(n) __attribute__((aligned(n)))
#define __launch_bounds__(...) __attribute__((launch_bounds(__VA_ARGS__)))
#define __CUDACC__ 1
#ifndef __CUDA_ARCH__
#define __CUDA_ARCH__ 700
#endif
// Without debug information of their own, these functions count as the line of the source that calls them.
#define QG_INLINE __attribute__((always_inline, nodebug))
#define QG_FN static inline __device__ QG_INLINE
#define QG_BOTH static inline __host__ __device__ QG_INLINE

#include <stddef.h>
#include <stdint.h>

typedef unsigned char uchar;
typedef unsigned short ushort;
typedef unsigned int uint;
typedef unsigned long ulong;

#define QG_VECTORS(T, name, a2, a4) \
    struct name##1 { T x; }; \
    struct __attribute__((aligned(a2))) name##2 { T x, y; }; \
    struct name##3 { T x, y, z; }; \
    struct __attribute__((aligned(a4))) name##4 { T x, y, z, w; }; \
    QG_BOTH name##1 make_##name##1(T x) { return {x}; } \
    QG_BOTH name##2 make_##name##2(T x, T y) { return {x, y}; } \
    QG_BOTH name##3 make_##name##3(T x, T y, T z) { return {x, y, z}; } \
    QG_BOTH name##4 make_##name##4(T x, T y, T z, T w) { return {x, y, z, w}; }
QG_VECTORS(signed char, char, 2, 4)
QG_VECTORS(unsigned char, uchar, 2, 4)
QG_VECTORS(short, short, 4, 8)
QG_VECTORS(unsigned short, ushort, 4, 8)
QG_VECTORS(int, int, 8, 16)
QG_VECTORS(unsigned, uint, 8, 16)
QG_VECTORS(long, long, 16, 16)
QG_VECTORS(unsigned long, ulong, 16, 16)
QG_VECTORS(long long, longlong, 16, 16)
QG_VECTORS(unsigned long long, ulonglong, 16, 16)
QG_VECTORS(float, float, 8, 16)
QG_VECTORS(double, double, 16, 16)

struct dim3 {
    unsigned x, y, z;
    __host__ __device__ constexpr dim3(unsigned a = 1, unsigned b = 1, unsigned c = 1) : x(a), y(b), z(c) {}
    __host__ __device__ constexpr dim3(uint3 v) : x(v.x), y(v.y), z(v.z) {}
    __host__ __device__ constexpr operator uint3() const { return {x, y, z}; }
};

#define QG_AXIS(f, reg) \
    __declspec(property(get = get_##f)) unsigned f; \
    static inline __device__ QG_INLINE unsigned get_##f() { return reg(); }
#define QG_BUILTIN(type, reg) \
    struct type { \
        QG_AXIS(x, __nvvm_read_ptx_sreg_##reg##_x) QG_AXIS(y, __nvvm_read_ptx_sreg_##reg##_y) QG_AXIS(z, __nvvm_read_ptx_sreg_##reg##_z) \
        __device__ QG_INLINE operator dim3() const { return dim3(get_x(), get_y(), get_z()); } \
        __device__ QG_INLINE operator uint3() const { return {get_x(), get_y(), get_z()}; } \
    };
QG_BUILTIN(qg_tid, tid)
QG_BUILTIN(qg_ctaid, ctaid)
QG_BUILTIN(qg_ntid, ntid)
QG_BUILTIN(qg_nctaid, nctaid)
extern const __device__ qg_tid threadIdx;
extern const __device__ qg_ctaid blockIdx;
extern const __device__ qg_ntid blockDim;
extern const __device__ qg_nctaid gridDim;
QG_FN int qg_warp_size() { int r; asm("mov.u32 %0, WARP_SZ;" : "=r"(r)); return r; }
#define warpSize (qg_warp_size())
)cuda";

}  // namespace qwengpu::cuda::detail
