// SPDX-License-Identifier: MIT
// Shared, local, constant and module memory, generic addresses, parameters by address, and values that go to local memory for
// want of registers; all in hand-written PTX with results worked out on the host.
#include <qwengpu/ptx/compile.hpp>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "support/catch.hpp"

#include "run_kernel.hpp"

namespace {

using namespace qwengpu;

const std::string head = ".version 7.8\n.target sm_75\n.address_size 64\n";

bool uses_local_memory(const machine::program& p) {
    return std::any_of(p.blocks.begin(), p.blocks.end(), [](const machine::machine_block& b) { return b.mem.is_private; });
}

/// The kernel around `body` (run_kernel.hpp) behind `variables` of the module, compiled.
machine::program program_of(const std::string& variables, const std::string& body) {
    std::string text = test::kernel_around(body);
    text.insert(text.find(".visible"), variables + "\n");
    return test::compile_text(text).program;
}

test::kernel_run run(const machine::program& p, std::uint32_t threads, const test::words& in, int dynamic_words = 0) {
    auto r = test::run_program(p, {1, 1, 1}, {threads, 1, 1}, {test::buffer_of(in), test::buffer_of(test::words(4 * threads))}, 100'000, dynamic_words);
    INFO(r.trap << " line " << r.trap_line);
    REQUIRE(r.ended == machine::ending::finished);
    return r;
}

test::words firsts(const test::words& all) {
    test::words found;
    for (std::size_t k = 0; k < all.size(); k += 4) found.push_back(all[k]);
    return found;
}

std::string refusal(const std::string& variables, const std::string& body) {
    try {
        (void)program_of(variables, body);
    } catch (const error& e) {
        return e.id() + ": " + e.message();
    }
    return "";
}

}  // namespace

TEST_CASE("shared variables lie side by side, aligned, and only those that are used; dynamic ones behind them") {
    const auto p = program_of(".shared .align 4 .b8 unused[500];\n.shared .align 1 .b8 bytes[3];\n.shared .align 8 .b8 wide[16];\n.extern .shared .align 16 .b8 more[];", R"(
        mov.u32 %r1, bytes;
        mov.u64 %d1, wide;
        mov.u32 %r2, more;
        st.global.u32 [%dst], %r1;
        st.global.u64 [%dst+4], %d1;
        st.global.u32 [%dst+12], %r2;)");
    CHECK(p.shared_words == 5);
    CHECK(p.dynamic_shared_word == 8);
    const auto r = run(p, 1, {0}, 4);
    CHECK(r.buffers[1] == test::words{0xe8000004U, 0xe8000008U, 0, 0xe8000020U});
}

TEST_CASE("dynamic shared memory, through a pointer and by its name") {
    const auto p = program_of(".extern .shared .align 4 .b8 box[];", R"(
        shl.b32 %r1, %t, 2;
        mov.u32 %r2, box;
        add.s32 %r2, %r2, %r1;
        add.s32 %r3, %t, 40;
        st.shared.u32 [%r2], %r3;
        bar.sync 0;
        ld.shared.u32 %r4, [box+8];
        mov.u64 %d1, box;
        cvta.shared.u64 %d1, %d1;
        ld.u32 %r5, [%d1+12];
        mad.lo.u32 %r4, %r4, 100, %r5;
        st.global.u32 [%dst], %r4;)");
    CHECK(firsts(run(p, 4, {0}, 4).buffers[1]) == test::words(4, 4243));
}

TEST_CASE("shared memory that is not declared is out of bounds") {
    const auto p = program_of(".shared .align 4 .b8 box[8];", "mov.u32 %r1, box;\nld.shared.u32 %r2, [%r1+8];\nst.global.u32 [%dst], %r2;");
    const auto r = test::run_program(p, {1, 1, 1}, {1, 1, 1}, {test::buffer_of({0}), test::buffer_of({0})});
    CHECK(r.trap == "out of bounds");
}

TEST_CASE("too much shared or local memory is refused with numbers") {
    const std::string use = "mov.u32 %r1, %t;\nmov.u64 %d1, box;\nmul.wide.u32 %d2, %r1, 4;\nadd.u64 %d1, %d1, %d2;\n";
    CHECK(refusal(".shared .align 4 .b8 box[508];", use + "st.shared.u32 [%d1], %r1;") ==
          "ptx.resources: kernel k asks for 508 bytes of shared memory (127 words); 504 (126 words) are there; use smaller arrays");
    CHECK(refusal(".shared .align 4 .b8 box[504];", use + "st.shared.u32 [%d1], %r1;").empty());
    CHECK(refusal("", ".local .align 4 .b8 box[196];\n" + use + "st.local.u32 [%d1], %r1;").find("needs 49 of 48 words of local memory") != std::string::npos);
    CHECK(refusal("", ".local .align 4 .b8 box[192];\n" + use + "st.local.u32 [%d1], %r1;").empty());
    const std::string reserve = "mov.u32 %r3, %reserved_smem_offset_1;\nst.shared.u32 [%r3], %r1;\n";
    CHECK(refusal(".shared .align 4 .b8 box[468];", use + reserve + "st.shared.u32 [%d1], %r1;") ==
          "ptx.resources: kernel k asks for 468 bytes of shared memory, and the 40 that cooperative groups reserve (127 words); 504 (126 words) are there; use smaller arrays");
    CHECK(refusal(".shared .align 4 .b8 box[460];", use + reserve + "st.shared.u32 [%d1], %r1;").empty());
}

TEST_CASE("the shared memory that is reserved is there if it is named, apart from what is declared") {
    const std::string body = R"(
        mov.u32 %r1, box;
        mov.u32 %r2, %reserved_smem_offset_begin;
        mov.u32 %r3, %reserved_smem_offset_end;
        mov.u32 %r4, %reserved_smem_offset_cap;
        mov.u32 %r5, %reserved_smem_offset_1;
        cvt.u64.u32 %d1, %r5;
        cvta.shared.u64 %d2, %d1;
        isspacep.shared %p1, %d2;
        st.shared.u32 [%r1+4], 5;
        st.u32 [%d2], 9;
        ld.shared.u32 %r6, [%r5];
        ld.shared.u32 %r7, [%r1+4];
        sub.u32 %r8, %r3, %r2;
        xor.b32 %r8, %r8, %r4;
        selp.u32 %r9, 1, 0, %p1;
        st.global.u32 [%dst], %r6;
        st.global.u32 [%dst+4], %r7;
        st.global.u32 [%dst+8], %r8;
        st.global.u32 [%dst+12], %r9;)";
    const auto p = program_of(".shared .align 4 .b8 box[8];", body);
    CHECK(p.shared_words == 13);
    CHECK(run(p, 1, {0}).buffers[1] == test::words{9, 5, 0, 1});
    CHECK(program_of(".shared .align 4 .b8 box[8];", "mov.u32 %r1, box;\nst.shared.u32 [%r1], 1;").shared_words == 2);
}

