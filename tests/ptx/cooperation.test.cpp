// SPDX-License-Identifier: MIT
// Shuffles, votes, matches, reductions and barriers in hand-written PTX: what each must give is worked out on the host from
// the PTX manual, with warps of 4 lanes.
#include <qwengpu/ptx/compile.hpp>

#include <array>
#include <bit>
#include <cstdint>
#include <string>
#include <vector>

#include "support/catch.hpp"

#include "run_kernel.hpp"

namespace {

using namespace qwengpu;
using lanes = std::array<std::uint32_t, 4>;

/// Runs `body` in `threads` threads; %r0 of thread t is in[t] at the start, %r1 and %r2 at the end are returned.
std::vector<std::array<std::uint32_t, 2>> run(const std::string& body, const test::words& in) {
    test::words padded;
    for (std::uint32_t x : in) padded.insert(padded.end(), {x, 0, 0, 0});
    const std::string text = test::kernel_around("ld.global.u32 %r0, [%src];\nmov.u32 %r1, 0;\nmov.u32 %r2, 0;\n" + body +
                                                 "\nst.global.u32 [%dst], %r1;\nst.global.u32 [%dst+4], %r2;\n");
    const auto threads = static_cast<std::uint32_t>(in.size());
    const auto r = test::run_text(text, {1, 1, 1}, {threads, 1, 1}, {test::buffer_of(padded), test::buffer_of(test::words(padded.size()))});
    INFO(r.trap);
    REQUIRE(r.ended == machine::ending::finished);
    std::vector<std::array<std::uint32_t, 2>> out;
    for (std::size_t t = 0; t < in.size(); ++t) out.push_back({r.buffers[1][4 * t], r.buffers[1][4 * t + 1]});
    return out;
}

struct shuffled {
    std::uint32_t lane = 0;
    bool in_range = false;
};

/// The PTX manual's description of shfl, of 4 lanes: a lane that is not there is out of range.
shuffled shuffle_on_host(const std::string& mode, int lane, std::uint32_t b, std::uint32_t c) {
    const int value = static_cast<int>(b & 31U), clamp = static_cast<int>(c & 31U), mask = static_cast<int>(c >> 8 & 31U);
    const int most = (lane & mask) | (clamp & ~mask), least = lane & mask;
    int j = 0;
    bool p = false;
    if (mode == "up") j = lane - value, p = j >= most;
    if (mode == "down") j = lane + value, p = j <= most;
    if (mode == "bfly") j = lane ^ value, p = j <= most;
    if (mode == "idx") j = least | (value & ~mask), p = j <= most;
    p = p && j >= 0 && j < 4;
    return {static_cast<std::uint32_t>(p ? j : lane), p};
}

}  // namespace

TEST_CASE("shfl in all modes, with clamps and segments, known when compiling and not") {
    for (const char* mode : {"up", "down", "bfly", "idx"})
        for (std::uint32_t c : {0x1c1fU, 0x1c00U, 0x1e1fU, 0x1e00U, 0x1fU, 0U, 0x1c02U, 0x1f1fU, 0x1d01U})
            for (std::uint32_t b : {0U, 1U, 2U, 3U, 5U, 16U, 31U}) {
                INFO(mode << " b " << b << " c " << c);
                const std::string constants = std::to_string(b) + ", " + std::to_string(c);
                const std::string in_registers = "mov.u32 %r5, " + std::to_string(b) + ";\nld.global.u32 %r9, [%in+4];\nadd.u32 %r6, %r9, " + std::to_string(c) + ";\n";
                for (bool known : {true, false}) {
                    const auto got = run((known ? "" : in_registers) + std::string("shfl.sync.") + mode + ".b32 %r1|%p1, %r0, " +
                                             (known ? constants : std::string("%r5, %r6")) + ", 0xffffffff;\nselp.u32 %r2, 1, 0, %p1;",
                                         {100, 200, 300, 400});
                    for (int lane = 0; lane < 4; ++lane) {
                        const shuffled want = shuffle_on_host(mode, lane, b, c);
                        CHECK(got[static_cast<std::size_t>(lane)][0] == 100 * (want.lane + 1));
                        CHECK(got[static_cast<std::size_t>(lane)][1] == (want.in_range ? 1U : 0U));
                    }
                }
            }
}

