// SPDX-License-Identifier: MIT
#include <iostream>
#include <math.h>
__global__ void add(int n, float *x, float *y) {
  int index = blockIdx.x * blockDim.x + threadIdx.x;
  int stride = blockDim.x * gridDim.x;
  for (int i = index; i < n; i += stride) y[i] = x[i] + y[i];
}
__global__ void saxpy(int n, float a, const float *__restrict__ x, float *__restrict__ y) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) y[i] = a * x[i] + y[i]; }
int main(void) {
  int N = 1 << 20; float *x, *y;
  cudaMallocManaged(&x, N * sizeof(float)); cudaMallocManaged(&y, N * sizeof(float));
  for (int i = 0; i < N; i++) { x[i] = 1.0f; y[i] = 2.0f; }
  int blockSize = 256; int numBlocks = (N + blockSize - 1) / blockSize;
  cudaMemPrefetchAsync(x, N * sizeof(float), 0, 0);
  add<<<numBlocks, blockSize>>>(N, x, y);
  cudaStream_t st; cudaStreamCreate(&st); saxpy<<<numBlocks, blockSize, 0, st>>>(N, 2.0f, x, y); cudaStreamSynchronize(st); cudaStreamDestroy(st);
  cudaDeviceSynchronize();
  float maxError = 0.0f; for (int i = 0; i < N; i++) maxError = fmax(maxError, fabs(y[i] - 3.0f));
  maxError = std::max(maxError, std::abs(y[0])); std::cout << "Max error: " << maxError << sqrt(2.0) << std::isnan(y[0]) << pow(2.f, 3) << std::endl;
  cudaFree(x); cudaFree(y); return 0;
}