TEST_CASE("module variables begin with their values, also where these are addresses") {
    const auto p = program_of(R"(.const .align 4 .u32 table[3] = {7, 8, 9};
.global .align 2 .u16 halves[3] = {1, 65535, 3};
.global .align 8 .u64 link = table+4;
.global .align 4 .u32 never = 5;)", R"(
        mul.wide.u32 %d1, %t, 4;
        mov.u64 %d2, table;
        add.s64 %d2, %d2, %d1;
        ld.const.u32 %r1, [%d2];
        ld.global.u64 %d3, [link];
        ld.u32 %r2, [%d3];
        ld.global.s16 %h1, [halves+2];
        cvt.s32.s16 %r3, %h1;
        mad.lo.u32 %r1, %r1, 100, %r2;
        add.s32 %r1, %r1, %r3;
        st.global.u32 [%dst], %r1;)");
    CHECK(p.variables.size() == 3);
    CHECK(firsts(run(p, 3, {0}).buffers[1]) == test::words{707, 807, 907});
}

TEST_CASE("an address in a packed structure begins byte by byte") {
    const auto p = program_of(R"(.const .align 4 .u32 table[80] = {7, 8, 9};
.global .align 1 .u8 packed[10] = {5, 0xFF(generic(table)+4), 0xFF00(generic(table)+4), 0xFF0000(generic(table)+4), 0xFF000000(generic(table)+4),
    0xFF00000000(generic(table)+4), 0xFF0000000000(generic(table)+4), 0xFF000000000000(generic(table)+4), 0xFF00000000000000(generic(table)+4), 6};)", R"(
        ld.global.u8 %r1, [packed+1];
        ld.global.u8 %r2, [packed+2];
        prmt.b32 %r1, %r1, %r2, 0x5540;
        ld.global.u8 %r2, [packed+3];
        shl.b32 %r2, %r2, 16;
        or.b32 %r1, %r1, %r2;
        ld.global.u8 %r2, [packed+4];
        shl.b32 %r2, %r2, 24;
        or.b32 %r1, %r1, %r2;
        cvt.u64.u32 %d1, %r1;
        ld.u32 %r3, [%d1];
        ld.global.u8 %r2, [packed];
        mad.lo.u32 %r3, %r3, 100, %r2;
        ld.global.u8 %r2, [packed+5];
        ld.global.u8 %r1, [packed+8];
        add.u32 %r2, %r2, %r1;
        ld.global.u8 %r1, [packed+9];
        mad.lo.u32 %r2, %r2, 1000, %r1;
        mad.lo.u32 %r3, %r3, 100, %r2;
        st.global.u32 [%dst], %r3;)");
    CHECK(firsts(run(p, 1, {0}).buffers[1]) == test::words{(8 * 100 + 5) * 100 + 6});
    CHECK(refusal(".global .u8 b[2] = {0xF0(t)};\n.global .u32 t = 1;", "").find("a mask of one byte") != std::string::npos);
}

