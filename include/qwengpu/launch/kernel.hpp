// SPDX-License-Identifier: MIT
// A kernel ready to launch: from a .cu file through a CUDA compiler, from a .ptx file, or from PTX text.
#pragma once

#include <qwengpu/cuda/compile.hpp>
#include <qwengpu/machine/program.hpp>
#include <qwengpu/ptx/compile.hpp>
#include <qwengpu/ptx/read.hpp>
#include <qwengpu/ptx/source_places.hpp>

#include <filesystem>
#include <string>
#include <utility>

namespace qwengpu {

struct kernel {
    machine::program program;
    std::string file;              ///< where it came from
    std::string compiler = "none";  ///< path of the CUDA compiler, "none" for PTX
    std::string warnings;          ///< what that compiler printed
    int registers = 0;             ///< registers of a lane that the program uses
    int ptx_instructions = 0;      ///< instructions of the kernel in the PTX
};

/// The kernel `name` of PTX text (empty: its only one); `file` is what messages call it.
/// Errors: "ptx.parse", "ptx.type", "ptx.link", "ptx.unsupported", "ptx.resources", all of a kind that there are at once.
inline kernel kernel_from_ptx(std::string text, const std::string& file, const std::string& name = {}, const ptx::compile_options& effort = {}) {
    auto compiled = ptx::compile_kernel(ptx::read(std::move(text), file), name, effort);
    return {std::move(compiled.program), file, "none", "", compiled.registers, compiled.ptx_instructions};
}

/// The kernel `name` of a file; anything but .ptx is compiled by nvcc or clang first.
/// Errors: as above, for CUDA with the lines of the CUDA file; and "file.read", "cuda.compiler", "cuda.compile".
inline kernel load_kernel(const std::string& file, const std::string& name = {}, const cuda::options& options = {}) {
    auto source = cuda::load(file, options);
    try {
        auto k = kernel_from_ptx(source.text, file, name);
        k.compiler = std::move(source.compiler);
        k.warnings = std::move(source.warnings);
        return k;
    } catch (const ptx::diagnostic_error& e) {
        if (source.compiler == "none") throw;
        throw ptx::in_cuda_lines(e, source.text, std::filesystem::absolute(file).string());
    }
}

}  // namespace qwengpu
