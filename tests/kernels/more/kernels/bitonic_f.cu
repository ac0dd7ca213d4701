// bitonic_f: floats with keys, sorted in shared memory; NaN last.
__device__ __forceinline__ bool before(float a, float b) { return a < b || (b != b && a == a); }
extern "C" __global__ void bitonic_pairs(float* key, int* val, int n) {
    __shared__ float k[32];
    __shared__ int v[32];
    unsigned t = threadIdx.x;
    k[t] = t < n ? key[t] : __int_as_float(0x7fffffff);
    v[t] = t < n ? val[t] : -1;
    for (unsigned size = 2; size <= blockDim.x; size <<= 1) {
        for (unsigned stride = size >> 1; stride > 0; stride >>= 1) {
            __syncthreads();
            unsigned o = t ^ stride;
            if (o > t) {
                bool up = (t & size) == 0;
                if (up ? before(k[o], k[t]) : before(k[t], k[o])) {
                    float f = k[t]; k[t] = k[o]; k[o] = f;
                    int w = v[t]; v[t] = v[o]; v[o] = w;
                }
            }
        }
    }
    __syncthreads();
    if (t < n) { key[t] = k[t]; val[t] = v[t]; }
}
