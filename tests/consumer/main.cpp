// SPDX-License-Identifier: MIT
// Compiles against the installed headers and the libraries they bring along.
#include <Eigen/Core>
#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include <qwengpu/machine/sizes.hpp>

int main() {
    const auto sizes = nlohmann::json{{"threads", qwengpu::machine::mission.threads()}};
    fmt::print("{}\n", sizes.dump());
    return sizes["threads"] == Eigen::Vector2i(4, 8).prod() ? 0 : 1;
}
