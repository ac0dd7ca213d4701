// intrinsics: bit tricks and the like.
extern "C" __global__ void tricks(const unsigned* x, const unsigned* y, unsigned* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    unsigned a = x[i], b = y[i], h = 0;
    h = h * 31 + __clz(a);
    h = h * 31 + __popc(a ^ b);
    h = h * 31 + __brev(a);
    h = h * 31 + __ffs(b);
    h = h * 31 + __byte_perm(a, b, 0x5146);
    h = h * 31 + __byte_perm(a, b, b);
    h = h * 31 + __umulhi(a, b);
    h = h * 31 + __mulhi((int)a, (int)b);
    h = h * 31 + __funnelshift_l(a, b, i * 7);
    h = h * 31 + __funnelshift_r(a, b, a);
    h = h * 31 + __usad(a, b, 12);
    h = h * 31 + __sad((int)a, (int)b, 12);
    h = h * 31 + __umul24(a, b);
    h = h * 31 + __mul24((int)a, (int)b);
    h = h * 31 + __uhadd(a, b);
    h = h * 31 + __rhadd((int)a, (int)b);
    h = h * 31 + abs((int)a);
    out[i] = h;
}
extern "C" __global__ void morton(const ushort2* p, unsigned* code, ushort2* back, int n) {
    int i = threadIdx.x;
    if (i >= n) return;
    auto spread = [](unsigned v) {
        v = (v | v << 8) & 0x00ff00ff;
        v = (v | v << 4) & 0x0f0f0f0f;
        v = (v | v << 2) & 0x33333333;
        return (v | v << 1) & 0x55555555;
    };
    auto squeeze = [](unsigned v) {
        v &= 0x55555555;
        v = (v | v >> 1) & 0x33333333;
        v = (v | v >> 2) & 0x0f0f0f0f;
        v = (v | v >> 4) & 0x00ff00ff;
        return (v | v >> 8) & 0xffff;
    };
    unsigned c = spread(p[i].x) | spread(p[i].y) << 1;
    code[i] = c;
    back[i] = make_ushort2((unsigned short)squeeze(c >> 1), (unsigned short)squeeze(c));
}
extern "C" __global__ void floats_as_bits(const float* x, int* out, int n) {
    int i = threadIdx.x;
    if (i >= n) return;
    float v = x[i];
    int e;
    int b = __float_as_int(v);
    e = (b >> 23 & 255) - 127;
    float m = __int_as_float((b & 0x807fffff) | 0x3f800000);
    out[4 * i] = e;
    out[4 * i + 1] = __float_as_int(m);
    out[4 * i + 2] = __float2int_rd(v) ^ __float2int_ru(v) << 4 ^ (int)__float2uint_rz(v) << 9;
    out[4 * i + 3] = (v < 0) | isnan(v) << 1 | isinf(v) << 2 | signbit(v) << 3 | (v == 0) << 4 | (truncf(v) == v) << 5;
}
