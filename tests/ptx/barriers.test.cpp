// SPDX-License-Identifier: MIT
// Barriers whose number or count is in a register: groups of warps that wait for themselves, bar.red of several groups at once,
// and what no barrier can have, which traps.
#include <qwengpu/ptx/compile.hpp>

#include <cstdint>
#include <string>

#include "support/catch.hpp"

#include "run_kernel.hpp"

namespace {

using namespace qwengpu;

/// Thread t has in[t] in %r0 and t in %t; %r1 goes to out[t]. `box` is an array of 32 words of shared memory.
std::string kernel_with(const std::string& body) {
    return R"(.version 7.8
.target sm_75
.address_size 64
.visible .entry k(.param .u64 k_in, .param .u64 k_out)
{
.reg .pred %p<9>;
.reg .b32 %r<20>, %t;
.reg .b64 %d<9>, %src, %dst;
.shared .align 4 .b32 box[32];
.local .align 4 .b32 place[2];
ld.param.u64 %src, [k_in];
ld.param.u64 %dst, [k_out];
mov.u32 %t, %tid.x;
mul.wide.u32 %d0, %t, 4;
add.s64 %src, %src, %d0;
add.s64 %dst, %dst, %d0;
ld.global.u32 %r0, [%src];
mov.u32 %r1, 0;
)" + body + "\nst.global.u32 [%dst], %r1;\nret;\n}\n";
}

test::kernel_run run(const std::string& body, const test::words& in) {
    return test::run_text(kernel_with(body), {1, 1, 1}, {static_cast<std::uint32_t>(in.size()), 1, 1}, {test::buffer_of(in), test::buffer_of(test::words(in.size()))});
}

/// Every thread of a group of 8 puts a number into the box, waits for its group, and takes its neighbour's.
std::string exchange(const std::string& wait) {
    return "shl.b32 %r2, %t, 2;\nmov.u32 %r3, box;\nadd.u32 %r4, %r3, %r2;\nst.shared.u32 [%r4], %r0;\nshr.u32 %r5, %t, 3;\n" + wait +
           "\nxor.b32 %r2, %r2, 28;\nadd.u32 %r4, %r3, %r2;\nld.shared.u32 %r1, [%r4];";
}

test::words numbers(std::size_t n) {
    test::words in;
    for (std::size_t k = 0; k < n; ++k) in.push_back(static_cast<std::uint32_t>(1000 + 37 * k));
    return in;
}

}  // namespace

TEST_CASE("groups of a block wait at barriers of their own, named by a register") {
    const test::words in = numbers(32);
    for (const char* wait : {"add.u32 %r6, %r5, 1;\nbar.sync %r6, 8;", "add.u32 %r6, %r5, 4;\nmov.u32 %r7, %ntid.x;\nshr.u32 %r7, %r7, 2;\nbarrier.sync %r6, %r7;",
                             "bar.sync 7;", "and.b32 %r6, %r0, 0;\nbar.sync %r6;", "add.u32 %r7, %r0, 1000;\nshr.u32 %r7, %r7, 16;\nadd.u32 %r7, %r7, 32;\nbar.sync 2, %r7;"}) {
        INFO(wait);
        const auto r = run(exchange(wait), in);
        REQUIRE(r.ended == machine::ending::finished);
        for (std::size_t t = 0; t < 32; ++t) CHECK(r.buffers[1][t] == in[t ^ 7U]);
    }
}

TEST_CASE("warps with counts of their own in a register: one to eight warps") {
    for (std::uint32_t warps : {1U, 2U, 3U, 5U, 7U, 8U}) {
        const test::words in(4U * warps, warps);
        const auto r = run("mul.lo.u32 %r6, %r0, 4;\nadd.u32 %r7, %r0, 4294967295;\nbar.sync %r7, %r6;\nmov.u32 %r1, 5;", in);
        REQUIRE(r.ended == machine::ending::finished);
        CHECK(r.buffers[1] == test::words(in.size(), 5));
    }
}

TEST_CASE("numbers and counts that no barrier has end in a trap, at their line") {
    for (std::uint32_t bad : {8U, 15U, 16U, 0x80000000U, 0xffffffffU}) {
        const auto r = run("bar.sync %r0;", test::words(8, bad));
        CHECK(r.ended == machine::ending::trapped);
        CHECK(r.trap_line == 19);
    }
    for (std::uint32_t bad : {1U, 6U, 31U, 36U, 64U, 0xfffffffcU}) {
        const auto r = run("bar.sync 1, %r0;", test::words(8, bad));
        CHECK(r.ended == machine::ending::trapped);
        CHECK(r.trap_line == 19);
    }
    CHECK(run("bar.sync 0, %r0;", test::words(8, 8)).ended == machine::ending::finished);
    CHECK(run("bar.sync 0, %r0;", test::words(8, 12)).trap == "deadlock");
}

TEST_CASE("bar.red of several groups at once, each with a number in a register") {
    const test::words in{1, 9, 9, 1, 1, 1, 1, 9, 9, 9, 9, 9, 9, 9, 9, 9};
    const std::string body = R"(
        setp.gt.u32 %p0, %r0, 5;
        shr.u32 %r5, %t, 3;
        add.u32 %r6, %r5, 2;
        bar.red.popc.u32 %r1, %r6, 8, %p0;
        bar.red.and.pred %p1, %r6, 8, %p0;
        bar.red.or.pred %p2, 3, 8, %p0;
        selp.u32 %r7, 100, 0, %p1;
        add.u32 %r1, %r1, %r7;
)";
    const std::string other = "bar.red.or.pred %p2, 3, 8, %p0;";
    std::string guarded = body;
    guarded.replace(guarded.find(other), other.size(), "setp.eq.u32 %p3, %r5, 1;\n@%p3 bar.red.or.pred %p2, 3, 8, !%p0;\nselp.u32 %r8, 1000, 0, %p2;\n@%p3 add.u32 %r1, %r1, %r8;");
    const auto r = run(guarded, in);
    REQUIRE(r.ended == machine::ending::finished);
    for (std::size_t t = 0; t < 16; ++t) CHECK(r.buffers[1][t] == (t < 8 ? 3 : 108));
}

TEST_CASE("a number that only the compiler's passes find out costs nothing") {
    const std::string known = kernel_with("bar.sync 3, 8;\nmov.u32 %r1, 5;");
    const std::string by_memory = kernel_with("mov.u32 %r2, 3;\nst.local.u32 [place], %r2;\nmov.u32 %r2, 8;\nst.local.u32 [place+4], %r2;\nld.local.u32 %r3, [place];\n"
                                              "ld.local.u32 %r4, [place+4];\nbar.sync %r3, %r4;\nmov.u32 %r1, 5;");
    const auto blocks = [](const std::string& text) { return test::compile_text(text).program.blocks; };
    CHECK(blocks(known) == blocks(by_memory));
}
