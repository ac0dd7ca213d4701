// SPDX-License-Identifier: MIT
// What the subcommands share: kernels loaded once each, and the model, built when it is first needed. Safe to use from
// several threads.
#pragma once

#include "checkpoint_model.hpp"

#include <qwengpu/launch/kernel.hpp>
#include <qwengpu/launch/launch_case.hpp>
#include <qwengpu/launch/run.hpp>

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

namespace cli {

class session {
public:
    /// Launches on the model run from a checkpoint folder, or if it is empty on layers built in memory.
    explicit session(std::string checkpoint = {});
    ~session();

    /// The kernel of a file, compiled when it is first asked for. Errors are remembered too and thrown each time.
    std::shared_ptr<const qwengpu::kernel> kernel(const std::string& file, const std::string& name);

    /// Runs a launch; the layers are built if the model is to run it and they are not there yet.
    qwengpu::launch_result launch(const qwengpu::kernel& kernel, const qwengpu::launch_request& request, qwengpu::run_on on,
                                  const qwengpu::launch_options& options);

    /// The same as the next launch of one session: memory is as the last launch left it. `on` is that of the first one.
    qwengpu::launch_result launch_next(const qwengpu::kernel& kernel, const qwengpu::launch_request& request, qwengpu::run_on on,
                                       const qwengpu::launch_options& options);

private:
    struct model;
    struct entry;
    using next_launch = std::function<qwengpu::launch_result(const qwengpu::machine::program&, const qwengpu::launch_request&, const qwengpu::launch_options&)>;

    void build();
    next_launch begin_session(qwengpu::run_on on);

    std::string checkpoint_;
    std::mutex mutex_;
    std::map<std::pair<std::string, std::string>, std::shared_ptr<entry>> kernels_;
    std::once_flag built_;
    std::unique_ptr<model> model_;
    std::unique_ptr<checkpoint_model> from_disk_;
    next_launch next_;
};

/// Path of the source of a case that stands in `case_file`: NAME as given, then NAME.cu, then NAME.ptx, in `sources` if
/// it is not empty, else in ../kernels beside the case file and in the case file's own folder.
/// Error "io.source" says where it was looked for.
std::string find_source(const std::string& source, const std::string& case_file, const std::string& sources);

}  // namespace cli
