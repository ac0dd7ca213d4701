// teams: named barriers for halves of a block, parts of a warp, barriers that count, warp steps with volatile memory, double buffers, chained scan.
extern "C" __global__ void halves(const int* x, int* out) {              // two teams of 8 threads with barriers of their own
    __shared__ int s[16];
    int t = threadIdx.x, team = t / 8, r = t % 8;
    s[t] = x[t];
    for (int d = 4; d; d /= 2) {
        asm volatile("bar.sync %0, 8;" :: "r"(team + 1) : "memory");
        if (r < d) s[t] += s[t + d] * (team + 1);
    }
    __syncthreads();
    if (t < 2) out[t] = s[8 * t] - s[8 * (1 - t)];
}
extern "C" __global__ void pairs(const int* x, int* out) {               // lanes 0 and 1 work together, 2 and 3 together
    __shared__ int s[8];
    int t = threadIdx.x, lane = t & 3;
    unsigned mine = lane < 2 ? 0x3 : 0xc;
    s[t] = x[t];
    __syncwarp(mine);
    int v = s[t ^ 1];
    __syncwarp(mine);
    if (lane < 2) { s[t] = v * 10; __syncwarp(0x3); v += s[t ^ 1]; }
    else { v += __shfl_xor_sync(0xc, v, 1) * 100; }
    unsigned b = __ballot_sync(mine, v & 1);
    out[t] = v * 16 + b;
}
extern "C" __global__ void counting(const int* x, int* out, int limit) {
    int v = x[threadIdx.x], rounds = 0;
    while (__syncthreads_or(v > limit)) { if (v > limit) v /= 2; ++rounds; }
    int c = __syncthreads_count(v & 1), all = __syncthreads_and(v >= 0);
    out[threadIdx.x] = v + 100 * rounds + 1000 * c + (all ? 100000 : 0);
}
extern "C" __global__ void old_style(const int* x, int* out) {           // the reduction of the first tutorials, last warp unrolled
    __shared__ volatile int s[16];
    int t = threadIdx.x;
    s[t] = x[t] + x[t + 16];
    __syncthreads();
    for (int k = 8; k >= 4; k >>= 1) { if (t < k) s[t] = s[t] + s[t + k]; __syncthreads(); }
    if (t < 4) {
        int v = s[t] ;
        __syncwarp(0xf);
        if (t < 2) { v += s[t + 2]; s[t] = v; }
        __syncwarp(0xf);
        if (t < 1) { v += s[t + 1]; s[t] = v; }
    }
    if (t == 0) *out = s[0];
}
extern "C" __global__ void double_buffer(const int* a, int* out, int steps) {     // one barrier a step
    __shared__ int s[2][8];
    int t = threadIdx.x, acc = 0;
    s[0][t] = a[t];
    __syncthreads();
    for (int k = 0; k < steps; ++k) {
        if (k + 1 < steps) s[(k + 1) & 1][t] = a[(k + 1) * 8 + t];
        acc += s[k & 1][(t + k) & 7] * (k + 1);
        __syncthreads();
    }
    out[t] = acc;
}
__device__ int status[8], prefix_[8];
extern "C" __global__ void chained(const int* x, int* out) {             // each block takes the sum of the one before it
    __shared__ int before, total;
    int t = threadIdx.x, b = blockIdx.x, i = b * blockDim.x + t;
    int v = x[i];
    if (t == 0) total = 0;
    __syncthreads();
    atomicAdd(&total, v);
    __syncthreads();
    if (t == 0) {
        int p = 0;
        if (b) { while (atomicAdd(&status[b - 1], 0) == 0) {} __threadfence(); p = prefix_[b - 1]; }
        prefix_[b] = p + total;
        __threadfence();
        atomicAdd(&status[b], 1);
        before = p;
    }
    __syncthreads();
    int s = before;
    for (int k = 0; k <= t; ++k) s += x[b * blockDim.x + k];
    out[i] = s;
}
