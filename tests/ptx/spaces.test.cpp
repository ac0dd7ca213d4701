// SPDX-License-Identifier: MIT
// Which memory an address is of: isspacep, and thread blocks as clusters of their own.
#include <qwengpu/ptx/compile.hpp>

#include <cstdint>
#include <string>

#include "support/catch.hpp"

#include "run_kernel.hpp"

namespace {

using namespace qwengpu;

/// The kernel around `body` (run_kernel.hpp) behind `variables` of the module, compiled.
machine::program program_of(const std::string& variables, const std::string& body) {
    std::string text = test::kernel_around(body);
    text.insert(text.find(".visible"), variables + "\n");
    return test::compile_text(text).program;
}

}  // namespace

TEST_CASE("isspacep knows the window") {
    const auto p = program_of(".shared .align 4 .u32 s;\n.global .align 4 .u32 g;", R"(
        .local .align 4 .b8 l[4];
        mov.u64 %d1, s;
        mov.u64 %d2, g;
        mov.u64 %d3, l;
        mov.u32 %r9, 0;
        isspacep.shared %p1, %d1;
        isspacep.shared %p2, %d2;
        isspacep.global %p3, %d2;
        isspacep.global %p4, %d3;
        isspacep.local %p5, %d3;
        isspacep.local %p6, %d1;
        isspacep.global %p7, %src;
        selp.u32 %r1, 1, 0, %p1;
        selp.u32 %r2, 2, 0, %p2;
        selp.u32 %r3, 4, 0, %p3;
        selp.u32 %r4, 8, 0, %p4;
        selp.u32 %r5, 16, 0, %p5;
        selp.u32 %r6, 32, 0, %p6;
        selp.u32 %r7, 64, 0, %p7;
        add.u32 %r1, %r1, %r2; add.u32 %r1, %r1, %r3; add.u32 %r1, %r1, %r4; add.u32 %r1, %r1, %r5; add.u32 %r1, %r1, %r6; add.u32 %r1, %r1, %r7;
        st.global.u32 [%dst], %r1;)");
    const auto r = test::run_program(p, {1, 1, 1}, {1, 1, 1}, {test::buffer_of({0}), test::buffer_of(test::words(4))});
    REQUIRE(r.ended == machine::ending::finished);
    CHECK(r.buffers[1][0] == 1 + 4 + 16 + 64);
}

TEST_CASE("isspacep: constants and parameters have memory of their own") {
    const auto k = test::compile_text(R"(.version 7.8
.target sm_75
.address_size 64
.const .align 4 .u32 c = 7;
.const .align 4 .u32 e = 8;
.global .align 4 .u32 g;
.visible .entry k(.param .align 8 .b8 k_s[16], .param .u64 k_out)
{
    .reg .pred %p<12>;
    .reg .b64 %d<10>;
    .reg .b32 %r<12>;
    .local .align 4 .b8 l[4];
    ld.param.u64 %d9, [k_out];
    mov.u64 %d1, c;
    cvta.const.u64 %d1, %d1;
    mov.u64 %d2, e;
    cvta.const.u64 %d2, %d2;
    mov.u64 %d3, g;
    cvta.global.u64 %d3, %d3;
    mov.u64 %d4, k_s;
    cvta.param.u64 %d4, %d4;
    add.u64 %d5, %d4, 15;
    mov.u64 %d6, l;
    cvta.local.u64 %d6, %d6;
    mov.u32 %r1, 0;
)" + [] {
        // Each address in each space, a bit for each answer.
        std::string body;
        int bit = 0;
        for (const char* space : {"const", "global", "param", "local"})
            for (int a = 1; a <= 6; ++a, ++bit)
                body += "isspacep." + std::string(space) + " %p1, %d" + std::to_string(a) + ";\nselp.u32 %r2, 1, 0, %p1;\nshl.b32 %r2, %r2, " + std::to_string(bit) + ";\nor.b32 %r1, %r1, %r2;\n";
        return body;
    }() + "st.global.u32 [%d9], %r1;\nret;\n}\n");
    auto image = machine::make_launch<machine::mission>(k.program, {1, 1, 1}, {1, 1, 1});
    const auto out = machine::add_buffer(image, test::words{0});
    for (const auto& v : k.program.variables) machine::set_constant(image, v.row, machine::add_buffer(image, v.words).pointer());
    machine::set_parameter(image, 1, test::words{out.pointer(), 0});
    CHECK(machine::words_of(machine::emulate(image), out) == test::words{0b100000'011000'000100'000011});
}

TEST_CASE("a thread block is a cluster by itself; hints about caches and registers change nothing") {
    const auto p = program_of(".shared .align 4 .u32 s;", R"(
        mov.u32 %r1, %clusterid.x;
        mov.u32 %r2, %nclusterid.y;
        mov.u32 %r3, %cluster_ctaid.z;
        mov.u32 %r4, %cluster_nctaid.x;
        mov.u32 %r5, %cluster_ctarank;
        mov.u32 %r6, %cluster_nctarank;
        mov.pred %p1, %is_explicit_cluster;
        selp.u32 %r7, 1, 0, %p1;
        mov.u32 %r8, s;
        mapa.shared::cluster.u32 %r9, %r8, %r5;
        getctarank.shared::cluster.u32 %r10, %r9;
        st.shared.u32 [%r9], 40;
        ld.shared.u32 %r11, [%r8];
        createpolicy.fractional.L2::evict_last.b64 %d1, 1.0;
        griddepcontrol.wait;
        applypriority.global.L2::evict_normal [%dst], 128;
        mad.lo.u32 %r1, %r1, 1000, %r2;
        mad.lo.u32 %r3, %r3, 1000, %r4;
        mad.lo.u32 %r5, %r5, 1000, %r6;
        mad.lo.u32 %r7, %r7, 1000, %r11;
        add.u32 %r7, %r7, %r10;
        st.global.u32 [%dst], %r1;
        st.global.u32 [%dst+4], %r3;
        st.global.u32 [%dst+8], %r5;
        st.global.u32 [%dst+12], %r7;)");
    const auto r = test::run_program(p, {3, 2, 1}, {1, 1, 1}, {test::buffer_of({0}), test::buffer_of(test::words(4))});
    REQUIRE(r.ended == machine::ending::finished);
    CHECK(r.buffers[1] == test::words{2002, 1, 1, 40});
}
