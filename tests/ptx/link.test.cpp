// SPDX-License-Identifier: MIT
// Which kernel is meant, and what is said if none or several are.
#include <qwengpu/ptx/link.hpp>

#include <string>

#include "support/catch.hpp"
#include "support/ptx_text.hpp"

using namespace qwengpu::ptx;
using namespace qwengpu::test;

namespace {

parsed_module module_of(const std::string& text) { return read(ptx_head() + text, "a.ptx"); }

std::string refusal(const parsed_module& m, std::string_view name) {
    try {
        (void)find_kernel(m, name);
    } catch (const qwengpu::error& e) {
        return e.id() + ": " + e.message();
    }
    return "";
}

}  // namespace

TEST_CASE("a kernel is found by name, and the only one without") {
    const auto one = module_of(".func f() { ret; }\n.entry k() { ret; }\n");
    CHECK(find_kernel(one, "k").name == "k");
    CHECK(find_kernel(one, "").name == "k");
    const auto two = module_of(".entry k1() { ret; }\n.entry k2() { ret; }\n");
    CHECK(find_kernel(two, "k2").name == "k2");
}

TEST_CASE("a C++ kernel is found by its name without parameters") {
    const auto m = module_of(".entry _Z6vecaddPKfS0_Pfi() { ret; }\n.entry _Z4scalPfi() { ret; }\n.entry _Z4scalPii() { ret; }\n");
    CHECK(find_kernel(m, "vecadd").name == "_Z6vecaddPKfS0_Pfi");
    CHECK(find_kernel(m, "_Z4scalPii").name == "_Z4scalPii");
    CHECK(refusal(m, "scal").starts_with("ptx.link: several kernels are called 'scal'; name one of _Z6vec"));
    CHECK(refusal(m, "vec").starts_with("ptx.link: no kernel 'vec'"));
}

TEST_CASE("an instance of a template is found by its arguments, or without them if it is the only one") {
    const auto m = module_of(".entry _Z5scaleIfLi8EEvPT_S0_() { ret; }\n.entry _Z5scaleIiLi4EEvPT_S0_() { ret; }\n.entry _ZN4math4fillIjEEvPT_() { ret; }\n");
    CHECK(find_kernel(m, "scale<int, 4>").name == "_Z5scaleIiLi4EEvPT_S0_");
    CHECK(find_kernel(m, "scale<float,8>").name == "_Z5scaleIfLi8EEvPT_S0_");
    CHECK(find_kernel(m, "math::fill").name == "_ZN4math4fillIjEEvPT_");
    CHECK(refusal(m, "scale").find("several kernels are called 'scale'") != std::string::npos);
    CHECK(refusal(m, "scale<char, 4>").find("_Z5scaleIiLi4EEvPT_S0_ (scale<int, 4>)") != std::string::npos);
    CHECK(refusal(m, "scal").find("no kernel 'scal'") != std::string::npos);
}

TEST_CASE("refusals say which kernels there are") {
    const auto two = module_of(".entry k1() { ret; }\n.entry k2() { ret; }\n.entry declared();\n");
    CHECK(refusal(two, "nope") == "ptx.link: no kernel 'nope' in the file; there are k1, k2");
    CHECK(refusal(two, "") == "ptx.link: the file has 2 kernels and none is named; name one of k1, k2");
    CHECK(refusal(module_of(".func f() { ret; }\n"), "f").starts_with("ptx.link: the file has no kernel (.entry)"));
    CHECK(refusal(module_of(".entry k() { ret; }\n"), "x") == "ptx.link: no kernel 'x' in the file; there is k");
}
