// SPDX-License-Identifier: MIT
// A launch and what is expected of it.
#pragma once

#include <qwengpu/launch/argument.hpp>
#include <qwengpu/launch/request.hpp>

#include <optional>
#include <string>
#include <vector>

namespace qwengpu {

/// One launch of a launch file.
struct launch_case {
    std::string name, source;
    std::string kernel;  ///< empty: the file's only kernel
    launch_request request;
    std::optional<std::vector<buffer>> expect;  ///< every buffer after the launch, in the order of the arguments
    std::string expect_error;                   ///< stage that must refuse or stop it; empty: none
    std::vector<std::string> tags;
};

}  // namespace qwengpu
