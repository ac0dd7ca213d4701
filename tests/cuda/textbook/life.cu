// SPDX-License-Identifier: MIT
#include <array>
#include <cstdint>
#include <cstdio>
#include <utility>
#include <functional>
class Life {
public:
  __host__ __device__ Life(uint8_t *cells, int w, int h) : cells_(cells), w_(w), h_(h) {}
  __host__ __device__ uint8_t at(int x, int y) const { return cells_[((y + h_) % h_) * w_ + (x + w_) % w_]; }
  __device__ int neighbours(int x, int y) const { int n = 0; for (int dy = -1; dy <= 1; ++dy) for (int dx = -1; dx <= 1; ++dx) if (dx || dy) n += at(x + dx, y + dy); return n; }
  void print() const { for (int y = 0; y < h_; ++y) { for (int x = 0; x < w_; ++x) putchar(at(x, y) ? '#' : '.'); putchar('\n'); } }
private:
  uint8_t *cells_; int w_, h_;
};
__global__ void step(uint8_t *in, uint8_t *out, int w, int h) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= w || y >= h) return;
  Life life(in, w, h);
  int n = life.neighbours(x, y);
  out[y * w + x] = n == 3 || (n == 2 && life.at(x, y));
}
int main() {
  const int W = 16, H = 16; std::array<uint8_t, W * H> g{}; uint8_t *a, *b;
  cudaMallocManaged(&a, W * H); cudaMallocManaged(&b, W * H);
  std::copy(g.begin(), g.end(), a);
  std::function<void(int)> go = [&](int n) { for (int i = 0; i < n; ++i) { step<<<dim3(4, 4), dim3(4, 4)>>>(a, b, W, H); cudaDeviceSynchronize(); std::swap(a, b); } };
  go(10); Life(a, W, H).print(); cudaFree(a); cudaFree(b);
}
