// Video instructions in assembler: bytes and half words inside of registers, as image and alignment code uses them.

__device__ unsigned distance4(unsigned a, unsigned b, unsigned sum) {
    unsigned r;
    asm("vabsdiff4.u32.u32.u32.add %0, %1, %2, %3;" : "=r"(r) : "r"(a), "r"(b), "r"(sum));
    return r;
}

// The place in a row where a pattern of eight bytes fits best: sums of absolute differences.
extern "C" __global__ void best_match(const unsigned *row, const unsigned *pattern, unsigned *sums, int *best) {
    __shared__ unsigned all[8];
    const unsigned lo = row[threadIdx.x / 4], mid = row[threadIdx.x / 4 + 1], hi = row[threadIdx.x / 4 + 2], shift = 8 * (threadIdx.x % 4);
    const unsigned first = __funnelshift_r(lo, mid, shift), second = __funnelshift_r(mid, hi, shift);
    const unsigned sum = distance4(second, pattern[1], distance4(first, pattern[0], 0));
    sums[threadIdx.x] = all[threadIdx.x] = sum;
    __syncthreads();
    if (threadIdx.x == 0) {
        int at = 0;
        for (int k = 1; k < 8; ++k)
            if (all[k] < all[at]) at = k;
        *best = at;
    }
}

// Two pictures blended, brightened with saturation, and compared with a threshold, four pixels in a word.
extern "C" __global__ void pixels(const unsigned *a, const unsigned *b, unsigned *out) {
    const unsigned t = threadIdx.x;
    unsigned blended, bright, over, low;
    asm("vavrg4.u32.u32.u32 %0, %1, %2, %1;" : "=r"(blended) : "r"(a[t]), "r"(b[t]));
    asm("vadd4.u32.u32.s32.sat %0, %1, %2, %1;" : "=r"(bright) : "r"(a[t]), "r"(0x40c0107fu));
    asm("vset4.u32.u32.gt.add %0, %1, %2, %3;" : "=r"(over) : "r"(a[t]), "r"(b[t]), "r"(10u));
    asm("vmin4.u32.u32.u32 %0.b20, %1.b3210, %2.b4567, %3;" : "=r"(low) : "r"(a[t]), "r"(b[t]), "r"(0x11223344u));
    out[4 * t] = blended;
    out[4 * t + 1] = bright;
    out[4 * t + 2] = over;
    out[4 * t + 3] = low;
}

// Best score of a cell of an alignment (Smith-Waterman), two in a word, and the largest so far.
extern "C" __global__ void scores(const unsigned *up, const unsigned *left, const unsigned *corner, unsigned *out) {
    const unsigned t = threadIdx.x;
    unsigned h, best;
    asm("vadd2.s32.s32.s32.sat %0, %1, %2, %1;" : "=r"(h) : "r"(corner[t]), "r"(0xfffd0005u));
    asm("vmax2.s32.s32.s32 %0, %0, %1, %0;" : "+r"(h) : "r"(up[t]));
    asm("vmax2.s32.s32.s32 %0, %0, %1, %0;" : "+r"(h) : "r"(left[t]));
    asm("vmax.s32.s32.s32 %0, %1.h0, %1.h1;" : "=r"(best) : "r"(h));
    out[2 * t] = h;
    out[2 * t + 1] = best;
}
