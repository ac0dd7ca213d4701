// SPDX-License-Identifier: MIT
// Thread 1 changes a word that thread 0 wrote, between two barriers of each kind; thread 0 must see it.
#define KIND(name, BAR) extern "C" __global__ void name(const int *in, int *out) { \
    __shared__ int m[2][3]; int j = threadIdx.x; m[1][j] = in[j]; BAR; if (j > 0) m[j][0] *= 10; BAR; if (j > 0) m[1][j] += 1; out[j] = m[1][j]; }
KIND(plain, __syncthreads())
KIND(any, __syncthreads_or(j))
KIND(every, __syncthreads_and(j))
KIND(count, __syncthreads_count(j))
KIND(warp, __syncwarp())
extern "C" __global__ void fence(const int *in, int *out) {
    __shared__ int m[2][3]; __shared__ volatile int flag[2]; int j = threadIdx.x;
    flag[j] = 0; m[1][j] = in[j]; __syncthreads();
    if (j > 0) { m[1][0] *= 10; __threadfence_block(); flag[1] = 1; }
    else { while (flag[1] == 0) ; __threadfence_block(); }
    if (j > 0) m[1][j] += 1; out[j] = m[1][j];
}
