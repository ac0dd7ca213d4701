// SPDX-License-Identifier: MIT
// A file that is written beside its place and moved there when it is complete, so that no reader sees half of it. If
// the writer is destroyed before `commit`, nothing is left behind.
#pragma once

#include <qwengpu/error.hpp>

#include <cstddef>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include <unistd.h>

namespace qwengpu::checkpoint {

class atomic_file {
public:
    /// @throws error "checkpoint.write" if the file cannot be made.
    explicit atomic_file(std::string path)
        : path_(std::move(path)), temporary_(path_ + ".part" + std::to_string(::getpid())), file_(std::fopen(temporary_.c_str(), "wb")) {
        if (!file_) throw refusal();
    }
    ~atomic_file() {
        if (!file_) return;
        file_.reset();
        std::error_code ignored;
        std::filesystem::remove(temporary_, ignored);
    }
    atomic_file(const atomic_file&) = delete;
    atomic_file& operator=(const atomic_file&) = delete;

    /// @throws error "checkpoint.write", most likely because the disk is full.
    void write(std::span<const std::byte> bytes) {
        if (!bytes.empty() && std::fwrite(bytes.data(), 1, bytes.size(), file_.get()) != bytes.size()) throw refusal();
        written_ += bytes.size();
    }
    void write(std::string_view text) { write(std::as_bytes(std::span(text))); }

    /// Bytes so far.
    [[nodiscard]] std::size_t written() const { return written_; }

    /// Puts the file in its place. @throws error "checkpoint.write".
    void commit() {
        if (std::fflush(file_.get()) != 0 || ::fsync(::fileno(file_.get())) != 0) throw refusal();
        std::error_code failed;
        std::filesystem::rename(temporary_, path_, failed);
        if (failed) throw refusal();
        file_.reset();
    }

private:
    struct closing {
        void operator()(std::FILE* f) const { std::fclose(f); }
    };

    [[nodiscard]] error refusal() const {
        return {"checkpoint.write", "the file cannot be written; is the folder there, and is there room on the disk?", place{path_, 0, 0}};
    }

    std::string path_, temporary_;
    std::unique_ptr<std::FILE, closing> file_;
    std::size_t written_ = 0;
};

/// Writes a whole text file.
inline void write_text(const std::string& path, std::string_view text) {
    atomic_file file(path);
    file.write(text);
    file.commit();
}

}  // namespace qwengpu::checkpoint
