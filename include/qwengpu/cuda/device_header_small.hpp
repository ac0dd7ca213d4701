// SPDX-License-Identifier: MIT
// CUDA for clang without a toolkit: small headers that a source may include: <math_constants.h>, <cuComplex.h>.
#pragma once

#include <string_view>

namespace qwengpu::cuda::detail {

inline constexpr std::string_view device_header_constants = R"cuda(
#pragma once
#define CUDART_INF_F __builtin_inff()
#define CUDART_NAN_F __int_as_float(0x7fffffff)
#define CUDART_MIN_DENORM_F __int_as_float(0x00000001)
#define CUDART_MAX_NORMAL_F __int_as_float(0x7f7fffff)
#define CUDART_NEG_ZERO_F (-0.0f)
#define CUDART_ZERO_F 0.0f
#define CUDART_ONE_F 1.0f
#define CUDART_SQRT_HALF_F 0.707106781f
#define CUDART_SQRT_TWO_F 1.414213562f
#define CUDART_SQRT_THREE_F 1.732050808f
#define CUDART_THIRD_F 0.333333333f
#define CUDART_PI_F 3.141592654f
#define CUDART_PIO2_F 1.570796327f
#define CUDART_PIO4_F 0.785398163f
#define CUDART_2PI_F 6.283185307f
#define CUDART_2_OVER_PI_F 0.636619772f
#define CUDART_SQRT_2PI_F 2.506628275f
#define CUDART_E_F 2.718281828f
#define CUDART_L2E_F 1.442695041f
#define CUDART_L2T_F 3.321928094f
#define CUDART_LG2_F 0.301029996f
#define CUDART_LGE_F 0.434294482f
#define CUDART_LN2_F 0.693147181f
#define CUDART_LNT_F 2.302585093f
#define CUDART_PI 3.14159265358979323846
#define CUDART_INF __builtin_inf()
)cuda";

inline constexpr std::string_view device_header_complex = R"cuda(
#pragma once
#pragma clang system_header
typedef float2 cuFloatComplex;
typedef float2 cuComplex;
typedef double2 cuDoubleComplex;
QG_BOTH cuFloatComplex make_cuFloatComplex(float r, float i) { return {r, i}; }
QG_BOTH cuFloatComplex make_cuComplex(float r, float i) { return {r, i}; }
QG_BOTH cuDoubleComplex make_cuDoubleComplex(double r, double i) { return {r, i}; }
QG_BOTH float cuCrealf(cuFloatComplex a) { return a.x; }
QG_BOTH float cuCimagf(cuFloatComplex a) { return a.y; }
QG_BOTH cuFloatComplex cuConjf(cuFloatComplex a) { return {a.x, -a.y}; }
QG_BOTH cuFloatComplex cuCaddf(cuFloatComplex a, cuFloatComplex b) { return {a.x + b.x, a.y + b.y}; }
QG_BOTH cuFloatComplex cuCsubf(cuFloatComplex a, cuFloatComplex b) { return {a.x - b.x, a.y - b.y}; }
QG_BOTH cuFloatComplex cuCmulf(cuFloatComplex a, cuFloatComplex b) { return {a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x}; }
QG_BOTH cuFloatComplex cuCfmaf(cuFloatComplex a, cuFloatComplex b, cuFloatComplex c) { return cuCaddf(cuCmulf(a, b), c); }
// Scaled by the size of b, so that its square does not leave the range of a float.
QG_BOTH cuFloatComplex cuCdivf(cuFloatComplex a, cuFloatComplex b) {
    const float scale = 1.0f / (__builtin_fabsf(b.x) + __builtin_fabsf(b.y));
    const float ax = a.x * scale, ay = a.y * scale, bx = b.x * scale, by = b.y * scale;
    const float inverse = 1.0f / (bx * bx + by * by);
    return {(ax * bx + ay * by) * inverse, (ay * bx - ax * by) * inverse};
}
QG_FN float cuCabsf(cuFloatComplex a) { return hypotf(a.x, a.y); }
)cuda";

/// libstdc++ writes __attribute__((__noinline__)), which CUDA's macro of that name would break.
inline constexpr std::string_view device_header_shared_ptr = R"cuda(
#pragma push_macro("__noinline__")
#undef __noinline__
#include_next <bits/shared_ptr_base.h>
#pragma pop_macro("__noinline__")
)cuda";

}  // namespace qwengpu::cuda::detail
