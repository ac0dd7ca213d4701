// SPDX-License-Identifier: MIT
// What is said of a kernel that goes to a number without a block: that it asked for a trap, that an assert failed, that no barrier
// is as it says; with the line. An access that traps is told as before.
#include <qwengpu/launch/describe.hpp>
#include <qwengpu/launch/prepare.hpp>
#include <qwengpu/machine/emulator.hpp>

#include <string>

#include "support/catch.hpp"

#include "run_kernel.hpp"

namespace {

using namespace qwengpu;

/// How a launch of four threads ends, in words; the body begins at line 20.
std::string ending_of(const std::string& body, const std::string& before = "") {
    std::string text = test::kernel_around(body);
    text.insert(text.find(".visible"), before);
    const auto program = test::compile_text(text, "k").program;
    launch_request request;
    request.block = {4, 1, 1};
    request.args = {in("a", std::vector(16, 0)), in("b", std::vector(16, 0))};
    const auto out = machine::emulate(prepare(program, request), 1000);
    return out.trap ? detail::trap_text(program, request, *out.trap, 4) : "none";
}

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("a kernel that traps itself is told so, with the line", "[ptx]") {
    const auto told = ending_of("setp.eq.u32 %p0, %t, 2;\n@%p0 trap;\n");
    CHECK(told.starts_with("kernel k trapped itself (__trap or trap): thread block (0, 0, 0), thread (2, 0, 0), warp 0, lane 2, machine block "));
    CHECK(told.ends_with(", PTX line 21"));
    CHECK(ending_of("brkpt;").starts_with("kernel k trapped itself (__trap or trap): thread block (0, 0, 0), thread (0, 0, 0)"));
}

TEST_CASE("an assert that fails is told as one", "[ptx]") {
    const std::string declared = ".extern .func __assertfail(.param .b64 a, .param .b64 b, .param .b32 c, .param .b64 d, .param .b64 e);\n";
    const std::string call =
        "setp.ne.u32 %p0, %t, 1;\n@%p0 bra good;\n{.param .b64 a; .param .b64 b; .param .b32 c; .param .b64 d; .param .b64 e;\n"
        "st.param.b64 [a], 0; st.param.b64 [b], 0; st.param.b32 [c], 7; st.param.b64 [d], 0; st.param.b64 [e], 1;\n"
        "call.uni __assertfail, (a, b, c, d, e);}\ngood:\n";
    const auto told = ending_of(call, declared);
    CHECK(told.starts_with("kernel k trapped itself (an assert failed): thread block (0, 0, 0), thread (1, 0, 0)"));
    CHECK(told.ends_with(", PTX line 25"));
}

TEST_CASE("a barrier that none can be, and an access that traps", "[ptx]") {
    CHECK(ending_of("ld.global.u32 %r1, [%src]; add.u32 %r1, %r1, 9; bar.sync %r1;").starts_with("kernel k waits at a barrier with a number that no barrier has, or for a count"));
    CHECK(has(ending_of("st.global.u32 [%dst + 64], %t;"), "store out of bounds at address 0x"));
    CHECK(has(ending_of("st.global.u32 [%dst + 64], %t;"), " in kernel k: thread block (0, 0, 0)"));
    CHECK(ending_of("") == "none");
}

TEST_CASE("an illegal block of which nothing is known keeps its name", "[ptx]") {
    machine::program p;
    p.name = "k";
    const machine::trap t{machine::trap_kind::illegal_block, 0, 0, 3};
    CHECK(detail::trap_text(p, {}, t, 4).starts_with("illegal block in kernel k: "));
    p.notes.resize(4);
    CHECK(detail::trap_text(p, {}, t, 4).starts_with("illegal block in kernel k: "));
    p.notes[3].cause = machine::trap_cause::callee;
    CHECK(detail::trap_text(p, {}, t, 4).starts_with("kernel k calls through a pointer that is none of the functions it could call: "));
}
