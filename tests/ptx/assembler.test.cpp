// SPDX-License-Identifier: MIT
// A thousand instructions, and 500 video instructions, with the verdict of ptxas 13.0 (+ taken, - refused, for sm_90): the opcode table
// and the type rules agree. The lists were drawn at random from instructions with changed modifiers, types, operands and selectors.
#include <qwengpu/ptx/check.hpp>

#include <fstream>
#include <set>
#include <string>
#include <vector>

#include "support/catch.hpp"
#include "support/ptx_text.hpp"

namespace {

/// Instructions of the list, one a line from line 5 on.
struct verdicts {
    std::string text = qwengpu::test::ptx_head() + ".entry k(.param .u64 k_p) { ";
    std::vector<std::string> lines;

    explicit verdicts(const std::string& list) {
        for (const char* type : {"pred", "b8", "b16", "b32", "b64", "b128", "f32", "f64"})
            text += ".reg ." + std::string(type) + " %" + type + "_<10>; ";
        text += "L:\n";
        std::ifstream file(std::string(QWENGPU_TEST_DATA) + "/ptx/corpus/" + list);
        for (std::string line; std::getline(file, line);) {
            lines.push_back(line);
            text += line.substr(2) + "\n";
        }
        text += "ret; }\n";
    }
};

void check_verdicts(const std::string& list, std::size_t count) {
    const verdicts v(list);
    REQUIRE(v.lines.size() == count);
    qwengpu::ptx::diagnostics wrong("list", 100000);
    const auto m = qwengpu::ptx::parse(v.text, "list", wrong);
    qwengpu::ptx::check(m, wrong);
    std::set<std::uint32_t> refused;
    for (const auto& d : wrong.all())
        if (d.message.find("is allowed, but looks like a slip") == std::string::npos) refused.insert(d.where.line);
    for (std::size_t k = 0; k < v.lines.size(); ++k) {
        INFO(v.lines[k]);
        CHECK(refused.contains(static_cast<std::uint32_t>(k + 5)) == (v.lines[k][0] == '-'));
    }
}

}  // namespace

TEST_CASE("the reader takes and refuses what the assembler of the CUDA toolkit does") { check_verdicts("assembler_verdicts.txt", 1000); }
TEST_CASE("so it does with video instructions") { check_verdicts("video_verdicts.txt", 500); }
