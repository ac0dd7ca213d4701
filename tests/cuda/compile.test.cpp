// SPDX-License-Identifier: MIT
// CUDA sources through the compilers that are there (clang always is, nvcc only with a toolkit): the corpus, a learner's source
// with a main(), errors passed on whole, fake compilers that hang or fail.
#include <qwengpu/cuda/compile.hpp>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include <qwengpu/ptx/link.hpp>
#include <qwengpu/ptx/read.hpp>

#include "support/catch.hpp"
#include "support/environment.hpp"
#include "support/ptx_text.hpp"

using namespace qwengpu::cuda;
using qwengpu::test::environment_variable;
using qwengpu::test::kernel_files;

namespace {

bool has_nvcc() { return detail::find_nvcc().has_value(); }

ptx_source with_clang(const std::filesystem::path& file) {
    options o;
    o.wanted = preference::clang;
    return load(file, o);
}

/// Names of the kernels and the CUDA lines that their instructions name.
struct summary {
    std::vector<std::string> kernels;
    std::vector<std::uint32_t> lines;
};

summary read_back(const ptx_source& source) {
    const auto m = qwengpu::ptx::read(source.text, "out.ptx");
    summary s;
    for (const auto* f : qwengpu::ptx::kernels(m)) {
        s.kernels.push_back(f->name);
        for (const auto& i : f->code) s.lines.push_back(i.cuda.line);
    }
    std::sort(s.kernels.begin(), s.kernels.end());
    return s;
}

std::size_t count(const std::string& text, std::string_view part) {
    std::size_t n = 0;
    for (std::size_t at = text.find(part); at != text.npos; at = text.find(part, at + 1)) ++n;
    return n;
}

std::filesystem::path fake(const temporary_directory& folder, const std::string& name, const std::string& script) {
    const auto file = folder.write(name, "#!/bin/sh\n" + script + "\n");
    std::filesystem::permissions(file, std::filesystem::perms::owner_all);
    return file;
}

const char* const learner = R"(#include <cstdio>
#include <cuda_runtime.h>
__global__ void vecadd(const float* a, const float* b, float* c, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) c[i] = a[i] + b[i];
}
int main() {
    float* a;
    if (cudaMalloc(&a, 64) != cudaSuccess) printf("%s\n", cudaGetErrorString(cudaGetLastError()));
    dim3 grid(4), block(8, 1);
    vecadd<<<grid, block>>>(a, a, a, 16);
    cudaMemcpy(a, a, 4, cudaMemcpyDeviceToHost);
    return cudaDeviceSynchronize();
})";

}  // namespace

TEST_CASE("sources of the corpus compile with clang to PTX that the reader takes") {
    for (const char* name : {"vecadd", "atomics", "vote", "shuffle", "float_ops", "bits", "call", "struct_arg", "dyn_shared"}) {
        const auto file = std::filesystem::path(QWENGPU_TEST_DATA) / "kernels/kernels" / (std::string(name) + ".cu");
        INFO(file);
        CHECK(read_back(with_clang(file)).kernels.size() == count(read_file(file), "__global__"));
    }
}

TEST_CASE("every source of the corpus, with every compiler there is", "[.heavy]") {
    for (const auto& file : kernel_files("kernels", ".cu")) {
        INFO(file);
        const std::size_t kernels = count(read_file(file), "__global__");
        CHECK(read_back(with_clang(file)).kernels.size() == kernels);
        if (has_nvcc()) CHECK(read_back(load(file)).kernels.size() == kernels);
    }
}

TEST_CASE("a learner's source with host code compiles, and its lines are known") {
    const temporary_directory folder;
    const auto file = folder.write("a b;$x.cu", learner);
    std::vector<preference> wanted{preference::clang};
    if (has_nvcc()) wanted.push_back(preference::nvcc);
    for (const preference p : wanted) {
        options o;
        o.wanted = p;
        const auto source = load(file, o);
        const auto s = read_back(source);
        CHECK(s.kernels == std::vector<std::string>{"_Z6vecaddPKfS0_Pfi"});
        CHECK(std::count(s.lines.begin(), s.lines.end(), 5U) > 0);
        CHECK(*std::max_element(s.lines.begin(), s.lines.end()) <= 6);
        CHECK(source.text.find("a b;$x.cu") != std::string::npos);
        CHECK(source.compiler.find(p == preference::clang ? "clang" : "nvcc") != std::string::npos);
    }
}

