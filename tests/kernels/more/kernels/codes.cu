// codes: Hamming (7,4), Viterbi, Reed-Solomon syndromes, Elias gamma, LZ77, move to front, Burrows-Wheeler, variable length integers, LFSR.
extern "C" __global__ void hamming(const unsigned char* data, unsigned char* coded, const unsigned char* flip, unsigned char* decoded) {
    int t = threadIdx.x;
    unsigned d = data[t] & 15, d1 = d & 1, d2 = d >> 1 & 1, d3 = d >> 2 & 1, d4 = d >> 3;
    unsigned c = (d1 ^ d2 ^ d4) | (d1 ^ d3 ^ d4) << 1 | d1 << 2 | (d2 ^ d3 ^ d4) << 3 | d2 << 4 | d3 << 5 | d4 << 6;
    coded[t] = c;
    if (flip[t]) c ^= 1u << (flip[t] - 1);
    unsigned s = 0;
    for (unsigned i = 1; i <= 7; ++i) if (c >> (i - 1) & 1) s ^= i;
    if (s) c ^= 1u << (s - 1);
    decoded[t] = (c >> 2 & 1) | (c >> 4 & 1) << 1 | (c >> 5 & 1) << 2 | (c >> 6) << 3;
}
extern "C" __global__ void viterbi(const unsigned char* pairs, int n, unsigned* bits, int* metric) {   // rate 1/2, K = 3 (7, 5), a lane per state
    __shared__ unsigned char from[32][4];
    int s = threadIdx.x;
    int cost = s == 0 ? 0 : 99;
    for (int i = 0; i < n; ++i) {
        int best = 1000, who = 0;
        for (int b = 0; b < 2; ++b) {
            int prev = ((s << 1) | b) & 3, in = s >> 1, reg = in << 2 | prev;
            int out = (__popc(reg & 7) & 1) << 1 | (__popc(reg & 5) & 1);
            int c = __shfl_sync(0xf, cost, prev) + __popc(out ^ pairs[i]);
            if (c < best) { best = c; who = prev; }
        }
        cost = best;
        from[i][s] = who;
    }
    __syncthreads();
    int best = cost, at = s;
    for (int d = 2; d; d >>= 1) {
        int c = __shfl_xor_sync(0xf, best, d), w = __shfl_xor_sync(0xf, at, d);
        if (c < best || (c == best && w < at)) { best = c; at = w; }
    }
    if (s == 0) {
        unsigned r = 0;
        for (int i = n - 1; i >= 0; --i) { r |= (unsigned)(at >> 1) << i; at = from[i][at]; }
        *bits = r;
        *metric = best;
    }
}
__device__ unsigned gf_mul(unsigned a, unsigned b) { unsigned p = 0; while (b) { if (b & 1) p ^= a; a <<= 1; if (a & 256) a ^= 0x11d; b >>= 1; } return p; }
extern "C" __global__ void syndromes(const unsigned char* word, int n, unsigned char* s) {
    unsigned x = 1, r = 0;
    for (int i = 0; i < threadIdx.x; ++i) x = gf_mul(x, 2);
    for (int i = 0; i < n; ++i) r = gf_mul(r, x) ^ word[i];
    s[threadIdx.x] = (unsigned char)r;
}
extern "C" __global__ void elias(const unsigned* stream, int n, unsigned* out) {
    int at = 0;
    auto bit = [&] { int b = stream[at >> 5] >> (31 - (at & 31)) & 1; ++at; return b; };
    for (int i = 0; i < n; ++i) {
        int zeros = 0;
        while (!bit()) zeros++;
        unsigned v = 1;
        while (zeros--) v = v << 1 | bit();
        out[i] = v;
    }
}
extern "C" __global__ void lz77(const unsigned char* code, int n, char* text, int* size) {      // (distance, length, next)
    int o = 0;
    for (int i = 0; i < n; i += 3) {
        for (int k = code[i + 1], from = o - code[i]; k > 0; --k) text[o++] = text[from++];
        if (code[i + 2]) text[o++] = code[i + 2];
    }
    *size = o;
}
extern "C" __global__ void mtf(const char* in, int n, unsigned char* out) {
    unsigned char order[26];
    for (int i = 0; i < 26; ++i) order[i] = 'a' + i;
    for (int k = 0; k < n; ++k) {
        int i = 0;
        while (order[i] != in[k]) ++i;
        out[k] = i;
        for (unsigned char c = order[i]; ; --i) { if (i == 0) { order[0] = c; break; } order[i] = order[i - 1]; }
    }
}
extern "C" __global__ void bwt(const char* s, int n, char* last, int* primary, char* back) {
    __shared__ unsigned char rank[32];
    int t = threadIdx.x, r = 0;
    for (int o = 0; o < n; ++o) {
        int k = 0;
        while (k < n && s[(o + k) % n] == s[(t + k) % n]) ++k;
        bool less = k < n ? s[(o + k) % n] < s[(t + k) % n] : o < t;
        r += less;
    }
    rank[t] = r;
    last[r] = s[(t + n - 1) % n];
    if (t == 0) *primary = r;
    __syncthreads();
    if (t == 0) {
        unsigned char next[32];
        int k = 0;
        for (int c = 0; c < 128; ++c) for (int i = 0; i < n; ++i) if (last[i] == c) next[k++] = i;
        int at = next[rank[0]];
        for (int i = 0; i < n; ++i) { back[i] = last[at]; at = next[at]; }
    }
}
extern "C" __global__ void varint(const long long* v, int n, unsigned char* out, int* size, long long* back) {      // zigzag of differences, then seven bits a byte
    int o = 0;
    long long last = 0;
    for (int i = 0; i < n; ++i) {
        long long d = v[i] - last;
        last = v[i];
        unsigned long long z = (unsigned long long)(d << 1) ^ (unsigned long long)(d >> 63);
        while (z >= 128) { out[o++] = (unsigned char)(z | 128); z >>= 7; }
        out[o++] = (unsigned char)z;
    }
    *size = o;
    last = 0;
    for (int i = 0, p = 0; i < n; ++i) {
        unsigned long long z = 0;
        int s = 0;
        do { z |= (unsigned long long)(out[p] & 127) << s; s += 7; } while (out[p++] & 128);
        last += (long long)(z >> 1) ^ -(long long)(z & 1);
        back[i] = last;
    }
}
extern "C" __global__ void lfsr(unsigned short seed, unsigned short* period, unsigned* gold) {
    unsigned short x = seed;
    unsigned n = 0;
    do { unsigned short b = (x ^ x >> 1) & 1; x = x >> 1 | b << 6; ++n; } while (x != seed);
    *period = n;
    unsigned a = 1, c = 1, g = 0;
    for (int i = 0; i < 31; ++i) {
        g |= ((a ^ c) & 1) << i;
        a = a >> 1 | ((a ^ a >> 2) & 1) << 4;
        c = c >> 1 | ((c ^ c >> 1 ^ c >> 2 ^ c >> 3) & 1) << 4;
    }
    *gold = g;
}
