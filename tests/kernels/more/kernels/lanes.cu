// lanes: a warp of four: reductions by key, exclusive scans, 4x4 transpose by shuffles, a sorting network, leaders, compaction, polynomial by rotation.
#define ALL 0xffffffffu
extern "C" __global__ void transpose4(const int* in, int* out) {          // each lane holds a row, afterwards a column
    int lane = threadIdx.x & 3, base = threadIdx.x * 4;
    int r[4];
    for (int i = 0; i < 4; ++i) r[i] = in[base + i];
#pragma unroll
    for (int m = 1; m < 4; m <<= 1)
#pragma unroll
        for (int i = 0; i < 4; ++i)
            if (!(i & m)) {
                int send = lane & m ? r[i] : r[i | m];
                int got = __shfl_xor_sync(ALL, send, m);
                if (lane & m) r[i] = got; else r[i | m] = got;
            }
    for (int i = 0; i < 4; ++i) out[base + i] = r[i];
}
extern "C" __global__ void sort4(float* v) {
    float x = v[threadIdx.x];
    int lane = threadIdx.x & 3;
    auto exchange = [&](int m, bool dir) { float y = __shfl_xor_sync(ALL, x, m); x = (((lane & m) != 0) == dir) ? fmaxf(x, y) : fminf(x, y); };
    exchange(1, !(lane & 2));
    exchange(2, true);
    exchange(1, true);
    v[threadIdx.x] = x;
}
extern "C" __global__ void by_key(const int* key, const int* value, int* sum, int* first) {   // sums of equal keys in the warp
    int t = threadIdx.x, k = key[t], lane = t & 3;
    unsigned same = __match_any_sync(ALL, k);
    int leader = __ffs(same) - 1, s = 0;
    for (unsigned m = same; __any_sync(ALL, m); m &= m - 1) {
        int from = m ? __ffs(m) - 1 : lane;
        int x = __shfl_sync(ALL, value[t], from);
        if (m) s += x;
    }
    sum[t] = lane == leader ? s : 0;
    first[t] = leader;
}
extern "C" __global__ void widths(const int* x, int* out) {
    int t = threadIdx.x, v = x[t];
    out[6 * t] = __shfl_up_sync(ALL, v, 1, 2);
    out[6 * t + 1] = __shfl_down_sync(ALL, v, 1, 2);
    out[6 * t + 2] = __shfl_xor_sync(ALL, v, 3, 4);
    out[6 * t + 3] = __shfl_sync(ALL, v, 5, 4);               // the lane modulo the width
    out[6 * t + 4] = __shfl_sync(ALL, v, t, 2) + __shfl_sync(ALL, v, 1, 1);
    out[6 * t + 5] = __shfl_down_sync(ALL, v, 3);
}
extern "C" __global__ void divergent(const int* x, unsigned* out, int* count) {
    int t = threadIdx.x;
    if (x[t] > 0) {
        unsigned active = __activemask();
        int lane = t % warpSize, leader = __ffs(active) - 1, base = 0;
        if (lane == leader) base = atomicAdd(count, __popc(active));
        base = __shfl_sync(active, base, leader);
        unsigned odd = __ballot_sync(active, x[t] & 1);
        out[t] = active | odd << 4 | (base + __popc(active & ((1u << lane) - 1))) << 8;
    } else if (x[t] < 0) out[t] = __ballot_sync(__activemask(), 1) << 16 | 0x80000000u;
}
extern "C" __global__ void reduces(const int* x, int* out) {
    int t = threadIdx.x, v = x[t];
    int a = __reduce_add_sync(ALL, v), lo = __reduce_min_sync(ALL, v), hi = __reduce_max_sync(ALL, v);
    unsigned u = v, o = __reduce_or_sync(ALL, u), n = __reduce_and_sync(ALL, u), e = __reduce_xor_sync(ALL, u), m = __reduce_max_sync(ALL, u);
    out[t] = a * 3 + lo * 5 + hi * 7 + (int)(o * 11 + n * 13 + e * 17 + m * 19);
}
__device__ long long warp_inclusive(long long v) {
    for (int d = 1; d < warpSize; d <<= 1) {
        long long o = __shfl_up_sync(ALL, v, d);
        if ((threadIdx.x & 3) >= d) v += o;
    }
    return v;
}
extern "C" __global__ void scan64(const long long* x, long long* exclusive, unsigned char* flags) {
    long long v = x[threadIdx.x];
    exclusive[threadIdx.x] = warp_inclusive(v) - v;
    flags[threadIdx.x] = (__all_sync(ALL, v > 0) != 0) | (__any_sync(ALL, v > 0) != 0) << 1;
}
