// SPDX-License-Identifier: MIT
// Errors say what, where and which.
#include <qwengpu/error.hpp>

#include <string>

#include "support/catch.hpp"

using qwengpu::error;
using qwengpu::place;

TEST_CASE("an error prints its place, message and id") {
    const error e("ptx.parse", "a semicolon is missing", place{"a.ptx", 3, 14});
    CHECK(std::string(e.what()) == "a.ptx:3:14: a semicolon is missing [ptx.parse]");
    CHECK(e.id() == "ptx.parse");
    CHECK(e.message() == "a semicolon is missing");
    CHECK(e.where() == place{"a.ptx", 3, 14});
}

TEST_CASE("parts of a place that are not known are left out") {
    CHECK(std::string(error("x.y", "no", place{"a.cu", 7, 0}).what()) == "a.cu:7: no [x.y]");
    CHECK(std::string(error("x.y", "no", place{"a.cu", 0, 9}).what()) == "a.cu: no [x.y]");
    CHECK(std::string(error("x.y", "no", place{"", 2, 9}).what()) == "2:9: no [x.y]");
    CHECK(std::string(error("x.y", "no", place{}).what()) == "no [x.y]");
    CHECK(std::string(error("x.y", "no").what()) == "no [x.y]");
    CHECK_FALSE(error("x.y", "no").where());
}
