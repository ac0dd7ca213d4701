// SPDX-License-Identifier: MIT
// CUDA for clang without a toolkit, part 9: error functions, normal distribution, gamma function. The polynomials were fitted as those of the
// exponentials. Bessel functions are not there.
#pragma once

#include <string_view>

namespace qwengpu::cuda::detail {

inline constexpr std::string_view device_header_special = R"cuda(
// erf(a) for a from -1 to 1.
QG_FN float qg_erf_small(float a) {
    const float z = a * a;
    float p = fmaf(7.80814808e-05f, z, -0.000799811562f);
    p = fmaf(p, z, 0.00518717989f); p = fmaf(p, z, -0.0268533509f);
    p = fmaf(p, z, 0.112835787f); p = fmaf(p, z, -0.37612626f);
    p = fmaf(p, z, 0.128379166f);
    return fmaf(a, p, a);
}
// Beyond 1 it is 1 - exp(polynomial).
QG_FN float erff(float a) {
    const float x = fabsf(a), y = fminf(x, 4.0f);
    float q = fmaf(2.16933659e-05f, y, -0.000441434298f);
    q = fmaf(q, y, 0.00420514587f); q = fmaf(q, y, -0.0252100788f);
    q = fmaf(q, y, 0.108421825f); q = fmaf(q, y, 0.63321656f);
    q = fmaf(q, y, 1.12958026f); q = fmaf(q, y, -0.000188460152f);
    return x != x ? x : x < 1.0f ? qg_erf_small(a) : copysignf(1.0f - qg_exp(-q, 0.0f, 0), a);
}
// exp(x^2) erfc(x) for x from 0: a polynomial in (x - 4) / (x + 4), over 1 + 2 x.
QG_FN float qg_erfcx(float x) {
    const float t = (x - 4.0f) / (x + 4.0f);
    float p = fmaf(-0.000348115369f, t, -0.000640790968f);
    p = fmaf(p, t, 0.00135029946f); p = fmaf(p, t, 0.00865731761f);
    p = fmaf(p, t, -0.0151176918f); p = fmaf(p, t, 0.0359880105f);
    p = fmaf(p, t, -0.066993013f); p = fmaf(p, t, 0.0938416272f);
    p = fmaf(p, t, -0.100941896f); p = fmaf(p, t, 0.0680948272f);
    p = fmaf(p, t, 0.0153751094f); p = fmaf(p, t, -0.139621124f);
    p = fmaf(p, t, 1.23299515f);
    return p / fmaf(2.0f, x, 1.0f);
}
QG_FN float qg_erfc(float a, float low) {
    const float x = fminf(fabsf(a), 10.6f), s = x * x;
    const float s_low = fmaf(2.0f * fabsf(a), a < 0.0f ? -low : low, fmaf(x, x, -s));
    const float r = qg_exp(fmaxf(-s, -104.5f), fabsf(a) < 10.6f ? -s_low : 0.0f, 0) * qg_erfcx(x);
    const float small = 1.0f - fmaf(low, 1.12837917f, qg_erf_small(a));
    return a != a ? a : fabsf(a) < 0.5f ? small : a < 0.0f ? 2.0f - r : r;
}
QG_FN float erfcf(float a) { return qg_erfc(a, 0.0f); }
QG_FN float normcdff(float a) {
    const float x = a * -0.707106769f;  // and what the product and the constant leave out
    const float low = fmaf(a, -1.21016175e-08f, fmaf(a, -0.707106769f, -x));
    return 0.5f * qg_erfc(x, fabsf(a) < 20.0f ? low : 0.0f);
}
QG_FN float erfcxf(float a) {
    const float x = fabsf(a), s = a * a;
    const float near = qg_erfcx(fminf(x, 10.0f));
    // Far out: 1 / (x sqrt(pi)) times 1 - 1/(2 x^2) + 3/(4 x^4) - 15/(8 x^6).
    const float i = 1.0f / x, h = i * i;
    const float far = i * fmaf(0.564189553f * h, fmaf(fmaf(-1.875f, h, 0.75f), h, -0.5f), 0.564189553f);
    const float r = x > 10.0f ? far : near;
    const float e = qg_exp(fminf(s, 89.9f), s < 89.9f ? fmaf(a, a, -s) : 0.0f, 0);
    return a != a ? a : a < 0.0f ? (s > 89.0f ? QG_INF : fmaf(2.0f, e, -r)) : r;
}

// The inverse error function over its argument, by w = -log of (1 - x)(1 + x).
QG_FN float qg_erfinv_near(float w) {
    w = w - 2.5f;
    float p = fmaf(-1.66971637e-09f, w, -8.09149725e-09f);
    p = fmaf(p, w, 5.14597218e-08f); p = fmaf(p, w, 4.57882919e-07f);
    p = fmaf(p, w, -3.63091726e-06f); p = fmaf(p, w, -4.93300104e-06f);
    p = fmaf(p, w, 0.000218757588f); p = fmaf(p, w, -0.00125277729f);
    p = fmaf(p, w, -0.00417774729f); p = fmaf(p, w, 0.246640295f);
    p = fmaf(p, w, 1.50140941f);
    return p;
}
QG_FN float qg_erfinv_far(float w) {
    const float s = sqrtf(w);
    if (s > 4.15f) {
        const float u = s - 7.0f;
        float p = fmaf(-2.01528993e-09f, u, 1.34452494e-08f);
        p = fmaf(p, u, -4.81965401e-08f); p = fmaf(p, u, 2.8926334e-07f);
        p = fmaf(p, u, -1.64657035e-06f); p = fmaf(p, u, 6.04339084e-06f);
        p = fmaf(p, u, 6.34981097e-06f); p = fmaf(p, u, -0.000512425904f);
        p = fmaf(p, u, 1.00859559f); p = fmaf(p, u, 6.86901951f);
        return p;
    }
    const float u = s - 3.0f;
    float p = fmaf(-3.13314849e-05f, u, 0.000156818351f);
    p = fmaf(p, u, -0.000264666334f); p = fmaf(p, u, -0.00011829711f);
    p = fmaf(p, u, 0.00146050903f); p = fmaf(p, u, -0.00356628699f);
    p = fmaf(p, u, 0.00569356047f); p = fmaf(p, u, -0.00764310267f);
    p = fmaf(p, u, 0.00944450963f); p = fmaf(p, u, 1.00167525f);
    p = fmaf(p, u, 2.83297682f);
    return p;
}
QG_FN float erfinvf(float a) {
    const float w = -logf(fmaf(-a, a, 1.0f));
    const float p = w < 5.0f ? qg_erfinv_near(w) : qg_erfinv_far(fminf(w, 17.0f));
    return fabsf(a) > 1.0f || a != a ? QG_NAN : fabsf(a) == 1.0f ? copysignf(QG_INF, a) : p * a;
}
QG_FN float erfcinvf(float a) {
    const float x = 1.0f - a, small = a > 1.0f ? 2.0f - a : a;
    const float w = -logf(fmaf(-small, small, small + small));
    const float p = w < 5.0f ? qg_erfinv_near(w) : qg_erfinv_far(w);
    return !(a >= 0.0f && a <= 2.0f) ? QG_NAN : small == 0.0f ? copysignf(QG_INF, x) : p * x;
}
QG_FN float normcdfinvf(float a) { return -1.41421354f * erfcinvf(2.0f * a); }

// Over (1 + r) (2 + r) ... and so on the gamma function is brought to 1 / gamma(1 + r), r from -1/2 to 1/2.
static __device__ __attribute__((nodebug)) float tgammaf(float a) {
    const float limited = fmaxf(fminf(a, 36.0f), -43.0f), n = rintf(limited) - 1.0f;
    const float r = limited - (n + 1.0f);
    float p = fmaf(-0.000519188994f, r, -0.00107280025f);
    p = fmaf(p, r, 0.007394657f); p = fmaf(p, r, -0.00964436773f);
    p = fmaf(p, r, -0.0422324874f); p = fmaf(p, r, 0.166540682f);
    p = fmaf(p, r, -0.0420000441f); p = fmaf(p, r, -0.655878127f);
    p = fmaf(p, r, 0.577215612f); p = fmaf(p, r, 1.0f);
    // gamma(x) = (x - 1) (x - 2) ... gamma(1 + r), or gamma(1 + r) / (x (x + 1) ...); the product in two floats,
    // begun where it does not leave their range.
    const float start = n > 0.0f ? 0.0625f : n < -20.0f ? 8.67361738e-19f : 1.0f;
    float high = start, low = 0.0f;
    for (int i = 0; i < 43; ++i) {
        if (!((float)i < fabsf(n))) break;
        const float factor = n > 0.0f ? limited - 1.0f - (float)i : limited + (float)i;
        const float next = high * factor;
        low = fmaf(low, factor, fmaf(high, factor, -next));
        high = next;
    }
    const float g = n > 0.0f ? (high + low) / p * 16.0f : start / fmaf(p, high, p * low);
    const bool whole = truncf(a) == a;
    const float far = a > 35.5f ? QG_INF : a < -42.5f ? (whole ? QG_NAN : (int)floorf(a) & 1 ? -0.0f : 0.0f) : a == 0.0f ? copysignf(QG_INF, a) : a < 0.0f && whole ? QG_NAN : g;
    return a != a || a == -QG_INF ? QG_NAN : far;
}
// log(gamma(2 + s)) for s from -1/2 to 1/2.
QG_FN float qg_lgamma_two(float s) {
    float p = fmaf(-4.15116447e-05f, s, -0.000454400841f);
    p = fmaf(p, s, 0.000584156718f); p = fmaf(p, s, -0.00108477857f);
    p = fmaf(p, s, 0.00287865102f); p = fmaf(p, s, -0.00740214949f);
    p = fmaf(p, s, 0.0205814037f); p = fmaf(p, s, -0.0673514679f);
    p = fmaf(p, s, 0.322467029f); p = fmaf(p, s, 0.422784328f);
    return p * s;
}
QG_FN float qg_lgamma_positive(float x) {
    if (x < 0.5f) return qg_lgamma_two(x) + -logf(x) - log1pf(x);
    if (x < 1.5f) return qg_lgamma_two(x - 1.0f) - log1pf(x - 1.0f);
    if (x < 5.5f) {
        float product = 1.0f;
        while (x > 2.5f) { x -= 1.0f; product *= x; }
        return qg_lgamma_two(x - 2.0f) + logf(product);
    }
    const float i = 1.0f / x, z = i * i;
    const float rest = fmaf(fmaf(fmaf(0.000770402781f, z, -0.00277775223f), z, 0.0833333358f), i, 0.918938518f);
    const float l = logf(x);
    return fmaf(x - 0.5f, l - 1.0f, rest - 0.5f);
}
static __device__ __attribute__((nodebug)) float lgammaf(float a) {
    const float x = fabsf(a);
    const float r = qg_lgamma_positive(x < QG_INF && x > 0.0f ? x : 1.0f);
    const float mirrored = logf(3.14159274f / (x * fabsf(sinpif(x)))) - r;
    return a != a ? a : x == QG_INF || x == 0.0f ? QG_INF : a > 0.0f ? r : truncf(a) == a ? QG_INF : x < 1e-15f ? -logf(x) : mirrored;
}
)cuda";

}  // namespace qwengpu::cuda::detail
