// long_integers: 64-bit division and remainder, shifts by variables, decimal text, greatest common divisor, square root, rotation, saturation.
typedef long long ll;
typedef unsigned long long ull;
extern "C" __global__ void divmod(const ll* a, const ll* b, ll* q, ll* r, ull* uq, ull* ur) {
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    q[t] = a[t] / b[t];
    r[t] = a[t] % b[t];
    uq[t] = (ull)a[t] / (ull)b[t];
    ur[t] = (ull)a[t] % (ull)b[t];
}
extern "C" __global__ void shifts(const ll* a, const int* n, ll* out) {
    int t = threadIdx.x;
    out[4 * t] = a[t] << n[t];
    out[4 * t + 1] = a[t] >> n[t];
    out[4 * t + 2] = (ull)a[t] >> n[t];
    out[4 * t + 3] = n[t] ? ((ull)a[t] << n[t] | (ull)a[t] >> (64 - n[t])) : a[t];
}
extern "C" __global__ void decimal(const ll* a, char* text) {
    char* p = text + 24 * threadIdx.x;
    ll v = a[threadIdx.x];
    ull u = v < 0 ? 0ull - (ull)v : (ull)v;
    if (v < 0) *p++ = '-';
    char* q = p;
    do { *p++ = char('0' + u % 10); u /= 10; } while (u != 0);
    for (char* e = p - 1; q < e; q++, e--) { char c = *q; *q = *e; *e = c; }
}
extern "C" __global__ void number_theory(const ull* a, const ull* b, ull* g, unsigned* root, int* collatz) {
    int t = threadIdx.x;
    ull x = a[t], y = b[t];
    int k = 0;
    if (x && y) {                                            // Stein
        while (!((x | y) & 1)) { x >>= 1; y >>= 1; ++k; }
        while (!(x & 1)) x >>= 1;
        do {
            while (!(y & 1)) y >>= 1;
            if (x > y) { ull s = x; x = y; y = s; }
            y -= x;
        } while (y);
        g[t] = x << k;
    } else g[t] = x | y;
    ull n = a[t], r = 0;
    for (ull bit = 1ull << 62; bit; bit >>= 2) {
        if (n >= r + bit) { n -= r + bit; r = (r >> 1) + bit; }
        else r >>= 1;
    }
    root[t] = (unsigned)r;
    int steps = 0;
    for (ull c = a[t] & 0xffff; c > 1 && steps < 60; ++steps) c = c & 1 ? 3 * c + 1 : c >> 1;
    collatz[t] = steps;
}
template <class T> __device__ T sat_add(T a, T b, T lo, T hi) {
    T s = (T)((ull)a + (ull)b);
    if (a > 0 && b > 0 && s < a) return hi;
    if (a < 0 && b < 0 && s >= 0) return lo;
    return s;
}
extern "C" __global__ void arith(const ll* a, const ll* b, ll* out, int* order) {
    int t = threadIdx.x;
    ll x = a[t], y = b[t];
    out[5 * t] = sat_add<ll>(x, y, (ll)(1ull << 63), 0x7fffffffffffffffll);
    out[5 * t + 1] = __mul64hi(x, y);
    out[5 * t + 2] = llabs(x) - llmin(x, y) + llmax(x, y);
    out[5 * t + 3] = (x ^ y) & ~(x & (int)y) | (short)x;
    out[5 * t + 4] = x * y + (unsigned)x * (ull)(unsigned)y - (int)x * (ll)(int)y;
    order[t] = (x < y) | (x <= y) << 1 | (x == y) << 2 | ((ull)x < (ull)y) << 3 | ((ull)x >= (ull)y) << 4 | (x != -y) << 5 | (!x) << 6;
}
