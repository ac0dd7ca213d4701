// inline_asm: inline PTX as people write it: bfe, bfi, lop3, prmt, carry chains, mad.wide, setp and selp with predicates, shuffles with predicates, vote, special registers.
__device__ unsigned bfe(unsigned x, unsigned pos, unsigned len) { unsigned r; asm("bfe.u32 %0, %1, %2, %3;" : "=r"(r) : "r"(x), "r"(pos), "r"(len)); return r; }
__device__ int bfe_s(int x, int pos, int len) { int r; asm("bfe.s32 %0, %1, %2, %3;" : "=r"(r) : "r"(x), "r"(pos), "r"(len)); return r; }
__device__ unsigned bfi(unsigned f, unsigned x, unsigned pos, unsigned len) { unsigned r; asm("bfi.b32 %0, %1, %2, %3, %4;" : "=r"(r) : "r"(f), "r"(x), "r"(pos), "r"(len)); return r; }
template <int Lut> __device__ unsigned lop3(unsigned a, unsigned b, unsigned c) { unsigned r; asm("lop3.b32 %0, %1, %2, %3, %4;" : "=r"(r) : "r"(a), "r"(b), "r"(c), "n"(Lut)); return r; }
extern "C" __global__ void fields(const unsigned* x, unsigned* out) {
    int t = threadIdx.x;
    unsigned v = x[t], p = t * 5, r;
    out[6 * t] = bfe(v, p, 7);
    out[6 * t + 1] = bfe_s((int)v, p, 6);
    out[6 * t + 2] = bfi(v, ~v, p, 9);
    out[6 * t + 3] = lop3<0x96>(v, v >> 3, v << 5) ^ lop3<0xe8>(v, p, v * 3) ^ lop3<0x1b>(v, v >> 7, p);
    asm("prmt.b32 %0, %1, %2, 0x7531;" : "=r"(r) : "r"(v), "r"(v * 77));
    out[6 * t + 4] = r;
    asm("{ .reg .u32 a, b; shr.u32 a, %1, 4; and.b32 b, a, 0x0f0f0f0f; popc.b32 %0, b; }" : "=r"(r) : "r"(v));
    out[6 * t + 5] = r;
}
extern "C" __global__ void chains(const uint4* a, const uint4* b, uint4* sum, uint4* diff, unsigned* carry) {
    int t = threadIdx.x;
    uint4 x = a[t], y = b[t], s, d;
    unsigned c, bo;
    asm("add.cc.u32 %0, %5, %9;\n\taddc.cc.u32 %1, %6, %10;\n\taddc.cc.u32 %2, %7, %11;\n\taddc.cc.u32 %3, %8, %12;\n\taddc.u32 %4, 0, 0;"
        : "=r"(s.x), "=r"(s.y), "=r"(s.z), "=r"(s.w), "=r"(c) : "r"(x.x), "r"(x.y), "r"(x.z), "r"(x.w), "r"(y.x), "r"(y.y), "r"(y.z), "r"(y.w));
    asm("sub.cc.u32 %0, %5, %9;\n\tsubc.cc.u32 %1, %6, %10;\n\tsubc.cc.u32 %2, %7, %11;\n\tsubc.cc.u32 %3, %8, %12;\n\tsubc.u32 %4, 0, 0;"
        : "=r"(d.x), "=r"(d.y), "=r"(d.z), "=r"(d.w), "=r"(bo) : "r"(x.x), "r"(x.y), "r"(x.z), "r"(x.w), "r"(y.x), "r"(y.y), "r"(y.z), "r"(y.w));
    sum[t] = s;
    diff[t] = d;
    carry[t] = c | bo << 8;
}
extern "C" __global__ void square(const unsigned* a, unsigned* out) {      // 64 x 64 -> 128 by mad.lo.cc and madc.hi
    unsigned x = a[2 * threadIdx.x], y = a[2 * threadIdx.x + 1], r0, r1, r2, r3;
    asm("{\n\t"
        "mul.lo.u32 %0, %4, %4;\n\t"
        "mul.hi.u32 %1, %4, %4;\n\t"
        "mad.lo.cc.u32 %1, %4, %5, %1;\n\t"
        "madc.hi.u32 %2, %4, %5, 0;\n\t"
        "mad.lo.cc.u32 %1, %4, %5, %1;\n\t"
        "madc.hi.cc.u32 %2, %4, %5, %2;\n\t"
        "addc.u32 %3, 0, 0;\n\t"
        "mad.lo.cc.u32 %2, %5, %5, %2;\n\t"
        "madc.hi.u32 %3, %5, %5, %3;\n\t"
        "}" : "=&r"(r0), "=&r"(r1), "=&r"(r2), "=&r"(r3) : "r"(x), "r"(y));
    unsigned* o = out + 4 * threadIdx.x;
    o[0] = r0; o[1] = r1; o[2] = r2; o[3] = r3;
}
extern "C" __global__ void predicates(const int* a, const int* b, int* out) {
    int t = threadIdx.x, x = a[t], y = b[t], r, q;
    asm("{\n\t.reg .pred p, q;\n\tsetp.lt.s32 p|q, %2, %3;\n\tselp.s32 %0, 7, 9, p;\n\tselp.s32 %1, %2, %3, q;\n\t@p add.s32 %0, %0, 100;\n\t@!q sub.s32 %1, %1, 1;\n\t}" : "=&r"(r), "=&r"(q) : "r"(x), "r"(y));
    out[4 * t] = r;
    out[4 * t + 1] = q;
    long long w = 5;
    asm("mad.wide.s32 %0, %1, %2, %0;" : "+l"(w) : "r"(x), "r"(y));
    out[4 * t + 2] = (int)(w >> 16);
    asm("slct.s32.s32 %0, %1, %2, %3;" : "=r"(r) : "r"(x), "r"(y), "r"(x ^ y));
    asm("sad.s32 %0, %1, %2, %0;" : "+r"(r) : "r"(x), "r"(y));
    out[4 * t + 3] = r;
}
__device__ int scan_add(int v) {                             // the warp scan of many libraries
    int r = v;
    for (int o = 1; o < 4; o *= 2)
        asm volatile("{ .reg .s32 r0; .reg .pred p; shfl.sync.up.b32 r0|p, %1, %2, 0x0, 0xffffffff; @p add.s32 r0, r0, %3; mov.s32 %0, r0; }" : "=r"(r) : "r"(r), "r"(o), "r"(r));
    return r;
}
__device__ unsigned lane_id() { unsigned r; asm volatile("mov.u32 %0, %%laneid;" : "=r"(r)); return r; }
__device__ unsigned lanemask_lt() { unsigned r; asm("mov.u32 %0, %%lanemask_lt;" : "=r"(r)); return r; }
extern "C" __global__ void warp_parts(const int* x, int* scan, unsigned* info) {
    int t = threadIdx.x;
    scan[t] = scan_add(x[t]);
    unsigned b, m = lanemask_lt();
    asm volatile("{ .reg .pred p; setp.gt.s32 p, %1, 0; vote.sync.ballot.b32 %0, p, 0xffffffff; }" : "=r"(b) : "r"(x[t]));
    unsigned ge, warps;
    asm("mov.u32 %0, %%lanemask_ge; mov.u32 %1, %%nwarpid;" : "=r"(ge), "=r"(warps));
    (void)warps;
    int any;
    asm volatile("{ .reg .pred p, q; setp.eq.s32 p, %1, 7; vote.sync.any.pred q, p, 0xffffffff; selp.s32 %0, 1, 0, q; }" : "=r"(any) : "r"(x[t]));
    info[t] = b | m << 4 | (ge & 15) << 8 | any << 12 | lane_id() << 16 | __popc(b & m) << 20;
}
extern "C" __global__ void memory(const unsigned* in, unsigned* out) {
    __shared__ unsigned s[32];
    unsigned at = (unsigned)__cvta_generic_to_shared(&s[threadIdx.x * 4]), a, b, c, d;
    asm volatile("ld.global.v4.u32 {%0, %1, %2, %3}, [%4];" : "=r"(a), "=r"(b), "=r"(c), "=r"(d) : "l"(in + 4 * threadIdx.x));
    asm volatile("st.shared.v2.u32 [%0], {%1, %2}; st.shared.u8 [%0+8], %3; st.shared.u16 [%0+10], %4; st.shared.u8 [%0+9], %4;" :: "r"(at), "r"(b), "r"(a), "r"(c), "r"(d) : "memory");
    asm volatile("bar.sync 0;" ::: "memory");
    asm volatile("ld.volatile.shared.u32 %0, [%1+4];" : "=r"(a) : "r"(at) : "memory");
    int h;
    asm volatile("{ .reg .s16 q; ld.shared.s8 q, [%1+9]; cvt.s32.s16 %0, q; }" : "=r"(h) : "r"(at) : "memory");
    asm volatile("red.global.add.u32 [%0], %1; st.global.cs.u32 [%0+4], %2; st.global.wb.u32 [%0+8], %3;" :: "l"(out + 3 * threadIdx.x), "r"(a), "r"(h), "r"(s[threadIdx.x * 4 + 2]) : "memory");
}
