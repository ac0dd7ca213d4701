// SPDX-License-Identifier: MIT
// CUDA for clang without a toolkit, part 5: declarations of the host's API that a source with a main() uses, so that it compiles for
// the device. Nothing of it is ever linked or run.
#pragma once

#include <string_view>

namespace qwengpu::cuda::detail {

inline constexpr std::string_view device_header_host = R"cuda(
enum cudaError_t { cudaSuccess = 0, cudaErrorInvalidValue = 1, cudaErrorMemoryAllocation = 2 };
enum cudaMemcpyKind { cudaMemcpyHostToHost, cudaMemcpyHostToDevice, cudaMemcpyDeviceToHost, cudaMemcpyDeviceToDevice, cudaMemcpyDefault };
typedef struct qg_stream* cudaStream_t;
typedef struct qg_event* cudaEvent_t;
extern "C" {
__host__ cudaError_t cudaMalloc(void**, size_t);
__host__ cudaError_t cudaMallocManaged(void**, size_t, unsigned = 1);
__host__ cudaError_t cudaMallocHost(void**, size_t);
__host__ cudaError_t cudaFree(void*);
__host__ cudaError_t cudaFreeHost(void*);
__host__ cudaError_t cudaMemcpy(void*, const void*, size_t, cudaMemcpyKind);
__host__ cudaError_t cudaMemset(void*, int, size_t);
__host__ cudaError_t cudaDeviceSynchronize(void);
__host__ cudaError_t cudaDeviceReset(void);
__host__ cudaError_t cudaGetLastError(void);
__host__ cudaError_t cudaPeekAtLastError(void);
__host__ cudaError_t cudaSetDevice(int);
__host__ cudaError_t cudaEventCreate(cudaEvent_t*);
__host__ cudaError_t cudaEventRecord(cudaEvent_t, cudaStream_t = 0);
__host__ cudaError_t cudaEventSynchronize(cudaEvent_t);
__host__ cudaError_t cudaEventElapsedTime(float*, cudaEvent_t, cudaEvent_t);
__host__ cudaError_t cudaEventDestroy(cudaEvent_t);
__host__ cudaError_t cudaStreamSynchronize(cudaStream_t);
__host__ const char* cudaGetErrorString(cudaError_t);
__host__ cudaError_t cudaConfigureCall(dim3, dim3, size_t = 0, cudaStream_t = 0);
__host__ unsigned __cudaPushCallConfiguration(dim3, dim3, size_t = 0, cudaStream_t = 0);
__host__ cudaError_t cudaLaunchKernel(const void*, dim3, dim3, void**, size_t, cudaStream_t);
}
template <class T> __host__ cudaError_t cudaMalloc(T** p, size_t n) { return cudaMalloc((void**)(void*)p, n); }
template <class T> __host__ cudaError_t cudaMallocManaged(T** p, size_t n, unsigned f = 1) { return cudaMallocManaged((void**)(void*)p, n, f); }
template <class T> __host__ cudaError_t cudaMallocHost(T** p, size_t n) { return cudaMallocHost((void**)(void*)p, n); }
template <class T> __host__ cudaError_t cudaMemcpyToSymbol(const T& symbol, const void* from, size_t n, size_t offset = 0, cudaMemcpyKind = cudaMemcpyHostToDevice);
template <class T> __host__ cudaError_t cudaMemcpyFromSymbol(void* to, const T& symbol, size_t n, size_t offset = 0, cudaMemcpyKind = cudaMemcpyDeviceToHost);
)cuda";

}  // namespace qwengpu::cuda::detail
