// SPDX-License-Identifier: MIT
// CUDA text through clang with our own header, the PTX compiler and the emulator, for tests of that header.
#pragma once

#include <bit>
#include <cstdint>
#include <string>
#include <vector>

#include <qwengpu/cuda/compile.hpp>

#include "ptx/run_kernel.hpp"

namespace qwengpu::test {

inline ptx::parsed_module clang_module(const std::string& cuda) {
    const cuda::temporary_directory folder;
    cuda::options o;
    o.wanted = cuda::preference::clang;
    return ptx::read(cuda::load(folder.write("test.cu", cuda), o).text, "test.ptx");
}


/// Runs a kernel k(unsigned* data) whose thread t works on its own words of data, in `threads` threads.
inline words in_place(const machine::program& program, const words& data, unsigned threads) {
    const auto result = run_program(program, {1, 1, 1}, {threads, 1, 1}, {buffer_of(data)});
    return result.buffers.at(0);
}

inline std::uint32_t bits(float f) { return std::bit_cast<std::uint32_t>(f); }
inline float number_of(std::uint32_t u) { return std::bit_cast<float>(u); }

}  // namespace qwengpu::test
