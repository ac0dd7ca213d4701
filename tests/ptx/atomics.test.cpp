// SPDX-License-Identifier: MIT
// Atomics in hand-written PTX: every operation on global and shared memory, by address and generic, with and without results,
// guarded, many threads on one word. Lanes are served in their order, so a warp's results are known too.
#include <qwengpu/ptx/compile.hpp>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "support/catch.hpp"

#include "run_kernel.hpp"

namespace {

using namespace qwengpu;

/// Each of `threads` threads does `op` on one word that begins as `start`, with operand(s) in %r0 (= in[t]) and %r4 (= 3 t).
struct atomic_run {
    std::uint32_t word = 0;
    test::words results;  ///< %r1 of each thread
};

atomic_run run(const std::string& op, const std::string& space, std::uint32_t start, const test::words& in) {
    test::words padded;
    for (std::uint32_t x : in) padded.insert(padded.end(), {x, 0, 0, 0});
    padded.push_back(start);
    const auto threads = static_cast<std::uint32_t>(in.size());
    const std::string at = std::to_string(16 * threads);
    const std::string begin = "ld.global.u32 %r0, [%src];\nmul.lo.u32 %r4, %t, 3;\nmov.u32 %r1, 0;\nadd.s64 %d9, %in, " + at + ";\n";
    const std::string shared = ".shared .align 4 .b8 gap[12];\n.shared .align 4 .u32 word;\nld.global.u32 %r9, [%d9];\nst.shared.u32 [word], %r9;\nst.shared.u32 [gap+4], %r9;\n" +
                               std::string(space == "" ? "mov.u64 %d8, word;\ncvta.shared.u64 %d8, %d8;\n" : "mov.u64 %d8, word;\n") + "bar.sync 0;\n";
    std::string text = op;
    for (std::size_t p = text.find('#'); p != text.npos; p = text.find('#')) text.replace(p, 1, space.empty() ? "" : "." + space);
    const bool is_global = space == "global";
    const std::string body = begin + (is_global ? "mov.u64 %d8, %d9;\n" : shared) + text + "\nst.global.u32 [%dst], %r1;\n" +
                             (is_global ? "" : "bar.sync 0;\nld.shared.u32 %r9, [word];\nst.global.u32 [%d9], %r9;\n");
    const auto r = test::run_text(test::kernel_around(body), {1, 1, 1}, {threads, 1, 1}, {test::buffer_of(padded), test::buffer_of(test::words(4 * in.size()))});
    INFO(r.trap << " line " << r.trap_line);
    REQUIRE(r.ended == machine::ending::finished);
    atomic_run out{r.buffers[0].back(), {}};
    for (std::size_t t = 0; t < in.size(); ++t) out.results.push_back(r.buffers[1][4 * t]);
    return out;
}

using word_function = std::function<std::uint32_t(std::uint32_t old, std::uint32_t x, std::uint32_t y)>;

/// One warp: the exact results in lane order. Many warps: the word alone.
void check(const std::string& op, const std::string& operands, std::uint32_t start, const word_function& f) {
    const test::words in{7, 0xfffffff0U, 3, 12};
    for (const char* space : {"global", "shared", ""}) {
        INFO(op << " " << operands << " in '" << space << "'");
        const atomic_run one = run("atom#." + op + " %r1, [%d8], " + operands + ";", space, start, in);
        std::uint32_t word = start;
        for (std::uint32_t t = 0; t < 4; ++t) {
            CHECK(one.results[t] == word);
            word = f(word, in[t], 3 * t);
        }
        CHECK(one.word == word);
        if (op.find("cas") == op.npos && op.find("exch") == op.npos) CHECK(run("red#." + op + " [%d8], " + operands + ";", space, start, in).word == word);
    }
}

float f32(std::uint32_t x) { return std::bit_cast<float>(x); }

}  // namespace

