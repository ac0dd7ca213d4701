// calls: functions that stay functions: many arguments of all sizes, structs in and out, out parameters, calls in loops and under conditions, chains.
struct Big { int a[6]; float f; unsigned char c; };
struct Small { short x; signed char y; };
__device__ __noinline__ Big fill(int n, Small s, const Big& old) {
    Big b = old;
    for (int i = 0; i < 6; ++i) b.a[i] += n * i + s.x;
    b.f = __fmul_rn(b.f, 0.5f);
    b.c ^= s.y;
    return b;
}
__device__ __noinline__ Small shrink(Big b, bool flip) { Small s; s.x = (short)(b.a[5] - b.a[0]); s.y = flip ? -(signed char)b.c : (signed char)b.c; return s; }
extern "C" __global__ void pass_structs(const int* in, int* out, float* f) {
    int t = threadIdx.x;
    Big b = {{in[t], 1, 2, 3, 4, 5}, 100.0f, 200};
    Small s = {(short)(t - 2), (signed char)(3 * t)};
    for (int i = 0; i < 3; ++i) {
        b = fill(in[t] % 7, s, b);
        s = shrink(b, i & 1);
    }
    int h = 0;
    for (int x : b.a) h = h * 17 + x;
    out[t] = h ^ s.x << 8 ^ s.y ^ b.c << 24;
    f[t] = b.f;
}
__device__ __noinline__ long long many(signed char a, unsigned char b, short c, unsigned short d, int e, unsigned f, long long g, float h, bool i, const int* j, int& k, int l = 7) {
    k += l;
    return a + b * 2 + c * 3 + d * 5ll + e * 7 - (long long)f * 11 + g * 13 + (int)h * 17 + (i ? *j : -*j) * 19;
}
extern "C" __global__ void arguments(const int* v, long long* out, int* k) {
    int t = threadIdx.x, local = t * 10, x = v[t];
    long long r = many((signed char)x, (unsigned char)x, (short)x, (unsigned short)x, x, (unsigned)x, (long long)x << 20, x * 0.25f, x & 1, v + (t ^ 1), local);
    r -= many(-1, 255, -1, 65535, -1, 1u, -1, -1.5f, false, &local, local, t);
    out[t] = r;
    k[t] = local;
}
__device__ __noinline__ int leaf(int x, int d) { return x % 3 == 0 ? x / 3 : x * 2 + d; }
__device__ __noinline__ int mid(int x, int d) { int s = 0; for (int i = 0; i < d; ++i) s += leaf(x + i, d); return s; }
__device__ __noinline__ int top(int x) { return x > 50 ? mid(x - 50, 3) - leaf(x, 1) : x & 1 ? mid(x, 2) : -1; }
extern "C" __global__ void chain(const int* v, int* out, int n) {
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        int r = top(v[i]);
        if (r > 100) r = top(r & 63);
        out[i] = r;
    }
}
__device__ __noinline__ int block_total(int v) {             // barriers and shared memory inside a function
    __shared__ int s[32];
    __syncthreads();
    s[threadIdx.x] = v;
    __syncthreads();
    int total = 0;
    for (int i = 0; i < blockDim.x; ++i) total += s[i];
    return total;
}
extern "C" __global__ void collective(const int* v, int* out) {
    int a = block_total(v[threadIdx.x]), b = block_total(v[threadIdx.x] * a);
    out[threadIdx.x] = a + b;
}
__device__ __noinline__ void divide(int a, int b, int* q, int* r) { if (b == 0) { *q = 0; *r = a; return; } *q = a / b; *r = a - *q * b; }
extern "C" __global__ void out_parameters(const int* a, const int* b, int* out) {
    int t = threadIdx.x, qr[2];
    divide(a[t], b[t], &qr[0], &qr[1]);
    if (qr[0] > 3) divide(qr[0], qr[1] | 1, qr + 1, qr);     // the results land swapped
    out[2 * t] = qr[0];
    out[2 * t + 1] = qr[1];
}
