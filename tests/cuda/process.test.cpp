// SPDX-License-Identifier: MIT
// Running programs: output, status, signals, arguments that a shell would not leave alone, and an end for those that hang.
#include <qwengpu/cuda/process.hpp>

#include <chrono>
#include <string>

#include "support/catch.hpp"

using namespace qwengpu::cuda;
using namespace std::chrono_literals;

TEST_CASE("output, error and status are gathered") {
    const auto r = run({"/bin/sh", "-c", "echo out; echo err >&2; exit 3"}, 10s);
    CHECK(r.status == 3);
    CHECK_FALSE(r.timed_out);
    CHECK(r.output == "out\nerr\n");
    CHECK(run({"/bin/sh", "-c", "kill -9 $$"}, 10s).status == 128 + 9);
}

TEST_CASE("arguments reach the program as they are") {
    const std::string evil = "a b; echo $HOME `id` \"'\n*";
    CHECK(run({"/usr/bin/printf", "%s", evil}, 10s).output == evil);
}

TEST_CASE("standard input is empty and the environment can be changed") {
    CHECK(run({"/bin/cat"}, 10s).output.empty());
    CHECK(run({"/bin/sh", "-c", "echo $TMPDIR"}, 10s, {"TMPDIR=/x y"}).output == "/x y\n");
    CHECK(run({"/bin/sh", "-c", "test -n \"$PATH\""}, 10s, {"TMPDIR=/x"}).status == 0);
}

TEST_CASE("a program that hangs is ended with its children") {
    const auto start = std::chrono::steady_clock::now();
    const auto r = run({"/bin/sh", "-c", "echo begun; sleep 60 & sleep 60; echo no"}, 300ms);
    CHECK(r.timed_out);
    CHECK(r.output == "begun\n");
    CHECK(std::chrono::steady_clock::now() - start < 20s);
}

TEST_CASE("what is printed without end is kept in part only") {
    const auto r = run({"/bin/sh", "-c", "i=0; while [ $i -lt 300 ]; do printf '%010000d' 0; i=$((i+1)); done"}, 60s);
    CHECK(r.status == 0);
    CHECK(r.output.size() >= 1U << 20);
    CHECK(r.output.size() < 2U << 20);
}

TEST_CASE("a program that is not there is an error") {
    CHECK_THROWS_WITH(run({"/no/such/program"}, 10s), Catch::Matchers::Contains("'/no/such/program' cannot be started: No such file"));
}
