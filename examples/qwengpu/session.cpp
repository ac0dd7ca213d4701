// SPDX-License-Identifier: MIT
#include "session.hpp"

#include <qwengpu/launch.hpp>
#include <qwengpu/launch/machine_model.hpp>
#include <qwengpu/stage/compiled_layers.hpp>

#include <exception>
#include <filesystem>
#include <optional>
#include <vector>

namespace cli {

namespace fs = std::filesystem;

struct session::model {
    qwengpu::stage::compiled_layers<> layers;
    qwengpu::machine_model<> on_engine = qwengpu::on_sparse_engine(layers);
};

/// A kernel, or why there is none.
struct session::entry {
    std::once_flag loaded;
    std::shared_ptr<const qwengpu::kernel> kernel;
    std::exception_ptr error;
};

session::session(std::string checkpoint) : checkpoint_(std::move(checkpoint)) {}
session::~session() = default;

std::shared_ptr<const qwengpu::kernel> session::kernel(const std::string& file, const std::string& name) {
    std::shared_ptr<entry> e;
    {
        const std::scoped_lock lock(mutex_);
        auto& there = kernels_[{file, name}];
        if (there == nullptr) there = std::make_shared<entry>();
        e = there;
    }
    std::call_once(e->loaded, [&] {
        try {
            e->kernel = std::make_shared<const qwengpu::kernel>(qwengpu::load_kernel(file, name));
        } catch (...) {
            e->error = std::current_exception();
        }
    });
    if (e->error) std::rethrow_exception(e->error);
    return e->kernel;
}

qwengpu::launch_result session::launch(const qwengpu::kernel& kernel, const qwengpu::launch_request& request, qwengpu::run_on on,
                                       const qwengpu::launch_options& options) {
    const auto image = qwengpu::prepare<qwengpu::machine::mission>(kernel.program, request);
    if (on == qwengpu::run_on::emulator) return qwengpu::run_emulated(request, image, options);
    build();
    if (from_disk_) return qwengpu::run(request, image, *from_disk_, on, options);
    return qwengpu::run(request, image, model_->on_engine, on, options);
}

void session::build() {
    std::call_once(built_, [this] {
        if (checkpoint_.empty()) model_ = std::make_unique<model>();
        else from_disk_ = std::make_unique<checkpoint_model>(checkpoint_);
    });
}

qwengpu::launch_result session::launch_next(const qwengpu::kernel& kernel, const qwengpu::launch_request& request, qwengpu::run_on on,
                                            const qwengpu::launch_options& options) {
    if (!next_) next_ = begin_session(on);
    return next_(kernel.program, request, options);
}

session::next_launch session::begin_session(qwengpu::run_on on) {
    const auto launches_of = [](auto running) -> next_launch {
        return [running](const auto& program, const auto& request, const auto& options) { return running->launch(program, request, options); };
    };
    if (on == qwengpu::run_on::emulator) return launches_of(std::make_shared<qwengpu::emulated_session<>>());
    build();
    if (from_disk_) return launches_of(std::make_shared<qwengpu::model_session<checkpoint_model>>(*from_disk_, on));
    return launches_of(std::make_shared<qwengpu::model_session<qwengpu::machine_model<>>>(model_->on_engine, on));
}

std::string find_source(const std::string& source, const std::string& case_file, const std::string& sources) {
    const auto beside = fs::path(case_file).parent_path();
    const auto folders = sources.empty() ? std::vector{beside / ".." / "kernels", beside} : std::vector{fs::path(sources)};
    std::string tried;
    for (const auto& folder : folders) {
        for (const auto& name : {fs::path(source), fs::path(source).replace_extension(".cu"), fs::path(source).replace_extension(".ptx")})
            if (fs::is_regular_file(folder / name)) return (folder / name).lexically_normal().string();
        tried += (tried.empty() ? "" : " and ") + folder.lexically_normal().string();
    }
    throw qwengpu::error("io.source", "source " + source + " is not in " + tried + "; say where it lies with --sources", qwengpu::place{case_file, 0, 0});
}

}  // namespace cli