TEST_CASE("votes, with members and in a warp that is not full") {
    const test::words in{1, 0, 3, 0, 2, 7};
    const std::string test = "and.b32 %r4, %r0, 1;\nsetp.ne.u32 %p0, %r4, 0;\n";
    const auto ballots = run(test + "vote.sync.ballot.b32 %r1, %p0, 0xffffffff;\nvote.sync.ballot.b32 %r2, !%p0, 6;", in);
    const std::array<std::uint32_t, 2> odd{0b0101, 0b10}, even_members{0b0010, 0b00};
    for (std::size_t t = 0; t < 6; ++t) CHECK((ballots[t][0] == odd[t / 4] && ballots[t][1] == even_members[t / 4]));
    const auto all = run(test + "vote.sync.all.pred %p1, %p0, 0xffffffff;\nvote.sync.any.pred %p2, %p0, 0xffffffff;\nvote.sync.uni.pred %p3, %p0, 0xffffffff;\n"
                                "selp.u32 %r1, 1, 0, %p1;\nselp.u32 %r2, 2, 0, %p2;\nadd.u32 %r1, %r1, %r2;\nselp.u32 %r2, 1, 0, %p3;", {1, 3, 5, 7, 2, 4, 9, 8, 6, 2});
    for (std::size_t t = 0; t < 4; ++t) CHECK((all[t][0] == 3 && all[t][1] == 1));
    for (std::size_t t = 4; t < 8; ++t) CHECK((all[t][0] == 2 && all[t][1] == 0));
    for (std::size_t t = 8; t < 10; ++t) CHECK((all[t][0] == 0 && all[t][1] == 1));
}

TEST_CASE("activemask tells who came here together; a guarded vote is a branch") {
    const auto got = run("setp.gt.u32 %p0, %r0, 2;\n@!%p0 bra after;\nactivemask.b32 %r1;\nafter:\n@%p0 vote.sync.ballot.b32 %r2, %p0, 15;", {1, 3, 0, 5});
    CHECK(got == std::vector<std::array<std::uint32_t, 2>>{{0, 0}, {0b1010, 0b1010}, {0, 0}, {0b1010, 0b1010}});
}

TEST_CASE("match: any and all, of 32 and 64 bits") {
    const auto any = run("match.any.sync.b32 %r1, %r0, 0xffffffff;\ncvt.u64.u32 %d1, %r0;\nshl.b64 %d2, %d1, 32;\nmatch.any.sync.b64 %r2, %d2, 13;", {7, 8, 7, 8, 5, 5});
    CHECK(any == std::vector<std::array<std::uint32_t, 2>>{{0b0101, 0b0101}, {0b1010, 0b1000}, {0b0101, 0b0101}, {0b1010, 0b1000}, {0b11, 0b01}, {0b11, 0b01}});
    const std::string all = "match.all.sync.b32 %r1|%p1, %r0, 0xffffffff;\nselp.u32 %r2, 1, 0, %p1;";
    CHECK(run(all, {4, 4, 4, 4, 9, 9}) == std::vector<std::array<std::uint32_t, 2>>{{15, 1}, {15, 1}, {15, 1}, {15, 1}, {3, 1}, {3, 1}});
    CHECK(run(all, {4, 4, 5, 4}) == std::vector<std::array<std::uint32_t, 2>>{{0, 0}, {0, 0}, {0, 0}, {0, 0}});
}

TEST_CASE("redux and elect, over members") {
    const lanes x{5, 0xfffffffdU, 12, 7};
    const test::words in(x.begin(), x.end());
    const auto one = [&](const std::string& op, const char* mask) { return run("redux.sync." + op + " %r1, %r0, " + mask + ";", in)[2][0]; };
    CHECK(one("add.u32", "15") == 21);
    CHECK(one("add.s32", "13") == 24);
    CHECK(one("min.s32", "15") == 0xfffffffdU);
    CHECK(one("min.u32", "15") == 5);
    CHECK(one("max.s32", "7") == 12);
    CHECK(one("max.u32", "15") == 0xfffffffdU);
    CHECK(one("and.b32", "12") == 4);
    CHECK(one("or.b32", "13") == 15);
    CHECK(one("xor.b32", "13") == (5U ^ 12U ^ 7U));
    const auto who = run("elect.sync %r1|%p1, 14;\nselp.u32 %r2, 1, 0, %p1;", in);
    CHECK(who == std::vector<std::array<std::uint32_t, 2>>{{1, 0}, {1, 1}, {1, 0}, {1, 0}});
}

