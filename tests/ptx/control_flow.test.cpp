// SPDX-License-Identifier: MIT
// Hand-written PTX with every kind of branch, guard, call and exit: compiled, run, and compared with results worked out by
// hand. Thread t reads words t, t + 10, ... of a buffer; inputs are chosen so that the lanes part.
#include <qwengpu/ptx/compile.hpp>

#include <cstdint>
#include <string>

#include "support/catch.hpp"

#include "run_kernel.hpp"

namespace {

using namespace qwengpu;

/// Runs `body` with 4 threads over 4 input and 4 output words for each; returns the first output word of each thread.
test::words run(const std::string& body, const test::words& first_words) {
    test::words in(16, 0);
    for (std::size_t t = 0; t < first_words.size(); ++t) {
        in[4 * t] = first_words[t];
        in[4 * t + 1] = static_cast<std::uint32_t>(t + 10);
    }
    const auto r = test::run_text(test::kernel_around(body), {1, 1, 1}, {4, 1, 1}, {test::buffer_of(in), test::buffer_of(test::words(16, 99))});
    CHECK(r.trap.empty());
    REQUIRE(r.ended == machine::ending::finished);
    return {r.buffers[1][0], r.buffers[1][4], r.buffers[1][8], r.buffers[1][12]};
}

const std::string load = "ld.global.u32 %r0, [%src];\n";
const std::string store = "st.global.u32 [%dst], %r1;\n";

}  // namespace

TEST_CASE("a branch with two sides, and one that skips") {
    const std::string body = load + R"(
        setp.gt.s32 %p0, %r0, 5;
        @%p0 bra big;
        add.s32 %r1, %r0, 100;
        bra.uni done;
    big: sub.s32 %r1, %r0, 100;
    done:
        setp.eq.s32 %p1, %r0, 6;
        @!%p1 bra skip;
        mov.u32 %r1, 77;
    skip:
)" + store;
    CHECK(run(body, {1, 6, 9, 5}) == test::words{101, 77, static_cast<std::uint32_t>(-91), 105});
}

TEST_CASE("brx.idx goes by its table") {
    const std::string body = load + R"(
        mov.u32 %r1, 0;
    table: .branchtargets zero, one, two, one;
        brx.idx %r0, table;
    zero: add.s32 %r1, %r1, 1;
    one: add.s32 %r1, %r1, 10;
    two: add.s32 %r1, %r1, 100;
)" + store;
    CHECK(run(body, {0, 1, 2, 3}) == test::words{111, 110, 100, 110});
}

TEST_CASE("what a way sets stays out of the ways beside it, also where one leads into a loop") {
    const std::string body = load + R"(
        mov.u32 %r1, 7; setp.ne.u32 %p2, %r0, 100; rem.u32 %r9, %r0, 3;
        ways: .branchtargets plain, sets, loops;
        brx.idx %r9, ways;
        plain: bra done;
        sets: setp.lt.s32 %p2, %r0, %r0; bra done;
        loops: and.b32 %r3, %r1, 3; add.u32 %r4, %r3, 1;
        again: shl.b32 %r1, %r1, %r0; sub.u32 %r4, %r4, 1; setp.ne.u32 %p1, %r4, 0; @%p1 bra again;
        done: selp.u32 %r5, 100, 0, %p2; add.s32 %r1, %r1, %r5;
        )" + store;
    CHECK(run(body, {3, 4, 5, 2}) == test::words{107, 7, (7U << 20) + 100, (7U << 8) + 100});
}

TEST_CASE("guards on everything: arithmetic, setp, loads, stores, exit") {
    SECTION("arithmetic keeps the old value") {
        CHECK(run(load + "setp.lt.u32 %p0, %r0, 3; mov.u32 %r1, 5; @%p0 mul.lo.s32 %r1, %r0, %r0; @!%p0 setp.eq.s32 %p0, %r0, 4;\n"
                         "@%p0 add.s32 %r1, %r1, 1000;" + store, {1, 2, 3, 4}) == test::words{1001, 1004, 5, 1005});
    }
    SECTION("a load that is not done reads nothing, even from a bad address") {
        CHECK(run(load + "setp.ne.s32 %p0, %r0, 0; mov.u64 %d0, 0; selp.b64 %d0, %src, %d0, %p0; mov.u32 %r1, 8;\n"
                         "@%p0 ld.global.u32 %r1, [%d0+4];" + store, {0, 1, 0, 1}) == test::words{8, 11, 8, 13});
    }
    SECTION("a store that is not done writes nothing") {
        CHECK(run(load + "setp.ne.s32 %p0, %r0, 0; mov.u32 %r1, 1; @!%p0 st.global.u32 [%dst], %r1;", {0, 1, 0, 1}) == test::words{1, 99, 1, 99});
    }
    SECTION("a result may be the guard itself: the other result goes by the guard as it was") {
        CHECK(run(load + "setp.ne.s32 %p1, %r0, %r0; setp.eq.s32 %p0, %r0, %r0; @!%p1 setp.gt.u32 %p1|%p0, %r0, 2;\n"
                         "selp.u32 %r1, 10, 20, %p1; selp.u32 %r2, 1, 2, %p0; add.s32 %r1, %r1, %r2;" + store, {1, 2, 3, 4}) == test::words{21, 21, 12, 12});
    }
    SECTION("exit and ret under a guard end single lanes") {
        CHECK(run(load + "setp.eq.s32 %p0, %r0, 7; @%p0 exit; setp.eq.s32 %p1, %r0, 8; @%p1 ret; mov.u32 %r1, 3;" + store, {7, 8, 9, 7}) ==
              test::words{99, 99, 3, 99});
    }
}

