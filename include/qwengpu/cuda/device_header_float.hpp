// SPDX-License-Identifier: MIT
// CUDA for clang without a toolkit, part 5: float functions that PTX has an instruction for, roundings, conversions, and the fast functions
// that are made from PTX's approximations.
#pragma once

#include <string_view>

namespace qwengpu::cuda::detail {

inline constexpr std::string_view device_header_float = R"cuda(
QG_FN float fmaf(float a, float b, float c) { return __nvvm_fma_rn_f(a, b, c); }
QG_FN float fminf(float a, float b) { return __nvvm_fmin_f(a, b); }
QG_FN float fmaxf(float a, float b) { return __nvvm_fmax_f(a, b); }
QG_BOTH float min(float a, float b) { return __builtin_fminf(a, b); }
QG_BOTH float max(float a, float b) { return __builtin_fmaxf(a, b); }
QG_FN float fabsf(float a) { return __builtin_fabsf(a); }
QG_FN float abs(float a) { return fabsf(a); }
QG_FN float copysignf(float a, float b) { return __builtin_copysignf(a, b); }
QG_FN float sqrtf(float a) { return __nvvm_sqrt_rn_f(a); }
QG_FN float rsqrtf(float a) { return __nvvm_rsqrt_approx_f(a); }
QG_FN float floorf(float a) { return __nvvm_floor_f(a); }
QG_FN float ceilf(float a) { return __nvvm_ceil_f(a); }
QG_FN float truncf(float a) { return __nvvm_trunc_f(a); }
QG_FN float rintf(float a) { return __builtin_rintf(a); }
QG_FN float nearbyintf(float a) { return __builtin_rintf(a); }
QG_FN float roundf(float a) { const float t = truncf(a); return fabsf(a - t) >= 0.5f ? t + copysignf(1.0f, a) : copysignf(t, a); }
QG_FN float fdimf(float a, float b) { return a <= b ? 0.0f : a - b; }
QG_FN float fdividef(float a, float b) { return a / b; }
QG_FN float __fdividef(float a, float b) { return a / b; }
QG_FN float saturatef(float a) { return __nvvm_saturate_f(a); }
QG_FN float __saturatef(float a) { return __nvvm_saturate_f(a); }
QG_FN bool isnan(float a) { return a != a; }
QG_FN bool isinf(float a) { return fabsf(a) == __builtin_inff(); }
QG_FN bool isfinite(float a) { return fabsf(a) < __builtin_inff(); }
QG_FN bool signbit(float a) { return (__builtin_bit_cast(unsigned, a) >> 31) != 0; }

#define QG_APPROX(name, instruction) QG_FN float name(float a) { float r; asm(instruction " %0, %1;" : "=f"(r) : "f"(a)); return r; }
QG_APPROX(exp2f, "ex2.approx.f32") QG_APPROX(__sinf, "sin.approx.f32") QG_APPROX(__cosf, "cos.approx.f32")
QG_APPROX(__log2f, "lg2.approx.f32")
QG_FN float __expf(float a) { return exp2f(a * 1.4426950216f); }
QG_FN float __exp10f(float a) { return exp2f(a * 3.3219280243f); }
QG_FN float __logf(float a) { return __log2f(a) * 0.6931471825f; }
QG_FN float __log10f(float a) { return __log2f(a) * 0.3010300100f; }
QG_FN float __powf(float a, float b) { return exp2f(b * __log2f(a)); }
QG_FN float __tanf(float a) { return __sinf(a) / __cosf(a); }
QG_FN void __sincosf(float a, float* s, float* c) { *s = __sinf(a); *c = __cosf(a); }

// Written as instructions, so that they are never fused.
#define QG_NEVER_FUSED(name, instruction) QG_FN float name(float a, float b) { float r; asm(instruction " %0, %1, %2;" : "=f"(r) : "f"(a), "f"(b)); return r; }
QG_NEVER_FUSED(__fadd_rn, "add.rn.f32") QG_NEVER_FUSED(__fsub_rn, "sub.rn.f32") QG_NEVER_FUSED(__fmul_rn, "mul.rn.f32")
QG_FN float __fdiv_rn(float a, float b) { return __nvvm_div_rn_f(a, b); }
#define QG_ROUNDED2(op) \
    QG_FN float __f##op##_rz(float a, float b) { return __nvvm_##op##_rz_f(a, b); } \
    QG_FN float __f##op##_ru(float a, float b) { return __nvvm_##op##_rp_f(a, b); } \
    QG_FN float __f##op##_rd(float a, float b) { return __nvvm_##op##_rm_f(a, b); }
QG_ROUNDED2(add) QG_ROUNDED2(mul) QG_ROUNDED2(div)
QG_FN float __fsub_rz(float a, float b) { return __nvvm_add_rz_f(a, -b); }
QG_FN float __fsub_ru(float a, float b) { return __nvvm_add_rp_f(a, -b); }
QG_FN float __fsub_rd(float a, float b) { return __nvvm_add_rm_f(a, -b); }
#define QG_ROUNDED(suffix, mode) \
    QG_FN float __fmaf_##suffix(float a, float b, float c) { return __nvvm_fma_##mode##_f(a, b, c); } \
    QG_FN float __frcp_##suffix(float a) { return __nvvm_rcp_##mode##_f(a); } \
    QG_FN float __fsqrt_##suffix(float a) { return __nvvm_sqrt_##mode##_f(a); }
QG_ROUNDED(rn, rn) QG_ROUNDED(rz, rz) QG_ROUNDED(ru, rp) QG_ROUNDED(rd, rm)
QG_FN float __frsqrt_rn(float a) { return rsqrtf(a); }

#define QG_CONVERT(to, from, name, instruction, out, in) \
    QG_FN to name(from a) { to r; asm(instruction " %0, %1;" : "=" out(r) : in(a)); return r; }
#define QG_FROM_FLOAT(suffix, mode) \
    QG_CONVERT(int, float, __float2int_##suffix, "cvt." mode "i.s32.f32", "r", "f") \
    QG_CONVERT(unsigned, float, __float2uint_##suffix, "cvt." mode "i.u32.f32", "r", "f") \
    QG_CONVERT(long long, float, __float2ll_##suffix, "cvt." mode "i.s64.f32", "l", "f") \
    QG_CONVERT(unsigned long long, float, __float2ull_##suffix, "cvt." mode "i.u64.f32", "l", "f")
#define QG_TO_FLOAT(suffix, mode) \
    QG_CONVERT(float, int, __int2float_##suffix, "cvt." mode ".f32.s32", "f", "r") \
    QG_CONVERT(float, unsigned, __uint2float_##suffix, "cvt." mode ".f32.u32", "f", "r") \
    QG_CONVERT(float, long long, __ll2float_##suffix, "cvt." mode ".f32.s64", "f", "l") \
    QG_CONVERT(float, unsigned long long, __ull2float_##suffix, "cvt." mode ".f32.u64", "f", "l")
QG_FROM_FLOAT(rn, "rn") QG_FROM_FLOAT(rz, "rz") QG_FROM_FLOAT(ru, "rp") QG_FROM_FLOAT(rd, "rm")
QG_TO_FLOAT(rn, "rn") QG_TO_FLOAT(rz, "rz") QG_TO_FLOAT(ru, "rp") QG_TO_FLOAT(rd, "rm")
#define QG_FROM_DOUBLE(suffix, mode) QG_FN float __double2float_##suffix(double a) { return __nvvm_d2f_##mode(a); }
QG_FROM_DOUBLE(rn, rn) QG_FROM_DOUBLE(rz, rz) QG_FROM_DOUBLE(ru, rp) QG_FROM_DOUBLE(rd, rm)
QG_FN int __double2int_rz(double a) { return (int)a; }
QG_FN double __int2double_rn(int a) { return a; }
QG_FN long long __double_as_longlong(double a) { return __builtin_bit_cast(long long, a); }
QG_FN double __longlong_as_double(long long a) { return __builtin_bit_cast(double, a); }
QG_FN unsigned __float_as_uint(float a) { return __builtin_bit_cast(unsigned, a); }
QG_FN int __float_as_int(float a) { return __builtin_bit_cast(int, a); }
QG_FN float __int_as_float(int a) { return __builtin_bit_cast(float, a); }
QG_FN float __uint_as_float(unsigned a) { return __builtin_bit_cast(float, a); }
)cuda";

}  // namespace qwengpu::cuda::detail
