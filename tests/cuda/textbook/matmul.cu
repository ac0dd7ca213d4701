// SPDX-License-Identifier: MIT
#include <iostream>
#include <vector>
#include <cstdlib>
#include <cassert>
#include <algorithm>
#include <chrono>
using std::cout;
using std::generate;
using std::vector;
#define TILE 4
#define CUDA_CHECK(call) do { cudaError_t e_ = (call); if (e_ != cudaSuccess) { std::cerr << "CUDA error " << cudaGetErrorString(e_) << " at " << __FILE__ << ":" << __LINE__ << std::endl; std::exit(1); } } while (0)
const int SHMEM_SIZE = TILE * TILE;
__global__ void matrixMul(const int *a, const int *b, int *c, int N) {
  int row = blockIdx.y * blockDim.y + threadIdx.y;
  int col = blockIdx.x * blockDim.x + threadIdx.x;
  __shared__ int s_a[SHMEM_SIZE];
  __shared__ int s_b[SHMEM_SIZE];
  int tmp = 0;
  for (int i = 0; i < N; i += blockDim.x) {
    s_a[threadIdx.y * blockDim.x + threadIdx.x] = a[row * N + i + threadIdx.x];
    s_b[threadIdx.y * blockDim.x + threadIdx.x] = b[i * N + threadIdx.y * N + col];
    __syncthreads();
    for (int j = 0; j < blockDim.x; j++) tmp += s_a[threadIdx.y * blockDim.x + j] * s_b[j * blockDim.x + threadIdx.x];
    __syncthreads();
  }
  c[row * N + col] = tmp;
}
void verify_result(vector<int> &a, vector<int> &b, vector<int> &c, int N) {
  for (int i = 0; i < N; i++) for (int j = 0; j < N; j++) { int tmp = 0; for (int k = 0; k < N; k++) tmp += a[i * N + k] * b[k * N + j]; assert(tmp == c[i * N + j]); }
}
int main() {
  int N = 1 << 10;
  size_t bytes = N * N * sizeof(int);
  vector<int> h_a(N * N), h_b(N * N), h_c(N * N);
  generate(h_a.begin(), h_a.end(), []() { return rand() % 100; });
  generate(h_b.begin(), h_b.end(), []() { return rand() % 100; });
  int *d_a, *d_b, *d_c;
  CUDA_CHECK(cudaMalloc(&d_a, bytes)); CUDA_CHECK(cudaMalloc(&d_b, bytes)); CUDA_CHECK(cudaMalloc(&d_c, bytes));
  CUDA_CHECK(cudaMemcpy(d_a, h_a.data(), bytes, cudaMemcpyHostToDevice));
  dim3 threads(TILE, TILE), blocks(N / TILE, N / TILE);
  auto t0 = std::chrono::high_resolution_clock::now();
  matrixMul<<<blocks, threads>>>(d_a, d_b, d_c, N);
  CUDA_CHECK(cudaDeviceSynchronize());
  auto t1 = std::chrono::high_resolution_clock::now();
  cout << std::chrono::duration<double, std::milli>(t1 - t0).count() << " ms\n";
  cudaMemcpy(h_c.data(), d_c, bytes, cudaMemcpyDeviceToHost);
  verify_result(h_a, h_b, h_c, N);
  cout << "COMPLETED SUCCESSFULLY\n";
  cudaFree(d_a); cudaFree(d_b); cudaFree(d_c);
}
