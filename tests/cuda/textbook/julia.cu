// SPDX-License-Identifier: MIT
#include <cstdio>
#include <cstring>
#include <cuComplex.h>
#include <math_constants.h>
#include <string>
#include <thread>
#include <algorithm>
struct cuComplexx { float r, i; __host__ __device__ cuComplexx(float a, float b) : r(a), i(b) {} __device__ float magnitude2() { return r * r + i * i; } __device__ cuComplexx operator*(const cuComplexx &a) { return cuComplexx(r * a.r - i * a.i, i * a.r + r * a.i); } __device__ cuComplexx operator+(const cuComplexx &a) { return cuComplexx(r + a.r, i + a.i); } };
__device__ int julia(int x, int y, int dim) {
  const float scale = 1.5f; float jx = scale * (float)(dim / 2 - x) / (dim / 2), jy = scale * (float)(dim / 2 - y) / (dim / 2);
  cuComplexx c(-0.8f, 0.156f), a(jx, jy);
  for (int i = 0; i < 20; i++) { a = a * a + c; if (a.magnitude2() > 1000) return 0; }
  return 1;
}
__device__ const int lut[4] = {10, 20, 30, 40};
__managed__ int counter;
__global__ void kernel(unsigned char *ptr, int dim) { int x = blockIdx.x, y = blockIdx.y, offset = x + y * gridDim.x; int j = julia(x, y, dim); ptr[offset * 4 + 0] = 255 * j; ptr[offset * 4 + 3] = 255; }
enum class Op { add, mul };
template <Op op, class T> __device__ T apply(T a, T b) { if constexpr (op == Op::add) return a + b; else return a * b; }
template <class F> __global__ void transform(float *d, int n, F f) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) d[i] = f(d[i]); }
__global__ void misc(cuFloatComplex *z, float *o) { z[threadIdx.x] = cuCmulf(z[threadIdx.x], make_cuFloatComplex(0.f, 1.f)); o[threadIdx.x] = cuCabsf(z[threadIdx.x]) + CUDART_PI_F + apply<Op::mul>(2.f, 3.f) + lut[threadIdx.x & 3]; auto sq = [](float x) { return x * x; }; o[0] += sq(o[1]); atomicAdd(&counter, 1); }
struct Square { __host__ __device__ float operator()(float x) const { return x * x; } };
int main() {
  float *d; cudaMalloc(&d, 64); transform<<<1, 4>>>(d, 4, Square{}); 
  float k = 3; transform<<<1, 4>>>(d, 4, [=] __device__(float x) { return k * x; });
  unsigned char *p; cudaHostAlloc((void **)&p, 64, cudaHostAllocDefault); kernel<<<dim3(8, 8), 1>>>(p, 8);
  std::thread t([] { cudaDeviceSynchronize(); }); t.join(); int n; cudaGetDeviceCount(&n); size_t fr, to; cudaMemGetInfo(&fr, &to);
  cudaMemcpyFromSymbol(&n, counter, sizeof(int)); void *addr; cudaGetSymbolAddress(&addr, counter); std::string s = cudaGetErrorName(cudaGetLastError());
  printf("%s %d\n", s.c_str(), std::clamp(n, 0, 9)); return cudaFreeHost(p);
}
