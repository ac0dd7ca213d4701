// SPDX-License-Identifier: MIT
// Functions that PTX calls and no file has: those of CUDA's run-time system, and those that the CUDA header for clang leaves open.
#pragma once

#include <string>
#include <string_view>

namespace qwengpu::ptx::detail {

/// Why a function without a body cannot be called, and what to do instead.
inline std::string why_missing(std::string_view name) {
    const std::string_view of_double = "qwengpu_f64_";
    if (name == "vprintf") return "printf is not supported: a kernel has nowhere to print to; store what you want to see in a buffer";
    if (name == "malloc" || name == "free" || name.starts_with("_Znw") || name.starts_with("_Zna") || name.starts_with("_Zdl") || name.starts_with("_Zda")) {
        const std::string_view what = name == "malloc"            ? "malloc, which operator new calls too,"
                                      : name == "free"            ? "free, which operator delete calls too,"
                                      : name.starts_with("_Zn") ? "operator new"
                                                                : "operator delete";
        return std::string(what) + " is not supported: a kernel has no heap; use an array of fixed size or a buffer";
    }
    if (name.starts_with("cudaLaunchDevice") || name.starts_with("cudaGetParameterBuffer") || name.starts_with("__cudaCDP") || name.starts_with("cudaCDP"))
        return "a kernel cannot launch kernels; launch them one after another";
    if (name == "qwengpu_grid_sync") return "the thread blocks of a grid cannot wait for each other, since they run one after another; make two launches of the kernel";
    if (name.starts_with(of_double)) {
        const std::string function(name.substr(of_double.size()));
        return function + " of a double is not supported; use float: " + function + "f, and constants such as 2.0f";
    }
    return "the function " + std::string(name) + " has no body in this file; only functions of the file can be called";
}

}  // namespace qwengpu::ptx::detail
