// SPDX-License-Identifier: MIT
// Barriers whose number or count is in a register: groups of warps that wait for themselves, bar.red of several groups at once,
// and what no barrier can have, which traps.
#include <qwengpu/ptx/compile.hpp>

#include <array>
#include <cstdint>
#include <string>
#include <utility>

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

namespace {

/// Producers (warp 0) fill a box of 4 words, consumers (warp 1) take it, %r0 of thread 0 times; barrier 2 says that it is full,
/// barrier 3 that it is empty. The other warps meet at barrier 0 with both, before and after.
const std::string pipeline = R"(
        ld.global.u32 %r10, [%src];
        mov.u32 %r3, box;
        and.b32 %r4, %t, 3;
        shl.b32 %r4, %r4, 2;
        xor.b32 %r8, %r4, 12;
        add.u32 %r4, %r3, %r4;
        add.u32 %r8, %r3, %r8;
        shr.u32 %r5, %t, 2;
        mov.u32 %r6, 0;
        bar.sync 0;
        setp.eq.u32 %p1, %r5, 1;
        @%p1 bra take;
        setp.gt.u32 %p1, %r5, 1;
        @%p1 bra done;
    make:
        bar.sync 3, 8;
        mad.lo.u32 %r7, %r6, 100, %t;
        st.shared.u32 [%r4], %r7;
        bar.arrive 2, 8;
        add.u32 %r6, %r6, 1;
        setp.lt.u32 %p2, %r6, %r10;
        @%p2 bra make;
        bra.uni done;
    take:
        barrier.arrive 3, 8;
    next:
        bar.sync 2, 8;
        ld.shared.u32 %r9, [%r8];
        mad.lo.u32 %r1, %r1, 3, %r9;
        bar.arrive 3, 8;
        add.u32 %r6, %r6, 1;
        setp.lt.u32 %p2, %r6, %r10;
        @%p2 bra next;
    done:
        bar.sync 0;)";

std::uint32_t taken(std::uint32_t lane, std::uint32_t times) {
    std::uint32_t sum = 0;
    for (std::uint32_t k = 0; k < times; ++k) sum = 3 * sum + 100 * k + (lane ^ 3U);
    return sum;
}

}  // namespace

TEST_CASE("producers and consumers: who arrives does not wait, and what is left over does not reach the next thread block") {
    for (std::uint32_t times : {1U, 2U, 5U})
        for (std::uint32_t warps : {2U, 3U}) {
            const auto program = test::compile_text(kernel_with(pipeline)).program;
            const auto r = test::run_program(program, {3, 1, 1}, {4 * warps, 1, 1}, {test::buffer_of(test::words(4 * warps, times)), test::buffer_of(test::words(4 * warps))});
            INFO(r.trap << " " << r.trap_line);
            REQUIRE(r.ended == machine::ending::finished);
            for (std::uint32_t t = 0; t < 4 * warps; ++t) CHECK(r.buffers[1][t] == (t / 4 == 1 ? taken(t % 4, times) : 0));
        }
}

TEST_CASE("the same with numbers and counts in registers, and with all of the machine's barriers but one in use") {
    std::string in_registers = pipeline, others = pipeline;
    for (const auto& [from, to] : {std::pair<std::string, std::string>{"bar.arrive 2, 8", "bar.arrive %r11, %r13"}, {"bar.sync 2, 8", "bar.sync %r11, %r13"}, {"bar.sync 3, 8", "bar.sync %r12, %r13"}})
        in_registers.replace(in_registers.find(from), from.size(), to);
    in_registers = "ld.global.u32 %r11, [%src];\nmul.lo.u32 %r11, %r11, 0;\nadd.u32 %r12, %r11, 3;\nadd.u32 %r13, %r11, 8;\nadd.u32 %r11, %r11, 2;\n" + in_registers;
    for (const char* id : {"1", "4", "5", "6", "7"}) others += "\nbar.sync " + std::string(id) + ", 8;";
    for (const std::string& body : {in_registers, others}) {
        const auto r = run(body, test::words(8, 4));
        INFO(r.trap << " " << r.trap_line);
        REQUIRE(r.ended == machine::ending::finished);
        for (std::uint32_t t = 0; t < 8; ++t) CHECK(r.buffers[1][t] == (t / 4 == 1 ? taken(t % 4, 4) : 0));
    }
}

TEST_CASE("chains of waiting threads wake each other; one that nobody can wake is a deadlock") {
    // Warp w waits for barrier w, and then arrives at barrier w + 1; the last warp begins.
    const std::string chain = R"(
        mov.u32 %r3, box;
        shr.u32 %r5, %t, 2;
        setp.eq.u32 %p1, %r5, 3;
        @%p1 bra begin;
        setp.eq.u32 %p1, %r5, 2;
        @%p1 bra second;
        setp.eq.u32 %p1, %r5, 1;
        @%p1 bra third;
        bar.sync 1, 8;
        ld.shared.u32 %r1, [%r3];
        bra.uni done;
    third:
        bar.sync 2, 8;
        ld.shared.u32 %r1, [%r3];
        add.u32 %r2, %r1, 1;
        st.shared.u32 [%r3], %r2;
        bar.arrive 1, 8;
        bra.uni done;
    second:
        bar.sync 4, 8;
        ld.shared.u32 %r1, [%r3];
        add.u32 %r2, %r1, 1;
        st.shared.u32 [%r3], %r2;
        bar.arrive 2, 8;
        bra.uni done;
    begin:
        st.shared.u32 [%r3], 50;
        bar.arrive ARRIVE, 8;
    done:)";
    const auto with = [&](const std::string& id) { std::string s = chain; return s.replace(s.find("ARRIVE"), 6, id); };
    const auto good = run(with("4"), test::words(16));
    REQUIRE(good.ended == machine::ending::finished);
    for (std::uint32_t t = 0; t < 16; ++t) CHECK(good.buffers[1][t] == std::array{52U, 51U, 50U, 0U}[t / 4]);
    const auto stuck = run(with("5"), test::words(16));
    CHECK(stuck.ended == machine::ending::trapped);
    CHECK(stuck.trap == "deadlock");
}
