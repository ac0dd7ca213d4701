// SPDX-License-Identifier: MIT
// What a compiled kernel says of itself: parameters and their rows, literals, lines, counts; and what compiling refuses.
#include <qwengpu/ptx/compile.hpp>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "support/catch.hpp"

#include "run_kernel.hpp"

namespace {

using namespace qwengpu;

const std::string head = ".version 7.8\n.target sm_75\n.address_size 64\n";
const std::string registers = ".reg .pred %p<9>;\n.reg .b16 %h<9>;\n.reg .b32 %r<200>;\n.reg .b64 %d<40>;\n.reg .f32 %f<9>;\n.reg .f64 %x<9>;\n";

std::string kernel(const std::string& parameters, const std::string& body) {
    return head + ".visible .entry k(" + parameters + ")\n{\n" + registers + body + "\nret;\n}\n";
}

/// Everything that compiling complains of.
std::vector<ptx::diagnostic> refused(const std::string& text) {
    try {
        (void)test::compile_text(text);
    } catch (const ptx::diagnostic_error& e) {
        return e.all();
    }
    return {};
}

std::string resources(const std::string& text) {
    const auto all = refused(text);
    REQUIRE(all.size() == 1);
    CHECK(all[0].id == "ptx.resources");
    return all[0].message;
}

bool contains(const std::string& text, const std::string& part) { return text.find(part) != text.npos; }

}  // namespace

