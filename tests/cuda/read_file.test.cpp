// SPDX-License-Identifier: MIT
// Reading files, and what is said of those that cannot be read; temporary folders vanish.
#include <qwengpu/cuda/read_file.hpp>

#include <filesystem>
#include <fstream>
#include <string>

#include <qwengpu/cuda/temporary_directory.hpp>

#include "support/catch.hpp"

namespace cuda = qwengpu::cuda;

namespace {

std::string refusal(const std::filesystem::path& file, std::size_t limit = cuda::largest_file) {
    try {
        (void)cuda::read_file(file, limit);
    } catch (const qwengpu::error& e) {
        return e.what();
    }
    return "";
}

}  // namespace

TEST_CASE("a file is read byte by byte") {
    const cuda::temporary_directory folder;
    const std::string bytes("a\0b\r\n\xff" + std::string(100000, 'x'));
    CHECK(cuda::read_file(folder.write("f", bytes)) == bytes);
    CHECK(cuda::read_file(folder.write("empty", "")).empty());
}

TEST_CASE("files that cannot be read are named with the reason") {
    const cuda::temporary_directory folder;
    const std::string missing = (folder.path() / "none.ptx").string();
    CHECK(refusal(missing) == missing + ": there is no such file; check its name and folder [file.read]");
    CHECK(refusal(folder.path()).find("this is a folder") != std::string::npos);
    CHECK(refusal("/dev/null").find("no regular file") != std::string::npos);
    CHECK(refusal(folder.write("long", std::string(20, 'x')), 10).find("too large: over 10 bytes") != std::string::npos);
    CHECK(refusal(folder.write("fits", std::string(10, 'x')), 10).empty());
}

TEST_CASE("a temporary folder is gone with all that is in it") {
    std::filesystem::path path;
    {
        const cuda::temporary_directory folder;
        path = folder.path();
        (void)folder.write("a", "1");
        CHECK(std::filesystem::exists(path / "a"));
    }
    CHECK_FALSE(std::filesystem::exists(path));
}
