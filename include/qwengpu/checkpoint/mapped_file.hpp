// SPDX-License-Identifier: MIT
// A file mapped into memory for reading: its bytes cost memory only where they are looked at.
#pragma once

#include <qwengpu/error.hpp>

#include <cstddef>
#include <memory>
#include <span>
#include <string>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace qwengpu::checkpoint {

/// Bytes of a file. Copies share the mapping.
class mapped_file {
public:
    /// @throws error "checkpoint.file": missing, a folder, or not readable.
    explicit mapped_file(const std::string& path) : path_(path) {
        const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
        struct stat status {};
        if (fd < 0 || ::fstat(fd, &status) != 0 || !S_ISREG(status.st_mode)) {
            if (fd >= 0) ::close(fd);
            throw error("checkpoint.file", "the file cannot be read; does it exist, and is it a file?", place{path, 0, 0});
        }
        const auto size = static_cast<std::size_t>(status.st_size);
        void* at = size > 0 ? ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, fd, 0) : nullptr;
        ::close(fd);
        if (at == MAP_FAILED) throw error("checkpoint.file", "the file cannot be mapped into memory", place{path, 0, 0});
        mapping_ = {static_cast<const std::byte*>(at), [size](const std::byte* p) {
                        if (p != nullptr) ::munmap(const_cast<std::byte*>(p), size);
                    }};
        size_ = size;
    }

    [[nodiscard]] std::span<const std::byte> bytes() const { return {mapping_.get(), size_}; }
    [[nodiscard]] const std::string& path() const { return path_; }

    /// Says that these bytes will not be needed again soon, so that they do not count as this program's memory.
    void forget(std::span<const std::byte> part) const {
        const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
        const auto begin = static_cast<std::size_t>(part.data() - mapping_.get()) / page * page;
        const auto end = static_cast<std::size_t>(part.data() - mapping_.get()) + part.size();
        if (part.size() >= page) ::madvise(const_cast<std::byte*>(mapping_.get()) + begin, end - begin, MADV_DONTNEED);
    }

private:
    std::string path_;
    std::shared_ptr<const std::byte> mapping_;
    std::size_t size_ = 0;
};

}  // namespace qwengpu::checkpoint
