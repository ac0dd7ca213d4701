// atomics2: private histogram, ticket, maximum of floats with atomicCAS, ring with atomicInc, last block, spin lock.
extern "C" __global__ void hist_private(const unsigned char* x, int n, unsigned* out) {
    __shared__ unsigned bins[8];
    if (threadIdx.x < 8) bins[threadIdx.x] = 0;
    __syncthreads();
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int step = gridDim.x * blockDim.x;
    for (; i < n; i += step) atomicAdd(bins + (x[i] >> 5), 1);
    __syncthreads();
    if (threadIdx.x < 8 && bins[threadIdx.x]) atomicAdd(out + threadIdx.x, bins[threadIdx.x]);
}
__device__ float atomicMaxFloat(float* p, float v) {
    int* q = (int*)p;
    int old = *q, seen;
    do {
        seen = old;
        if (__int_as_float(seen) >= v) break;
        old = atomicCAS(q, seen, __float_as_int(v));
    } while (old != seen);
    return __int_as_float(old);
}
extern "C" __global__ void float_max(const float* x, float* best, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) atomicMaxFloat(best, x[i]);
}
extern "C" __global__ void ring(unsigned* head, unsigned* hits, unsigned size) {
    unsigned at = atomicInc(head, size - 1);
    atomicAdd(hits + at, 1 + at);
    atomicDec(hits + size, 100);
}
__device__ unsigned blocks_done = 0;
extern "C" __global__ void last_block_sum(const int* x, int* part, int* total, int n) {
    __shared__ int s[8];
    __shared__ bool last;
    int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    s[t] = i < n ? x[i] : 0;
    __syncthreads();
    for (int d = blockDim.x / 2; d > 0; d /= 2) {
        if (t < d) s[t] += s[t + d];
        __syncthreads();
    }
    if (t == 0) {
        part[blockIdx.x] = s[0];
        __threadfence();
        last = atomicAdd(&blocks_done, 1u) == gridDim.x - 1;
    }
    __syncthreads();
    if (last && t == 0) {
        int sum = 0;
        for (int b = 0; b < gridDim.x; ++b) sum += part[b];
        *total = sum;
        blocks_done = 0;
    }
}
__device__ int lock = 0;
extern "C" __global__ void locked(volatile int* a, int rounds) {
    for (int r = 0; r < rounds; ++r) {
        bool done = false;
        while (!done) {
            if (atomicCAS(&lock, 0, 1) == 0) {
                int x = a[0];
                a[1] = a[1] + x;
                a[0] = x + 1;
                __threadfence();
                atomicExch(&lock, 0);
                done = true;
            }
        }
    }
}
extern "C" __global__ void ticket(int* next, int* order, int* count) {
    int mine = atomicAdd(next, 1);
    order[mine] = threadIdx.x >> 2;
    atomicMax(count, mine + 1);
    atomicXor(count + 1, 1 << mine);
    atomicAnd(count + 2, ~(1 << mine));
}
