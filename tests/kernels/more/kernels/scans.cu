// scans: by warps with shuffles and a shared word per warp; Kogge-Stone with two buffers; segmented by flags.
extern "C" __global__ void scan_warps(const int* in, int* out, int n) {
    __shared__ int sums[8];
    int t = threadIdx.x, lane = t % warpSize, warp = t / warpSize;
    int v = t < n ? in[t] : 0;
    for (int d = 1; d < warpSize; d *= 2) {
        int up = __shfl_up_sync(0xffffffffu, v, d);
        if (lane >= d) v += up;
    }
    if (lane == warpSize - 1) sums[warp] = v;
    __syncthreads();
    if (warp == 0 && lane == 0) {
        int run = 0;
        for (int k = 0; k < (blockDim.x + warpSize - 1) / warpSize; ++k) {
            int x = sums[k];
            sums[k] = run;
            run += x;
        }
    }
    __syncthreads();
    if (t < n) out[t] = v + sums[warp];
}
extern "C" __global__ void scan_double(const float* in, float* out, int n) {
    __shared__ float buf[2][24];
    int t = threadIdx.x, from = 0;
    buf[0][t] = t > 0 && t < n ? in[t - 1] : 0.0f;
    __syncthreads();
    for (int d = 1; d < n; d <<= 1) {
        int to = 1 - from;
        buf[to][t] = t >= d ? buf[from][t] + buf[from][t - d] : buf[from][t];
        __syncthreads();
        from = to;
    }
    if (t < n) out[t] = buf[from][t];
}
extern "C" __global__ void scan_segments(const int* in, const unsigned char* head, int* out, int n) {
    extern __shared__ int mem[];
    int* val = mem;
    int* flag = mem + blockDim.x;
    int t = threadIdx.x;
    val[t] = in[t];
    flag[t] = head[t];
    for (int d = 1; d < n; d *= 2) {
        __syncthreads();
        int v = val[t], f = flag[t];
        if (t >= d && !f) {
            v += val[t - d];
            f |= flag[t - d];
        }
        __syncthreads();
        val[t] = v;
        flag[t] = f;
    }
    out[t] = val[t];
}
