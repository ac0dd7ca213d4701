// SPDX-License-Identifier: MIT
// Compiles single PTX instructions and runs them on many operands: rows of text with a function of the host beside them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <iterator>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "support/catch.hpp"

#include "run_kernel.hpp"

namespace qwengpu::test {

using u64 = std::uint64_t;
using host_function = u64 (*)(u64 a, u64 b, u64 c);

/// One instruction. The text may read %a, %b, %c with the ending 16, 32 or 64 (low bits of three random numbers) and %pa, %pb
/// (their lowest bits); it makes %r16, %r32, %r64 or %p1, as `result` says: 16, 32, 64 or 1. The host gives all of a, b and c.
struct instruction_case {
    std::string_view text;
    int result;
    host_function expected;
};

/// A kernel in which thread t has three numbers of 64 bits from in + 24 t on, and leaves one at out + 8 t.
inline std::string bench_kernel(const instruction_case& c) {
    const std::string result = c.result == 16 ? "cvt.u64.u16 %r64, %r16;" : c.result == 32 ? "cvt.u64.u32 %r64, %r32;" : c.result == 1 ? "selp.b64 %r64, 1, 0, %p1;" : "";
    std::string body;
    for (const char n : {'a', 'b', 'c'}) {
        const std::string x(1, n), at = std::to_string(8 * (n - 'a'));
        body += "ld.global.u64 %" + x + "64, [%src+" + at + "];\ncvt.u32.u64 %" + x + "32, %" + x + "64;\ncvt.u16.u64 %" + x + "16, %" + x + "64;\n";
    }
    return ".version 7.8\n.target sm_75\n.address_size 64\n.visible .entry k(.param .u64 k_in, .param .u64 k_out)\n{\n"
           ".reg .pred %p<9>, %pa, %pb;\n.reg .b16 %a16, %b16, %c16, %r16, %h<9>;\n.reg .b32 %a32, %b32, %c32, %r32, %w<9>, %t;\n"
           ".reg .b64 %a64, %b64, %c64, %r64, %d<9>, %src, %dst, %at;\n"
           "ld.param.u64 %src, [k_in];\nld.param.u64 %dst, [k_out];\nmov.u32 %t, %tid.x;\n"
           "mul.wide.u32 %at, %t, 24;\nadd.s64 %src, %src, %at;\nmul.wide.u32 %at, %t, 8;\nadd.s64 %dst, %dst, %at;\n" + body +
           "and.b32 %w1, %a32, 1;\nsetp.ne.u32 %pa, %w1, 0;\nand.b32 %w1, %b32, 1;\nsetp.ne.u32 %pb, %w1, 0;\n" + std::string(c.text) + "\n" + result +
           "\nst.global.u64 [%dst], %r64;\nret;\n}\n";
}

/// Numbers at the ends of every width, small ones, and random ones of every length.
class operand_source {
public:
    explicit operand_source(unsigned seed) : random_(seed) {}
    u64 operator()() {
        static constexpr u64 corners[] = {0, 1, 2, 3, 7, 8, 15, 16, 31, 32, 33, 63, 64, 127, 128, 255, 256, 0x7fff, 0x8000, 0xffff, 0x10000, 0x7fffffff, 0x80000000, 0xffffffff, 0x100000000,
                                          0x7fffffffffffffff, 0x8000000000000000, 0x8000000000000001, 0xffffffff00000000, 0xfffffffffffffffe, 0xffffffffffffffff, 0xffffffff80000000,
                                          0xffffffffffff8000, 0xffffffffffffff80, 0x8080808080808080, 0x0123456789abcdef, 0x8000000080000000, 0x7fffffff7fffffff};
        switch (random_() % 4) {
            case 0: return corners[random_() % std::size(corners)];
            case 1: return corners[random_() % std::size(corners)] + random_() % 5 - 2;
            case 2: return u64{random_()} << 32 | u64{random_()};
            default: return (u64{random_()} << 32 | u64{random_()}) >> (random_() % 64);
        }
    }

private:
    std::mt19937 random_;
};

/// The first operands for which the machine and the host differ, in words; empty if they agree on all.
inline std::string difference(const instruction_case& c, int launches, unsigned seed) {
    constexpr std::uint32_t threads = 12;
    machine::program program;
    try {
        program = compile_text(bench_kernel(c)).program;
    } catch (const error& e) {
        return std::string(c.text) + ": " + e.what();
    }
    operand_source next(seed);
    const auto split = [](words& to, u64 x) { to.push_back(static_cast<std::uint32_t>(x)), to.push_back(static_cast<std::uint32_t>(x >> 32)); };
    for (int k = 0; k < launches; ++k) {
        std::vector<u64> given;
        words in;
        for (std::uint32_t n = 0; n < 3 * threads; ++n) given.push_back(next()), split(in, given.back());
        const auto r = run_program(program, {1, 1, 1}, {threads, 1, 1}, {buffer_of(in), buffer_of(words(std::size_t{2} * threads, 7))});
        if (r.ended != machine::ending::finished) return std::string(c.text) + ": " + r.trap;
        for (std::uint32_t t = 0; t < threads; ++t) {
            const u64 a = given[3 * t], b = given[3 * t + 1], d = given[3 * t + 2];
            const u64 all = c.result == 64 ? ~u64{0} : (u64{1} << c.result) - 1;
            const u64 want = c.expected(a, b, d) & all, is = u64{r.buffers[1][2 * t + 1]} << 32 | r.buffers[1][2 * t];
            if (is == want) continue;
            const auto hex = [](u64 x) { char text[20]; std::snprintf(text, sizeof text, "%llx", static_cast<unsigned long long>(x)); return std::string(text); };
            return std::string(c.text) + " of " + hex(a) + " " + hex(b) + " " + hex(d) + " gives " + hex(is) + ", not " + hex(want);
        }
    }
    return {};
}

/// Every instruction of a table, on 60 launches of operands.
template <std::size_t N>
void check_all(const instruction_case (&cases)[N], unsigned seed) {
    for (const instruction_case& c : cases) {
        INFO(c.text);
        CHECK(difference(c, 60, seed++) == "");
    }
}

}  // namespace qwengpu::test
