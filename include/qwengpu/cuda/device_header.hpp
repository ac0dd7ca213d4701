// SPDX-License-Identifier: MIT
// The CUDA header of our own for clang: what kernels need of CUDA, so that no toolkit has to be there.
#pragma once

#include <string>

#include <qwengpu/cuda/device_header_float.hpp>
#include <qwengpu/cuda/device_header_host.hpp>
#include <qwengpu/cuda/device_header_int.hpp>
#include <qwengpu/cuda/device_header_sync.hpp>
#include <qwengpu/cuda/device_header_types.hpp>

namespace qwengpu::cuda {

/// Text of the header; it is written to a file and named to clang with -include.
inline std::string device_header() {
    std::string text(detail::device_header_types);
    return text.append(detail::device_header_sync).append(detail::device_header_int).append(detail::device_header_float).append(detail::device_header_host);
}

}  // namespace qwengpu::cuda
