// SPDX-License-Identifier: MIT
#include <cmath>
#include <cstdio>
#include <vector>
#define SOFTENING 1e-9f
#define BLOCK 4
struct Body { float x, y, z, vx, vy, vz; };
void randomizeBodies(float *data, int n) { for (int i = 0; i < n; i++) data[i] = 2.0f * (rand() / (float)RAND_MAX) - 1.0f; }
__global__ void bodyForce(float4 *p, float4 *v, float dt, int n) {
  int i = blockDim.x * blockIdx.x + threadIdx.x;
  if (i < n) {
    float Fx = 0.0f, Fy = 0.0f, Fz = 0.0f;
    for (int tile = 0; tile < gridDim.x; tile++) {
      __shared__ float3 spos[BLOCK];
      float4 tpos = p[tile * blockDim.x + threadIdx.x];
      spos[threadIdx.x] = make_float3(tpos.x, tpos.y, tpos.z);
      __syncthreads();
      #pragma unroll
      for (int j = 0; j < BLOCK; j++) {
        float dx = spos[j].x - p[i].x, dy = spos[j].y - p[i].y, dz = spos[j].z - p[i].z;
        float distSqr = dx * dx + dy * dy + dz * dz + SOFTENING;
        float invDist = rsqrtf(distSqr), invDist3 = invDist * invDist * invDist;
        Fx += dx * invDist3; Fy += dy * invDist3; Fz += dz * invDist3;
      }
      __syncthreads();
    }
    v[i].x += dt * Fx; v[i].y += dt * Fy; v[i].z += dt * Fz;
  }
}
__global__ void energy(const float4 *v, float *e, int n) { int i = threadIdx.x; if (i < n) e[i] = 0.5f * (std::pow(v[i].x, 2.0f) + std::sqrt(std::fabs(v[i].y)) + pow(v[i].z, 2)) + std::exp(-std::abs(v[i].w)) + std::max(v[i].x, 0.5f) + std::sin(v[i].y) + expf(0.f); }
int main(const int argc, const char **argv) {
  int nBodies = 1024; if (argc > 1) nBodies = atoi(argv[1]);
  std::vector<float> buf(8 * nBodies); randomizeBodies(buf.data(), 8 * nBodies);
  float *d; cudaMalloc(&d, 8 * nBodies * sizeof(float)); float4 *dp = (float4 *)d, *dv = dp + nBodies;
  for (int it = 0; it < 10; ++it) { cudaMemcpy(d, buf.data(), buf.size() * 4, cudaMemcpyHostToDevice); bodyForce<<<(nBodies + BLOCK - 1) / BLOCK, BLOCK>>>(dp, dv, 0.01f, nBodies); cudaMemcpy(buf.data(), d, buf.size() * 4, cudaMemcpyDeviceToHost); }
  printf("%0.3f billion\n", 1e-9 * nBodies * nBodies); cudaFree(d); return 0;
}
