// SPDX-License-Identifier: MIT
// What is left of a compiler's output when it has crashed: its own words about the source, and a remedy.
#include <qwengpu/cuda/crash_report.hpp>

#include "support/catch.hpp"

#include <string>

using qwengpu::cuda::detail::without_crash_report;

TEST_CASE("LLVM's report of its own crash is cut, what stands before it is kept", "[cuda]") {
    const std::string first = "fatal error: error in backend: Unsupported expression in static initializer\n";
    const std::string report =
        "PLEASE submit a bug report to https://bugs.llvm.org/ and include the crash backtrace, preprocessed source, and associated run script.\n"
        "Stack dump:\n0.\tProgram arguments: clang++ -x cuda k.cu\n#0 0x00007f 1\nclang: error: clang frontend command failed with exit code 70\n";
    CHECK(without_crash_report(first + report) ==
          first + "the compiler itself failed here, not the source alone: write this another way, or use another compiler\n");
    CHECK(without_crash_report(report).starts_with("the compiler itself failed here"));
}

TEST_CASE("other output stays as it is", "[cuda]") {
    CHECK(without_crash_report("k.cu:3:1: error: expected ';'\n") == "k.cu:3:1: error: expected ';'\n");
    CHECK(without_crash_report("").empty());
}
