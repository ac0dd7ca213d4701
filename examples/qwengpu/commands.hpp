// SPDX-License-Identifier: MIT
// The subcommands of the command line: their options, and the functions that run them and give the exit status.
#pragma once

#include <qwengpu/launch/run.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace cli {

/// Exit statuses: all went well; a launch failed, differs or is not as expected; wrong usage or input.
enum exit_status : int { ok = 0, failed = 1, bad_input = 2 };

struct compile_options {
    std::string file, kernel;
    bool json = false;
};

struct run_options {
    std::string file, name, sources;
    qwengpu::run_on on = qwengpu::run_on::both;
    bool transcript = false, json = false;
    std::uint64_t max_records = 100'000;
};

struct check_options {
    std::vector<std::string> paths, kernels;
    std::string sources;
    qwengpu::run_on on = qwengpu::run_on::both;
    bool json = false;
    std::uint64_t max_records = 100'000;
    int jobs = 0;  ///< threads; 0: as many as the machine has
};

struct stats_options {
    bool json = false;
};

int compile(const compile_options& options);
int run(const run_options& options);
int check(const check_options& options);
int stats(const stats_options& options);

}  // namespace cli