TEST_CASE("loops: two exits, a continue, a value from before the last round, a swap") {
    SECTION("two exits and a continue") {
        const std::string body = load + R"(
            mov.u32 %r1, 0;
            mov.u32 %r2, 0;
        again:
            add.s32 %r2, %r2, 1;
            setp.gt.s32 %p0, %r2, 10;
            @%p0 bra out;
            and.b32 %r3, %r2, 1;
            setp.eq.s32 %p1, %r3, 0;
            @%p1 bra again;
            add.s32 %r1, %r1, %r2;
            setp.ge.s32 %p2, %r1, %r0;
            @%p2 bra out;
            bra.uni again;
        out:
)" + store;
        CHECK(run(body, {1, 9, 10, 1000}) == test::words{1, 9, 16, 25});
    }
    SECTION("the value before the last round is used behind the loop") {
        const std::string body = load + R"(
            mov.u32 %r2, 1;
        again:
            mov.u32 %r1, %r2;
            shl.b32 %r2, %r2, 1;
            setp.le.u32 %p0, %r2, %r0;
            @%p0 bra again;
            mad.lo.s32 %r1, %r1, 1000, %r2;
)" + store;
        CHECK(run(body, {1, 2, 5, 8}) == test::words{1002, 2004, 4008, 8016});
    }
    SECTION("two registers change places every round") {
        const std::string body = load + R"(
            mov.u32 %r1, 3;
            mov.u32 %r2, 4;
        again:
            mov.u32 %r3, %r1;
            mov.u32 %r1, %r2;
            mov.u32 %r2, %r3;
            sub.s32 %r0, %r0, 1;
            setp.gt.s32 %p0, %r0, 0;
            @%p0 bra again;
            mad.lo.s32 %r1, %r1, 10, %r2;
)" + store;
        CHECK(run(body, {1, 2, 3, 4}) == test::words{43, 34, 43, 34});
    }
    SECTION("Fibonacci: one takes the other's old value") {
        const std::string body = load + R"(
            mov.u32 %r1, 0;
            mov.u32 %r2, 1;
        again:
            add.s32 %r3, %r1, %r2;
            mov.u32 %r1, %r2;
            mov.u32 %r2, %r3;
            sub.s32 %r0, %r0, 1;
            setp.ne.s32 %p0, %r0, 0;
            @%p0 bra again;
)" + store;
        CHECK(run(body, {1, 2, 10, 20}) == test::words{1, 1, 55, 6765});
    }
}

TEST_CASE("a trap ends the launch as an illegal block") {
    const auto r = test::run_text(test::kernel_around("setp.eq.s32 %p0, %t, 2; @%p0 trap;"), {1, 1, 1}, {4, 1, 1},
                                  {test::buffer_of(test::words(16)), test::buffer_of(test::words(16))});
    CHECK(r.ended == machine::ending::trapped);
    CHECK(r.trap == std::string(name_of(machine::trap_kind::illegal_block)));
}

TEST_CASE("an endless loop is a program that the step limit stops") {
    const auto kernel = test::compile_text(test::kernel_around("again: bra.uni again;"));
    const auto r = test::run_program(kernel.program, {1, 1, 1}, {4, 1, 1}, {test::buffer_of(test::words(1)), test::buffer_of(test::words(1))}, 1000);
    CHECK(r.ended == machine::ending::step_limit);
}

TEST_CASE("device functions are copied in: results, arguments in variables and in registers, two levels, 64 bits") {
    const std::string functions = R"(.version 7.8
.target sm_75
.address_size 64
.func (.reg .u32 %back) twice(.reg .u32 %x)
{
    add.u32 %back, %x, %x;
    ret;
}
.func (.param .b64 made) widen(.param .b32 low, .param .b32 high)
{
    .reg .b32 %r<3>;
    .reg .b64 %d<2>;
    ld.param.u32 %r1, [low];
    ld.param.u32 %r2, [high];
    call (%r1), twice, (%r1);
    mov.b64 %d1, {%r1, %r2};
    st.param.b64 [made], %d1;
    ret;
}
)";
    std::string text = test::kernel_around(load + R"(
    {
        .param .b32 a;
        .param .b32 b;
        .param .b64 c;
        st.param.b32 [a], %r0;
        st.param.b32 [b], 5;
        call.uni (c), widen, (a, b);
        ld.param.b64 %d1, [c];
    }
        mov.b64 {%r1, %r2}, %d1;
        mad.lo.s32 %r1, %r2, 100, %r1;
)" + store);
    text = functions + text.substr(text.find(".visible"));
    const auto r = test::run_text(text, {1, 1, 1}, {4, 1, 1}, {test::buffer_of({1, 0, 0, 0, 2, 0, 0, 0, 3, 0, 0, 0, 4, 0, 0, 0}), test::buffer_of(test::words(16))});
    CHECK(test::words{r.buffers[1][0], r.buffers[1][4], r.buffers[1][8], r.buffers[1][12]} == test::words{502, 504, 506, 508});
}

TEST_CASE("a result that goes to _ is dropped") {
    std::string text = test::kernel_around(load + "call (_), plus50, (%r0);\ncall (%r1, _), both, (%r0);\n" + store);
    const std::string functions = R"(.version 7.8
.target sm_75
.address_size 64
.func (.reg .u32 back) plus50(.reg .u32 x) { add.u32 back, x, 50; ret; }
.func (.reg .u32 back, .reg .u32 more) both(.reg .u32 x) { add.u32 back, x, 7; add.u32 more, x, 9; ret; }
)";
    text = functions + text.substr(text.find(".visible"));
    const auto r = test::run_text(text, {1, 1, 1}, {1, 1, 1}, {test::buffer_of({5, 0, 0, 0}), test::buffer_of(test::words(4))});
    CHECK(r.trap.empty());
    CHECK(r.buffers[1] == test::words{12, 0, 0, 0});
}
