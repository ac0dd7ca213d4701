// SPDX-License-Identifier: MIT
// PTX lines as places in the CUDA source: directives before and behind the code, code copied in, what no directive is about.
#include <qwengpu/ptx/source_places.hpp>

#include <string>

#include "support/catch.hpp"

namespace {

using namespace qwengpu;

const std::string text = ".version 7.8\n"                                              // 1
                         ".visible .entry k(\n"                                        // 2
                         ")\n{\n"                                                      // 3, 4
                         "\t.loc 1 4 3\n"                                              // 5
                         "add.f64 %fd1, %fd1, %fd1;\n"                                 // 6
                         "\t.loc\t2 80 1, function_name $L__info, inlined_at 1 9 5\n"  // 7
                         "add.f64 %fd1, %fd1, %fd1;\n"                                 // 8
                         "}\n"                                                         // 9
                         ".visible .entry none() { ret; }\n"                           // 10
                         "\t.file 1 \"/a b/k.cu\"\n"
                         "\t.file\t2 \"/usr/include\" \"math.h\", 123, 456\n";

}  // namespace

TEST_CASE("the place that a line of PTX came from") {
    const ptx::source_places places(text, "/a b/k.cu");
    CHECK(places.of(6) == place{"/a b/k.cu", 4, 0});
    CHECK(places.of(2) == place{"/a b/k.cu", 4, 0});  // the kernel itself: its first line
    CHECK(places.of(8) == place{"/a b/k.cu", 9, 0});  // where the function of the header was called
    CHECK(places.of(1) == place{});
    CHECK(places.of(10) == place{});
    CHECK(places.of(100) == place{});
    CHECK(ptx::source_places(text, "other.cu").of(8) == place{"/usr/include/math.h", 80, 0});
}

TEST_CASE("what PTX is refused for is told with the lines of the CUDA source") {
    const ptx::diagnostic_error refused("k.cu", {{"ptx.unsupported", "first", {6, 2}}, {"ptx.unsupported", "second", {10, 1}}});
    const error e = ptx::in_cuda_lines(refused, text, "/a b/k.cu");
    CHECK(std::string(e.what()) == "/a b/k.cu:4: first (line 6 of the PTX made of it)\n/a b/k.cu: second (line 10 of the PTX made of it) [ptx.unsupported]");
    CHECK(e.id() == "ptx.unsupported");
    CHECK(e.where()->line == 4);
}
