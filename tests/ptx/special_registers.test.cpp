// SPDX-License-Identifier: MIT
// Special registers besides the usual mov: whole vectors, fourth parts, conversions, the sizes of shared memory; and those that
// are not there, with the words that say why.
#include <qwengpu/launch/prepare.hpp>
#include <qwengpu/machine/emulator.hpp>

#include <string>

#include "support/catch.hpp"

#include "run_kernel.hpp"

namespace {

using namespace qwengpu;

/// Thread t leaves %r1 in out[t].
test::words run(const std::string& body, const machine::extent& grid, const machine::extent& block) {
    const std::string text = test::kernel_around(body + "\nst.global.u32 [%dst], %r1;");
    const auto r = test::run_text(text, grid, block, {test::buffer_of(test::words(16)), test::buffer_of(test::words(16))});
    test::words left;
    for (std::size_t t = 0; t < 16; t += 4) left.push_back(r.buffers[1][t]);
    return left;
}

std::string refusal(const std::string& body) {
    try {
        test::compile_text(test::kernel_around(body));
    } catch (const error& e) {
        return e.what();
    }
    return "none";
}

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

/// What a launch with so many bytes of dynamic shared memory leaves in out[0] and out[1].
test::words sizes_of(const std::string& declared, std::int64_t dynamic_bytes) {
    const std::string text = test::kernel_around(declared + "mov.u32 %r1, %dynamic_smem_size; mov.u32 %r2, %total_smem_size; st.global.v2.u32 [%dst], {%r1, %r2};");
    launch_request request;
    request.dynamic_shared_bytes = dynamic_bytes;
    request.args = {in("a", std::vector{0}), in("b", std::vector{9, 9})};
    const auto image = prepare(test::compile_text(text).program, request);
    return machine::words_of(machine::emulate(image, 1000), image.buffers[1]);
}

}  // namespace

TEST_CASE("a vector of special registers is read whole", "[ptx]") {
    const std::string sum = "mad.lo.u32 %r1, %r3, 10, %r2; mad.lo.u32 %r1, %r4, 100, %r1; mad.lo.u32 %r1, %r5, 1000, %r1;";
    CHECK(run("mov.v4.u32 {%r2, %r3, %r4, %r5}, %ntid;" + sum, {1, 1, 1}, {4, 1, 1}) == test::words{114, 114, 114, 114});
    CHECK(run("mov.v4.b32 {%r2, %r3, %r4, %r5}, %tid;" + sum, {1, 1, 1}, {4, 1, 1}) == test::words{0, 1, 2, 3});
    CHECK(run("mov.v4.u32 {%r2, %r3, %r4, %r5}, %nctaid;" + sum, {1, 3, 2}, {4, 1, 1}) == test::words{231, 231, 231, 231});
    CHECK(run("mov.v4.u32 {%r2, _, %r4, %r5}, %ctaid; mov.u32 %r3, 7;" + sum, {2, 3, 4}, {4, 1, 1})[2] == 371);
    CHECK(run("mov.v4.u32 {%r2, %r3, %r4, %r5}, %nclusterid;" + sum, {1, 3, 2}, {4, 1, 1}) == test::words{231, 231, 231, 231});
    CHECK(run("mov.u32 %r1, %tid.w; add.u32 %r1, %r1, 5;", {1, 1, 1}, {4, 1, 1}) == test::words{5, 5, 5, 5});
}

TEST_CASE("vectors of registers are moved part by part, as they were before", "[ptx]") {
    const std::string swap = "mov.u32 %r2, 3; mov.u32 %r3, 8; mov.v2.u32 {%r2, %r3}, {%r3, %r2}; mad.lo.u32 %r1, %r2, 10, %r3;";
    CHECK(run(swap, {1, 1, 1}, {4, 1, 1}) == test::words{83, 83, 83, 83});
    const std::string longs = "mov.u64 %d1, 0x500000007; mov.v2.b64 {%d2, %d3}, {2, %d1}; shr.u64 %d3, %d3, 32; add.u64 %d3, %d3, %d2; cvt.u32.u64 %r1, %d3;";
    CHECK(run(longs, {1, 1, 1}, {4, 1, 1}) == test::words{7, 7, 7, 7});
    CHECK(has(refusal("mov.v2.u32 {%r1, %r2}, %tid;"), "expected a vector of 2"));
    CHECK(has(refusal("mov.v4.u32 {%r1, %r2, %r3, %r4}, {%r1, %r2};"), "expected a vector of 4"));
}

TEST_CASE("conversions between integers read special registers", "[ptx]") {
    CHECK(run("cvt.u64.u32 %d1, %tid.x; shl.b64 %d1, %d1, 33; shr.u64 %d1, %d1, 32; cvt.u32.u64 %r1, %d1;", {1, 1, 1}, {4, 1, 1}) == test::words{0, 2, 4, 6});
    CHECK(run("cvt.u16.u32 %h1, %ntid.x; cvt.u32.u16 %r1, %h1;", {1, 1, 1}, {4, 1, 1}) == test::words{4, 4, 4, 4});
    CHECK(has(refusal("cvt.rn.f32.u32 %r1, %tid.x;"), "can only be read by mov, or by cvt between integers"));
    CHECK(has(refusal("add.u32 %r1, %tid.x, 1;"), "can only be read by mov"));
    CHECK(has(refusal("cvt.u64.u64 %d1, %tid.x;"), ".u32 %tid.x does not fit .u64"));
}

TEST_CASE("the sizes of shared memory are those of the launch", "[ptx]") {
    CHECK(sizes_of(".shared .align 4 .b32 own[5];\nmov.u32 %r3, own; st.shared.u32 [%r3], 1;", 0) == test::words{0, 20});
    CHECK(sizes_of(".shared .align 4 .b32 own[5];\nmov.u32 %r3, own; st.shared.u32 [%r3], 1;", 10) == test::words{10, 32});
    CHECK(sizes_of("", 64) == test::words{64, 64});
}

TEST_CASE("special registers that are not there, and why", "[ptx]") {
    CHECK(has(refusal("mov.u64 %d1, %clock64;"), "mov.u64: there is no special register %clock64 on this machine: it has no clock"));
    CHECK(has(refusal("mov.u32 %r1, %clock;"), "leave the timing out"));
    CHECK(has(refusal("mov.u64 %d1, %globaltimer;"), "pass the time to the kernel as an argument"));
    CHECK(has(refusal("mov.u32 %r1, %smid;"), "use %ctaid"));
    CHECK(has(refusal("mov.u32 %r1, %pm0;"), "nothing counts what happens"));
    CHECK(has(refusal("mov.u32 %r1, %clusterid;"), "%clusterid is a vector"));
    CHECK(has(refusal("mov.u32 %r1, %tid;"), "%tid is a vector: name a part of it, .x, .y or .z"));
}
