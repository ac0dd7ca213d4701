// spin_locks: the lock loops that lanes of one warp fight for: exchange, compare-and-swap, test and test-and-set, back-off, a lock per bucket, ordered philosophers.
__device__ int lock_ = 0;
extern "C" __global__ void exchange_lock(int* total, int* trace) {
    while (atomicExch(&lock_, 1) != 0) ;
    int n = atomicAdd(total, 0);
    trace[n] = n * n;                                        // one at a time, else two threads would take one place
    atomicAdd(total, 1);
    __threadfence();
    if (atomicExch(&lock_, 0) != 1) trace[0] = -1;
}
extern "C" __global__ void cas_lock(int* value) {            // state = state * 5 + 1, under a lock: only the number of steps counts
    __shared__ int lock;
    __shared__ int state;
    if (threadIdx.x == 0) { lock = 0; state = 1; }
    __syncthreads();
    int wait = 1;
    while (true) {
        if (atomicCAS(&lock, 0, 1) == 0) {
            state = state * 5 + 1;
            __threadfence_block();
            if (atomicExch(&lock, 0) == 0) state = -1;
            break;
        }
        for (int i = 0; i < wait; ++i) __threadfence_block();
        wait = min(wait * 2, 8);
    }
    __syncthreads();
    if (threadIdx.x == 0) *value = state;
}
extern "C" __global__ void buckets(const int* key, int n, int* count, int* locks, int* lastkey) {    // a lock per bucket, keys appended to chains
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        int b = key[i] & 3;
        bool open = false;
        do {
            open = atomicCAS(locks + b, 0, i + 1) == 0;
            if (open) {
                __threadfence();
                count[b] = count[b] + 1;
                lastkey[b] = max(lastkey[b], key[i]);
                __threadfence();
                atomicSub(locks + b, i + 1);
            }
        } while (!open);
    }
}
extern "C" __global__ void philosophers(int* meals, int rounds) {
    __shared__ int fork[5];
    int t = threadIdx.x, left = t, right = (t + 1) % 5, first = min(left, right), second = max(left, right);
    fork[t] = 0;
    __syncthreads();
    for (int r = 0; r < rounds; ++r) {
        while (atomicCAS(&fork[first], 0, t + 1)) {}
        while (atomicCAS(&fork[second], 0, t + 1)) {}
        meals[t] += fork[first] == t + 1 && fork[second] == t + 1;
        atomicSub(&fork[second], t + 1);
        atomicSub(&fork[first], t + 1);
    }
}
extern "C" __global__ void ping(int* log, int rounds) {      // lanes 0 and 1 of one warp throw a ball
    __shared__ int ball;
    if (threadIdx.x == 0) ball = 0;
    __syncthreads();
    int me = threadIdx.x;
    for (int i = 0; i < rounds; ++i) {
        while ((atomicAdd(&ball, 0) & 1) != me) {}
        log[2 * i + me] = atomicAdd(&ball, 1) * 10 + me;
    }
}
