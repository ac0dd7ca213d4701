// redux: needs sm_80.
extern "C" __global__ void redux_all(const int* x, int* out) {
    int t = threadIdx.x;
    int v = x[t];
    int s = __reduce_add_sync(0xffffffffu, v), lo = __reduce_min_sync(0xffffffffu, v), hi = __reduce_max_sync(0xffffffffu, v);
    unsigned a = __reduce_and_sync(0xffffffffu, (unsigned)v), o = __reduce_or_sync(0xffffffffu, (unsigned)v), e = __reduce_xor_sync(0xffffffffu, (unsigned)v);
    out[t] = s ^ (lo << 3) ^ (hi << 7) ^ (int)(a + 3 * o + 5 * e);
}
