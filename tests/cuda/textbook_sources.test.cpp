// SPDX-License-Identifier: MIT
// Whole sources as tutorials have them, with main(), the standard library and the run-time API: clang with our own header compiles them without
// a word, and every kernel becomes a program. Some of them are run.
#include <qwengpu/cuda/compile.hpp>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include <qwengpu/ptx/link.hpp>

#include "cuda/device_run.hpp"
#include "support/catch.hpp"

using namespace qwengpu::test;
namespace cuda = qwengpu::cuda;

namespace {

std::filesystem::path textbook(const std::string& name) { return std::filesystem::path(QWENGPU_TEST_DATA) / "cuda/textbook" / name; }

qwengpu::ptx::parsed_module with_clang(const std::string& name) {
    cuda::options o;
    o.wanted = cuda::preference::clang;
    const auto source = cuda::load(textbook(name), o);
    INFO(source.warnings);
    CHECK(source.warnings.empty());
    return qwengpu::ptx::read(source.text, name);
}

}  // namespace

TEST_CASE("whole sources of tutorials compile with clang, and each of their kernels has a program") {
    std::size_t kernels = 0;
    std::vector<std::string> names;
    for (const auto& file : std::filesystem::directory_iterator(textbook(""))) names.push_back(file.path().filename().string());
    CHECK(names.size() == 10);
    for (const auto& name : names) {
        INFO(name);
        const auto module = with_clang(name);
        for (const auto* k : qwengpu::ptx::kernels(module)) {
            INFO(k->name);
            CHECK(qwengpu::ptx::compile_kernel(module, k->name).program.blocks.size() > 1);
            ++kernels;
        }
    }
    CHECK(kernels == 19);
}

TEST_CASE("a scan in tiles with cooperative groups, of a source with host code") {
    const auto module = with_clang("scan.cu");
    const auto compiled = qwengpu::ptx::compile_kernel(module, "tile_scan");
    const auto r = run_program(compiled.program, {1, 1, 1}, {8, 1, 1}, {buffer_of({3, 1, 4, 1, 5, 9, 2, 6}), buffer_of(words(8, 0)), buffer_of({0})});
    CHECK(r.buffers[1] == words{300, 403, 804, 908, 500, 1405, 1614, 2216});
    CHECK(r.buffers[2] == words{9});
}

TEST_CASE("limits, lambdas and structured bindings in a kernel, of a source with host code") {
    const auto module = with_clang("transpose.cu");
    const auto compiled = qwengpu::ptx::compile_kernel(module, "maxima<int>");
    const auto r = run_program(compiled.program, {1, 1, 1}, {2, 1, 1}, {buffer_of({7, 2, 5, 11, 0xfffffff0, 3}), buffer_of({0, 0}), number(6)});
    CHECK(r.buffers[1] == words{7 + 9 + 255, 11 + 9 + 255});
}
