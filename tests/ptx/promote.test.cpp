// SPDX-License-Identifier: MIT
// Local variables that are reached through pointers kept in local variables, as unoptimised code does everywhere: they become
// values where every pointer is known in the end, and stay in memory where one is not. The results are the same in both cases.
#include <qwengpu/ptx/compile.hpp>

#include <string>

#include "support/catch.hpp"

#include "run_kernel.hpp"

namespace {

using namespace qwengpu;

struct outcome {
    int local_words = 0;
    test::words out;
};

/// Two threads, each with one word in %r1; `body` leaves its result in %r9. `box` are 32 words, at %SP.
outcome run(const std::string& body, const test::words& in, const std::string& functions = {}) {
    std::string text = test::kernel_around(".local .align 8 .b8 box[128];\n.reg .b64 %SP, %SPL;\nmov.u64 %SPL, box;\ncvta.local.u64 %SP, %SPL;\nld.global.u32 %r1, [%src];\n" + body +
                                           "\nst.global.u32 [%dst], %r9;\n");
    text.insert(text.find(".visible"), functions);
    const auto program = test::compile_text(text).program;
    test::words padded;
    for (std::uint32_t x : in) padded.insert(padded.end(), {x, 0, 0, 0});
    const auto r = test::run_program(program, {1, 1, 1}, {static_cast<std::uint32_t>(in.size()), 1, 1}, {test::buffer_of(padded), test::buffer_of(test::words(padded.size()))});
    REQUIRE(r.ended == machine::ending::finished);
    outcome o{program.local_words, {}};
    for (std::size_t t = 0; t < in.size(); ++t) o.out.push_back(r.buffers[1][4 * t]);
    return o;
}

}  // namespace

TEST_CASE("a pointer in the same frame as what it points to") {
    const auto o = run(R"(
        add.u64 %d1, %SP, 16;
        st.u64 [%SP+8], %d1;
        st.u32 [%SP+16], %r1;
        ld.u64 %d2, [%SP+8];
        ld.u32 %r2, [%d2];
        add.s32 %r2, %r2, 5;
        st.u32 [%d2+4], %r2;
        st.u32 [%d2], 7;
        ld.u32 %r3, [%SP+16];
        ld.u32 %r4, [%SP+20];
        mad.lo.s32 %r9, %r3, 1000, %r4;)", {10, 20});
    CHECK(o.local_words == 0);
    CHECK(o.out == test::words{7015, 7025});
}

TEST_CASE("pointers to pointers, three deep, and a loop that writes through them") {
    const auto o = run(R"(
        add.u64 %d1, %SP, 32;
        st.u64 [%SP], %d1;
        st.u64 [%SP+8], %SP;
        add.u64 %d2, %SP, 8;
        st.u64 [%SP+16], %d2;
        st.u32 [%SP+32], 1;
    again:
        ld.u64 %d3, [%SP+16];
        ld.u64 %d3, [%d3];
        ld.u64 %d3, [%d3];
        ld.u32 %r2, [%d3];
        shl.b32 %r2, %r2, 1;
        st.u32 [%d3], %r2;
        ld.u32 %r3, [%SP+32];
        setp.lt.u32 %p1, %r3, %r1;
        @%p1 bra again;
        ld.u32 %r9, [%SP+32];)", {10, 100});
    CHECK(o.local_words == 0);
    CHECK(o.out == test::words{16, 128});
}

