// SPDX-License-Identifier: MIT
// Headers of the CUDA toolkit that our own header for clang has nothing of: what is said where a source includes one.
#pragma once

#include <array>
#include <string>
#include <string_view>

namespace qwengpu::cuda::detail {

struct absent_header {
    std::string_view name;
    std::string_view reason;
};

inline constexpr std::string_view no_small_floats = "16-bit and smaller floats are not supported; use float";
inline constexpr std::string_view no_toolkit =
    "this is part of the CUDA toolkit, and clang is used with a CUDA header of our own, which does not have it; do without it, or install the toolkit, so that nvcc is found";

/// Those that have a file of their own, which says why; so none of a toolkit is taken that clang happens to find.
inline constexpr std::array absent_headers{
    absent_header{"cuda_fp16.h", no_small_floats},
    absent_header{"cuda_bf16.h", no_small_floats},
    absent_header{"cuda_fp8.h", no_small_floats},
    absent_header{"mma.h", "matrix instructions (wmma) are not supported; multiply with fma"},
    absent_header{"cuda_pipeline.h", "asynchronous copies are not supported; copy with loads and stores and __syncthreads()"},
    absent_header{"curand.h", no_toolkit},
    absent_header{"curand_kernel.h", no_toolkit},
    absent_header{"cublas.h", no_toolkit},
    absent_header{"cublas_v2.h", no_toolkit},
    absent_header{"cufft.h", no_toolkit},
    absent_header{"cusparse.h", no_toolkit},
    absent_header{"cusolverDn.h", no_toolkit},
    absent_header{"nvToolsExt.h", no_toolkit},
    absent_header{"cuda/atomic", no_toolkit},
    absent_header{"cuda/barrier", no_toolkit},
    absent_header{"cuda/pipeline", no_toolkit},
    absent_header{"cuda/semaphore", no_toolkit},
    absent_header{"cuda/latch", no_toolkit},
    absent_header{"cuda/std/atomic", no_toolkit},
    absent_header{"cuda/std/complex", no_toolkit},
    absent_header{"cuda/std/limits", no_toolkit},
    absent_header{"cub/cub.cuh", no_toolkit},
    absent_header{"thrust/device_vector.h", no_toolkit},
    absent_header{"thrust/host_vector.h", no_toolkit},
};

/// Text of the file that stands for such a header.
inline std::string absent_header_text(const absent_header& h) {
    return "#error \"" + std::string(h.name) + ": " + std::string(h.reason) + "\"\n";
}

/// What to do about "'thrust/sort.h' file not found" among what clang printed; empty if that is about another file.
inline std::string missing_header_remedy(std::string_view output) {
    const std::size_t end = output.find("' file not found");
    if (end == output.npos) return {};
    const std::size_t begin = output.rfind('\'', end - 1);
    if (begin == output.npos) return {};
    const std::string_view name = output.substr(begin + 1, end - begin - 1);
    for (const std::string_view prefix : {"thrust/", "cub/", "cuda", "curand", "cublas", "cufft", "cusparse", "cusolver", "cudnn", "cutlass/", "nvrtc", "nvml", "nvtx", "nccl"})
        if (name.starts_with(prefix)) return "\n" + std::string(name) + ": " + std::string(no_toolkit);
    return {};
}

}  // namespace qwengpu::cuda::detail
