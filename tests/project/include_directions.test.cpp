// SPDX-License-Identifier: MIT
// No room of the library reaches where it may not; and the check itself sees each kind of violation in a tree made for it.
#include "support/include_directions.hpp"

#include <filesystem>
#include <string>
#include <vector>

#include "support/catch.hpp"

namespace test = qwengpu::test;

TEST_CASE("every header of the library includes only what its room may") {
    const auto root = std::filesystem::path(QWENGPU_TEST_DATA) / "../include/qwengpu";
    REQUIRE(test::read_includes(root).size() > 2);
    CHECK(test::include_violations(root) == std::vector<std::string>{});
}

TEST_CASE("each kind of violation is found, and nothing else") {
    const auto root = std::filesystem::path(QWENGPU_TEST_DATA) / "project/fixtures/bad_includes";
    const std::vector<std::string> expected{
        "attic/old.hpp: room attic has no row in the table of include directions (vector)",
        "machine/state.hpp: machine may not include the library fmt (fmt/core.h)",
        "nn/head.hpp: nn may not include machine (qwengpu/machine/state.hpp)",
        "nn/layer.hpp: nn may not include machine (qwengpu/machine/state.hpp)",
        "ptx/parser.hpp: ptx may not include the library CLI (CLI/CLI.hpp)",
        "stage/front.hpp: reaches the emulator (machine/emulator.hpp)",
        "text/prompt.hpp: reaches the emulator (machine/emulator.hpp)",
    };
    CHECK(test::include_violations(root) == expected);
}
