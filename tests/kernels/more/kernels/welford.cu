// welford: running mean and variance, then combined over the block by a tree in shared memory (Chan).
struct Moments {
    float n, mean, m2;
    __device__ void add(float x) {
        n += 1.0f;
        float d = x - mean;
        mean = mean + d / n;
        m2 = fmaf(d, x - mean, m2);
    }
    __device__ static Moments join(const Moments& a, const Moments& b) {
        if (b.n == 0.0f) return a;
        if (a.n == 0.0f) return b;
        Moments r;
        r.n = a.n + b.n;
        float d = b.mean - a.mean;
        r.mean = fmaf(d, b.n / r.n, a.mean);
        r.m2 = fmaf(__fmul_rn(d, d), __fmul_rn(a.n, b.n) / r.n, a.m2 + b.m2);
        return r;
    }
};
extern "C" __global__ void variance(const float* x, int n, float* out) {
    __shared__ Moments s[16];
    int t = threadIdx.x;
    Moments m = {0.0f, 0.0f, 0.0f};
    for (int i = t; i < n; i += blockDim.x) m.add(x[i]);
    s[t] = m;
    for (int d = blockDim.x >> 1; d; d >>= 1) {
        __syncthreads();
        if (t < d) s[t] = Moments::join(s[t], s[t + d]);
    }
    if (t == 0) {
        out[0] = s[0].mean;
        out[1] = s[0].m2 / (s[0].n - 1.0f);
        out[2] = s[0].n;
    }
}
