// SPDX-License-Identifier: MIT
// Calls through pointers: chosen by select, loaded from tables that memory begins with or that the kernel writes, with parameters
// in registers and in .param variables; what they may mean and what they may not; pointers that mean nothing trap at their line.
#include <qwengpu/ptx/function_pointer.hpp>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "support/catch.hpp"

#include "run_kernel.hpp"

namespace {

using namespace qwengpu;

/// Three functions of two words, one of a word and a pair, a table of pointers, and the kernel of `kernel_around`.
std::string file_around(const std::string& body, const std::string& more = {}) {
    std::string text = test::kernel_around(body);
    const std::string functions = R"(
.func (.param .b32 z) plus(.param .b32 a, .param .b32 b)
{ .reg .b32 %x, %y; ld.param.b32 %x, [a]; ld.param.b32 %y, [b]; add.s32 %x, %x, %y; st.param.b32 [z], %x; ret; }
.func (.param .b32 z) minus(.param .b32 a, .param .b32 b)
{ .reg .b32 %x, %y; ld.param.b32 %x, [a]; ld.param.b32 %y, [b]; sub.s32 %x, %x, %y; st.param.b32 [z], %x; ret; }
.func (.param .b32 z) power(.param .b32 a, .param .b32 b)
{
    .reg .b32 %x, %y, %p; .reg .pred %q;
    ld.param.b32 %x, [a]; ld.param.b32 %y, [b]; mov.u32 %p, 1;
again: setp.eq.s32 %q, %y, 0; @%q bra done; mul.lo.s32 %p, %p, %x; sub.s32 %y, %y, 1; bra again;
done: st.param.b32 [z], %p; ret;
}
.func (.param .b32 z) wider(.param .b32 a, .param .b64 b)
{ st.param.b32 [z], 5; ret; }
.global .align 8 .u64 table[4] = {plus, minus, power, wider};
)";
    text.insert(text.find(".visible"), functions + more);
    return text;
}

/// A call of %d0 with %r0 and %r1 into %r2.
const std::string call = R"(
    { .param .b32 u; .param .b32 v; .param .b32 w;
    st.param.b32 [u], %r0; st.param.b32 [v], %r1;
    proto: .callprototype (.param .b32 _) _ (.param .b32 _, .param .b32 _);
    call (w), %d0, (u, v), proto;
    ld.param.b32 %r2, [w]; }
)";
const std::string load = "ld.global.u32 %r0, [%src]; ld.global.u32 %r1, [%src+4]; ld.global.u32 %r3, [%src+8];\n";
const std::string store = "st.global.u32 [%dst], %r2;\n";

test::kernel_run run(const std::string& text, const test::words& in, std::uint32_t threads) {
    return test::run_text(text, {1, 1, 1}, {threads, 1, 1}, {test::buffer_of(in), test::buffer_of(test::words(4 * threads, 99))});
}

test::words first_words(const test::kernel_run& r) {
    CHECK(r.trap.empty());
    REQUIRE(r.ended == machine::ending::finished);
    test::words out;
    for (std::size_t k = 0; k < r.buffers[1].size(); k += 4) out.push_back(r.buffers[1][k]);
    return out;
}

int line_of(const std::string& text, const std::string& what) {
    return static_cast<int>(std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(text.find(what)), '\n')) + 1;
}

std::vector<ptx::diagnostic> refused(const std::string& text) {
    try {
        test::compile_text(text);
    } catch (const ptx::diagnostic_error& e) {
        return e.all();
    }
    FAIL("it was not refused");
    return {};
}

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("a pointer chosen by each lane") {
    const std::string body = load + "mov.u64 %d1, plus; mov.u64 %d2, minus; setp.gt.s32 %p0, %r3, 3; selp.b64 %d0, %d1, %d2, %p0;" + call + store;
    CHECK(first_words(run(file_around(body), {10, 4, 3, 0, 10, 4, 4, 0, 7, 9, 0, 0, 8, 8, 99, 0}, 4)) == test::words{6, 14, static_cast<std::uint32_t>(-2), 16});
}

