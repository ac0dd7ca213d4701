// SPDX-License-Identifier: MIT
// CUDA for clang without a toolkit, part 11: declarations of the host's API that a source with a main() uses, so that it compiles for
// the device. Nothing of it is ever linked or run.
#pragma once

#include <string_view>

namespace qwengpu::cuda::detail {

/// Enumerations and structures of the host's API. The numbers are CUDA's.
inline constexpr std::string_view device_header_host_types = R"cuda(
enum cudaError {
    cudaSuccess = 0, cudaErrorInvalidValue = 1, cudaErrorMemoryAllocation = 2, cudaErrorInitializationError = 3, cudaErrorInvalidConfiguration = 9,
    cudaErrorInvalidSymbol = 13, cudaErrorInvalidDevicePointer = 17, cudaErrorInvalidMemcpyDirection = 21, cudaErrorInsufficientDriver = 35,
    cudaErrorInvalidDeviceFunction = 98, cudaErrorNoDevice = 100, cudaErrorInvalidDevice = 101, cudaErrorInvalidResourceHandle = 400,
    cudaErrorNotReady = 600, cudaErrorIllegalAddress = 700, cudaErrorLaunchOutOfResources = 701, cudaErrorLaunchTimeout = 702,
    cudaErrorPeerAccessAlreadyEnabled = 704, cudaErrorAssert = 710, cudaErrorLaunchFailure = 719, cudaErrorNotSupported = 801, cudaErrorUnknown = 999
};
typedef enum cudaError cudaError_t;
enum cudaMemcpyKind { cudaMemcpyHostToHost, cudaMemcpyHostToDevice, cudaMemcpyDeviceToHost, cudaMemcpyDeviceToDevice, cudaMemcpyDefault };
enum cudaFuncAttribute { cudaFuncAttributeMaxDynamicSharedMemorySize = 8, cudaFuncAttributePreferredSharedMemoryCarveout = 9 };
enum cudaFuncCache { cudaFuncCachePreferNone, cudaFuncCachePreferShared, cudaFuncCachePreferL1, cudaFuncCachePreferEqual };
enum cudaSharedMemConfig { cudaSharedMemBankSizeDefault, cudaSharedMemBankSizeFourByte, cudaSharedMemBankSizeEightByte };
enum cudaLimit { cudaLimitStackSize, cudaLimitPrintfFifoSize, cudaLimitMallocHeapSize };
enum cudaMemoryAdvise {
    cudaMemAdviseSetReadMostly = 1, cudaMemAdviseUnsetReadMostly, cudaMemAdviseSetPreferredLocation, cudaMemAdviseUnsetPreferredLocation,
    cudaMemAdviseSetAccessedBy, cudaMemAdviseUnsetAccessedBy
};
enum cudaDeviceAttr {
    cudaDevAttrMaxThreadsPerBlock = 1, cudaDevAttrMaxBlockDimX = 2, cudaDevAttrMaxGridDimX = 5, cudaDevAttrMaxSharedMemoryPerBlock = 8, cudaDevAttrWarpSize = 10,
    cudaDevAttrClockRate = 13, cudaDevAttrMultiProcessorCount = 16, cudaDevAttrComputeCapabilityMajor = 75, cudaDevAttrComputeCapabilityMinor = 76,
    cudaDevAttrManagedMemory = 83, cudaDevAttrConcurrentManagedAccess = 89, cudaDevAttrCooperativeLaunch = 95
};
#define cudaHostAllocDefault 0
#define cudaHostAllocPortable 1
#define cudaHostAllocMapped 2
#define cudaHostAllocWriteCombined 4
#define cudaMemAttachGlobal 1
#define cudaMemAttachHost 2
#define cudaStreamDefault 0
#define cudaStreamNonBlocking 1
#define cudaEventDefault 0
#define cudaEventBlockingSync 1
#define cudaEventDisableTiming 2
#define cudaDeviceScheduleAuto 0
#define cudaDeviceMapHost 8
#define cudaCpuDeviceId ((int)-1)
#define cudaInvalidDeviceId ((int)-2)
typedef struct CUstream_st* cudaStream_t;
typedef struct CUevent_st* cudaEvent_t;
#define cudaStreamLegacy ((cudaStream_t)1)
#define cudaStreamPerThread ((cudaStream_t)2)
struct cudaDeviceProp {
    char name[256];
    size_t totalGlobalMem, sharedMemPerBlock;
    int regsPerBlock, warpSize;
    size_t memPitch;
    int maxThreadsPerBlock, maxThreadsDim[3], maxGridSize[3], clockRate;
    size_t totalConstMem;
    int major, minor;
    size_t textureAlignment;
    int multiProcessorCount, integrated, canMapHostMemory, computeMode, concurrentKernels, ECCEnabled, pciBusID, pciDeviceID, memoryClockRate, memoryBusWidth,
        l2CacheSize, maxThreadsPerMultiProcessor, unifiedAddressing, asyncEngineCount, deviceOverlap, kernelExecTimeoutEnabled, managedMemory,
        concurrentManagedAccess, pageableMemoryAccess, cooperativeLaunch, regsPerMultiprocessor, maxBlocksPerMultiProcessor;
    size_t sharedMemPerMultiprocessor, sharedMemPerBlockOptin;
};
struct cudaFuncAttributes { size_t sharedSizeBytes, constSizeBytes, localSizeBytes; int maxThreadsPerBlock, numRegs, ptxVersion, binaryVersion; };
struct cudaPointerAttributes { int type, device; void *devicePointer, *hostPointer; };
struct cudaExtent { size_t width, height, depth; };
struct cudaPitchedPtr { void* ptr; size_t pitch, xsize, ysize; };
typedef void (*cudaHostFn_t)(void*);
typedef void (*cudaStreamCallback_t)(cudaStream_t, cudaError_t, void*);
)cuda";

