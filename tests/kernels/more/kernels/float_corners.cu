// float_corners: binary32 at its corners: NaN, infinities, zeros of both signs, subnormals, rounding by name, conversions, bits taken apart.
extern "C" __global__ void classify(const float* x, int* out) {
    int t = threadIdx.x;
    float v = x[t];
    out[t] = isnan(v) | isinf(v) << 1 | (isfinite(v) != 0) << 2 | (signbit(v) != 0) << 3 | (v == v) << 4 | (v < 0) << 5 | (v == 0.0f) << 6 | !(v >= 1.0f) << 7 | (fabsf(v) < 1.17549435e-38f) << 8;
}
extern "C" __global__ void directed(const float* a, const float* b, unsigned* out) {
    int t = threadIdx.x;
    float x = a[t], y = b[t];
    unsigned* o = out + 12 * t;
    o[0] = __float_as_uint(__fadd_rn(x, y)); o[1] = __float_as_uint(__fadd_rz(x, y)); o[2] = __float_as_uint(__fadd_ru(x, y)); o[3] = __float_as_uint(__fadd_rd(x, y));
    o[4] = __float_as_uint(__fmul_rn(x, y)); o[5] = __float_as_uint(__fmul_rz(x, y)); o[6] = __float_as_uint(__fmul_ru(x, y)); o[7] = __float_as_uint(__fmul_rd(x, y));
    o[8] = __float_as_uint(__fdiv_rn(x, y)); o[9] = __float_as_uint(__fdiv_rz(x, y)); o[10] = __float_as_uint(__fdiv_ru(x, y)); o[11] = __float_as_uint(__fdiv_rd(x, y));
}
extern "C" __global__ void directed2(const float* a, const float* b, unsigned* out) {
    int t = threadIdx.x;
    float x = a[t], y = b[t];
    unsigned* o = out + 12 * t;
    o[0] = __float_as_uint(__fmaf_rn(x, y, x)); o[1] = __float_as_uint(__fmaf_rz(x, y, x)); o[2] = __float_as_uint(__fmaf_ru(x, y, x)); o[3] = __float_as_uint(__fmaf_rd(x, y, x));
    o[4] = __float_as_uint(__fsqrt_rn(x)); o[5] = __float_as_uint(__fsqrt_rz(x)); o[6] = __float_as_uint(__fsqrt_ru(x)); o[7] = __float_as_uint(__fsqrt_rd(x));
    o[8] = __float_as_uint(__frcp_rn(y)); o[9] = __float_as_uint(__frcp_rz(y)); o[10] = __float_as_uint(__frcp_ru(y)); o[11] = __float_as_uint(__frcp_rd(y));
}
extern "C" __global__ void to_int(const float* a, int* out, long long* wide) {
    int t = threadIdx.x;
    float x = a[t];
    int* o = out + 8 * t;
    o[0] = __float2int_rn(x); o[1] = __float2int_rz(x); o[2] = __float2int_ru(x); o[3] = __float2int_rd(x);
    o[4] = (int)__float2uint_rn(x); o[5] = (int)__float2uint_rz(x); o[6] = (int)floorf(x) ^ (int)ceilf(x); o[7] = (int)rintf(x) * 3 + (int)truncf(x) - (int)roundf(x);
    wide[t] = __float2ll_rz(x);
}
extern "C" __global__ void from_int(const int* a, const long long* b, unsigned* out) {
    int t = threadIdx.x;
    unsigned* o = out + 8 * t;
    o[0] = __float_as_uint(__int2float_rn(a[t])); o[1] = __float_as_uint(__int2float_rz(a[t])); o[2] = __float_as_uint(__int2float_ru(a[t])); o[3] = __float_as_uint(__int2float_rd(a[t]));
    o[4] = __float_as_uint(__uint2float_rn((unsigned)a[t])); o[5] = __float_as_uint(__ll2float_rn(b[t])); o[6] = __float_as_uint(__ull2float_rn((unsigned long long)b[t])); o[7] = __float_as_uint((float)(short)a[t] / (float)(unsigned char)(b[t] | 1));
}
__device__ float take_apart(float x, int* e) {               // frexp by hand
    unsigned u = __float_as_uint(x);
    int ex = u >> 23 & 255;
    if (ex == 255 || (u << 1) == 0) { *e = 0; return x; }
    if (ex == 0) { u = __float_as_uint(x * 16777216.0f); ex = (int)(u >> 23 & 255) - 24; }
    *e = ex - 126;
    return __uint_as_float((u & 0x807fffffu) | 126u << 23);
}
extern "C" __global__ void parts(const float* x, float* m, int* e, float* next, float* low) {
    int t = threadIdx.x;
    m[t] = take_apart(x[t], e + t);
    int i = __float_as_int(x[t]);
    next[t] = x[t] == 0 ? __int_as_float(1) : __int_as_float(i + (i >= 0 ? 1 : -1));
    low[t] = copysignf(fminf(fabsf(x[t]), 1.5f), -x[t]);
}
extern "C" __global__ void sums(const float* x, int n, float* out) {        // naive, Kahan, pairs, and fma error terms
    float s = 0.f, k = 0.f, c = 0.f;
    for (int i = 0; i < n; i++) {
        s = __fadd_rn(s, x[i]);
        float y = __fsub_rn(x[i], c), t = __fadd_rn(k, y);
        c = __fsub_rn(__fsub_rn(t, k), y);
        k = t;
    }
    out[0] = s; out[1] = k;
    float p = __fmul_rn(x[0], x[1]), e = fmaf(x[0], x[1], -p);
    out[2] = p; out[3] = e;
    out[4] = fmaxf(fminf(x[2], __int_as_float(0x7fc00000)), x[3]);
    out[5] = fdimf(x[2], x[3]) + fdimf(x[3], x[2]);
    out[6] = __saturatef(x[4]) + __saturatef(-x[4]);
    out[7] = -0.0f + (x[5] - x[5]);
}
