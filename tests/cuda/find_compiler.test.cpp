// SPDX-License-Identifier: MIT
// Which compiler is found in folders made for the test, and what is said if there is none.
#include <qwengpu/cuda/find_compiler.hpp>

#include <filesystem>
#include <string>

#include <qwengpu/cuda/temporary_directory.hpp>

#include "support/catch.hpp"
#include "support/environment.hpp"

using namespace qwengpu::cuda;
using qwengpu::test::environment_variable;

namespace {

std::filesystem::path program(const temporary_directory& folder, const std::string& name) {
    const auto file = folder.write(name, "#!/bin/sh\nexit 0\n");
    std::filesystem::permissions(file, std::filesystem::perms::owner_all);
    return file;
}

/// No variables, and a $PATH of one folder.
struct bare {
    explicit bare(const temporary_directory& folder) : path("PATH", folder.path().string()) {}
    environment_variable path, home{"CUDA_HOME", ""}, cuda_path{"CUDA_PATH", ""}, nvcc{"QWENGPU_NVCC", ""},
        clang{"QWENGPU_CLANG", ""};
};

}  // namespace

TEST_CASE("clang is found on the path, in the newest of its names first") {
    const temporary_directory folder;
    const bare b(folder);
    const auto old = program(folder, "clang++-14");
    CHECK(find_compiler(preference::clang).path == old);
    const auto newer = program(folder, "clang++-19");
    CHECK(find_compiler(preference::clang).path == newer);
    const auto plain = program(folder, "clang++");
    CHECK(find_compiler(preference::clang).path == plain);
    CHECK(find_compiler(preference::clang).kind == compiler_kind::clang);
}

TEST_CASE("nvcc comes before clang, a variable before both") {
    const temporary_directory folder, other;
    const bare b(folder);
    (void)program(folder, "clang++");
    const auto nvcc = program(folder, "nvcc");
    CHECK(find_compiler().path == nvcc);
    CHECK(find_compiler().kind == compiler_kind::nvcc);
    const auto mine = program(other, "my-clang");
    {
        const environment_variable named("QWENGPU_CLANG", mine.string());
        CHECK(find_compiler().path == mine);
        CHECK(find_compiler(preference::nvcc).path == nvcc);
    }
    const environment_variable named("QWENGPU_NVCC", mine.string());
    CHECK(find_compiler().kind == compiler_kind::nvcc);
    CHECK(find_compiler().path == mine);
}

TEST_CASE("nvcc of CUDA_HOME is found") {
    const temporary_directory folder, home;
    const bare b(folder);
    std::filesystem::create_directory(home.path() / "bin");
    const auto nvcc = program(home, "bin/nvcc");
    const environment_variable named("CUDA_HOME", home.path().string());
    CHECK(find_compiler().path == nvcc);
}

TEST_CASE("files that cannot be run are no compilers, and a missing compiler says what to install") {
    const temporary_directory folder;
    const bare b(folder);
    (void)folder.write("clang++", "text");
    CHECK_THROWS_WITH(find_compiler(preference::clang),
                      Catch::Matchers::Contains("apt-get install clang") && Catch::Matchers::Contains("[cuda.compiler]"));
    const environment_variable wrong("QWENGPU_CLANG", "no-such-clang");
    CHECK_THROWS_WITH(find_compiler(preference::clang),
                      Catch::Matchers::Contains("QWENGPU_CLANG is 'no-such-clang', which is no program"));
}