TEST_CASE("atomic operations give what was there, lane by lane") {
    check("add.u32", "%r0", 100, [](auto a, auto x, auto) { return a + x; });
    check("add.s32", "5", 100, [](auto a, auto, auto) { return a + 5; });
    check("min.s32", "%r0", 5, [](auto a, auto x, auto) { return static_cast<std::int32_t>(x) < static_cast<std::int32_t>(a) ? x : a; });
    check("max.s32", "%r0", 5, [](auto a, auto x, auto) { return static_cast<std::int32_t>(x) > static_cast<std::int32_t>(a) ? x : a; });
    check("min.u32", "%r0", 5, [](auto a, auto x, auto) { return std::min(a, x); });
    check("max.u32", "%r0", 5, [](auto a, auto x, auto) { return std::max(a, x); });
    check("and.b32", "%r0", 0xffU, [](auto a, auto x, auto) { return a & x; });
    check("or.b32", "%r0", 0x100U, [](auto a, auto x, auto) { return a | x; });
    check("xor.b32", "1000000", 0x100U, [](auto a, auto, auto) { return a ^ 1000000U; });
    check("exch.b32", "%r0", 9, [](auto, auto x, auto) { return x; });
    check("exch.b32", "70000", 9, [](auto, auto, auto) { return 70000U; });
    check("cas.b32", "7, %r4", 7, [](auto a, auto, auto y) { return a == 7 ? y : a; });
    check("cas.b32", "%r0, %r4", 7, [](auto a, auto x, auto y) { return a == x ? y : a; });
    check("inc.u32", "2", 1, [](auto a, auto, auto) { return a >= 2 ? 0 : a + 1; });
    check("dec.u32", "6", 1, [](auto a, auto, auto) { return a == 0 || a > 6 ? 6 : a - 1; });
    check("dec.u32", "%r0", 100, [](auto a, auto x, auto) { return a == 0 || a > x ? x : a - 1; });
}

TEST_CASE("atomic addition of floats rounds like the host's") {
    const test::words in{std::bit_cast<std::uint32_t>(0.1f), std::bit_cast<std::uint32_t>(1e8f), std::bit_cast<std::uint32_t>(-3.7f), std::bit_cast<std::uint32_t>(1e-3f)};
    float sum = 2.5f;
    const atomic_run r = run("mov.b32 %r2, %r0;\n.reg .f32 %f<3>;\nmov.b32 %f1, %r0;\natom#.add.f32 %f2, [%d8], %f1;\nmov.b32 %r1, %f2;", "shared", std::bit_cast<std::uint32_t>(sum), in);
    for (std::size_t t = 0; t < 4; ++t) {
        CHECK(r.results[t] == std::bit_cast<std::uint32_t>(sum));
        sum += f32(in[t]);
    }
    CHECK(r.word == std::bit_cast<std::uint32_t>(sum));
}

TEST_CASE("many warps on one word; every ticket is drawn once") {
    const test::words in(14, 1);
    const atomic_run r = run("atom#.add.u32 %r1, [%d8], %r0;", "shared", 50, in);
    CHECK(r.word == 64);
    test::words sorted = r.results;
    std::sort(sorted.begin(), sorted.end());
    for (std::uint32_t t = 0; t < 14; ++t) CHECK(sorted[t] == 50 + t);
    const atomic_run ring = run("atom#.inc.u32 %r1, [%d8], 4;", "global", 0, in);
    CHECK(ring.word == 14 % 5);
    for (std::uint32_t n = 0; n < 5; ++n) CHECK(std::count(ring.results.begin(), ring.results.end(), n) == (n < 4 ? 3 : 2));
}

TEST_CASE("the result may take the place of an operand, also where an atomic is tried again or stands in a loop") {
    const test::words in{7, 0xfffffff0U, 3, 12};
    const atomic_run up = run("mov.u32 %r1, 5;\natom#.inc.u32 %r1, [%d8], %r1;", "global", 0, in);
    CHECK(up.word == 4);
    CHECK(up.results == test::words{0, 1, 2, 3});
    const atomic_run down = run("mov.u32 %r1, 9;\natom#.dec.u32 %r1, [%d8], %r1;", "shared", 2, in);
    CHECK(down.word == 8);
    CHECK(down.results == test::words{2, 1, 0, 9});
    const std::string loop = "mov.u32 %r1, %r0;\nmov.u32 %r5, 3;\nround:\natom#.exch.b32 %r1, [%d8], %r1;\n"
                             "sub.u32 %r5, %r5, 1;\nsetp.ne.u32 %p1, %r5, 0;\n@%p1 bra round;\n";
    const atomic_run swaps = run(loop, "global", 10, {7});
    CHECK(swaps.word == 7);
    CHECK(swaps.results == test::words{10});
}

TEST_CASE("a guarded atomic is done where its guard holds, and leaves the other results alone") {
    const std::string guard = "and.b32 %r5, %r0, 1;\nsetp.ne.u32 %p1, %r5, 0;\nmov.u32 %r1, 77;\n";
    const atomic_run r = run(guard + "@%p1 atom#.add.u32 %r1, [%d8], %r0;", "global", 10, {1, 2, 3, 4, 5, 6});
    CHECK(r.word == 19);
    CHECK(r.results == test::words{10, 77, 11, 77, 14, 77});
    CHECK(run(guard + "@!%p1 red#.max.u32 [%d8], %r0;", "shared", 3, {1, 2, 9, 4}).word == 4);
}

