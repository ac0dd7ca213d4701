// SPDX-License-Identifier: MIT
// CUDA C++ to PTX: a .cu file goes through nvcc or clang, a .ptx file is taken as it is. Which compiler it was is told.
#pragma once

#include <algorithm>
#include <cctype>
#include <chrono>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include <qwengpu/cuda/absent_header.hpp>
#include <qwengpu/cuda/crash_report.hpp>
#include <qwengpu/cuda/device_header.hpp>
#include <qwengpu/cuda/find_compiler.hpp>
#include <qwengpu/cuda/message_place.hpp>
#include <qwengpu/cuda/process.hpp>
#include <qwengpu/cuda/read_file.hpp>
#include <qwengpu/cuda/temporary_directory.hpp>
#include <qwengpu/error.hpp>

namespace qwengpu::cuda {

struct options {
    preference wanted = preference::any;
    std::vector<std::string> flags{};          ///< more arguments for the compiler, such as -DN=4 or -Iinclude
    std::chrono::milliseconds limit{120'000};  ///< a compiler that takes longer is ended
};

struct ptx_source {
    std::string text;
    std::string compiler;    ///< path of the compiler, or "none" for a .ptx file
    std::string warnings{};  ///< what the compiler printed
};

namespace detail {

/// `folder`/include is the folder of the source if that has a name of ours.
inline std::vector<std::string> nvcc_command(const compiler& c, const std::filesystem::path& source,
                                             const std::filesystem::path& result, const temporary_directory& folder) {
    return {c.path.string(),
            "-ptx",
            "-arch=sm_80",
            "-O3",
            "-lineinfo",
            "-x",
            "cu",
            "-I" + (folder.path() / "include").string(),
            "-o",
            result.string(),
            source.string()};
}

/// nvcc hands names to a shell of its own, so a name that a shell would read otherwise gets one that it will not: a link in our
/// folder.
inline std::filesystem::path safe_name(const std::filesystem::path& source, const temporary_directory& folder) {
    const auto safe = [](char c) {
        return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '/' || c == '.' || c == '_' || c == '-' || c == '+';
    };
    const std::string name = source.string();
    if (std::all_of(name.begin(), name.end(), safe)) return source;
    std::filesystem::create_directory_symlink(source.parent_path(), folder.path() / "include");
    const auto link = folder.path() / "source.cu";
    std::filesystem::create_symlink(source, link);
    return link;
}

inline void replace_all(std::string& text, const std::string& from, const std::string& to) {
    if (from == to) return;
    for (std::size_t at = text.find(from); at != text.npos; at = text.find(from, at + to.size()))
        text.replace(at, from.size(), to);
}

inline std::vector<std::string> clang_command(const compiler& c, const std::filesystem::path& source,
                                              const std::filesystem::path& result, const temporary_directory& folder) {
    const auto header = write_device_headers(folder);
    return {c.path.string(),
            "-x",
            "cuda",
            "--cuda-device-only",
            "-nocudainc",
            "-nocudalib",
            "-S",
            "--cuda-gpu-arch=sm_70",
            "-O2",
            "-std=c++17",
            "-gline-tables-only",
            "-Wno-unknown-cuda-version",
            "-include",
            header.string(),
            "-isystem",
            folder.path().string(),
            "-o",
            result.string(),
            source.string()};
}

inline error compile_error(const compiler& c, const std::filesystem::path& source, const process_result& r, const options& o,
                           const temporary_directory& folder) {
    if (r.timed_out)
        return error("cuda.compile",
                     c.path.string() + " took longer than " + std::to_string(o.limit.count()) + " ms and was ended",
                     place{source.string(), 0, 0});
    std::string text = without_crash_report(r.output);
    while (!text.empty() && text.back() == '\n') text.pop_back();
    const place at = first_place_outside(text, source.string(), folder.path().string());
    return error("cuda.compile",
                 c.path.string() + " cannot compile this (status " + std::to_string(r.status) + "):\n" + text + missing_header_remedy(text),
                 at);
}

}  // namespace detail

/// Compiles a CUDA source file with one compiler. Throws error "cuda.compile" with what the compiler printed, but for a report of its own crash.
inline ptx_source compile_with(const compiler& c, const std::filesystem::path& source, const options& o = {}) {
    detail::check_is_file(source);
    const temporary_directory folder;
    const auto result = folder.path() / "out.ptx";
    const auto whole = std::filesystem::absolute(source);
    const bool nvcc = c.kind == compiler_kind::nvcc;
    const auto from = nvcc ? detail::safe_name(whole, folder) : whole;
    auto command = nvcc ? detail::nvcc_command(c, from, result, folder) : detail::clang_command(c, from, result, folder);
    command.insert(command.begin() + 1, o.flags.begin(), o.flags.end());
    process_result r = run(command, o.limit, {"TMPDIR=" + folder.path().string()});
    detail::replace_all(r.output, from.string(), whole.string());
    if (r.timed_out || r.status != 0) throw detail::compile_error(c, source, r, o, folder);
    ptx_source compiled{read_file(result), c.path.string(), std::move(r.output)};
    if (whole.string().find_first_of("\"\\\n") == std::string::npos)
        detail::replace_all(compiled.text, from.string(), whole.string());
    return compiled;
}

/// PTX of a file: .ptx is read, anything else is compiled. If nvcc was only found, not asked for, and fails without naming a
/// line of the source (no host compiler, a host compiler too new for it), clang is tried; `warnings` then says so. Throws error
/// "file.read", "cuda.compiler" (none found) or "cuda.compile".
inline ptx_source load(const std::filesystem::path& source, const options& o = {}) {
    if (source.extension() == ".ptx") return {read_file(source), "none"};
    detail::check_is_file(source);
    const compiler first = find_compiler(o.wanted);
    try {
        return compile_with(first, source, o);
    } catch (const error& e) {
        const bool own_fault =
            !e.where() || e.where()->line == 0 || e.message().find("unsupported GNU version") != std::string::npos;
        const auto second = detail::find_clang();
        const bool asked_for = o.wanted != preference::any || !detail::variable("QWENGPU_NVCC").empty();
        if (first.kind != compiler_kind::nvcc || asked_for || !own_fault || !second) throw;
        ptx_source result = compile_with(*second, source, o);
        result.warnings.insert(0, std::string(e.what()) + "\nso " + second->path.string() + " was used\n");
        return result;
    }
}

}  // namespace qwengpu::cuda
