// SPDX-License-Identifier: MIT
// A folder of our own that is gone, with all that is in it, when the object is.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <system_error>

#include <qwengpu/error.hpp>

namespace qwengpu::cuda {

class temporary_directory {
public:
    /// Throws error "file.write" if no folder can be made ($TMPDIR, else /tmp).
    temporary_directory() {
        std::error_code none;
        const auto base = std::filesystem::temp_directory_path(none);
        std::string name = ((none ? std::filesystem::path("/tmp") : base) / "qwengpu-XXXXXX").string();
        if (::mkdtemp(name.data()) == nullptr)
            throw error("file.write", "no temporary folder can be made as " + name + "; set TMPDIR to a folder that can be written");
        path_ = name;
    }
    ~temporary_directory() {
        std::error_code ignored;
        std::filesystem::remove_all(path_, ignored);
    }
    temporary_directory(const temporary_directory&) = delete;
    temporary_directory& operator=(const temporary_directory&) = delete;

    [[nodiscard]] const std::filesystem::path& path() const { return path_; }

    /// Writes a file in the folder and gives its path. Throws error "file.write".
    [[nodiscard]] std::filesystem::path write(const std::string& name, std::string_view text) const {
        const auto file = path_ / name;
        std::ofstream out(file, std::ios::binary);
        out.write(text.data(), static_cast<std::streamsize>(text.size()));
        if (!out.flush()) throw error("file.write", "the file cannot be written; is the disk full?", place{file.string(), 0, 0});
        return file;
    }

private:
    std::filesystem::path path_;
};

}  // namespace qwengpu::cuda
