// SPDX-License-Identifier: MIT
#include <iostream>
#include <iomanip>
#include <fstream>
#include <sstream>
#include <memory>
#include <map>
#include <string>
#include <cstring>
constexpr int BINS = 7;
constexpr int DIV = (26 + BINS - 1) / BINS;
__constant__ unsigned char c_table[26];
__global__ void histogram(const char *a, int *result, int N) {
  int tid = blockIdx.x * blockDim.x + threadIdx.x;
  __shared__ int s_result[BINS];
  if (threadIdx.x < BINS) s_result[threadIdx.x] = 0;
  __syncthreads();
  for (int i = tid; i < N; i += blockDim.x * gridDim.x) { int alpha = a[i] - 'a'; atomicAdd(&s_result[alpha / DIV], 1); }
  __syncthreads();
  if (threadIdx.x < BINS) atomicAdd(&result[threadIdx.x], s_result[threadIdx.x]);
}
struct Deleter { void operator()(int *p) const { cudaFree(p); } };
int main() {
  std::string s = "the quick brown fox"; std::map<char, int> m; for (char c : s) m[c]++;
  std::ifstream f("x.txt"); std::stringstream ss; ss << f.rdbuf();
  std::unique_ptr<int, Deleter> d; int *p; cudaMalloc(&p, BINS * sizeof(int)); d.reset(p);
  std::shared_ptr<int> sp(new int(3));
  cudaMemset(d.get(), 0, BINS * sizeof(int));
  char *da; cudaMallocManaged(&da, s.size()); memcpy(da, s.data(), s.size());
  unsigned char t[26]; cudaMemcpyToSymbol(c_table, t, sizeof t);
  histogram<<<dim3(2), 8, 0, 0>>>(da, d.get(), (int)s.size());
  cudaDeviceSynchronize();
  for (auto &[k, v] : m) std::cout << std::setw(4) << k << std::setprecision(3) << v << std::endl;
  cudaDeviceProp prop; cudaGetDeviceProperties(&prop, 0); std::cout << prop.name << " " << prop.major << "." << prop.minor << " " << prop.totalGlobalMem << " " << prop.multiProcessorCount << "\n";
}
