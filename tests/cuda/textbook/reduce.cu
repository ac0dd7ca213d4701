// SPDX-License-Identifier: MIT
#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <random>
#include <string>
#include <vector>
inline cudaError_t checkCuda(cudaError_t result) {
#if defined(DEBUG) || defined(_DEBUG)
  if (result != cudaSuccess) { fprintf(stderr, "CUDA Runtime Error: %s\n", cudaGetErrorString(result)); assert(result == cudaSuccess); }
#endif
  return result;
}
#define gpuErrchk(ans) { gpuAssert((ans), __FILE__, __LINE__); }
inline void gpuAssert(cudaError_t code, const char *file, int line, bool abort = true) {
  if (code != cudaSuccess) { fprintf(stderr, "GPUassert: %s %s %d\n", cudaGetErrorString(code), file, line); if (abort) exit(code); }
}
template <unsigned int blockSize> __device__ void warpReduce(volatile int *sdata, unsigned int tid) {
  if (blockSize >= 4) sdata[tid] += sdata[tid + 2];
  if (blockSize >= 2) sdata[tid] += sdata[tid + 1];
}
template <unsigned int blockSize> __global__ void reduce6(int *g_idata, int *g_odata, unsigned int n) {
  extern __shared__ int sdata[];
  unsigned int tid = threadIdx.x;
  unsigned int i = blockIdx.x * (blockSize * 2) + tid;
  unsigned int gridSize = blockSize * 2 * gridDim.x;
  sdata[tid] = 0;
  while (i < n) { sdata[tid] += g_idata[i] + (i + blockSize < n ? g_idata[i + blockSize] : 0); i += gridSize; }
  __syncthreads();
  if (blockSize >= 16) { if (tid < 8) { sdata[tid] += sdata[tid + 8]; } __syncthreads(); }
  if (blockSize >= 8) { if (tid < 4) { sdata[tid] += sdata[tid + 4]; } __syncthreads(); }
  if (tid < 2) warpReduce<blockSize>(sdata, tid);
  if (tid == 0) g_odata[blockIdx.x] = sdata[0];
}
int main(int argc, char **argv) {
  unsigned n = argc > 1 ? std::atoi(argv[1]) : 1 << 20;
  std::mt19937 gen(42); std::uniform_int_distribution<int> dist(0, 9);
  std::vector<int> h(n); for (auto &x : h) x = dist(gen);
  long long ref = std::accumulate(h.begin(), h.end(), 0LL);
  int *d_in, *d_out; const int threads = 16, blocks = 32;
  gpuErrchk(cudaMalloc((void **)&d_in, n * sizeof(int))); gpuErrchk(cudaMalloc((void **)&d_out, blocks * sizeof(int)));
  gpuErrchk(cudaMemcpy(d_in, &h[0], n * sizeof(int), cudaMemcpyHostToDevice));
  cudaEvent_t start, stop; cudaEventCreate(&start); cudaEventCreate(&stop); cudaEventRecord(start);
  switch (threads) { case 16: reduce6<16><<<blocks, threads, threads * sizeof(int)>>>(d_in, d_out, n); break; case 8: reduce6<8><<<blocks, threads, threads * sizeof(int)>>>(d_in, d_out, n); break; }
  gpuErrchk(cudaPeekAtLastError());
  cudaEventRecord(stop); cudaEventSynchronize(stop); float ms = 0; cudaEventElapsedTime(&ms, start, stop);
  std::vector<int> out(blocks); gpuErrchk(cudaMemcpy(out.data(), d_out, blocks * sizeof(int), cudaMemcpyDeviceToHost));
  long long s = std::accumulate(out.begin(), out.end(), 0LL);
  printf("%lld %lld %s %f\n", s, ref, s == ref ? "ok" : "BAD", ms);
  cudaEventDestroy(start); cudaEventDestroy(stop);
  return std::max(0, 1) - std::min(1, 2);
}
