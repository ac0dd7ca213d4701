// SPDX-License-Identifier: MIT
// A word of shared memory that its writer reads again after another thread changed it between two barriers.
extern "C" __global__ void shared_rows(const int *in, int *out) {
    __shared__ int m[2][3];
    int j = threadIdx.x;
    m[1][j] = in[j];
    __syncthreads();
    if (j > 0) m[j][0] *= 10;
    __syncthreads();
    if (j > 0) m[1][j] += 1;
    out[j] = m[1][j];
}
