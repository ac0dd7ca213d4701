// warp_ops: sum and argmax by shuffles, votes, match.
#define FULL 0xffffffffu
__inline__ __device__ float warp_sum(float v) {
    for (int o = warpSize / 2; o > 0; o /= 2) v += __shfl_xor_sync(FULL, v, o);
    return v;
}
extern "C" __global__ void warp_mean(const float* x, float* y) {
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    float m = warp_sum(x[t]) / warpSize;
    float d = x[t] - m;
    y[t] = warp_sum(__fmul_rn(d, d)) / warpSize;
}
extern "C" __global__ void warp_argmax(const float* x, int* where, float* best, int n) {
    int t = threadIdx.x;
    float v = t < n ? x[t] : -3.402823466e38f;
    int i = t;
    for (int o = warpSize / 2; o > 0; o >>= 1) {
        float w = __shfl_down_sync(FULL, v, o);
        int j = __shfl_down_sync(FULL, i, o);
        if (w > v || (w == v && j < i)) { v = w; i = j; }
    }
    if (t % warpSize == 0) { where[t / warpSize] = i; best[t / warpSize] = v; }
}
extern "C" __global__ void votes(const int* x, unsigned* out) {
    int t = threadIdx.x;
    int v = x[t];
    unsigned b = __ballot_sync(FULL, v > 0);
    int any = __any_sync(FULL, v == 7), all = __all_sync(FULL, v >= 0);
    unsigned before = b & ((1u << (t % warpSize)) - 1);
    out[t] = b | any << 8 | all << 9 | __popc(before) << 16;
}
extern "C" __global__ void matches(const int* x, unsigned* out, int* all) {
    int t = threadIdx.x, p;
    out[t] = __match_any_sync(FULL, x[t]);
    unsigned m = __match_all_sync(FULL, x[t] & 1, &p);
    all[t] = p ? (int)m : -1;
}
extern "C" __global__ void broadcast_rotate(const long long* x, long long* out) {
    int t = threadIdx.x;
    long long v = x[t];
    long long r = __shfl_sync(FULL, v, (t + 1) & 3);
    out[t] = r - __shfl_sync(FULL, v, 0, 2);
}
