// small_types: bytes and half words.
extern "C" __global__ void grey(const uchar4* rgb, unsigned char* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    uchar4 p = rgb[i];
    out[i] = (unsigned char)((p.x * 77 + p.y * 150 + p.z * 29 + 128) >> 8);
}
extern "C" __global__ void mix(const char4* a, const char4* b, char4* c, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    char4 x = a[i], y = b[i], z;
    z.x = x.x + y.x;
    z.y = x.y - y.y;
    z.z = (signed char)(x.z * y.z >> 2);
    z.w = x.w > y.w ? x.w : y.w;
    c[i] = z;
}
extern "C" __global__ void base64(const unsigned char* in, char* out, int n) {
    const char* digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    int g = threadIdx.x;
    if (3 * g >= n) return;
    unsigned v = in[3 * g] << 16;
    if (3 * g + 1 < n) v |= in[3 * g + 1] << 8;
    if (3 * g + 2 < n) v |= in[3 * g + 2];
    out[4 * g] = digits[v >> 18];
    out[4 * g + 1] = digits[v >> 12 & 63];
    out[4 * g + 2] = 3 * g + 1 < n ? digits[v >> 6 & 63] : '=';
    out[4 * g + 3] = 3 * g + 2 < n ? digits[v & 63] : '=';
}
extern "C" __global__ void utf8_length(const char* s, int n, int* len, int* wide) {
    __shared__ int count, big;
    if (threadIdx.x == 0) count = big = 0;
    __syncthreads();
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        if ((s[i] & 0xc0) != 0x80) atomicAdd(&count, 1);
        if (s[i] < 0 && (s[i] & 0xf8) == 0xf0) atomicAdd(&big, 1);
    }
    __syncthreads();
    if (threadIdx.x == 0) { *len = count; *wide = big; }
}
extern "C" __global__ void crc8(const unsigned char* s, const short* len, unsigned char* out) {
    int t = threadIdx.x;
    unsigned char c = 0;
    for (int i = 0; i < len[t]; ++i) {
        c ^= s[8 * t + i];
        for (int b = 0; b < 8; ++b) c = c & 0x80 ? (c << 1) ^ 0x07 : c << 1;
    }
    out[t] = c;
}
extern "C" __global__ void adler(const unsigned char* s, int n, unsigned* out) {
    unsigned a = 1, b = 0;
    for (int i = 0; i < n; ++i) {
        a = (a + s[i] * (threadIdx.x + 1)) % 65521;
        b = (b + a) % 65521;
    }
    out[threadIdx.x] = b << 16 | a;
}
extern "C" __global__ void run_length(const unsigned char* s, int n, unsigned char* out, unsigned short* used) {
    int w = 0;
    for (int i = 0; i < n;) {
        int j = i;
        while (j < n && s[j] == s[i] && j - i < 255) ++j;
        out[w++] = (unsigned char)(j - i);
        out[w++] = s[i];
        i = j;
    }
    if (threadIdx.x == 0) *used = (unsigned short)w;
}
extern "C" __global__ void saturate16(const short2* a, const short2* b, short2* c, unsigned short* d, int n) {
    int i = threadIdx.x;
    if (i >= n) return;
    int x = a[i].x + b[i].x, y = a[i].y - b[i].y;
    c[i] = make_short2((short)max(-32768, min(32767, x)), (short)max(-32768, min(32767, y)));
    d[i] = (unsigned short)a[i].x / (unsigned short)(b[i].y | 1) + (unsigned short)(a[i].y % (short)(b[i].x | 3));
}
extern "C" __global__ void reverse_bytes(unsigned char* s, int n) {
    for (int i = threadIdx.x; i < n / 2; i += blockDim.x) {
        unsigned char a = s[i], b = s[n - 1 - i];
        s[i] = b;
        s[n - 1 - i] = a;
    }
}
