// SPDX-License-Identifier: MIT
// A launch and what is expected of it.
#pragma once

#include <qwengpu/launch/argument.hpp>
#include <qwengpu/launch/request.hpp>

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace qwengpu {

/// What `expect_error` may name: a stage that refuses (see stage_of), `run` (a trap, or the limit of records), `accept-or-limit` (it
/// runs, or does not fit the machine), `run-or-answer` (it runs, or is stopped).
inline constexpr std::array<std::string_view, 10> expectable_stages{"parse", "type", "link", "unsupported", "resources", "compile", "launch",
                                                                    "run", "accept-or-limit", "run-or-answer"};

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