TEST_CASE("parameters get rows for the words that are read, pointers one") {
    const auto k = test::compile_text(kernel(".param .u64 k_p, .param .u32 k_unused, .param .s64 k_wide, .param .align 4 .b8 k_struct[12]", R"(
        ld.param.u64 %d1, [k_p];
        ld.param.u64 %d2, [k_wide];
        ld.param.u32 %r1, [k_struct+4];
        shr.s64 %d3, %d2, 32;
        cvt.u32.u64 %r2, %d3;
        add.s32 %r3, %r1, %r2;
        st.global.u32 [%d1], %r3;)"));
    const auto& p = k.program.parameters;
    REQUIRE(p.size() == 4);
    CHECK((p[0].name == "k_p" && p[0].is_pointer && p[0].bytes == 8 && p[0].rows == 1 && p[0].first_row == 13));
    CHECK((p[1].name == "k_unused" && !p[1].is_pointer && p[1].bytes == 4 && p[1].rows == 0));
    CHECK((p[2].name == "k_wide" && !p[2].is_pointer && p[2].bytes == 8 && p[2].rows == 2 && p[2].first_row == 14));
    CHECK((p[3].name == "k_struct" && p[3].bytes == 12 && p[3].rows == 2 && p[3].first_row == 16));
    const auto r = test::run_program(k.program, {1, 1, 1}, {1, 1, 1},
                                     {test::buffer_of({0}), test::number(0), test::number(0x700000000ULL), {false, {1, 20, 3}}});
    CHECK(r.buffers[0][0] == 27);
}

TEST_CASE("parts of parameters and 64-bit numbers that are added to pointers") {
    const std::string text = kernel(".param .u64 k_p, .param .u64 k_bytes, .param .align 2 .b8 k_parts[4]", R"(
        ld.param.u64 %d1, [k_p];
        ld.param.u64 %d2, [k_bytes];
        cvta.to.global.u64 %d1, %d1;
        add.s64 %d3, %d1, %d2;
        ld.param.s8 %h1, [k_parts+1];
        ld.param.u16 %h2, [k_parts+2];
        cvt.s32.s16 %r1, %h1;
        cvt.u32.u16 %r2, %h2;
        setp.lt.s64 %p1, %d2, 0;
        selp.b32 %r3, 1000, 0, %p1;
        mad.lo.s32 %r1, %r1, 100000, %r2;
        add.s32 %r1, %r1, %r3;
        st.global.u32 [%d3], %r1;)");
    const auto k = test::compile_text(text);
    CHECK(k.program.parameters[0].is_pointer);
    CHECK_FALSE(k.program.parameters[1].is_pointer);
    const auto r = test::run_program(k.program, {1, 1, 1}, {1, 1, 1},
                                     {test::buffer_of({0, 0}), test::number(4), {false, {0x1234fe00U}}});
    CHECK(r.buffers[0] == test::words{0, static_cast<std::uint32_t>(-200000 + 0x1234)});
}

TEST_CASE("literals of more than 16 bits are pooled behind the parameters; others are in the blocks") {
    const auto k = test::compile_text(kernel(".param .u64 k_p", R"(
        ld.param.u64 %d1, [k_p];
        ld.global.u32 %r1, [%d1];
        xor.b32 %r1, %r1, 123456789;
        mul.lo.s32 %r1, %r1, 305419896;
        add.s32 %r1, %r1, 123456789;
        sub.s32 %r1, %r1, 32768;
        st.global.u32 [%d1], %r1;)"));
    std::vector<std::uint32_t> values;
    for (const auto& l : k.program.literals) {
        CHECK(l.row >= 14);
        values.push_back(l.value);
    }
    std::sort(values.begin(), values.end());
    // 123456789 - 32768 became one literal.
    CHECK(values == std::vector<std::uint32_t>{123456789 - 32768, 123456789, 305419896});
}

TEST_CASE("blocks know their lines and files") {
    const auto k = test::compile_text(head + ".file 3 \"three.cu\"\n.file 7 \"seven.cu\"\n.visible .entry k(.param .u64 k_p)\n{\n" + registers +
                                      ".loc 7 41 1\nld.param.u64 %d1, [k_p];\n.loc 7 42 1\nld.global.u32 %r1, [%d1];\n.loc 3 9 1\nst.global.u32 [%d1+4], %r1;\nret;\n}\n");
    REQUIRE(k.program.cuda_files.size() == 2);
    const auto& notes = k.program.notes;
    REQUIRE(notes.size() == 2);
    CHECK((notes[0].stages[1].ptx_line == 17 && notes[0].stages[1].cuda_line == 42));
    CHECK(k.program.cuda_files[static_cast<std::size_t>(notes[0].stages[1].cuda_file)] == "seven.cu");
    CHECK((notes[1].store.ptx_line == 19 && notes[1].store.cuda_line == 9));
    CHECK(k.program.cuda_files[static_cast<std::size_t>(notes[1].store.cuda_file)] == "three.cu");
    CHECK(notes[0].ptx_instructions + notes[1].ptx_instructions == 4);
    CHECK(k.ptx_instructions == 4);
    CHECK(k.registers == 1);
}

TEST_CASE("all that is not supported is listed at once, with line, column, reason and remedy") {
    const auto all = refused(kernel(".param .u64 k_p", R"(
        ld.param.u64 %d1, [k_p];
        add.f64 %x1, %x2, %x3;
        ld.global.u32 %r9, [%d1];
          bar.arrive 0, 6;
        red.global.add.f64 [%d1], %x1;
        bar.sync 8;
        bar.sync 1, 6;
        mov.u32 %r4, %clock;)"));
    REQUIRE(all.size() == 6);
    for (const auto& d : all) CHECK(d.id == "ptx.unsupported");
    CHECK((all[0].where.line == 14 && all[0].where.column == 9));
    CHECK((contains(all[0].message, "add.f64") && contains(all[0].message, "64-bit floats")));
    CHECK((all[1].where.line == 16 && all[1].where.column == 11 && contains(all[1].message, "bar.arrive")));
    CHECK((all[2].where.line == 17 && contains(all[2].message, "red.global.add.f64")));
    CHECK((all[3].where.line == 18 && contains(all[3].message, "the numbers 0 to 7")));
    CHECK((all[4].where.line == 19 && contains(all[4].message, "a multiple of the warp size")));
    CHECK((all[5].where.line == 20 && contains(all[5].message, "%clock")));
}

TEST_CASE("what calls cannot be copied in is refused") {
    const std::string text = head + R"(.func again(.param .b32 n)
{
    .reg .b32 %r<3>;
    ld.param.u32 %r1, [n];
    {
    .param .b32 m;
    st.param.b32 [m], %r1;
    call again, (m);
    }
    ret;
}
.extern .func elsewhere;
.visible .entry k()
{
    {
    .param .b32 m;
    st.param.b32 [m], 1;
    call again, (m);
    }
    call elsewhere;
    ret;
}
)";
    const auto all = refused(text);
    REQUIRE(all.size() == 2);
    CHECK(contains(all[0].message, "recursive call: again"));
    CHECK(contains(all[1].message, "elsewhere has no body"));
}

TEST_CASE("functions that call each other in a circle are named in their order") {
    const std::string text = head + R"(
.func one();
.func three() { call one; ret; }
.func two() { call three; ret; }
.func one() { call two; ret; }
.visible .entry k() { call two; ret; }
)";
    const auto all = refused(text);
    REQUIRE(all.size() == 1);
    CHECK(contains(all[0].message, "recursive call: two calls three calls one calls two, and there is no stack"));
}

TEST_CASE("a kernel that does not fit says what is missing, and soon") {
    const auto begin = std::chrono::steady_clock::now();
    SECTION("registers") {
        std::string body = "ld.param.u64 %d1, [k_p];\n";
        for (int k = 0; k < 90; ++k) body += "ld.volatile.global.u32 %r" + std::to_string(k) + ", [%d1];\n";
        for (int k = 90; k-- > 0;) body += "st.global.u32 [%d1], %r" + std::to_string(k) + ";\n";
        const std::string message = resources(kernel(".param .u64 k_p", body));
        CHECK((contains(message, "needs 90 registers at line") || contains(message, "needs 89 registers at line")));
        CHECK(contains(message, "15 are there, and its variables and the values that find no register take"));
        CHECK((contains(message, "48 are there, so 27 are missing") || contains(message, "48 are there, so 26 are missing")));
    }
    SECTION("program memory") {
        std::string body = "ld.param.u64 %d1, [k_p];\n";
        for (int k = 0; k < 20'000; ++k) body += "ld.volatile.global.u32 %r1, [%d1];\nst.global.u32 [%d1], %r1;\n";
        const std::string message = resources(kernel(".param .u64 k_p", body));
        CHECK(contains(message, "needs at least 40000 machine blocks"));
        CHECK(contains(message, "of 1023"));
    }
    SECTION("constants") {
        std::string parameters = ".param .u64 k_p", body = "ld.param.u64 %d1, [k_p];\nmov.u32 %r1, 0;\n";
        for (int k = 0; k < 130; ++k) {
            parameters += ", .param .u32 k_" + std::to_string(k);
            body += "ld.param.u32 %r2, [k_" + std::to_string(k) + "];\nxor.b32 %r1, %r1, %r2;\nadd.s32 %r1, %r1, %r1;\n";
        }
        CHECK(contains(resources(kernel(parameters, body + "st.global.u32 [%d1], %r1;\n")), "needs 144 rows of constants; 128 are there"));
    }
    SECTION("branches") {
        std::string body = "ld.param.u64 %d1, [k_p];\nld.global.u32 %r1, [%d1];\n";
        for (int k = 0; k < 5'000; ++k) {
            const std::string n = std::to_string(k);
            body += "setp.eq.s32 %p1, %r1, " + n + ";\n@%p1 bra L" + n + ";\nadd.s32 %r1, %r1, %r1;\nL" + n + ":\n";
        }
        CHECK(contains(resources(kernel(".param .u64 k_p", body + "st.global.u32 [%d1], %r1;\n")), "5000 conditional branches"));
    }
    CHECK(std::chrono::steady_clock::now() - begin < std::chrono::seconds(30));
}

TEST_CASE("more literals than rows: the rest is made by instructions") {
    std::string body = "ld.param.u64 %d1, [k_p];\nld.global.u32 %r1, [%d1];\n";
    std::uint32_t want = 12345;
    for (std::uint32_t k = 0; k < 160; ++k) {
        const std::uint32_t literal = 0x80000000U + 77'777'777 * k;
        body += "xor.b32 %r1, %r1, " + std::to_string(literal) + ";\nadd.s32 %r1, %r1, %r1;\n";
        want = 2 * (want ^ literal);
    }
    const auto k = test::compile_text(kernel(".param .u64 k_p", body + "st.global.u32 [%d1], %r1;\n"));
    CHECK(k.program.literals.size() == 114);
    CHECK(test::run_program(k.program, {1, 1, 1}, {1, 1, 1}, {test::buffer_of({12345})}).buffers[0][0] == want);
}

TEST_CASE("too large a program says which parts are the largest, and what helps") {
    std::string body = "ld.param.u64 %d1, [k_p];\n.loc 1 5 1\n";
    for (int k = 0; k < 700; ++k) body += "ld.volatile.global.u32 %r1, [%d1];\nst.volatile.global.u32 [%d1], %r1;\n";
    const std::string message = resources(head + ".file 1 \"big.cu\"\n" + kernel(".param .u64 k_p", body).substr(head.size()));
    CHECK(contains(message, "needs at least 1400 machine blocks of 1023"));
    CHECK((contains(message, "PTX lines 15 to 1414 (CUDA lines 5), at least 1400 blocks") && contains(message, "#pragma unroll 1")));
}

TEST_CASE("a machine with fewer registers or blocks is served too") {
    static constexpr machine::sizes small{.lanes = 4, .warps = 2, .registers = 4, .words = 32, .constants = 32, .blocks = 8};
    const auto m = ptx::read(test::kernel_around("ld.global.u32 %r1, [%src];\nmad.lo.s32 %r2, %r1, 77, %r1;\nst.global.u32 [%dst], %r2;"), "t.ptx");
    const auto k = ptx::compile_kernel<small>(m, "k");
    CHECK(machine::violations<small>(k.program).empty());
    CHECK(k.registers <= 3);
    CHECK(std::any_of(k.program.blocks.begin(), k.program.blocks.end(), [](const machine::machine_block& b) { return b.next == small.exit_block(); }));
}
