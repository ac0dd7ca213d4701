// long_atomics: 64-bit atomics and their results: tickets, a maximum with its place, a product by atomicCAS, numbers handed on, sets of bits, a stack.
typedef unsigned long long u64;

extern "C" __global__ void tickets(u64* counter, u64* sum, int* drawn, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    u64 ticket = atomicAdd(counter, 0x100000001ULL);
    if ((ticket >> 32) == (ticket & 0xffffffffULL)) drawn[ticket & 0xffffffffULL] += 1;
    atomicAdd(sum, ticket * 3);
}

extern "C" __global__ void lane_sums(const u64* x, u64* sum, u64* before) {
    int i = threadIdx.x;
    before[i] = atomicAdd(sum, x[i]);
}

extern "C" __global__ void greatest(const int* x, int n, u64* best, long long* least) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    u64 key = (u64)((unsigned)x[i] ^ 0x80000000u) << 32 | (unsigned)(n - 1 - i);
    atomicMax(best, key);
    atomicMin(least, (long long)x[i] * 0x100000001LL);
}

extern "C" __global__ void product(const u64* factor, u64* p, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    u64 old = *p, seen;
    do {
        seen = old;
        old = atomicCAS(p, seen, seen * factor[i]);
    } while (old != seen);
}

extern "C" __global__ void hand_on(u64* slot, u64* hand, int rounds) {
    __shared__ u64 table;
    if (threadIdx.x == 0) table = *slot;
    __syncthreads();
    u64 mine = hand[threadIdx.x];
    for (int r = 0; r < rounds; ++r) mine = atomicExch(&table, mine);
    hand[threadIdx.x] = mine;
    __syncthreads();
    if (threadIdx.x == 0) *slot = table;
}

extern "C" __global__ void sets(u64* set, int* first) {
    int t = threadIdx.x;
    u64 bit = 1ULL << (t * 7 % 64);
    if (!(atomicOr(set, bit) & bit)) atomicAdd(first, 1);
    __syncthreads();
    if (t & 1) atomicAnd(set, ~bit);
    else atomicXor(set + 1, bit);
}

// Nodes are numbered from 1; the head holds a count of changes and the number of the first node, at the end the count alone.
extern "C" __global__ void push(u64* head, int* out, int n) {
    __shared__ int next[33];
    int i = threadIdx.x;
    if (i < n) {
        u64 old = *(volatile u64*)head, seen;
        do {
            seen = old;
            next[i + 1] = (int)(unsigned)seen;
            old = atomicCAS(head, seen, ((seen >> 32) + 1) << 32 | (unsigned)(i + 1));
        } while (old != seen);
    }
    __syncthreads();
    if (i == 0) {
        int sum = 0, count = 0;
        for (int at = (int)(unsigned)*head; at != 0; at = next[at]) sum += at, ++count;
        out[0] = count;
        out[1] = sum;
        out[2] = (int)(*head >> 32);
        *head >>= 32;
    }
}
