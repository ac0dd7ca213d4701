// SPDX-License-Identifier: MIT
// The first error's place in the output of nvcc and clang.
#include <qwengpu/cuda/message_place.hpp>

#include "support/catch.hpp"

using qwengpu::place;
using qwengpu::cuda::first_place;

TEST_CASE("the places of clang and nvcc are found") {
    CHECK(first_place("/a/b.cu:3:12: error: expected ';'\n  int x\n", "f") == place{"/a/b.cu", 3, 12});
    CHECK(first_place("b.cu(7): error: expected a \";\"\n", "f") == place{"b.cu", 7, 0});
    CHECK(first_place("b.cu:1:2: warning: unused\nb.cu:9:4: fatal error: 'x.h' file not found", "f") == place{"b.cu", 9, 4});
    CHECK(first_place("C(1)/b.cu(12): error: no", "f") == place{"C(1)/b.cu", 12, 0});
}

TEST_CASE("output without a place gives the file alone") {
    CHECK(first_place("nvcc fatal   : Cannot find compiler\n", "f") == place{"f", 0, 0});
    CHECK(first_place("", "f") == place{"f", 0, 0});
    CHECK(first_place("error: 5:x\nerror:\n(:)error", "f") == place{"f", 0, 0});
}