TEST_CASE("64-bit atomics without a result are two steps") {
    const std::string body = "mov.u64 %d1, 0xfffffffffffffff0;\nmul.wide.u32 %d2, %t, 9;\nadd.u64 %d1, %d1, %d2;\nred.global.add.u64 [%out+8], %d1;\n"
                             "atom.global.or.b64 %d3, [%out], 0x100000002;\n";
    const auto r = test::run_text(test::kernel_around(body), {1, 1, 1}, {7, 1, 1}, {test::buffer_of({0}), test::buffer_of({1, 0, 5, 6})});
    REQUIRE(r.ended == machine::ending::finished);
    std::uint64_t sum = 0x600000005ULL;
    for (std::uint64_t t = 0; t < 7; ++t) sum += 0xfffffffffffffff0ULL + 9 * t;
    CHECK(r.buffers[1] == test::words{3, 1, static_cast<std::uint32_t>(sum), static_cast<std::uint32_t>(sum >> 32)});
}

TEST_CASE("cas of 16 bits swaps a half word and leaves the other alone") {
    // A lane expects 5, 5, 6 or 9 and puts in 100 and its number.
    const auto run_half = [](const std::string& space, std::uint32_t half) {
        const std::string at = std::to_string(4 + 2 * half);
        const std::string before = space == "shared" ? ".shared .align 4 .u32 words[2];\nst.shared.u32 [words], 0;\nld.global.u32 %r7, [%in+4];\nst.shared.u32 [words+4], %r7;\nmov.u64 %d8, words;\nbar.sync 0;\n" : "mov.u64 %d8, %in;\n";
        const std::string text = "cvt.u16.u32 %h1, %t;\nadd.u16 %h2, %h1, 100;\nmul.lo.u16 %h1, %h1, 3;\nmax.u16 %h1, %h1, 5;\natom." + space + ".cas.b16 %h3, [%d8+" + at + "], %h1, %h2;\ncvt.u32.u16 %r1, %h3;\nst.global.u32 [%dst], %r1;\n";
        const std::string after = space == "shared" ? "bar.sync 0;\nld.shared.u32 %r7, [words+4];\nst.global.u32 [%in+4], %r7;\n" : "";
        return test::run_text(test::kernel_around(before + text + after), {1, 1, 1}, {4, 1, 1}, {test::buffer_of({7, 0x00050005U}), test::buffer_of(test::words(16))});
    };
    for (const std::string space : {"global", "shared"})
        for (std::uint32_t half : {0U, 1U}) {
            INFO(space << " half " << half);
            const auto r = run_half(space, half);
            REQUIRE(r.ended == machine::ending::finished);
            // Expected are 5, 5, 6, 9: lane 0 puts in 100, which nobody else expects.
            CHECK(r.buffers[0] == test::words{7, half == 0 ? 0x00050064U : 0x00640005U});
            for (std::size_t t = 0; t < 4; ++t) CHECK(r.buffers[1][4 * t] == (t == 0 ? 5U : 100U));
        }
    // Every thread of 13 counts up its half by cas.
    const std::string count = "and.b32 %r1, %t, 1;\nmul.wide.u32 %d8, %r1, 2;\nadd.s64 %d8, %d8, %in;\nld.global.u16 %h1, [%d8];\nround:\nmov.u16 %h2, %h1;\nadd.u16 %h3, %h2, 1;\natom.global.cas.b16 %h1, [%d8], %h2, %h3;\n"
                              "setp.ne.u16 %p1, %h1, %h2;\n@%p1 bra round;\n";
    const auto r = test::run_text(test::kernel_around(count), {2, 1, 1}, {13, 1, 1}, {test::buffer_of({0x0001fffeU}), test::buffer_of({0})});
    REQUIRE(r.ended == machine::ending::finished);
    CHECK(r.buffers[0][0] == ((0x0001U + 12) << 16 | ((0xfffeU + 14) & 0xffffU)));
    const auto odd = test::run_text(test::kernel_around("mov.u16 %h1, 0;\natom.global.cas.b16 %h2, [%in+1], %h1, %h1;\n"), {1, 1, 1}, {1, 1, 1}, {test::buffer_of({0}), test::buffer_of({0})});
    CHECK(odd.trap == "misaligned");
}
