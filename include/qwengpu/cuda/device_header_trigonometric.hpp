// SPDX-License-Identifier: MIT
// CUDA for clang without a toolkit, part 8: trigonometric functions and their inverses. Angles are reduced by pi/2 in three parts, large ones
// with as many bits of 2/pi as they need. The polynomials were fitted as those of the exponentials.
#pragma once

#include <string_view>

namespace qwengpu::cuda::detail {

inline constexpr std::string_view device_header_trigonometric = R"cuda(
// An angle beyond 2^17, as its significand times the 96 bits of 2/pi that matter: quarter turns and what is left of them.
QG_FN float qg_far_angle(float a, int& n) {
    const unsigned u = qg_bits(a), m = (u & 0x7fffff) | 0x800000, at = (u >> 23 & 255) - 120, w = at >> 5;
    const unsigned d0 = w == 0 ? 0 : w == 1 ? 0xa2f9836e : w == 2 ? 0x4e441529 : w == 3 ? 0xfc2757d1 : 0xf534ddc0;
    const unsigned d1 = w == 0 ? 0xa2f9836e : w == 1 ? 0x4e441529 : w == 2 ? 0xfc2757d1 : w == 3 ? 0xf534ddc0 : 0xdb629599;
    const unsigned d2 = w == 0 ? 0x4e441529 : w == 1 ? 0xfc2757d1 : w == 2 ? 0xf534ddc0 : w == 3 ? 0xdb629599 : 0x3c439041;
    const unsigned d3 = w == 0 ? 0xfc2757d1 : w == 1 ? 0xf534ddc0 : w == 2 ? 0xdb629599 : w == 3 ? 0x3c439041 : 0xfe5163ab;
    const unsigned e0 = __funnelshift_l(d1, d0, at), e1 = __funnelshift_l(d2, d1, at), e2 = __funnelshift_l(d3, d2, at);
    const unsigned long long low = (unsigned long long)m * e1 + __umulhi(m, e2);
    const unsigned high = m * e0 + (unsigned)(low >> 32);
    const long long rest = (long long)((unsigned long long)high << 34 | (low & 0xffffffff) << 2);  // 2^64 for a quarter turn
    const int turns = (int)(high >> 30) + (rest < 0);
    n = u >> 31 ? -turns : turns;
    const float f = (float)rest, r = fmaf(f, 8.51530419e-20f, f * -2.3695992e-27f);  // pi/2 2^-64
    return u >> 31 ? -r : r;
}
QG_FN float qg_angle(float a, int& n) {
    const float k = rintf(a * 0.636619747f);
    float r = fmaf(k, 1.71512451e-15f, fmaf(k, 4.37113883e-08f, fmaf(k, -1.57079637f, a)));
    n = (int)k;
    if (fabsf(a) > 131072.0f) r = qg_far_angle(a, n);
    return fabsf(a) == QG_INF ? QG_NAN : r;
}
// Sine of n quarter turns and r: sine or cosine of r, its coefficients picked.
QG_FN float qg_sine(float r, int n) {
    const bool c = n & 1;
    const float z = r * r, x = c ? 1.0f : r;
    float p = fmaf(c ? 2.44120838e-05f : 2.8207221e-06f, z, c ? -0.00138871302f : -0.000198520807f);
    p = fmaf(p, z, c ? 0.0416666418f : 0.00833337754f);
    p = fmaf(p, z, c ? -0.5f : -0.166666672f);
    return qg_float(qg_bits(fmaf(z * x, p, x)) ^ ((unsigned)n << 30 & 0x80000000u));
}
QG_FN float sinf(float a) { int n; const float r = qg_angle(a, n); return a == 0.0f ? a : qg_sine(r, n); }
QG_FN float cosf(float a) { int n; const float r = qg_angle(a, n); return qg_sine(r, n + 1); }
QG_FN void sincosf(float a, float* s, float* c) {
    int n;
    const float r = qg_angle(a, n);
    *s = a == 0.0f ? a : qg_sine(r, n);
    *c = qg_sine(r, n + 1);
}
QG_FN float tanf(float a) {
    int n;
    const float r = qg_angle(a, n), z = r * r;
    float p = fmaf(0.0045512761f, z, -0.000263737398f);
    p = fmaf(p, z, 0.0111135831f); p = fmaf(p, z, 0.0211751703f);
    p = fmaf(p, z, 0.0540806837f); p = fmaf(p, z, 0.133324787f);
    p = fmaf(p, z, 0.333333552f);
    const float t = fmaf(z * r, p, r);
    return n & 1 ? -1.0f / t : a == 0.0f ? a : t;
}

// Half turns: a = n/2 + r exactly. From 2^24 on all numbers are even.
QG_FN float qg_half_turns(float a, int& n) {
    a = fabsf(a) < 16777216.0f ? a : a - a;
    const float k = rintf(a + a);
    n = (int)k;
    return fmaf(k, -0.5f, a);
}
QG_FN float qg_sine_pi(float r, int n) {
    const float z = r * r;
    float s = fmaf(fmaf(-0.589311361f, z, 2.5497961f), z, -5.16770887f);
    s = fmaf(r, 3.14159274f, fmaf(z * r, s, r * -8.74227766e-08f));
    float c = fmaf(fmaf(0.228952944f, z, -1.33475661f), z, 4.05869675f);
    c = fmaf(fmaf(c, z, -4.93480206f), z, 1.0f);
    return qg_float(qg_bits(n & 1 ? c : s) ^ ((unsigned)n << 30 & 0x80000000u));
}
QG_FN float sinpif(float a) { int n; const float r = qg_half_turns(a, n), s = qg_sine_pi(r, n); return s == 0.0f ? copysignf(s, a) : s; }
QG_FN float cospif(float a) { int n; const float r = qg_half_turns(a, n), c = qg_sine_pi(r, n + 1); return c == 0.0f ? 0.0f : c; }
QG_FN void sincospif(float a, float* s, float* c) { *s = sinpif(a); *c = cospif(a); }

// Arc tangent of a number from 0 to 1.
QG_FN float qg_atan(float x) {
    const float z = x * x;
    float p = fmaf(-0.00178812211f, z, 0.0108899735f);
    p = fmaf(p, z, -0.0311317518f); p = fmaf(p, z, 0.0579109341f);
    p = fmaf(p, z, -0.0840068981f); p = fmaf(p, z, 0.109512262f);
    p = fmaf(p, z, -0.142640561f); p = fmaf(p, z, 0.19998531f);
    p = fmaf(p, z, -0.333332986f);
    return fmaf(z * x, p, x);
}
QG_FN float qg_from_right_angle(float r) { return (1.57079637f - r) - 4.37113883e-08f; }
QG_FN float atanf(float a) {
    const float x = fabsf(a);
    const float r = qg_atan(x > 1.0f ? 1.0f / x : x);
    return copysignf(x > 1.0f ? qg_from_right_angle(r) : r, a);
}
QG_FN float atan2f(float y, float x) {
    const float ax = fabsf(x), ay = fabsf(y), most = fmaxf(ax, ay), least = fminf(ax, ay);
    const float t = most == 0.0f ? 0.0f : least == QG_INF ? 1.0f : least / most;
    float r = qg_atan(t);
    r = ay > ax ? qg_from_right_angle(r) : r;
    r = signbit(x) ? (3.14159274f - r) - 8.74227766e-08f : r;
    return x != x || y != y ? QG_NAN : copysignf(r, y);
}

// Arc sine of x = sqrt(z) from 0 to 1/2.
QG_FN float qg_asin(float x, float z) {
    float p = fmaf(0.0421671197f, z, 0.0241805147f);
    p = fmaf(p, z, 0.0454697944f); p = fmaf(p, z, 0.0749530643f);
    p = fmaf(p, z, 0.166667521f);
    return fmaf(z * x, p, x);
}
QG_FN float asinf(float a) {
    const float x = fabsf(a), half = fmaf(-0.5f, x, 0.5f);
    const bool far = x > 0.5f;
    const float z = far ? half : x * x;
    const float r = qg_asin(far ? sqrtf(z) : x, z);
    return copysignf(far ? fmaf(-2.0f, r, 1.57079637f) - 4.37113883e-08f : r, a);
}
QG_FN float acosf(float a) {
    const float x = fabsf(a), half = fmaf(-0.5f, x, 0.5f);
    const bool far = x > 0.5f;
    const float z = far ? half : a * a;
    const float r = qg_asin(far ? sqrtf(z) : a, z);
    return !far ? qg_from_right_angle(r) : a > 0.0f ? r + r : fmaf(-2.0f, r, 3.14159274f) - 8.74227766e-08f;
}
)cuda";

}  // namespace qwengpu::cuda::detail
