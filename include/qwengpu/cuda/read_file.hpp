// SPDX-License-Identifier: MIT
// Reads a file whole, with errors that say what is wrong with it.
#pragma once

#include <cstddef>
#include <filesystem>
#include <fstream>
#include <string>
#include <system_error>

#include <qwengpu/error.hpp>

namespace qwengpu::cuda {

/// No CUDA or PTX source is larger than this (bytes).
inline constexpr std::size_t largest_file = 64U << 20;

namespace detail {

inline error file_error(const std::filesystem::path& file, const std::string& message) {
    return error("file.read", message, place{file.string(), 0, 0});
}

/// Throws unless `file` is there and is a file.
inline void check_is_file(const std::filesystem::path& file) {
    std::error_code status;
    const auto kind = std::filesystem::status(file, status).type();
    if (kind == std::filesystem::file_type::not_found) throw file_error(file, "there is no such file; check its name and folder");
    if (kind == std::filesystem::file_type::directory) throw file_error(file, "this is a folder; name a file in it");
    if (kind != std::filesystem::file_type::regular) throw file_error(file, "this is no regular file, or its folder cannot be read");
}

}  // namespace detail

/// The bytes of a file. Throws error "file.read": missing, a folder, not readable, or larger than `limit` bytes.
inline std::string read_file(const std::filesystem::path& file, std::size_t limit = largest_file) {
    detail::check_is_file(file);
    std::ifstream in(file, std::ios::binary);
    if (!in) throw detail::file_error(file, "the file cannot be opened; check its permissions");
    std::string text;
    char part[1 << 14];
    while (in.read(part, sizeof part) || in.gcount() > 0) {
        text.append(part, static_cast<std::size_t>(in.gcount()));
        if (text.size() > limit)
            throw detail::file_error(file, "the file is too large: over " + std::to_string(limit) + " bytes, which no kernel source is");
    }
    if (in.bad()) throw detail::file_error(file, "the file could not be read to its end");
    return text;
}

}  // namespace qwengpu::cuda