TEST_CASE("a table that memory begins with; a guarded call") {
    const std::string pick = load + "mul.wide.u32 %d3, %r3, 8; mov.u64 %d4, table; add.s64 %d4, %d4, %d3; ld.global.u64 %d0, [%d4];";
    CHECK(first_words(run(file_around(pick + call + store), {3, 4, 2, 0, 3, 4, 0, 0, 3, 4, 1, 0, 2, 10, 2, 0}, 4)) ==
          test::words{81, 7, static_cast<std::uint32_t>(-1), 1024});
    std::string guarded = call;
    guarded.replace(guarded.find("call (w)"), 4, "setp.ne.u32 %p1, %r3, 1; @%p1 call");
    guarded.replace(guarded.find("ld.param"), 8, "@%p1 ld.param");
    CHECK(first_words(run(file_around("mov.u32 %r2, 55;" + pick + guarded + store), {3, 4, 2, 0, 3, 4, 0, 0, 3, 4, 1, 0, 2, 10, 2, 0}, 4)) == test::words{81, 7, 55, 1024});
}

TEST_CASE("a pointer that another kernel of the file could have left in memory") {
    const std::string text = file_around(load + "mov.u64 %d4, kept; ld.global.u64 %d0, [%d4];" + call + store,
                                         ".func (.param .b32 z) late(.param .b32 a, .param .b32 b)\n{ .reg .b32 %x; ld.param.b32 %x, [b]; st.param.b32 [z], %x; ret; }\n"
                                         ".global .align 8 .u64 kept = late;\n.visible .entry other() { .reg .b64 %f; mov.u64 %f, plus; mov.u64 %f, kept; st.global.u64 [%f], %f; ret; }\n");
    const auto k = test::compile_text(text, "k");
    const auto r = test::run_program(k.program, {1, 1, 1}, {1, 1, 1}, {test::buffer_of({3, 4, 0, 0}), test::buffer_of({0, 0, 0, 0})});
    CHECK(r.buffers[1][0] == 4);
}

TEST_CASE("parameters in registers, and the targets of a call listed") {
    const std::string more = R"(
.func (.reg .b32 %z) twice(.reg .b32 %a)
{ add.s32 %z, %a, %a; ret; }
.func (.reg .b32 %z) square(.reg .b32 %a)
{ mul.lo.s32 %z, %a, %a; ret; }
)";
    const std::string body = load + R"(
    mov.u64 %d1, twice; mov.u64 %d0, square; setp.eq.u32 %p0, %r3, 0; @%p0 mov.b64 %d0, %d1;
    targets: .calltargets square, twice;
    call (%r2), %d0, (%r0), targets;
)" + store;
    CHECK(first_words(run(file_around(body, more), {10, 0, 0, 0, 10, 0, 1, 0}, 2)) == test::words{20, 100});
}

TEST_CASE("a pointer that is known costs what a call by name costs") {
    const std::string through = file_around(load + "mov.u64 %d0, minus;" + call + store);
    std::string named = through;
    named.replace(named.find("%d0, (u, v), proto"), 18, "minus, (u, v)");
    const auto count = [](const ptx::compiled_kernel& k) { return std::count_if(k.program.blocks.begin(), k.program.blocks.end(), [](const auto& b) { return b.valid; }); };
    CHECK(count(test::compile_text(through)) == count(test::compile_text(named)));
    CHECK(first_words(run(through, {10, 4, 0, 0}, 1)) == test::words{6});
}

TEST_CASE("addresses differ, none is 0, and no memory is there") {
    CHECK(ptx::function_pointers::address_of(0) != 0);
    CHECK(machine::address::window(ptx::function_pointers::address_of(0)) == 31);
    CHECK(machine::address::window(ptx::function_pointers::address_of(5000)) == 31);
    CHECK(ptx::function_pointers::address_of(0) != ptx::function_pointers::address_of(1));
    const std::string compare = "mov.u64 %d0, plus; mov.u64 %d1, minus; setp.eq.u64 %p0, %d0, %d1; selp.u32 %r2, 1, 0, %p0;"
                                "mov.u64 %d2, table; ld.global.u64 %d3, [%d2+8]; setp.eq.u64 %p1, %d3, %d1; selp.u32 %r3, 10, 0, %p1; add.u32 %r2, %r2, %r3;";
    CHECK(first_words(run(file_around(compare + store), {0, 0, 0, 0}, 1)) == test::words{10});
    const auto r = run(file_around("mov.u64 %d0, plus;\nld.u32 %r2, [%d0];\n" + store), {0, 0, 0, 0}, 1);
    CHECK(r.ended == machine::ending::trapped);
    CHECK(r.trap == "out of bounds");
}

