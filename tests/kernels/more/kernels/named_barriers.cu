// Groups of threads that wait for themselves at barriers of their own, as warp-specialised code does.

__device__ void wait_for(int barrier, int threads) { asm volatile("bar.sync %0, %1;" ::"r"(barrier), "r"(threads) : "memory"); }

// Every group of `size` threads sums its own numbers; groups have different amounts of work.
extern "C" __global__ void group_sums(const int *x, int *out, int size) {
    __shared__ int box[32];
    const int group = threadIdx.x / size, rank = threadIdx.x % size;
    int *mine = box + group * size;
    mine[rank] = x[threadIdx.x];
    for (int turn = 0; turn <= group; ++turn)
        for (int half = size / 2; half > 0; half /= 2) {
            wait_for(1 + group, size);
            const int other = rank < half ? mine[rank + half] : 0;
            wait_for(1 + group, size);
            if (turn == 0) mine[rank] += other;
        }
    wait_for(1 + group, size);
    if (rank == 0) out[group] = mine[0];
}

// One warp makes numbers, another takes them, in two stages with a barrier each; the others do something else.
extern "C" __global__ void stages(const int *x, int *out) {
    __shared__ int box[2][4];
    const int warp = threadIdx.x / 4, lane = threadIdx.x % 4;
    if (warp < 2) {
        int sum = 0;
        for (int step = 0; step < 4; ++step) {
            const int slot = step & 1;
            if (warp == 0) box[slot][lane] = x[4 * step + lane] * 10;
            wait_for(2 + slot, 8);
            if (warp == 1) sum += box[slot][3 - lane];
            wait_for(4 + slot, 8);
        }
        if (warp == 1) out[lane] = sum;
    } else {
        wait_for(7, blockDim.x - 8);
        out[threadIdx.x - 4] = threadIdx.x;
    }
}

// How many threads of a group think so.
extern "C" __global__ void counted(const int *x, int *out, int size) {
    const int group = threadIdx.x / size;
    int n;
    asm volatile("{ .reg .pred p; setp.gt.s32 p, %1, 0; bar.red.popc.u32 %0, %2, %3, p; }" : "=r"(n) : "r"(x[threadIdx.x]), "r"(group), "r"(size) : "memory");
    out[threadIdx.x] = n + 100 * __syncthreads_count(x[threadIdx.x] < 0);
}
