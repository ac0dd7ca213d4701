// SPDX-License-Identifier: MIT
// Finds a CUDA compiler: $QWENGPU_NVCC, $QWENGPU_CLANG, nvcc of a CUDA toolkit, clang 14 or newer.
#pragma once

#include <array>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include <unistd.h>

#include <qwengpu/error.hpp>

namespace qwengpu::cuda {

enum class compiler_kind { nvcc, clang };

struct compiler {
    compiler_kind kind = compiler_kind::nvcc;
    std::filesystem::path path{};
};

/// Which compilers may be used.
enum class preference { any, nvcc, clang };

namespace detail {

inline std::string variable(const char* name) {
    const char* value = std::getenv(name);
    return value == nullptr ? std::string{} : std::string(value);
}

inline bool is_program(const std::filesystem::path& file) {
    std::error_code none;
    return std::filesystem::is_regular_file(file, none) && ::access(file.c_str(), X_OK) == 0;
}

/// Looks for the program in the folders of $PATH; a name with a slash is taken as a path.
inline std::optional<std::filesystem::path> on_path(const std::string& name) {
    if (name.find('/') != name.npos) return is_program(name) ? std::optional<std::filesystem::path>(name) : std::nullopt;
    std::string_view folders;
    const std::string path = variable("PATH");
    folders = path;
    while (!folders.empty()) {
        const std::size_t end = folders.find(':');
        const std::filesystem::path file = std::filesystem::path(folders.substr(0, end)) / name;
        if (is_program(file)) return std::filesystem::absolute(file);
        folders = end == folders.npos ? std::string_view{} : folders.substr(end + 1);
    }
    return std::nullopt;
}

/// The compiler an environment variable names. Throws if it names none.
inline std::optional<compiler> from_variable(const char* name, compiler_kind kind) {
    const std::string value = variable(name);
    if (value.empty()) return std::nullopt;
    if (const auto found = on_path(value)) return compiler{kind, *found};
    throw error("cuda.compiler",
                std::string(name) + " is '" + value + "', which is no program; set it to a compiler or unset it");
}

inline std::optional<compiler> find_nvcc() {
    if (const auto found = on_path("nvcc")) return compiler{compiler_kind::nvcc, *found};
    for (const char* home : {"CUDA_HOME", "CUDA_PATH"})
        if (const std::string folder = variable(home); !folder.empty())
            if (const auto found = on_path(folder + "/bin/nvcc")) return compiler{compiler_kind::nvcc, *found};
    if (const auto found = on_path("/usr/local/cuda/bin/nvcc")) return compiler{compiler_kind::nvcc, *found};
    return std::nullopt;
}

inline std::optional<compiler> find_clang() {
    static constexpr std::array<const char*, 9> names{"clang++",    "clang++-19", "clang++-18", "clang++-17", "clang++-16",
                                                      "clang++-15", "clang++-14", "clang",      "clang-14"};
    for (const char* name : names)
        if (const auto found = on_path(name)) return compiler{compiler_kind::clang, *found};
    return std::nullopt;
}

}  // namespace detail

/// The compiler to use. What a variable names comes before what is found, nvcc before clang.
/// Throws error "cuda.compiler" that says what to install.
inline compiler find_compiler(preference wanted = preference::any) {
    const bool nvcc = wanted != preference::clang, clang = wanted != preference::nvcc;
    std::optional<compiler> found;
    if (nvcc) found = detail::from_variable("QWENGPU_NVCC", compiler_kind::nvcc);
    if (!found && clang) found = detail::from_variable("QWENGPU_CLANG", compiler_kind::clang);
    if (!found && nvcc) found = detail::find_nvcc();
    if (!found && clang) found = detail::find_clang();
    if (found) return *found;
    throw error(
        "cuda.compiler",
        std::string(wanted == preference::nvcc ? "nvcc was" : "neither nvcc nor clang was") +
            " found, so CUDA cannot be compiled to PTX; install one (Debian: apt-get install clang), or set QWENGPU_NVCC or "
            "QWENGPU_CLANG, or give a .ptx file");
}

}  // namespace qwengpu::cuda