TEST_CASE("local variables at known places are values; those with an index are in local memory") {
    const std::string depot = ".local .align 8 .b8 box[24];\n.reg .b64 %SP;\n.reg .b64 %SPL;\nmov.u64 %SPL, box;\ncvta.local.u64 %SP, %SPL;\nld.global.u32 %r1, [%src];\n";
    const auto known = program_of("", depot + R"(
        st.u32 [%SP], %r1;
        st.local.u32 [%SPL+4], 0;
        st.u8 [%SP+5], %r1;
        st.u16 [%SP+6], 513;
    again:
        ld.u32 %r2, [%SP];
        add.s32 %r2, %r2, 3;
        st.u32 [%SP], %r2;
        setp.lt.s32 %p1, %r2, 20;
        @%p1 bra again;
        ld.local.u32 %r3, [%SPL+4];
        ld.s8 %r4, [%SP+5];
        xor.b32 %r3, %r3, %r2;
        st.global.u32 [%dst], %r3;
        st.global.u32 [%dst+4], %r4;)");
    CHECK_FALSE(uses_local_memory(known));
    CHECK(known.local_words == 0);
    const auto r = run(known, 2, {200, 0, 0, 0, 7});
    CHECK(r.buffers[1] == test::words{0x0201c800U ^ 203U, static_cast<std::uint32_t>(-56), 0, 0, 0x02010700U ^ 22U, 7, 0, 0});

    const auto indexed = program_of("", depot + R"(
        mul.wide.u32 %d1, %r1, 4;
        add.s64 %d2, %SP, %d1;
        st.u32 [%SP], 11;
        st.u32 [%SP+4], 22;
        st.u32 [%SP+8], 33;
        st.u32 [%d2], %t;
        ld.local.u32 %r2, [%SPL];
        ld.local.u32 %r3, [%SPL+4];
        ld.local.u32 %r4, [%SPL+8];
        st.global.u32 [%dst], %r2;
        st.global.u32 [%dst+4], %r3;
        st.global.u32 [%dst+8], %r4;)");
    CHECK(uses_local_memory(indexed));
    CHECK(indexed.local_words == 6);
    CHECK(run(indexed, 2, {2, 0, 0, 0, 1}).buffers[1] == test::words{11, 22, 0, 0, 11, 1, 33, 0});
}

