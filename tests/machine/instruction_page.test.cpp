// SPDX-License-Identifier: MIT
// docs/instructions.md is what the table says. Run the hidden test case [write_instructions] to write it anew.
#include <qwengpu/machine/instruction_page.hpp>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "support/catch.hpp"

namespace {

const std::filesystem::path page_path = std::filesystem::path(QWENGPU_TEST_DATA) / "../docs/instructions.md";

}  // namespace

TEST_CASE("the page of instructions is up to date") {
    std::ifstream file(page_path);
    REQUIRE(file);
    const std::string text{std::istreambuf_iterator<char>(file), {}};
    CHECK(text == qwengpu::machine::instruction_page());
}

TEST_CASE("the page has a line for every instruction") {
    const std::string page = qwengpu::machine::instruction_page();
    CHECK(page.find("| 1 | `add` | a b c | 0x0f | 1, 3, 4 | adder | a + (b << mod[1:0])") != std::string::npos);
    CHECK(page.find("| 16 | `mul` | a b c | 0x03 | 3 | multiplier | ") != std::string::npos);
    CHECK(page.find("| 21 | `fma` | a b c | 0x3f | 3 | float | ") != std::string::npos);
    CHECK(page.find("| 20 | `rcp` | a | - | 3 | reciprocal | ") != std::string::npos);
}

TEST_CASE("write the page of instructions", "[.][write_instructions]") {
    std::ofstream(page_path) << qwengpu::machine::instruction_page();
}
