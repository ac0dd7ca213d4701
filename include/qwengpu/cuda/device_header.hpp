// SPDX-License-Identifier: MIT
// The CUDA header of our own for clang: what kernels need of CUDA, so that no toolkit has to be there. It is put together of parts;
// those of rare use are files of their own, read only where a source includes them.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include <qwengpu/cuda/absent_header.hpp>
#include <qwengpu/cuda/device_header_exponential.hpp>
#include <qwengpu/cuda/device_header_float.hpp>
#include <qwengpu/cuda/device_header_groups.hpp>
#include <qwengpu/cuda/device_header_host.hpp>
#include <qwengpu/cuda/device_header_int.hpp>
#include <qwengpu/cuda/device_header_overloads.hpp>
#include <qwengpu/cuda/device_header_parts.hpp>
#include <qwengpu/cuda/device_header_simd.hpp>
#include <qwengpu/cuda/device_header_small.hpp>
#include <qwengpu/cuda/device_header_special.hpp>
#include <qwengpu/cuda/device_header_sync.hpp>
#include <qwengpu/cuda/device_header_trigonometric.hpp>
#include <qwengpu/cuda/device_header_types.hpp>
#include <qwengpu/cuda/temporary_directory.hpp>

namespace qwengpu::cuda {

/// Text of the header; it is written to a file and named to clang with -include.
inline std::string device_header() {
    std::string text;
    for (const std::string_view part :
         {detail::device_header_types, detail::device_header_sync, detail::device_header_int, detail::device_header_simd, detail::device_header_float,
          detail::device_header_parts, detail::device_header_exponential, detail::device_header_trigonometric, detail::device_header_special,
          detail::device_header_overloads, detail::device_header_library, detail::device_header_host_types, detail::device_header_host})
        text.append(part);
    return text;
}

/// Writes the header and those that a source may include, and gives the header's path. Headers of the toolkit that declare what ours has
/// are empty.
inline std::filesystem::path write_device_headers(const temporary_directory& folder) {
    for (const char* name : {"cuda_runtime.h", "cuda_runtime_api.h", "cuda.h", "cuda_device_runtime_api.h", "cuda_profiler_api.h", "device_launch_parameters.h",
                             "device_functions.h", "device_atomic_functions.h", "device_types.h", "driver_types.h", "host_defines.h", "builtin_types.h", "math_functions.h",
                             "vector_types.h", "vector_functions.h", "sm_20_intrinsics.h", "sm_30_intrinsics.h", "sm_32_intrinsics.h", "sm_60_atomic_functions.h",
                             "sm_61_intrinsics.h"})
        (void)folder.write(name, "#pragma once\n");
    for (const char* name : {"cooperative_groups", "bits", "cub", "cuda", "thrust", "cuda/std"}) std::filesystem::create_directory(folder.path() / name);
    for (const auto& h : detail::absent_headers) (void)folder.write(std::string(h.name), detail::absent_header_text(h));
    (void)folder.write("cooperative_groups.h", std::string(detail::device_header_groups_block).append(detail::device_header_groups_tile));
    for (const char* name : {"cooperative_groups/reduce.h", "cooperative_groups/scan.h", "cooperative_groups/memcpy_async.h"})
        (void)folder.write(name, "#pragma once\n#include <qwengpu_groups_more.h>\n");
    (void)folder.write("qwengpu_groups_more.h", detail::device_header_groups_more);
    (void)folder.write("math_constants.h", detail::device_header_constants);
    (void)folder.write("cuComplex.h", detail::device_header_complex);
    (void)folder.write("bits/shared_ptr_base.h", detail::device_header_shared_ptr);
    return folder.write("qwengpu_cuda.h", device_header());
}

}  // namespace qwengpu::cuda
