// SPDX-License-Identifier: MIT
// Kernels in PTX whose accesses are strong, or plain where they should not be: what the checks of a launch say of them.
#include <qwengpu/launch.hpp>
#include <qwengpu/launch/kernel.hpp>

#include <string>
#include <vector>

#include "support/catch.hpp"

namespace {

using namespace qwengpu;

/// Findings of a kernel with two buffers of four words, [%a] and [%b], of a thread block of 8 threads; %t is the thread.
std::size_t findings_of(const std::string& body) {
    const std::string text = ".version 7.8\n.target sm_80\n.address_size 64\n.entry k(.param .u64 pa, .param .u64 pb) {\n"
                             ".reg .pred %p<4>; .reg .b32 %r<9>; .reg .b64 %a, %b, %d<4>; .reg .b32 %t;\n.shared .align 4 .b8 s[64];\n"
                             "ld.param.u64 %a, [pa]; ld.param.u64 %b, [pb]; mov.u32 %t, %tid.x;\n" + body + "\nret;\n}\n";
    const auto k = kernel_from_ptx(text, "k.ptx");
    const launch_request request{{1, 1, 1}, {8, 1, 1}, {in("a", std::vector{0, 0, 0, 0}), in("b", std::vector{0, 0, 0, 0})}, 0};
    launch_options options;
    options.checks.races = options.checks.uninitialised = true;
    return launch(k.program, request, options).emulator->findings.size();
}

/// Thread 0 does `give`, thread 4 `take`.
std::string giver_and_taker(const std::string& give, const std::string& take) {
    return "setp.eq.u32 %p1, %t, 0; @%p1 bra GIVE; setp.eq.u32 %p1, %t, 4; @%p1 bra TAKE; ret;\nGIVE: " + give + " ret;\nTAKE: " + take;
}

/// A word is handed over by a flag.
std::string handed_over(const std::string& store, const std::string& load) {
    return giver_and_taker("st.global.u32 [%b], 5; membar.gl; " + store + " [%a], 1;",
                           "AGAIN: " + load + " %r1, [%a]; setp.eq.u32 %p2, %r1, 0; @%p2 bra AGAIN; membar.gl; ld.global.u32 %r2, [%b]; st.global.u32 [%b+4], %r2;");
}

}  // namespace

TEST_CASE("an exchange whose result nobody asks is an atomic all the same", "[launch]") {
    CHECK(findings_of(giver_and_taker("atom.global.exch.b32 %r1, [%a], 1;", "atom.global.add.u32 %r2, [%a], 0; st.global.u32 [%b], %r2;")) == 0);
    CHECK(findings_of(giver_and_taker("st.global.u32 [%a], 1;", "atom.global.add.u32 %r2, [%a], 0; st.global.u32 [%b], %r2;")) == 1);
    CHECK(findings_of("atom.shared.exch.b32 %r1, [s], 3; bar.sync 0; ld.shared.u32 %r2, [s]; st.global.u32 [%a], %r2;") == 0);
}

TEST_CASE("a spin lock that is freed by an exchange", "[launch]") {
    const auto lock = [](const std::string& free) {
        return findings_of("and.b32 %r1, %t, 3; setp.ne.u32 %p1, %r1, 0; @%p1 ret;\nTRY: atom.global.cas.b32 %r2, [%a], 0, 1; setp.ne.u32 %p2, %r2, 0; @%p2 bra TRY;\n"
                           "ld.global.u32 %r3, [%b]; add.u32 %r3, %r3, 1; st.global.u32 [%b], %r3; membar.gl; " + free);
    };
    CHECK(lock("atom.global.exch.b32 %r4, [%a], 0;") == 0);
    CHECK(lock("st.release.gpu.global.u32 [%a], 0;") == 0);
    CHECK(lock("st.global.u32 [%a], 0;") >= 1);
}

TEST_CASE("a flag hands a word over if it is strong", "[launch]") {
    CHECK(findings_of(handed_over("st.volatile.global.u32", "ld.volatile.global.u32")) == 0);
    CHECK(findings_of(handed_over("st.release.gpu.global.u32", "ld.acquire.gpu.global.u32")) == 0);
    CHECK(findings_of(handed_over("st.relaxed.gpu.global.u32", "ld.relaxed.gpu.global.u32")) == 0);
    CHECK(findings_of(handed_over("st.global.u32", "ld.volatile.global.u32")) >= 1);
}

