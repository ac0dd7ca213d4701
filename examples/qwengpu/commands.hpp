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
    qwengpu::machine::access_checks checks{};
    bool transcript = false, json = false;
    bool in_session = false;  ///< the launches share memory, in one sequence of tokens
    std::uint64_t max_records = 100'000;
    std::string checkpoint;  ///< folder or file of the model; empty: the layers as they are built in memory
};

struct check_options {
    std::vector<std::string> paths, kernels;
    std::string sources;
    qwengpu::run_on on = qwengpu::run_on::both;
    qwengpu::machine::access_checks checks{};
    bool json = false;
    std::uint64_t max_records = 100'000;
    int jobs = 0;  ///< threads; 0: as many as the machine has
    std::string checkpoint;  ///< as in run_options
};

struct stats_options {
    bool json = false;
};

struct export_options {
    std::string folder, dtype = "bf16";
    int period = 0;     ///< every so many layers one of full attention; 0: a single one at the end
    bool gguf = false;    ///< `folder` is a GGUF file to write
    bool sparse = false;  ///< it is a file of our own compact form
};

struct graft_options {
    std::string base, out;
    int period = 0;
    bool drop_others = false;  ///< leave out tensors that are not the text model's
    int measure = 64;          ///< words that are run through the layers as written
};

struct synthesize_options {
    std::string folder, dtype = "bf16";
    int layers = 24, vocabulary = 248'320;
    float anisotropy = 0.3F;
    bool published = false;  ///< names and config of the class with vision
};

struct prompt_options {
    std::vector<std::string> files;
    std::string name, sources;
    std::uint64_t max_records = 100'000;
};

int compile(const compile_options& options);
int run(const run_options& options);
int check(const check_options& options);
int stats(const stats_options& options);
int export_layers(const export_options& options);
int prompt(const prompt_options& options);
int graft(const graft_options& options);
int synthesize(const synthesize_options& options);

}  // namespace cli
