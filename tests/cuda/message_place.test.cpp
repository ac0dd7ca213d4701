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

TEST_CASE("an error in a header of ours is told where the source includes or uses it") {
    using qwengpu::cuda::first_place_outside;
    const std::string included = "In file included from /a/b.cu:2:\n/tmp/ours/x.h:1:2: error: \"no x\"\n/a/b.cu:5:3: error: unknown type name 'x'\n";
    CHECK(first_place_outside(included, "f", "/tmp/ours") == place{"/a/b.cu", 2, 0});
    CHECK(first_place_outside(included, "f", "/tmp/other") == place{"/tmp/ours/x.h", 1, 2});
    const std::string used = "In file included from b.cu:1:\n/tmp/ours/g.h:9:5: error: static_assert failed\n/tmp/ours/g.h:7:1: note: in instantiation of x\n"
                             "b.cu:4:12: note: in instantiation of template class 'tile<32>' requested here\n";
    CHECK(first_place_outside(used, "f", "/tmp/ours") == place{"b.cu", 4, 12});
    CHECK(first_place_outside("/tmp/ours/g.h:9:5: error: no\n", "f", "/tmp/ours") == place{"f", 0, 0});
    CHECK(first_place_outside("b.cu:9:5: error: no\n", "f", "/tmp/ours") == place{"b.cu", 9, 5});
}
