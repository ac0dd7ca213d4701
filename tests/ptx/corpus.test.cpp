// SPDX-License-Identifier: MIT
// The PTX of nvcc, nvcc without optimisation and clang: everything parses and type-checks, and holds what a plain search of the
// text counts. The bad files are refused in the stage they should be, at the line they should be.
#include <qwengpu/ptx/link.hpp>
#include <qwengpu/ptx/read.hpp>

#include <algorithm>
#include <map>
#include <regex>
#include <string>

#include "support/catch.hpp"
#include "support/ptx_text.hpp"

using namespace qwengpu::ptx;
using namespace qwengpu::test;

namespace {

std::size_t count(const std::string& text, const std::string& pattern) {
    const std::regex expression(pattern);
    return static_cast<std::size_t>(std::distance(std::sregex_iterator(text.begin(), text.end(), expression), std::sregex_iterator()));
}

std::string without_comments(const std::string& text) { return std::regex_replace(text, std::regex("//[^\n]*"), ""); }

struct refusal {
    std::string id;
    int line;
};

refusal refused(const std::filesystem::path& file) {
    try {
        (void)find_kernel(read(slurp(file), file.string()), "");
    } catch (const qwengpu::error& e) {
        return {e.id(), e.where() ? e.where()->line : 0};
    }
    return {"", 0};
}

}  // namespace

TEST_CASE("all files of the corpus are read without a complaint") {
    for (const char* folder : {"ptx/nvcc", "ptx/nvcc_O0", "ptx/clang"}) {
        const auto files = kernel_files(folder, ".ptx");
        REQUIRE(files.size() == 59);
        for (const auto& file : files) {
            INFO(file);
            const std::string text = slurp(file);
            const auto m = read(text, file.string());
            const std::string code = without_comments(text);
            CHECK(kernels(m).size() == count(code, "\\.entry"));
            std::size_t returns = 0, branches = 0, loads = 0;
            for (const function& f : m.functions)
                for (const instruction& i : f.code) {
                    returns += i.opcode == "ret" ? 1U : 0U;
                    branches += i.opcode == "bra" ? 1U : 0U;
                    loads += i.opcode == "ld" ? 1U : 0U;
                }
            CHECK(returns == count(code, "\\sret;"));
            CHECK(branches == count(code, "\\sbra[\\s.]"));
            CHECK(loads == count(code, "\\sld\\."));
        }
    }
}

TEST_CASE("the bad files are refused in their stage and line") {
    const std::filesystem::path bad = std::filesystem::path(QWENGPU_TEST_DATA) / "kernels/bad";
    const std::map<std::string, refusal> expected{{"syntax_error", {"ptx.parse", 15}},      {"unknown_instruction", {"ptx.parse", 15}},
                                                  {"unknown_modifier", {"ptx.parse", 15}},  {"undefined_register", {"ptx.parse", 16}},
                                                  {"undefined_label", {"ptx.parse", 15}},   {"undefined_param", {"ptx.parse", 13}},
                                                  {"truncated", {"ptx.parse", 14}},         {"empty", {"ptx.parse", 1}},
                                                  {"type_mismatch", {"ptx.type", 16}},      {"no_kernel_at_all", {"ptx.link", 0}},
                                                  {"two_kernels_none_named", {"ptx.link", 0}}};
    for (const auto& [name, want] : expected) {
        INFO(name);
        const refusal got = refused(bad / (name + ".ptx"));
        CHECK(got.id == want.id);
        CHECK(got.line == want.line);
    }
    CHECK(refused(bad / "binary_garbage.ptx").id == "ptx.parse");
    for (const char* name : {"huge_reg_count", "texture", "f64", "too_many_registers", "program_too_large", "shared_too_large", "missing_kernel"}) {
        INFO(name);
        CHECK(refused(bad / (std::string(name) + ".ptx")).id.empty());
    }
}
