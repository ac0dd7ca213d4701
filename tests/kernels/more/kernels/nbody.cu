#include <cuda_runtime.h>
// nbody: one Euler step, every thread a body; float4 is position and mass.
__device__ float3 pull(float4 a, float4 b, float3 acc) {
    float3 r = make_float3(b.x - a.x, b.y - a.y, b.z - a.z);
    float d2 = fmaf(r.x, r.x, fmaf(r.y, r.y, fmaf(r.z, r.z, 0.25f)));
    float inv = 1.0f / sqrtf(d2);
    float s = __fmul_rn(__fmul_rn(__fmul_rn(inv, inv), inv), b.w);
    acc.x = fmaf(r.x, s, acc.x);
    acc.y = fmaf(r.y, s, acc.y);
    acc.z = fmaf(r.z, s, acc.z);
    return acc;
}
extern "C" __global__ void nbody_step(const float4* __restrict__ pos, float3* vel, float4* next, float dt, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float4 me = pos[i];
    float3 acc = {0.0f, 0.0f, 0.0f};
    for (int j = 0; j < n; ++j) acc = pull(me, pos[j], acc);
    float3 v = vel[i];
    v.x = fmaf(acc.x, dt, v.x);
    v.y = fmaf(acc.y, dt, v.y);
    v.z = fmaf(acc.z, dt, v.z);
    vel[i] = v;
    next[i] = make_float4(fmaf(v.x, dt, me.x), fmaf(v.y, dt, me.y), fmaf(v.z, dt, me.z), me.w);
}