TEST_CASE("a pointer that means no function of these parameters traps at the call") {
    const std::string at = "call (w), %d0";
    const std::string null = file_around(load + "cvt.u64.u32 %d0, %r3;" + call + store);
    const auto r = run(null, {1, 2, 0, 0}, 1);
    CHECK(r.ended == machine::ending::trapped);
    CHECK(r.trap_line == line_of(null, at));
    const std::string other = file_around(load + "mov.u64 %d1, plus; mov.u64 %d2, wider; setp.eq.u32 %p0, %r3, 0; selp.b64 %d0, %d1, %d2, %p0;" + call + store);
    CHECK(first_words(run(other, {1, 2, 0, 0}, 1)) == test::words{3});
    const auto wrong = run(other, {1, 2, 1, 0}, 1);
    CHECK(wrong.ended == machine::ending::trapped);
    CHECK(wrong.trap_line == line_of(other, at));
}

TEST_CASE("a call that fits no function, one of a kernel, and one that can only go round in a circle are refused") {
    std::string none = file_around(load + "ld.global.u64 %d0, [%src+8];" + call + store);
    none.replace(none.find("(u, v), proto"), 6, "(u)");
    CHECK(contains(refused(none).at(0).message, "none whose address is taken has these parameters"));
    CHECK(contains(refused(file_around("mov.u64 %d0, k; st.global.u64 [%dst], %d0;")).at(0).message, "address of a kernel"));
    const std::string circle = R"(
.func only(.param .b64 f)
{
    .reg .b64 %f; ld.param.b64 %f, [f];
    { .param .b64 u; st.param.b64 [u], %f; p: .callprototype _ (.param .b64 _); call %f, (u), p; }
    ret;
}
)";
    const std::string call_only = "mov.u64 %d0, only; { .param .b64 u; st.param.b64 [u], %d0; call only, (u); }";
    CHECK(contains(refused(file_around(call_only, circle)).at(0).message, "recursive call"));
}

TEST_CASE("functions that call each other through pointers are followed until one would run twice, which traps") {
    const std::string more = R"(
.func (.param .b32 z) leaf(.param .b32 n, .param .b64 f)
{ .reg .b32 %n; ld.param.b32 %n, [n]; add.s32 %n, %n, 100; st.param.b32 [z], %n; ret; }
.func (.param .b32 z) node(.param .b32 n, .param .b64 f)
{
    .reg .b32 %n; .reg .b64 %f, %leaf; .reg .pred %p;
    ld.param.b32 %n, [n]; ld.param.b64 %f, [f]; mov.u64 %leaf, leaf; sub.s32 %n, %n, 1;
    { .param .b32 u; .param .b64 v; .param .b32 w;
    st.param.b32 [u], %n; st.param.b64 [v], %leaf;
    p: .callprototype (.param .b32 _) _ (.param .b32 _, .param .b64 _);
    call (w), %f, (u, v), p;
    ld.param.b32 %n, [w]; }
    add.s32 %n, %n, %n; st.param.b32 [z], %n; ret;
}
)";
    const std::string body = load + R"(
    mov.u64 %d1, node; mov.u64 %d2, leaf; setp.eq.u32 %p0, %r3, 0; selp.b64 %d3, %d2, %d1, %p0;
    { .param .b32 u; .param .b64 v; .param .b32 w;
    st.param.b32 [u], %r0; st.param.b64 [v], %d3;
    call (w), node, (u, v);
    ld.param.b32 %r2, [w]; }
)" + store;
    const std::string text = file_around(body, more);
    CHECK(first_words(run(text, {7, 0, 0, 0}, 1)) == test::words{212});
    const auto again = run(text, {7, 0, 1, 0}, 1);
    CHECK(again.ended == machine::ending::trapped);
    CHECK(again.trap_line == line_of(text, "call (w), %f"));
}