TEST_CASE("functions get pointers to local and shared variables, and their frames share words") {
    const std::string callee = R"(.func bump(.param .b64 p)
{
    .local .align 4 .b8 own[64];
    .reg .b64 %d<4>;
    .reg .b32 %r<5>;
    ld.param.u64 %d1, [p];
    ld.u32 %r1, [%d1];
    and.b32 %r2, %r1, 7;
    mul.wide.u32 %d2, %r2, 4;
    mov.u64 %d3, own;
    add.s64 %d3, %d3, %d2;
    st.local.u32 [%d3], %r1;
    ld.local.u32 %r3, [%d3];
    add.s32 %r3, %r3, 100;
    st.u32 [%d1], %r3;
    ret;
}
.shared .align 4 .b8 box[16];)";
    const std::string call = "{\n.param .b64 q;\nst.param.b64 [q], %d5;\ncall.uni bump, (q);\n}\n";
    const auto p = program_of(callee, R"(
        .local .align 4 .b8 mine[8];
        mov.u64 %d4, mine;
        cvta.local.u64 %d5, %d4;
        st.local.u32 [%d4], %t;
)" + call + call + R"(
        ld.local.u32 %r1, [%d4];
        mul.wide.u32 %d6, %t, 4;
        mov.u64 %d7, box;
        add.s64 %d7, %d7, %d6;
        st.shared.u32 [%d7], %r1;
        cvta.shared.u64 %d5, %d7;
)" + call + "ld.shared.u32 %r2, [%d7];\nst.global.u32 [%dst], %r2;\n");
    // `mine` became values: with the calls copied in, its address is known everywhere. The three frames are one.
    CHECK(p.local_words == 16);
    CHECK(firsts(run(p, 4, {0}).buffers[1]) == test::words{300, 301, 302, 303});
}

TEST_CASE("structures by value, read through an address") {
    const auto k = test::compile_text(head + R"(.visible .entry k(.param .align 8 .b8 k_s[16], .param .u64 k_out)
{
    .reg .b64 %d<6>;
    .reg .b32 %r<6>;
    .reg .b16 %h<3>;
    mov.b64 %d1, k_s;
    mov.u64 %d2, %d1;
    add.s64 %d3, %d2, 8;
    ld.param.u32 %r1, [%d3+4];
    ld.param.u16 %h1, [%d2+8];
    cvt.u32.u16 %r2, %h1;
    ld.param.u64 %d4, [k_s];
    ld.param.u64 %d5, [k_out];
    ld.global.u32 %r3, [%d4];
    mad.lo.u32 %r1, %r1, %r2, %r3;
    st.global.u32 [%d5], %r1;
    ret;
}
)");
    auto image = machine::make_launch<machine::mission>(k.program, {1, 1, 1}, {1, 1, 1});
    const auto in = machine::add_buffer(image, test::words{1000}), out = machine::add_buffer(image, test::words{0});
    machine::set_parameter(image, 0, test::words{in.pointer(), 0, 0x50003, 7});
    machine::set_parameter(image, 1, test::words{out.pointer(), 0});
    CHECK(machine::words_of(machine::emulate(image), out) == test::words{1021});
}

TEST_CASE("trap behind a branch, and an assertion that fails, name their lines") {
    const auto k = test::compile_text(head + R"(.extern .func __assertfail(.param .b64 a);
.visible .entry k(.param .u64 k_p)
{
    .reg .pred %p<4>;
    .reg .b32 %r<4>;
    .reg .b64 %d<4>;
    ld.param.u64 %d1, [k_p];
    ld.global.u32 %r1, [%d1];
    setp.ne.u32 %p1, %r1, 1;
    @%p1 bra fine;
    trap;
fine:
    setp.lt.u32 %p2, %r1, 10;
    @%p2 bra good;
    {
    .param .b64 a;
    st.param.b64 [a], %d1;
    call.uni __assertfail, (a);
    }
good:
    st.global.u32 [%d1], 5;
    ret;
}
)");
    const auto outcome = [&](std::uint32_t n) { return test::run_program(k.program, {1, 1, 1}, {1, 1, 1}, {test::buffer_of({n})}); };
    CHECK(outcome(3).buffers[0][0] == 5);
    CHECK(outcome(1).trap_line == 14);
    CHECK(outcome(10).trap_line == 21);
}

TEST_CASE("trap names its line, each one its own") {
    const std::string body = "ld.global.u32 %r1, [%src];\nsetp.eq.u32 %p1, %r1, 1;\n@%p1 trap;\nsetp.eq.u32 %p2, %r1, 2;\n@%p2 trap;\nst.global.u32 [%dst], 5;";
    const auto k = test::compile_text(test::kernel_around(body));
    const auto outcome = [&](std::uint32_t n) { return test::run_program(k.program, {1, 1, 1}, {1, 1, 1}, {test::buffer_of({n}), test::buffer_of({0})}); };
    CHECK(outcome(3).buffers[1][0] == 5);
    const int first = outcome(1).trap_line, second = outcome(2).trap_line;
    CHECK(outcome(1).trap == "illegal block");
    CHECK(first > 0);
    CHECK(second == first + 2);
}
