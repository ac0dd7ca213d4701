// packed_types: signed and unsigned chars and shorts, bool arrays, bit fields, unions, packed pixels, saturation by hand.
enum class Color : unsigned char { red = 1, green = 2, blue = 4, white = 7 };
__device__ constexpr Color operator|(Color a, Color b) { return Color((unsigned char)a | (unsigned char)b); }
__device__ constexpr bool has(Color a, Color b) { return ((unsigned)a & (unsigned)b) == (unsigned)b; }
struct Flags { unsigned ready : 1; int level : 5; unsigned id : 10; signed char tag; unsigned : 0; unsigned short lo : 12, hi : 4; };
union Word { unsigned u; int i; unsigned char b[4]; signed char c[4]; short h[2]; float f; struct { unsigned mant : 23, expo : 8, sign : 1; } parts; };
extern "C" __global__ void fields(const unsigned* in, Flags* out, int* sums) {
    int t = threadIdx.x;
    Flags f = out[t];
    f.ready ^= 1;
    f.level += (int)in[t];
    f.id = in[t] >> 3;
    f.tag = (signed char)(in[t] * 7);
    f.lo -= 1;
    f.hi = f.lo >> 8;
    out[t] = f;
    sums[t] = f.ready + 10 * f.level + f.id * 1000 - f.tag;
}
extern "C" __global__ void unions(const float* x, unsigned* out) {
    int t = threadIdx.x;
    Word w;
    w.f = x[t];
    out[4 * t] = w.parts.sign << 16 | w.parts.expo;
    out[4 * t + 1] = w.parts.mant;
    int s = 0;
    for (int i = 0; i < 4; ++i) s = s * 3 + w.c[i] - w.b[3 - i];
    out[4 * t + 2] = s + w.h[0] - w.h[1];
    w.b[t & 3] = 0x5a;
    w.h[1] ^= 0x8000;
    out[4 * t + 3] = w.u;
}
extern "C" __global__ void overflow(const signed char* a, const unsigned char* b, short* s, unsigned short* u, signed char* c) {
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    signed char x = a[t];
    unsigned char y = b[t];
    x += y;                                                  // wraps to 8 bits
    y -= a[t];
    short p = x * y;
    p <<= 3;
    unsigned short q = ~y;
    q >>= 2;
    q *= q;
    s[t] = p / (short)(y | 1);
    u[t] = q;
    c[t] = (signed char)(-x) >> 1;
    c[t] ^= (x > y) - (x < y);
}
extern "C" __global__ void sieve_bool(bool* composite, int n, unsigned char* gaps) {
    for (int p = 2; p * p <= n; ++p) {
        if (!composite[p])
            for (int m = p * p + threadIdx.x * p; m <= n; m += p * blockDim.x) composite[m] = true;
        __syncthreads();
    }
    if (threadIdx.x == 0) {
        int last = 2, k = 0;
        for (int i = 3; i <= n; i++) if (!composite[i]) { gaps[k++] = i - last; last = i; }
    }
}
extern "C" __global__ void blend565(const unsigned short* a, const unsigned short* b, unsigned short* out, unsigned char* lum, int alpha) {
    int t = threadIdx.x;
    unsigned short p = a[t], q = b[t], r = 0;
    const int shift[3] = {11, 5, 0}, width[3] = {5, 6, 5}, weight[3] = {77, 150, 29};
    int l = 0;
    for (int c = 0; c < 3; ++c) {
        int m = (1 << width[c]) - 1, x = p >> shift[c] & m, y = q >> shift[c] & m;
        int z = (x * alpha + y * (255 - alpha) + 127) / 255;
        r |= z << shift[c];
        l += (z * 255 / m) * weight[c];
    }
    out[t] = r;
    lum[t] = l >> 8;
}
extern "C" __global__ void colors(const Color* c, Color* out, int n) {
    int t = threadIdx.x;
    if (t >= n) return;
    Color m = c[t] | c[(t + 1) % n];
    switch (m) {
        case Color::white: out[t] = Color::white; break;
        case Color::red: case Color::green: case Color::blue: out[t] = Color(unsigned(m) << 4); break;
        default: out[t] = has(m, Color::blue) ? Color(0x80 | (int)m) : m;
    }
}
