// SPDX-License-Identifier: MIT
// c[i] = a[i] + b[i]: one thread per element, and the guard for the threads past the end.
extern "C" __global__ void vecadd(const int* a, const int* b, int* c, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) c[i] = a[i] + b[i];
}
