// SPDX-License-Identifier: MIT
// CUDA for clang without a toolkit, part 7: exponentials, logarithms, powers, hyperbolic functions, roots. The polynomials are minimax
// approximations fitted for these ranges, coefficients rounded to floats one after another; docs/floats.md has the errors that were measured.
#pragma once

#include <string_view>

namespace qwengpu::cuda::detail {

inline constexpr std::string_view device_header_exponential = R"cuda(
// (e^r - 1 - r) / r^2 for |r| up to log(2) / 2.
QG_FN float qg_exp_rest(float r) {
    float p = fmaf(0.00019764257f, r, 0.00139323459f);
    p = fmaf(p, r, 0.00833354332f);
    p = fmaf(p, r, 0.0416664928f);
    p = fmaf(p, r, 0.166666657f);
    return fmaf(p, r, 0.5f);
}
// a - n log(2); log(2) in two floats, of which the first times n is exact.
QG_FN float qg_minus_log2(float a, float n) { return fmaf(n, -1.42860682e-6f, fmaf(n, -0.693145752f, a)); }
// e^(a + low) 2^shift for a between -104 and 90.
QG_FN float qg_exp(float a, float low, int shift) {
    const float n = rintf(a * 1.44269502f);
    const float r = qg_minus_log2(a, n) + low;
    return qg_scaled(fmaf(fmaf(qg_exp_rest(r), r, 1.0f), r, 1.0f), (int)n + shift);
}
QG_FN float expf(float a) {
    const float e = qg_exp(a, 0.0f, 0);
    return a > 88.7228394f ? QG_INF : a < -104.0f ? 0.0f : e;
}
QG_FN float exp10f(float a) {
    const float n = rintf(a * 3.32192802f);
    // log10(2) in two floats, log(10) in two floats.
    const float t = fmaf(n, -4.60503898e-6f, fmaf(n, -0.301025391f, a));
    const float r = fmaf(t, 2.30258512f, t * -3.19754356e-8f);
    const float e = qg_scaled(fmaf(fmaf(qg_exp_rest(r), r, 1.0f), r, 1.0f), (int)n);
    return a > 38.5318413f ? QG_INF : a < -45.5f ? 0.0f : e;
}
QG_FN float expm1f(float a) {
    const float n = rintf(a * 1.44269502f);
    const float r = qg_minus_log2(a, n);
    const float p = fmaf(qg_exp_rest(r) * r, r, r);
    const float half = qg_power((int)fmaxf(n, -30.0f) - 1);  // half of 2^n, which may be too large for a float
    const float e = 2.0f * fmaf(half, p, half - 0.5f);
    return a > 88.7228394f ? QG_INF : a < -18.0f ? -1.0f : a == 0.0f ? a : e;
}

// log(1 + f) for f between -1/3 and 1/3.
QG_FN float qg_log1p_small(float f) {
    float p = fmaf(0.119531669f, f, -0.12834014f); p = fmaf(p, f, 0.107709222f);
    p = fmaf(p, f, -0.121985197f); p = fmaf(p, f, 0.143026039f);
    p = fmaf(p, f, -0.166793615f); p = fmaf(p, f, 0.199996844f);
    p = fmaf(p, f, -0.249998257f); p = fmaf(p, f, 0.333333343f);
    p = fmaf(p, f, -0.5f);
    return fmaf(f * f, p, f);
}
// Exponent of a positive normal number relative to its significand in [2/3, 4/3).
QG_FN int qg_log_exponent(float a) { return (int)(qg_bits(a) - 0x3f2aaaabu) >> 23; }
QG_FN float qg_log_significand(float a, int e) { return qg_float(qg_bits(a) - ((unsigned)e << 23)); }
// Significand less 1 and exponent of a positive number, subnormal ones too.
QG_FN float qg_log_parts(float a, float& exponent) {
    const bool tiny = a < 1.17549435e-38f;
    a = tiny ? a * 8388608.0f : a;
    const int e = qg_log_exponent(a);
    exponent = (float)(tiny ? e - 23 : e);
    return qg_log_significand(a, e) - 1.0f;
}
QG_FN float qg_log_special(float a, float r) { return a == QG_INF ? a : a == 0.0f ? -QG_INF : a >= 0.0f ? r : QG_NAN; }
QG_FN float logf(float a) {
    float e;
    const float f = qg_log_parts(a, e);
    return qg_log_special(a, fmaf(e, 0.693147182f, qg_log1p_small(f)));
}
QG_FN float log2f(float a) {
    float e;
    const float l = qg_log1p_small(qg_log_parts(a, e));
    return qg_log_special(a, fmaf(l, 1.44269502f, fmaf(l, 1.92596303e-08f, e)));
}
QG_FN float log10f(float a) {
    float e;
    const float l = qg_log1p_small(qg_log_parts(a, e));
    return qg_log_special(a, fmaf(e, 0.30103001f, fmaf(l, 0.434294492f, fmaf(l, -1.010305e-08f, e * -1.43209888e-08f))));
}
QG_FN float log1pf(float a) {
    const float sum = 1.0f + a;
    const int e = qg_log_exponent(sum > 0.0f && sum < QG_INF ? sum : 1.0f);
    const float s = 0.25f * qg_power(2 - e);
    const float r = fmaf((float)e, 0.693147182f, qg_log1p_small(fmaf(a, s, s - 1.0f)));
    return a == QG_INF ? a : a == -1.0f ? -QG_INF : a > -1.0f ? (a == 0.0f ? a : r) : QG_NAN;
}

// log(a) of a positive finite number in two floats, to about 31 bits.
QG_FN float qg_log_long(float a, float& low) {
    float e;
    const float f = qg_log_parts(a, e);
    float p = fmaf(0.106749915f, f, 0.105046041f); p = fmaf(p, f, -0.150538415f);
    p = fmaf(p, f, 0.0870179012f); p = fmaf(p, f, -0.0909542516f);
    p = fmaf(p, f, 0.111352451f); p = fmaf(p, f, -0.125557512f);
    p = fmaf(p, f, 0.142850488f); p = fmaf(p, f, -0.166651189f);
    p = fmaf(p, f, 0.200000063f); p = fmaf(p, f, -0.250000149f);
    // 1/3 + f q, then times f^3; f^2 is exact in two floats.
    const float third = 0.333333343f, b = fmaf(f, p, third);
    const float b_low = fmaf(f, p, third - b) - 9.93410776e-9f;
    const float s = f * f, s_low = fmaf(f, f, -s);
    const float c = s * f, c_low = fmaf(s_low, f, fmaf(s, f, -c));
    const float d = c * b, d_low = fmaf(c, b, -d) + fmaf(c, b_low, c_low * b);
    // f - f^2 / 2 + d
    const float g = fmaf(-0.5f, s, f), g_low = fmaf(-0.5f, s_low, fmaf(-0.5f, s, f - g));
    const float h = g + d, h_low = (g - h) + d + (g_low + d_low);
    // + e log(2); the first part of log(2) has 12 bits
    const float k = e * 0.693359375f, r = k + h;
    const float r_low = (k - r) + h + fmaf(e, -0.00021219444f, h_low);
    const float sum = r + r_low;
    low = (r - sum) + r_low;
    return sum;
}
static __device__ __attribute__((nodebug)) float powf(float a, float b) {
    float low;
    const float size = fabsf(a);
    const float l = qg_log_long(size > 0.0f && size < QG_INF ? size : 1.0f, low);
    const float x = b * l, x_low = fmaf(b, low, fmaf(b, l, -x));
    float r = qg_exp(fmaxf(fminf(x, 90.0f), -104.5f), fabsf(x) < 110.0f ? x_low : 0.0f, 0);
    r = x > 89.0f ? QG_INF : x < -104.2f ? 0.0f : r;
    const bool odd = fabsf(b) < 16777216.0f && truncf(b) == b && ((int)b & 1);
    const bool whole = truncf(b) == b;
    if (size == 0.0f || size == QG_INF) r = (size == 0.0f) == (b > 0.0f) ? 0.0f : QG_INF;
    if (fabsf(b) == QG_INF) r = size == 1.0f ? 1.0f : (size > 1.0f) == (b > 0.0f) ? QG_INF : 0.0f;
    if (signbit(a)) r = odd ? -r : whole || size == 0.0f || size == QG_INF ? r : QG_NAN;
    if (a != a || b != b) r = a + b;
    return b == 0.0f || a == 1.0f ? 1.0f : r;
}

QG_FN float sinhf(float a) {
    const float x = fabsf(a), z = a * a;
    float p = fmaf(2.78223069e-06f, z, 0.000198428941f);
    p = fmaf(p, z, 0.00833331048f);
    p = fmaf(p, z, 0.166666672f);
    const float quarter = qg_exp(fminf(x, 89.9f), 0.0f, -2);
    const float far = fmaf(2.0f, quarter, -0.125f / quarter);
    return x != x ? x : x < 1.0f ? fmaf(z * a, p, a) : copysignf(far, a);
}
QG_FN float coshf(float a) {
    const float x = fabsf(a);
    const float quarter = qg_exp(fminf(x, 89.9f), 0.0f, -2);
    return x != x ? x : fmaf(2.0f, quarter, 0.125f / quarter);
}
QG_FN float tanhf(float a) {
    const float x = fabsf(a), z = a * a;
    float p = fmaf(-0.00589791313f, z, 0.0207985975f);
    p = fmaf(p, z, -0.0537847131f);
    p = fmaf(p, z, 0.133319363f);
    p = fmaf(p, z, -0.333332986f);
    const float far = 1.0f - 2.0f / (qg_exp(2.0f * fminf(x, 10.0f), 0.0f, 0) + 1.0f);
    return x != x ? x : copysignf(x < 0.6f ? fmaf(z * x, p, x) : far, a);
}
QG_FN float asinhf(float a) {
    const float x = fabsf(a), large = x > 1e9f ? 1.0f : x;
    const float z = large * large;
    const float r = x > 1e9f ? logf(x) + 0.693147182f : log1pf(large + z / (1.0f + sqrtf(1.0f + z)));
    return copysignf(r, a);
}
QG_FN float acoshf(float a) {
    const float t = a - 1.0f;
    return a < 1.0f ? QG_NAN : t > 1e9f ? logf(a) + 0.693147182f : log1pf(t + sqrtf(fmaf(t, t, 2.0f * t)));
}
QG_FN float atanhf(float a) {
    const float x = fabsf(a);
    return copysignf(0.5f * log1pf(2.0f * x / (1.0f - x)), a);
}

// 1 / cbrt(a) of a positive normal number: a guess from the bits, then Newton's steps.
QG_FN float qg_rcbrt(float a) {
    float y = qg_float(0x54a2fa8cu - qg_bits(a) / 3);
    y = y * fmaf(-0.333333343f * a, y * y * y, 1.33333337f);
    y = y * fmaf(-0.333333343f * a, y * y * y, 1.33333337f);
    y = y * fmaf(-0.333333343f * a, y * y * y, 1.33333337f);
    return y;
}
// The number with an exponent near 0 that differs from |a| by a factor of 8^n.
QG_FN float qg_cube_part(float a, int& n) {
    n = (int)rintf((float)qg_exponent(a) * 0.333333343f);
    return ldexpf(fabsf(a), -3 * n);
}
QG_FN float cbrtf(float a) {
    int n;
    const float m = qg_cube_part(a == 0.0f || !(fabsf(a) < QG_INF) ? 1.0f : a, n);
    const float y = qg_rcbrt(m), r = m * (y * y);
    const float s = r * r, rest = fmaf(-r, fmaf(r, r, -s), fmaf(-r, s, m));  // m - r^3
    return a == 0.0f || !(fabsf(a) < QG_INF) ? a : copysignf(fmaf(rest, 0.333333343f * (y * y), r) * qg_power(n), a);
}
QG_FN float rcbrtf(float a) {
    int n;
    const float m = qg_cube_part(a == 0.0f || !(fabsf(a) < QG_INF) ? 1.0f : a, n);
    const float y = qg_rcbrt(m), s = y * y, c = s * y;
    const float rest = fmaf(-m, fmaf(y, fmaf(y, y, -s), fmaf(s, y, -c)), fmaf(-m, c, 1.0f));  // 1 - m y^3
    return a != a ? a : a == 0.0f ? copysignf(QG_INF, a) : copysignf(fabsf(a) == QG_INF ? 0.0f : fmaf(y, 0.333333343f * rest, y) * qg_power(-n), a);
}

// A power of two that brings the largest of some numbers near to 1, and its inverse.
QG_FN float qg_norm_scale(float largest, float& back) {
    const int n = largest > 0.0f && largest < QG_INF ? max(qg_exponent(largest), -100) : 0;
    back = qg_power(n);
    return 0.25f * qg_power(2 - n);
}
#define QG_NORM(name, inverse, parameters, largest, scale_all, squares) \
    QG_FN float name parameters { \
        float back; \
        const float most = largest, s = qg_norm_scale(most, back); \
        scale_all \
        return most == QG_INF ? most : sqrtf(squares) * back; \
    } \
    QG_FN float inverse parameters { \
        float back; \
        const float most = largest, s = qg_norm_scale(most, back); \
        scale_all \
        return most == QG_INF ? 0.0f : 1.0f / sqrtf(squares) * s; \
    }
QG_NORM(hypotf, rhypotf, (float a, float b), fmaxf(fabsf(a), fabsf(b)), a *= s; b *= s;, fmaf(a, a, b * b))
QG_NORM(norm3df, rnorm3df, (float a, float b, float c), fmaxf(fmaxf(fabsf(a), fabsf(b)), fabsf(c)), a *= s; b *= s; c *= s;, fmaf(a, a, fmaf(b, b, c * c)))
QG_NORM(norm4df, rnorm4df, (float a, float b, float c, float d), fmaxf(fmaxf(fabsf(a), fabsf(b)), fmaxf(fabsf(c), fabsf(d))),
        a *= s; b *= s; c *= s; d *= s;, fmaf(a, a, fmaf(b, b, fmaf(c, c, d * d))))
QG_FN float normf(int count, const float* a) {
    float s = 0.0f;
    for (int i = 0; i < count; ++i) s = hypotf(s, a[i]);
    return s;
}
QG_FN float rnormf(int count, const float* a) { return 1.0f / normf(count, a); }
)cuda";

}  // namespace qwengpu::cuda::detail