inline constexpr std::string_view device_header_host = R"cuda(
#define QG_API __host__ cudaError_t
extern "C" {
QG_API cudaMalloc(void**, size_t);
QG_API cudaMallocManaged(void**, size_t, unsigned = cudaMemAttachGlobal);
QG_API cudaMallocHost(void**, size_t);
QG_API cudaHostAlloc(void**, size_t, unsigned);
QG_API cudaHostGetDevicePointer(void**, void*, unsigned);
QG_API cudaHostRegister(void*, size_t, unsigned);
QG_API cudaHostUnregister(void*);
QG_API cudaMallocAsync(void**, size_t, cudaStream_t);
QG_API cudaMallocPitch(void**, size_t*, size_t, size_t);
QG_API cudaFree(void*);
QG_API cudaFreeHost(void*);
QG_API cudaFreeAsync(void*, cudaStream_t);
QG_API cudaMemcpy(void*, const void*, size_t, cudaMemcpyKind);
QG_API cudaMemcpyAsync(void*, const void*, size_t, cudaMemcpyKind, cudaStream_t = 0);
QG_API cudaMemcpy2D(void*, size_t, const void*, size_t, size_t, size_t, cudaMemcpyKind);
QG_API cudaMemcpyPeer(void*, int, const void*, int, size_t);
QG_API cudaMemset(void*, int, size_t);
QG_API cudaMemsetAsync(void*, int, size_t, cudaStream_t = 0);
QG_API cudaMemset2D(void*, size_t, int, size_t, size_t);
QG_API cudaMemPrefetchAsync(const void*, size_t, int, cudaStream_t = 0);
QG_API cudaMemAdvise(const void*, size_t, cudaMemoryAdvise, int);
QG_API cudaMemGetInfo(size_t*, size_t*);
QG_API cudaPointerGetAttributes(cudaPointerAttributes*, const void*);
QG_API cudaDeviceSynchronize(void);
QG_API cudaThreadSynchronize(void);
QG_API cudaDeviceReset(void);
QG_API cudaGetLastError(void);
QG_API cudaPeekAtLastError(void);
QG_API cudaSetDevice(int);
QG_API cudaGetDevice(int*);
QG_API cudaGetDeviceCount(int*);
QG_API cudaGetDeviceProperties(cudaDeviceProp*, int);
QG_API cudaChooseDevice(int*, const cudaDeviceProp*);
QG_API cudaDeviceGetAttribute(int*, cudaDeviceAttr, int);
QG_API cudaDeviceSetLimit(cudaLimit, size_t);
QG_API cudaDeviceGetLimit(size_t*, cudaLimit);
QG_API cudaDeviceSetCacheConfig(cudaFuncCache);
QG_API cudaDeviceSetSharedMemConfig(cudaSharedMemConfig);
QG_API cudaDeviceCanAccessPeer(int*, int, int);
QG_API cudaDeviceEnablePeerAccess(int, unsigned);
QG_API cudaSetDeviceFlags(unsigned);
QG_API cudaDriverGetVersion(int*);
QG_API cudaRuntimeGetVersion(int*);
QG_API cudaEventCreate(cudaEvent_t*);
QG_API cudaEventCreateWithFlags(cudaEvent_t*, unsigned);
QG_API cudaEventRecord(cudaEvent_t, cudaStream_t = 0);
QG_API cudaEventQuery(cudaEvent_t);
QG_API cudaEventSynchronize(cudaEvent_t);
QG_API cudaEventElapsedTime(float*, cudaEvent_t, cudaEvent_t);
QG_API cudaEventDestroy(cudaEvent_t);
QG_API cudaStreamCreate(cudaStream_t*);
QG_API cudaStreamCreateWithFlags(cudaStream_t*, unsigned);
QG_API cudaStreamCreateWithPriority(cudaStream_t*, unsigned, int);
QG_API cudaStreamDestroy(cudaStream_t);
QG_API cudaStreamQuery(cudaStream_t);
QG_API cudaStreamSynchronize(cudaStream_t);
QG_API cudaStreamWaitEvent(cudaStream_t, cudaEvent_t, unsigned = 0);
QG_API cudaStreamAddCallback(cudaStream_t, cudaStreamCallback_t, void*, unsigned);
QG_API cudaStreamAttachMemAsync(cudaStream_t, void*, size_t = 0, unsigned = 4);
QG_API cudaLaunchHostFunc(cudaStream_t, cudaHostFn_t, void*);
QG_API cudaProfilerStart(void);
QG_API cudaProfilerStop(void);
__host__ const char* cudaGetErrorString(cudaError_t);
__host__ const char* cudaGetErrorName(cudaError_t);
QG_API cudaConfigureCall(dim3, dim3, size_t = 0, cudaStream_t = 0);
__host__ unsigned __cudaPushCallConfiguration(dim3, dim3, size_t = 0, cudaStream_t = 0);
QG_API cudaLaunchKernel(const void*, dim3, dim3, void**, size_t, cudaStream_t);
QG_API cudaLaunchCooperativeKernel(const void*, dim3, dim3, void**, size_t, cudaStream_t);
}
template <class T> QG_API cudaMalloc(T** p, size_t n) { return cudaMalloc((void**)(void*)p, n); }
template <class T> QG_API cudaMallocManaged(T** p, size_t n, unsigned f = cudaMemAttachGlobal) { return cudaMallocManaged((void**)(void*)p, n, f); }
template <class T> QG_API cudaMallocHost(T** p, size_t n, unsigned = 0) { return cudaMallocHost((void**)(void*)p, n); }
template <class T> QG_API cudaHostAlloc(T** p, size_t n, unsigned f) { return cudaHostAlloc((void**)(void*)p, n, f); }
template <class T> QG_API cudaHostGetDevicePointer(T** p, void* h, unsigned f) { return cudaHostGetDevicePointer((void**)(void*)p, h, f); }
template <class T> QG_API cudaMallocAsync(T** p, size_t n, cudaStream_t s) { return cudaMallocAsync((void**)(void*)p, n, s); }
template <class T> QG_API cudaMallocPitch(T** p, size_t* pitch, size_t w, size_t h) { return cudaMallocPitch((void**)(void*)p, pitch, w, h); }
template <class T> QG_API cudaMemcpyToSymbol(const T&, const void*, size_t, size_t = 0, cudaMemcpyKind = cudaMemcpyHostToDevice);
template <class T> QG_API cudaMemcpyFromSymbol(void*, const T&, size_t, size_t = 0, cudaMemcpyKind = cudaMemcpyDeviceToHost);
template <class T> QG_API cudaMemcpyToSymbolAsync(const T&, const void*, size_t, size_t, cudaMemcpyKind, cudaStream_t = 0);
template <class T> QG_API cudaMemcpyFromSymbolAsync(void*, const T&, size_t, size_t, cudaMemcpyKind, cudaStream_t = 0);
template <class T> QG_API cudaGetSymbolAddress(void**, const T&);
template <class P, class T> QG_API cudaGetSymbolAddress(P**, const T&);
template <class T> QG_API cudaGetSymbolSize(size_t*, const T&);
template <class F> QG_API cudaFuncSetAttribute(F*, cudaFuncAttribute, int);
template <class F> QG_API cudaFuncGetAttributes(cudaFuncAttributes*, F*);
template <class F> QG_API cudaFuncSetCacheConfig(F*, cudaFuncCache);
template <class F> QG_API cudaFuncSetSharedMemConfig(F*, cudaSharedMemConfig);
template <class F> QG_API cudaLaunchKernel(F*, dim3, dim3, void**, size_t = 0, cudaStream_t = 0);
template <class F> QG_API cudaLaunchCooperativeKernel(F*, dim3, dim3, void**, size_t = 0, cudaStream_t = 0);
template <class F> QG_API cudaOccupancyMaxActiveBlocksPerMultiprocessor(int*, F, int, size_t);
template <class F> QG_API cudaOccupancyMaxPotentialBlockSize(int*, int*, F, size_t = 0, int = 0);
static inline __host__ cudaExtent make_cudaExtent(size_t w, size_t h, size_t d) { return {w, h, d}; }
static inline __host__ cudaPitchedPtr make_cudaPitchedPtr(void* p, size_t pitch, size_t w, size_t h) { return {p, pitch, w, h}; }
)cuda";

}  // namespace qwengpu::cuda::detail
