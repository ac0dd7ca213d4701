// SPDX-License-Identifier: MIT
// The front door: a kernel, arguments and a shape in; memory, tokens and differences out.
//
//     const auto kernel = qwengpu::load_kernel("vecadd.cu");
//     qwengpu::launch_request what{{2, 1, 1}, {8, 1, 1}, {in("a", a), in("b", b), zeros<int>("c", 16), scalar(13)}};
//     const auto result = qwengpu::launch(kernel, what);         // on the emulator; give a model to run it there too
//     const auto c = qwengpu::values_of<int>(result.best().memory[2]);
#pragma once

#include <qwengpu/launch/kernel.hpp>
#include <qwengpu/launch/prepare.hpp>
#include <qwengpu/launch/run.hpp>
#include <qwengpu/launch/session.hpp>

namespace qwengpu {

/// Launches a program on the emulator.
/// Errors: "launch.*" if the launch is not possible. A trap is a result, not an error.
template <machine::sizes M = machine::mission>
launch_result launch(const machine::program& program, const launch_request& request, const launch_options& options = {}) {
    return run_emulated(request, prepare<M>(program, request), options);
}

/// Launches a program on a model, and on the emulator beside it unless `on` says otherwise.
template <machine::sizes M = machine::mission, text::language_model Model>
launch_result launch(const machine::program& program, const launch_request& request, const Model& model, run_on on = run_on::both,
                     const launch_options& options = {}) {
    return run(request, prepare<M>(program, request), model, on, options);
}

}  // namespace qwengpu
