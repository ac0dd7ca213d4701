// SPDX-License-Identifier: MIT
// Kernels with more values alive than registers, straight and in loops: the values that are kept in local memory come back as
// they were. Sums are worked out on the host.
#include <qwengpu/ptx/compile.hpp>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "support/catch.hpp"

#include "run_kernel.hpp"

namespace {

using namespace qwengpu;

std::string n(std::size_t k) { return std::to_string(k); }

/// `count` values from one word, all alive at once, then added up with weights.
std::string straight(std::size_t count) {
    std::string body = ".reg .b32 %v<99>;\nld.global.u32 %r0, [%src];\n";
    for (std::size_t k = 0; k < count; ++k) body += "mul.lo.u32 %v" + n(k) + ", %r0, " + n(2 * k + 3) + ";\nxor.b32 %v" + n(k) + ", %v" + n(k) + ", %t;\n";
    body += "bar.sync 0;\nmov.u32 %r1, 0;\n";
    for (std::size_t k = count; k-- > 0;) body += "mad.lo.u32 %r1, %r1, 5, %v" + n(k) + ";\n";
    return body + "st.global.u32 [%dst], %r1;\n";
}

std::uint32_t straight_on_host(std::size_t count, std::uint32_t x, std::uint32_t t) {
    std::uint32_t sum = 0;
    for (std::size_t k = count; k-- > 0;) sum = sum * 5 + ((x * static_cast<std::uint32_t>(2 * k + 3)) ^ t);
    return sum;
}

/// Three times that, one after the other, each from the sum before: 3 * count values, of which `count` are alive at once.
std::string three_times(std::size_t count) {
    std::string body = ".reg .b32 %v<99>;\nld.global.u32 %r0, [%src];\n";
    for (int time = 0; time < 3; ++time) {
        for (std::size_t k = 0; k < count; ++k) body += "mul.lo.u32 %v" + n(k) + ", %r0, " + n(2 * k + 3) + ";\nxor.b32 %v" + n(k) + ", %v" + n(k) + ", %t;\n";
        body += "bar.sync 0;\nmov.u32 %r1, 0;\n";
        for (std::size_t k = count; k-- > 0;) body += "mad.lo.u32 %r1, %r1, 5, %v" + n(k) + ";\n";
        body += "mov.u32 %r0, %r1;\n";
    }
    return body + "st.global.u32 [%dst], %r1;\n";
}

/// `count` accumulators that a loop turns round: v[k] = v[k + 1] + k, the last one takes the old first.
std::string rotating(std::size_t count) {
    std::string body = ".reg .b32 %v<99>;\nld.global.u32 %r0, [%src];\nmov.u32 %r1, 0;\n";
    for (std::size_t k = 0; k < count; ++k) body += "add.u32 %v" + n(k) + ", %t, " + n(100 * k) + ";\n";
    body += "turn:\nmov.u32 %v98, %v0;\n";
    for (std::size_t k = 0; k + 1 < count; ++k) body += "add.u32 %v" + n(k) + ", %v" + n(k + 1) + ", " + n(k) + ";\n";
    body += "mov.u32 %v" + n(count - 1) + ", %v98;\nadd.u32 %r1, %r1, 1;\nsetp.lt.u32 %p1, %r1, %r0;\n@%p1 bra turn;\nmov.u32 %r2, 0;\n";
    for (std::size_t k = 0; k < count; ++k) body += "mad.lo.u32 %r2, %r2, 7, %v" + n(k) + ";\n";
    return body + "st.global.u32 [%dst], %r2;\n";
}

std::uint32_t rotating_on_host(std::size_t count, std::uint32_t turns, std::uint32_t t) {
    std::vector<std::uint32_t> v;
    for (std::size_t k = 0; k < count; ++k) v.push_back(t + static_cast<std::uint32_t>(100 * k));
    for (std::uint32_t turn = 0; turn < turns; ++turn) {
        std::rotate(v.begin(), v.begin() + 1, v.end());
        for (std::size_t k = 0; k + 1 < count; ++k) v[k] += static_cast<std::uint32_t>(k);
    }
    std::uint32_t sum = 0;
    for (std::uint32_t x : v) sum = sum * 7 + x;
    return sum;
}

bool spills(const machine::program& p) { return p.local_words > 0; }

template <class Host>
void check(const std::string& body, const test::words& in, const Host& host) {
    const auto k = test::compile_text(test::kernel_around(body));
    CHECK(spills(k.program));
    CHECK(k.registers <= 15);
    test::words padded;
    for (std::uint32_t x : in) padded.insert(padded.end(), {x, 0, 0, 0});
    const auto threads = static_cast<std::uint32_t>(in.size());
    const auto r = test::run_program(k.program, {1, 1, 1}, {threads, 1, 1}, {test::buffer_of(padded), test::buffer_of(test::words(padded.size()))});
    REQUIRE(r.ended == machine::ending::finished);
    for (std::uint32_t t = 0; t < threads; ++t) CHECK(r.buffers[1][4 * t] == host(in[t], t));
}

}  // namespace

TEST_CASE("values that do not fit the registers are kept in local memory") {
    for (std::size_t count : {18U, 25U, 40U, 55U}) {
        INFO(count << " values");
        check(straight(count), {1, 77, 0xfffffff0U, 5, 6}, [&](std::uint32_t x, std::uint32_t t) { return straight_on_host(count, x, t); });
    }
}

TEST_CASE("values that are never alive at the same time share a word of local memory") {
    check(three_times(40), {1, 77, 0xfffffff0U, 5, 6}, [](std::uint32_t x, std::uint32_t t) {
        for (int time = 0; time < 3; ++time) x = straight_on_host(40, x, t);
        return x;
    });
}

TEST_CASE("accumulators of a loop that turn round keep their order in local memory") {
    for (std::size_t count : {17U, 24U, 36U}) {
        INFO(count << " values");
        check(rotating(count), {1, 2, 5, 40, 3, 9}, [&](std::uint32_t x, std::uint32_t t) { return rotating_on_host(count, x, t); });
    }
}

TEST_CASE("what is made of constants alone is made again, not kept") {
    std::string body = "ld.global.u32 %r0, [%src];\n.reg .b32 %v<40>;\n";
    for (std::size_t k = 0; k < 20; ++k) body += "shl.b32 %v" + n(k) + ", %t, " + n(k % 5) + ";\nbar.sync 0;\n";
    body += "mov.u32 %r1, 0;\nagain:\n";
    for (std::size_t k = 0; k < 20; ++k) body += "mad.lo.u32 %r1, %r1, 3, %v" + n(k) + ";\n";
    body += "sub.u32 %r0, %r0, 1;\nsetp.ne.u32 %p1, %r0, 0;\n@%p1 bra again;\nst.global.u32 [%dst], %r1;\n";
    const auto k = test::compile_text(test::kernel_around(body));
    CHECK(k.program.local_words == 0);
}