TEST_CASE("clang takes assertions, printf and selectors as nvcc does") {
    const temporary_directory folder;
    const auto file = folder.write("a.cu", "#include <cassert>\n#include <cstdio>\n"
                                           "__global__ void k(unsigned* a) {\n    assert(a[1] != 0);\n    a[0] = __byte_perm(a[0], a[1], a[2]);\n    printf(\"%u\", a[0]);\n}\n");
    const std::string ptx = with_clang(file).text;
    CHECK(count(ptx, "__assertfail") >= 2);
    CHECK(count(ptx, "vprintf") >= 2);
    CHECK(count(ptx, "30583") == 1);  // three bits of each nibble count
}

TEST_CASE("flags of the caller reach the compiler") {
    const temporary_directory folder;
    const auto file = folder.write("n.cu", "extern \"C\" __global__ void k(int* p) { *p = N; }\n");
    options o;
    o.wanted = preference::clang;
    o.flags = {"-DN=12345"};
    CHECK(load(file, o).text.find("12345") != std::string::npos);
    CHECK_THROWS_AS(with_clang(file), qwengpu::error);
}

TEST_CASE("a compile error is passed on with its place") {
    const auto file = std::filesystem::path(QWENGPU_TEST_DATA) / "kernels/bad/syntax_error.cu";
    std::vector<preference> wanted{preference::clang};
    if (has_nvcc()) wanted.push_back(preference::any);
    for (const preference p : wanted) {
        options o;
        o.wanted = p;
        try {
            (void)load(file, o);
            FAIL("this compiled");
        } catch (const qwengpu::error& e) {
            CHECK(e.id() == "cuda.compile");
            CHECK(e.message().find("expected") != std::string::npos);
            REQUIRE(e.where());
            CHECK((e.where()->line == 3 || (p == preference::any && e.where()->line == 4)));  // nvcc names the token behind
            CHECK(e.where()->file.find("syntax_error.cu") != std::string::npos);
        }
    }
}

TEST_CASE("a .ptx file is taken as it is") {
    const temporary_directory folder;
    const auto source = load(folder.write("a.ptx", "anything"));
    CHECK(source.text == "anything");
    CHECK(source.compiler == "none");
    CHECK_THROWS_WITH(load(folder.path() / "b.cu"), Catch::Matchers::Contains("there is no such file"));
}

TEST_CASE("a compiler that hangs is ended") {
    const temporary_directory folder;
    const environment_variable named("QWENGPU_CLANG", fake(folder, "clang", "sleep 60").string());
    options o;
    o.wanted = preference::clang;
    o.limit = std::chrono::milliseconds(200);
    CHECK_THROWS_WITH(load(folder.write("a.cu", ""), o), Catch::Matchers::Contains("took longer than 200 ms"));
}

TEST_CASE("where a found nvcc cannot work, clang does") {
    const temporary_directory folder;
    const auto file = folder.write("a.cu", "extern \"C\" __global__ void k(int* p) { *p = 1; }\n");
    (void)fake(folder, "nvcc", "echo 'nvcc fatal : no host compiler'; exit 1");
    const environment_variable path("PATH", folder.path().string() + ":" + std::getenv("PATH")), none("QWENGPU_NVCC", ""),
        no_clang("QWENGPU_CLANG", "");
    const auto source = load(file);
    CHECK(source.compiler.find("clang") != std::string::npos);
    CHECK(source.warnings.find("no host compiler") != std::string::npos);
    const environment_variable asked("QWENGPU_NVCC", (folder.path() / "nvcc").string());
    CHECK_THROWS_WITH(load(file), Catch::Matchers::Contains("no host compiler"));
}
