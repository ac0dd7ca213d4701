// A pipeline of warps: two make numbers, two take them, through two boxes. Who has filled or emptied a box says so and goes on.
__device__ void wait_at(int barrier, int threads) { asm volatile("bar.sync %0, %1;" ::"r"(barrier), "r"(threads) : "memory"); }
__device__ void arrive_at(int barrier, int threads) { asm volatile("bar.arrive %0, %1;" ::"r"(barrier), "r"(threads) : "memory"); }

extern "C" __global__ void pipeline(const int *x, int *out, int turns) {
    __shared__ int box[2][8];
    const int t = threadIdx.x % 8;
    if (threadIdx.x < 8) {
        for (int turn = 0; turn < turns; ++turn) {
            const int slot = turn & 1;
            wait_at(3 + slot, 16);
            box[slot][t] = x[t] * (turn + 1);
            arrive_at(1 + slot, 16);
        }
    } else {
        int sum = 0;
        arrive_at(3, 16);
        arrive_at(4, 16);
        for (int turn = 0; turn < turns; ++turn) {
            const int slot = turn & 1;
            wait_at(1 + slot, 16);
            sum = sum * 2 + box[slot][7 - t];
            arrive_at(3 + slot, 16);
        }
        out[8 * blockIdx.x + t] = sum;
    }
}

// The same with constants, as hand-written pipelines have them.
extern "C" __global__ void one_box(const int *x, int *out) {
    __shared__ int box[4];
    if (threadIdx.x < 4) {
        box[threadIdx.x] = x[threadIdx.x] + 100;
        __threadfence_block();
        asm volatile("bar.arrive 1, 8;" ::: "memory");
        out[threadIdx.x] = 1;
    } else {
        asm volatile("bar.sync 1, 8;" ::: "memory");
        out[threadIdx.x] = box[7 - threadIdx.x];
    }
    __syncthreads();
    out[8 + threadIdx.x] = box[threadIdx.x % 4];
}