TEST_CASE("lanes that part meet at a shuffle and at bar.warp.sync") {
    const std::string body = R"(
        setp.eq.u32 %p0, %r0, 0;
        @%p0 bra late;
    turn:
        add.u32 %r1, %r1, 1;
        sub.u32 %r0, %r0, 1;
        setp.ne.u32 %p1, %r0, 0;
        @%p1 bra turn;
        bra.uni joined;
    late:
        mov.u32 %r1, 1000;
    joined:
        bar.warp.sync 0xffffffff;
        shfl.sync.idx.b32 %r2, %r1, 3, 0x1c1f, 0xffffffff;
)";
    CHECK(run(body, {3, 0, 1, 9}) == std::vector<std::array<std::uint32_t, 2>>{{3, 9}, {1000, 9}, {1, 9}, {9, 9}});
}

TEST_CASE("bar.red counts, ands and ors over the block; those that left do not count") {
    const std::string body = R"(
        setp.eq.u32 %p5, %r0, 99;
        @%p5 ret;
        setp.gt.u32 %p0, %r0, 10;
        bar.red.popc.u32 %r1, 0, %p0;
        bar.red.and.pred %p1, 0, %p0;
        bar.red.or.pred %p2, 1, !%p0;
        selp.u32 %r2, 1, 0, %p1;
        selp.u32 %r3, 2, 0, %p2;
        add.u32 %r2, %r2, %r3;
        bar.red.popc.u32 %r4, 0, !%p0;
        mad.lo.u32 %r1, %r4, 100, %r1;
)";
    for (const auto& [in, popc, what] : std::vector<std::tuple<test::words, std::uint32_t, std::uint32_t>>{
             {{11, 12, 13, 14, 15, 16}, 6, 1}, {{11, 2, 13, 4, 15, 99}, 203, 2}, {{1, 2, 3, 4, 5, 6, 7, 8, 9, 10}, 1000, 2}}) {
        const auto got = run(body, in);
        for (std::size_t t = 0; t < in.size(); ++t)
            if (in[t] != 99) CHECK((got[t][0] == popc && got[t][1] == what));
    }
}

TEST_CASE("barriers with names and counts: producers and consumers") {
    const std::string text = R"(.version 7.8
.target sm_75
.address_size 64
.visible .entry k(.param .u64 k_in, .param .u64 k_out)
{
    .reg .pred %p<4>;
    .reg .b32 %r<10>;
    .reg .b64 %d<10>;
    .shared .align 4 .b8 box[16];
    ld.param.u64 %d1, [k_in];
    ld.param.u64 %d2, [k_out];
    mov.u32 %r1, %tid.x;
    and.b32 %r2, %r1, 3;
    mul.wide.u32 %d3, %r1, 4;
    add.s64 %d4, %d1, %d3;
    add.s64 %d5, %d2, %d3;
    shl.b32 %r3, %r2, 2;
    mov.u32 %r4, box;
    add.s32 %r4, %r4, %r3;
    setp.ge.u32 %p1, %r1, 8;
    @%p1 bra others;
    setp.ge.u32 %p2, %r1, 4;
    @%p2 bra take;
    ld.global.u32 %r5, [%d4];
    st.shared.u32 [%r4], %r5;
    bar.sync 3, 8;
    ret;
take:
    barrier.sync 3, 8;
    ld.shared.u32 %r5, [%r4];
    add.s32 %r5, %r5, 1;
    st.global.u32 [%d5], %r5;
    ret;
others:
    st.global.u32 [%d5], 5;
    bar.sync 1, 4;
    st.global.u32 [%d5], 6;
    ret;
}
)";
    const auto r = test::run_text(text, {1, 1, 1}, {12, 1, 1}, {test::buffer_of({10, 20, 30, 40}), test::buffer_of(test::words(12))});
    REQUIRE(r.ended == machine::ending::finished);
    CHECK(r.buffers[1] == test::words{0, 0, 0, 0, 11, 21, 31, 41, 6, 6, 6, 6});
}

TEST_CASE("a barrier that not all come to is a deadlock, and says where") {
    const std::string body = "setp.eq.u32 %p0, %r0, 1;\n@%p0 bra other;\nbar.sync 0;\nbra.uni done;\nother: bar.sync 1;\ndone:\n";
    const auto r = test::run_text(test::kernel_around("ld.global.u32 %r0, [%src];\n" + body), {1, 1, 1}, {4, 1, 1},
                                  {test::buffer_of({1, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0}), test::buffer_of(test::words(16))});
    CHECK(r.ended == machine::ending::trapped);
    CHECK(r.trap == "deadlock");
    CHECK(r.trap_line > 0);
}
