// SPDX-License-Identifier: MIT
// Launches of the real kernels under tests/kernels, by the names of their cases, compiled from PTX.
#pragma once

#include <qwengpu/io/launch_file.hpp>
#include <qwengpu/launch.hpp>

#include <filesystem>
#include <stdexcept>
#include <string>

namespace qwengpu::test {

/// A case of cases/FILE.json, its launch, and its prompt.
struct kernel_case {
    launch_case what;
    machine::launch_image<> image;
};

/// The case `file.name`, as "vecadd.n13_blocks"; `flavour`: nvcc, clang or nvcc_O0.
inline kernel_case find_case(const std::string& file, const std::string& name, const std::string& flavour = "nvcc") {
    const std::filesystem::path kernels = std::filesystem::path(QWENGPU_TEST_DATA) / "kernels";
    for (const auto& c : io::read_launch_file((kernels / "cases" / (file + ".json")).string())) {
        if (c.name != name) continue;
        const auto source = std::filesystem::path(c.source).replace_extension(".ptx");
        const auto kernel = load_kernel((kernels / "ptx" / flavour / source).string(), c.kernel);
        return {c, prepare(kernel.program, c.request)};
    }
    throw std::runtime_error("no case is named " + name);
}

}  // namespace qwengpu::test
