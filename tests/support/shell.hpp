// SPDX-License-Identifier: MIT
// Runs a command as a user would: its standard output, its standard error and its exit status.
#pragma once

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include <sys/wait.h>
#include <unistd.h>

namespace qwengpu::test {

struct command_result {
    int status = -1;
    std::string out, err;
};

/// Runs `command` in a shell.
inline command_result run_command(const std::string& command) {
    const auto err = std::filesystem::temp_directory_path() / ("qwengpu_test_stderr_" + std::to_string(getpid()));
    command_result r;
    FILE* pipe = popen((command + " 2>'" + err.string() + "'").c_str(), "r");
    if (pipe == nullptr) return r;
    for (char part[4096]; const std::size_t n = std::fread(part, 1, sizeof part, pipe);) r.out.append(part, n);
    const int status = pclose(pipe);
    r.status = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    std::ifstream in(err);
    r.err.assign(std::istreambuf_iterator<char>(in), {});
    in.close();
    std::filesystem::remove(err);
    return r;
}

}  // namespace qwengpu::test