TEST_CASE("atomics that are several accesses are no races in themselves", "[launch]") {
    CHECK(findings_of("atom.global.inc.u32 %r1, [%a], 5; atom.global.dec.u32 %r2, [%a], 5; atom.global.exch.b32 %r3, [%a], 0;") == 0);
    CHECK(findings_of("mov.u32 %r5, 0;\nROUND: setp.gt.u32 %p1, %t, %r5; bar.red.or.pred %p2, 0, %p1; add.u32 %r5, %r5, 1; @%p2 bra ROUND;") == 0);
    CHECK(findings_of("cvt.u64.u32 %d1, %t; atom.global.add.u64 %d2, [%a], %d1; atom.global.max.u64 %d2, [%a], %d1; atom.global.cas.b64 %d2, [%a], %d1, %d2;") == 0);
    CHECK(findings_of("cvt.u64.u32 %d1, %t; atom.global.add.u64 %d2, [%a], %d1; st.global.u64 [%a], %d2;") >= 1);
    // 64-bit atomics take turns here; what is beside them is ordered only if they are on one number.
    const auto beside = [](const std::string& other) {
        return findings_of(giver_and_taker("st.global.u32 [%b], 7; atom.global.exch.b64 %d1, [%a], 1; st.global.u64 [%b+8], %d1;", "atom.global.add.u64 %d2, [%a+" + other + "], 0; ld.global.u32 %r1, [%b]; st.global.u64 [%a+8], %d2; st.global.u32 [%b+4], %r1;"));
    };
    CHECK(beside("0") == 0);
    CHECK(beside("8") >= 1);
}

TEST_CASE("what atomics have counted is read behind a barrier, or it is a race", "[launch]") {
    const std::string count = "atom.global.add.u32 %r1, [%a], 1; ", read = "setp.ne.u32 %p1, %t, 0; @%p1 ret; ld.global.u32 %r2, [%a]; st.global.u32 [%b], %r2;";
    CHECK(findings_of(count + read) == 1);
    CHECK(findings_of(count + "bar.sync 0; " + read) == 0);
}

TEST_CASE("the variable of a function that has returned is out of lifetime", "[launch]") {
    const auto text = [](const std::string& after) {
        return ".version 7.8\n.target sm_80\n.address_size 64\n"
               ".func (.reg .u64 r) keep(.reg .u32 x) { .local .align 4 .u32 a[2]; .reg .u64 p, q; .reg .u32 i; mov.u64 p, a; cvta.local.u64 r, p; and.b32 i, x, 1;"
               " mul.wide.u32 q, i, 4; add.u64 p, p, q; st.local.u32 [a], 5; st.local.u32 [a+4], 6; st.local.u32 [p], 7; ret; }\n"
               ".func (.reg .u32 r) read(.reg .u64 p) { ld.u32 r, [p]; ret; }\n"
               ".entry k(.param .u64 pa) { .reg .u64 %a, p; .reg .u32 %t, %r; .local .align 4 .u32 own[2]; .reg .u64 o, q; ld.param.u64 %a, [pa]; mov.u32 %t, %tid.x; mov.u64 o, own;"
               " and.b32 %r, %t, 1; mul.wide.u32 q, %r, 4; add.u64 q, q, o; st.local.u32 [own], 1; st.local.u32 [own+4], 2; st.local.u32 [q], 3; cvta.local.u64 q, q;\n" +
               after + "st.global.u32 [%a], %r; ret; }\n";
    };
    const auto found = [](const std::string& kernel_text) {
        const auto k = kernel_from_ptx(kernel_text, "k.ptx");
        launch_options options;
        options.checks.uninitialised = true;
        return launch(k.program, {{1, 1, 1}, {1, 1, 1}, {in("a", std::vector{0})}, 0}, options).emulator->findings;
    };
    const auto after = found(text("call (p), keep, (%t); ld.u32 %r, [p];"));
    REQUIRE(after.size() == 1);
    CHECK(after[0].kind == machine::finding_kind::returned);
    CHECK(found(text("call (p), keep, (%t); call (%r), read, (q);")).empty());
    CHECK(found(text("call (p), keep, (%t); call (%r), read, (p);")).size() == 1);
}