TEST_CASE("a pointer that is tested for null and handed to a function which keeps it in a frame of its own") {
    const std::string function = R"(.func set(.param .b64 where, .param .b32 what)
{
    .reg .b64 %a, %b, %s;
    .reg .b32 %x;
    .reg .pred %p;
    .local .align 8 .b8 mine[16];
    mov.u64 %s, mine;
    cvta.local.u64 %s, %s;
    ld.param.u64 %a, [where];
    ld.param.u32 %x, [what];
    st.u64 [%s], %a;
    st.u32 [%s+8], %x;
    ld.u64 %b, [%s];
    setp.eq.s64 %p, %b, 0;
    @%p bra nothing;
    ld.u32 %x, [%s+8];
    st.u32 [%b+4], %x;
nothing:
    ret;
}
)";
    const std::string call = R"(
        {
        .param .b64 a;
        .param .b32 b;
        st.param.b64 [a], %d1;
        st.param.b32 [b], %r1;
        call.uni set, (a, b);
        }
        ld.u32 %r9, [%SP+12];)";
    const auto o = run("st.u32 [%SP+12], 3;\nadd.u64 %d1, %SP, 8;\n" + call, {10, 20}, function);
    CHECK(o.local_words == 0);
    CHECK(o.out == test::words{10, 20});
    CHECK(run("st.u32 [%SP+12], 3;\nmov.u64 %d1, 0;\n" + call, {10, 20}, function).out == test::words{3, 3});
}

TEST_CASE("a pointer that may be one of two stays in memory, with all that it may point to") {
    const auto o = run(R"(
        add.u64 %d1, %SP, 16;
        add.u64 %d2, %SP, 24;
        setp.gt.s32 %p1, %r1, 15;
        selp.b64 %d3, %d1, %d2, %p1;
        st.u64 [%SP], %d3;
        st.u32 [%SP+16], 1;
        st.u32 [%SP+24], 2;
        ld.u64 %d4, [%SP];
        st.u32 [%d4], %r1;
        ld.u32 %r2, [%SP+16];
        ld.u32 %r3, [%SP+24];
        mad.lo.s32 %r9, %r2, 1000, %r3;)", {10, 20});
    CHECK(o.local_words > 0);
    CHECK(o.out == test::words{1010, 20002});
}

TEST_CASE("an index through a pointer that memory holds reaches what was written at known places") {
    const auto o = run(R"(
        st.u64 [%SP], %SP;
        st.u32 [%SP+16], 11;
        st.u32 [%SP+20], 22;
        st.u32 [%SP+24], 33;
        ld.u64 %d1, [%SP];
        mul.wide.u32 %d2, %r1, 4;
        add.s64 %d3, %d1, %d2;
        st.u32 [%d3+16], 99;
        ld.u32 %r2, [%SP+16];
        ld.u32 %r3, [%SP+20];
        ld.u32 %r4, [%SP+24];
        mad.lo.s32 %r2, %r2, 100, %r3;
        mad.lo.s32 %r9, %r2, 100, %r4;)", {1, 2});
    CHECK(o.local_words > 0);
    CHECK(o.out == test::words{119933, 112299});
}

TEST_CASE("a pointer through which a part of a word is written, and one that changes in a loop") {
    const auto part = run(R"(
        add.u64 %d1, %SP, 17;
        st.u64 [%SP], %d1;
        st.u32 [%SP+16], %r1;
        ld.u64 %d2, [%SP];
        st.u8 [%d2], 171;
        ld.u32 %r9, [%SP+16];)", {0x11223344, 0xffffffff});
    CHECK(part.local_words == 0);
    CHECK(part.out == test::words{0x1122ab44, 0xffffabff});
    const auto moving = run(R"(
        add.u64 %d1, %SP, 16;
        st.u64 [%SP], %d1;
        st.u32 [%SP+16], 5;
        st.u32 [%SP+20], 6;
        st.u32 [%SP+24], 7;
        mov.u32 %r2, 0;
    again:
        ld.u64 %d2, [%SP];
        ld.u32 %r3, [%d2];
        add.u32 %r2, %r2, %r3;
        st.u32 [%d2], %r2;
        add.u64 %d2, %d2, 4;
        st.u64 [%SP], %d2;
        sub.u32 %r1, %r1, 1;
        setp.gt.u32 %p1, %r1, 0;
        @%p1 bra again;
        ld.u32 %r3, [%SP+20];
        mad.lo.u32 %r9, %r2, 100, %r3;)", {1, 3});
    CHECK(moving.local_words > 0);
    CHECK(moving.out == test::words{506, 1811});
}
