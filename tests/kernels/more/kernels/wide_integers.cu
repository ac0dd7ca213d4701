// wide_integers: 64-bit hashes, generators, big numbers, fixed point.
typedef unsigned long long u64;
extern "C" __global__ void fnv64(const unsigned char* text, const int* at, u64* out, int n) {
    int i = threadIdx.x;
    if (i >= n) return;
    u64 h = 14695981039346656037ull;
    for (int k = at[i]; k < at[i + 1]; ++k) h = (h ^ text[k]) * 1099511628211ull;
    out[i] = h;
}
extern "C" __global__ void xorshift64s(u64* state, float* uniform, int rounds) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    u64 x = state[i], r = 0;
    for (int k = 0; k < rounds; ++k) {
        x ^= x >> 12;
        x ^= x << 25;
        x ^= x >> 27;
        r = x * 0x2545F4914F6CDD1Dull;
    }
    state[i] = x;
    uniform[i] = (float)(r >> 40) * (1.0f / 16777216.0f);
}
extern "C" __global__ void mul128(const ulonglong2* ab, ulonglong2* out, int n) {
    int i = threadIdx.x;
    if (i < n) out[i] = make_ulonglong2(ab[i].x * ab[i].y, __umul64hi(ab[i].x, ab[i].y));
}
extern "C" __global__ void big_add(const unsigned* a, const unsigned* b, unsigned* c, int words) {
    if (threadIdx.x || blockIdx.x) return;
    u64 carry = 0;
    for (int i = 0; i < words; ++i) {
        carry += (u64)a[i] + b[i];
        c[i] = (unsigned)carry;
        carry >>= 32;
    }
    c[words] = (unsigned)carry;
}
extern "C" __global__ void div64(const u64* a, const u64* b, u64* q, u64* r, long long* sq, int n) {
    int i = blockDim.x * blockIdx.x + threadIdx.x;
    if (i >= n) return;
    q[i] = a[i] / b[i];
    r[i] = a[i] % b[i];
    sq[i] = (long long)a[i] / (long long)(b[i] >> 40 | 1);
}
__device__ __forceinline__ long long fxmul(long long a, long long b) {  // Q32.32
    return (long long)((u64)__mul64hi(a, b) << 32 | ((u64)a * (u64)b) >> 32);
}
extern "C" __global__ void fixed_poly(const long long* x, long long* y, int n) {
    int i = threadIdx.x;
    if (i >= n) return;
    const long long one = 1ll << 32;
    long long v = x[i], acc = 0;
    for (int k = 6; k >= 0; --k) acc = fxmul(acc, v) + (k & 1 ? -one / (k + 1) : one / (k + 1));
    y[i] = acc;
}
extern "C" __global__ void modpow(const u64* base, const unsigned* e, u64* out, unsigned m, int n) {
    int i = threadIdx.x;
    if (i >= n) return;
    u64 r = 1 % m, b = base[i] % m;
    for (unsigned k = e[i]; k; k >>= 1) {
        if (k & 1) r = r * b % m;
        b = b * b % m;
    }
    out[i] = r;
}
extern "C" __global__ void bits64(const u64* x, int* out, int n) {
    int i = threadIdx.x;
    if (i >= n) return;
    u64 v = x[i];
    out[4 * i] = __popcll(v) | __clzll((long long)v) << 8 | __ffsll((long long)v) << 16;
    u64 r = v << (i * 9 & 63) | v >> (64 - (i * 9 & 63) & 63);
    out[4 * i + 1] = (int)(r >> 32) ^ (int)r;
    out[4 * i + 2] = (int)((long long)v >> (i * 5 & 63));
    out[4 * i + 3] = (int)(__brevll(v) >> 7);
}
