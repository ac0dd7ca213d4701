// SPDX-License-Identifier: MIT
// CUDA for clang without a toolkit, part 6: float functions that take numbers apart and put them together, all exact: remainders, scaling,
// rounding to integers. They are computed on the bits: significand times a power of two.
#pragma once

#include <string_view>

namespace qwengpu::cuda::detail {

inline constexpr std::string_view device_header_parts = R"cuda(
QG_FN unsigned qg_bits(float a) { return __builtin_bit_cast(unsigned, a); }
QG_FN float qg_float(unsigned bits) { return __builtin_bit_cast(float, bits); }
#define QG_INF __builtin_inff()
#define QG_NAN qg_float(0x7fffffffu)

// 2^n for n in -126..127.
QG_FN float qg_power(int n) { return qg_float((unsigned)(n + 127) << 23); }
// a 2^n for n in -252..254, rounded once if the first product is normal.
QG_FN float qg_scaled(float a, int n) { return a * qg_power(n >> 1) * qg_power(n - (n >> 1)); }
// The last factor alone can round: where a product before it is subnormal, the result is 0.
QG_FN float ldexpf(float a, int n) {
    n = max(min(n, 280), -280);
    const int last = max(min(n, 127), -126), half = (n - last) / 2;
    return a * qg_power(half) * qg_power(n - last - half) * qg_power(last);
}
QG_FN float scalbnf(float a, int n) { return ldexpf(a, n); }
QG_FN float scalblnf(float a, long n) { return ldexpf(a, n > 1000 ? 1000 : n < -1000 ? -1000 : (int)n); }
// Exponent of a positive finite number, subnormal ones too.
QG_FN int qg_exponent(float a) {
    const unsigned u = qg_bits(a) & 0x7fffffff;
    return u < 0x800000 ? -118 - __clz((int)u) : (int)(u >> 23) - 127;
}
QG_FN float frexpf(float a, int* n) {
    const bool plain = fabsf(a) < QG_INF && a != 0.0f;
    const int e = qg_exponent(a) + 1;
    *n = plain ? e : 0;
    return plain ? ldexpf(a, -e) : a + a;
}
QG_FN int ilogbf(float a) { return a == 0.0f ? -2147483647 - 1 : a != a ? -2147483647 - 1 : fabsf(a) == QG_INF ? 2147483647 : qg_exponent(a); }
QG_FN float logbf(float a) { return a == 0.0f ? -QG_INF : fabsf(a) < QG_INF ? (float)qg_exponent(a) : a * a; }
QG_FN float modff(float a, float* whole) {
    const float t = truncf(a);
    *whole = t;
    return copysignf(fabsf(a) == QG_INF ? 0.0f : a - t, a);
}
QG_FN float nextafterf(float a, float b) {
    const unsigned u = qg_bits(a);
    const unsigned next = a == 0.0f ? (qg_bits(b) & 0x80000000u) | 1 : (a < b) == (a > 0.0f) ? u + 1 : u - 1;
    return a != a || b != b ? a + b : a == b ? b : qg_float(next);
}

// |a| mod |b| for finite a and b that is not 0, with the last bits of the quotient: long division of significands, eight bits at a time.
static __device__ __attribute__((nodebug)) float qg_remainder(float a, float b, unsigned& quotient) {
    const unsigned ua = qg_bits(a) & 0x7fffffff, ub = qg_bits(b) & 0x7fffffff;
    quotient = 0;
    if (ua < ub) return qg_float(ua);
    const int ea = max((int)(ua >> 23), 1), eb = max((int)(ub >> 23), 1);
    unsigned rest = ua < 0x800000 ? ua : (ua & 0x7fffff) | 0x800000;
    const unsigned by = ub < 0x800000 ? ub : (ub & 0x7fffff) | 0x800000;
    int left = ea - eb;
    unsigned q = rest / by;
    rest -= q * by;
    while (left > 0) {
        const int step = min(left, 8);
        rest <<= step;
        const unsigned part = rest / by;
        rest -= part * by;
        q = q << step | part;
        left -= step;
    }
    quotient = q;
    return ldexpf((float)rest, eb - 150);
}
QG_FN float fmodf(float a, float b) {
    if (!(fabsf(a) < QG_INF) || b == 0.0f || b != b) return QG_NAN;
    if (fabsf(b) == QG_INF) return a;
    unsigned q;
    return copysignf(qg_remainder(a, b, q), a);
}
QG_FN float remquof(float a, float b, int* quotient) {
    *quotient = 0;
    if (!(fabsf(a) < QG_INF) || b == 0.0f || b != b) return QG_NAN;
    if (fabsf(b) == QG_INF) return a;
    unsigned q;
    const float d = fabsf(b);
    float r = qg_remainder(a, b, q);
    const bool more = r + r > d || (r + r == d && q & 1);
    r = more ? r - d : r;
    q += more;
    const int seven = (int)(q & 7);
    *quotient = signbit(a) != signbit(b) ? -seven : seven;
    return r == 0.0f ? copysignf(0.0f, a) : signbit(a) ? -r : r;
}
QG_FN float remainderf(float a, float b) { int q; return remquof(a, b, &q); }

QG_FN long long llrintf(float a) { return __float2ll_rn(a); }
QG_FN long lrintf(float a) { return (long)__float2ll_rn(a); }
QG_FN long long llroundf(float a) { return __float2ll_rz(roundf(a)); }
QG_FN long lroundf(float a) { return (long)__float2ll_rz(roundf(a)); }
)cuda";

}  // namespace qwengpu::cuda::detail
