// SPDX-License-Identifier: MIT
// The tests' own PTX interpreter against the expected results of the corpus, from the PTX of all compilers: it has to be
// right before anything is compared with it.
#include "support/catch.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <string>

#include <qwengpu/io/launch_file.hpp>
#include <qwengpu/ptx/read.hpp>

#include "support/interpreter/request.hpp"

using namespace qwengpu;
namespace fs = std::filesystem;

namespace {

const fs::path kernels = fs::path(QWENGPU_TEST_DATA) / "kernels";

const ptx::parsed_module& module_of(const std::string& flavour, const std::string& source) {
    static std::map<std::string, ptx::parsed_module> known;
    const fs::path file = kernels / "ptx" / flavour / fs::path(source).replace_extension(".ptx");
    const auto at = known.find(file.string());
    if (at != known.end()) return at->second;
    std::ifstream in(file, std::ios::binary);
    std::string text{std::istreambuf_iterator<char>(in), {}};
    return known.emplace(file.string(), ptx::read(std::move(text), file.string())).first->second;
}

/// Whether two buffers hold the same, NaN being NaN whatever its bits.
bool same(const buffer& expected, const test::interpreter::bytes& found) {
    buffer b = expected;
    b.bytes = found;
    for (std::size_t i = 0; i < expected.size(); ++i) {
        const bool both_nan = expected.type == element::f32 && test::interpreter::is_nan(expected.bits(i)) && test::interpreter::is_nan(b.bits(i));
        if (!both_nan && expected.bits(i) != b.bits(i)) return false;
    }
    return true;
}

int check_flavour(const std::string& flavour) {
    int checked = 0;
    for (const auto& entry : fs::directory_iterator(kernels / "cases")) {
        for (const launch_case& c : io::read_launch_file(entry.path().string())) {
            INFO(flavour << " " << c.name);
            const auto r = test::interpreter::run(module_of(flavour, c.source), c.kernel, c.request);
            INFO(r.message);
            CHECK(r.ended == test::interpreter::ending::finished);
            REQUIRE(c.expect);
            REQUIRE(r.buffers.size() == c.expect->size());
            for (std::size_t k = 0; k < r.buffers.size(); ++k) {
                INFO("buffer " << (*c.expect)[k].name);
                CHECK(same((*c.expect)[k], r.buffers[k]));
            }
            ++checked;
        }
    }
    return checked;
}

}  // namespace

TEST_CASE("the interpreter gives the corpus its expected results, from nvcc's PTX") { CHECK(check_flavour("nvcc") == 331); }
TEST_CASE("the interpreter gives the corpus its expected results, from nvcc's unoptimised PTX") { CHECK(check_flavour("nvcc_O0") == 331); }
TEST_CASE("the interpreter gives the corpus its expected results, from clang's PTX") { CHECK(check_flavour("clang") == 331); }

TEST_CASE("the interpreter gives the replays of bug reports their expected results") {
    int checked = 0;
    for (const launch_case& c : io::read_launch_file((kernels / "replays" / "cases.json").string())) {
        INFO(c.name);
        std::ifstream in(kernels / "replays" / c.source, std::ios::binary);
        std::string text{std::istreambuf_iterator<char>(in), {}};
        const auto r = test::interpreter::run(ptx::read(std::move(text), c.source), c.kernel, c.request);
        INFO(r.message);
        CHECK((r.ended == test::interpreter::ending::finished) == c.expect_error.empty());
        if (c.expect)
            for (std::size_t k = 0; k < r.buffers.size(); ++k) CHECK(same((*c.expect)[k], r.buffers[k]));
        ++checked;
    }
    CHECK(checked > 20);
}
