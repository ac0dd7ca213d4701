// SPDX-License-Identifier: MIT
// Loads and stores of bytes and half words, alone and in vectors: lanes that share a word must not lose each other's parts,
// what a guard forbids must not happen, and addresses that are not aligned trap.
#include <algorithm>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "support/catch.hpp"

#include "run_kernel.hpp"

namespace {

using namespace qwengpu;
using test::words;

const words some{0x80ff7f01U, 0x12345678U, 0xfedcba98U, 0x00008000U, 0x7fff8001U, 0xdeadbeefU, 0x0badf00dU, 0xcafe80feU};

/// A kernel with %in, %out, the thread's number %t and %t64.
std::string kernel(const std::string& body) {
    return ".version 7.8\n.target sm_75\n.address_size 64\n.visible .entry k(.param .u64 k_in, .param .u64 k_out)\n{\n"
           ".reg .pred %p<9>;\n.reg .b16 %h<20>;\n.reg .b32 %r<20>, %t;\n.reg .b64 %d<20>, %in, %out, %t64;\n"
           "ld.param.u64 %in, [k_in];\nld.param.u64 %out, [k_out];\nmov.u32 %t, %tid.x;\ncvt.u64.u32 %t64, %t;\n" + body + "\nret;\n}\n";
}

test::kernel_run run(const std::string& body, std::uint32_t threads, const words& in, std::size_t out_words) {
    return test::run_text(kernel(body), {1, 1, 1}, {threads, 1, 1}, {test::buffer_of(in), test::buffer_of(words(out_words, 0xeeeeeeeeU))});
}

std::uint32_t byte_of(const words& w, std::size_t k) { return w[k / 4] >> (8 * (k % 4)) & 255U; }
std::uint32_t half_of(const words& w, std::size_t k) { return w[k / 2] >> (16 * (k % 2)) & 0xffffU; }

}  // namespace

TEST_CASE("loads of bytes and half words extend by their type") {
    const auto load = [&](const std::string& instruction, int bytes) {
        return run("mad.lo.u64 %d1, %t64, " + std::to_string(bytes) + ", %in;\n" + instruction + "\nmad.lo.u64 %d2, %t64, 4, %out;\nst.global.u32 [%d2], %r1;", 16, some, 16).buffers[1];
    };
    words u8, s8, u16, s16;
    for (std::size_t k = 0; k < 16; ++k) {
        u8.push_back(byte_of(some, k));
        s8.push_back(static_cast<std::uint32_t>(static_cast<std::int8_t>(byte_of(some, k))));
        u16.push_back(half_of(some, k));
        s16.push_back(static_cast<std::uint32_t>(static_cast<std::int16_t>(half_of(some, k))));
    }
    CHECK(load("ld.global.u8 %r1, [%d1];", 1) == u8);
    CHECK(load("ld.global.b8 %h1, [%d1];\ncvt.u32.u16 %r1, %h1;", 1) == u8);
    CHECK(load("ld.global.s8 %r1, [%d1];", 1) == s8);
    CHECK(load("ld.global.s8 %h1, [%d1];\ncvt.s32.s16 %r1, %h1;", 1) == s8);
    CHECK(load("ld.global.s8 %d3, [%d1];\ncvt.u32.u64 %r1, %d3;", 1) == s8);
    CHECK(load("ld.global.u16 %r1, [%d1];", 2) == u16);
    CHECK(load("ld.global.u16 %h1, [%d1];\ncvt.u32.u16 %r1, %h1;", 2) == u16);
    CHECK(load("ld.global.s16 %r1, [%d1];", 2) == s16);
    CHECK(load("ld.global.b16 %h1, [%d1];\ncvt.s32.s16 %r1, %h1;", 2) == s16);
    words high(s8);
    for (auto& w : high) w = static_cast<std::int32_t>(w) < 0 ? 0xffffffffU : 0;
    CHECK(load("ld.global.s8 %d3, [%d1];\nshr.u64 %d3, %d3, 32;\ncvt.u32.u64 %r1, %d3;", 1) == high);
}

TEST_CASE("lanes that store bytes of one word keep each other's") {
    const std::string source = "add.s64 %d1, %in, %t64;\nld.global.u8 %r1, [%d1];\nadd.u32 %r1, %r1, 513;\n";
    words expected(8, 0xeeeeeeeeU);
    const auto put = [&](std::size_t at, std::uint32_t byte) { expected[at / 4] = (expected[at / 4] & ~(255U << (8 * (at % 4)))) | (byte & 255U) << (8 * (at % 4)); };
    SECTION("one after another") {
        for (std::size_t k = 0; k < 32; ++k) put(k, byte_of(some, k) + 1);
        CHECK(run(source + "add.s64 %d2, %out, %t64;\nst.global.u8 [%d2], %r1;", 32, some, 8).buffers[1] == expected);
    }
    SECTION("backwards, by half words") {
        for (std::size_t k = 0; k < 16; ++k) {
            const std::uint32_t half = byte_of(some, k) + 513;
            put(30 - 2 * k, half);
            put(31 - 2 * k, half >> 8);
        }
        CHECK(run(source + "mul.lo.s64 %d2, %t64, -2;\nadd.s64 %d2, %out, %d2;\nst.global.u16 [%d2+30], %r1;", 16, some, 8).buffers[1] == expected);
    }
    SECTION("all at one place: the last lane's stays") {
        put(5, byte_of(some, 3) + 1);
        CHECK(run(source + "st.global.b8 [%out+5], %r1;", 4, some, 8).buffers[1] == expected);
    }
    SECTION("some lanes only") {
        for (std::size_t k = 0; k < 32; ++k)
            if ((byte_of(some, k) + 513) & 1) put(k, byte_of(some, k) + 1);
        CHECK(run(source + "and.b32 %r2, %r1, 1;\nsetp.ne.u32 %p1, %r2, 0;\nadd.s64 %d2, %out, %t64;\n@%p1 st.global.u8 [%d2], %r1;", 32, some, 8).buffers[1] == expected);
    }
    SECTION("literals, from registers of every width") {
        put(0, 77), put(1, 254), put(2, byte_of(some, 0) + 1), put(3, byte_of(some, 0) + 1), put(6, 0x34), put(7, 0x12);
        CHECK(run(source + "cvt.u16.u32 %h1, %r1;\ncvt.u64.u32 %d3, %r1;\nst.global.u8 [%out], 77;\nst.global.s8 [%out+1], -2;\nst.global.u8 [%out+2], %h1;\n"
                           "st.global.b8 [%out+3], %d3;\nst.global.u16 [%out+6], 4660;", 1, some, 8).buffers[1] == expected);
    }
}

TEST_CASE("parts of words may be parameters that nothing else reads") {
    std::string text = kernel("st.global.u8 [%out+1], %r1;\nst.global.u16 [%out+6], %r2;");
    const auto put = [&](const std::string& before, const std::string& what) { text.insert(text.find(before), what); };
    put(")\n{", ", .param .u32 k_one, .param .align 4 .b8 k_more[12]");
    put("st.global", "ld.param.u32 %r1, [k_one];\nld.param.u32 %r2, [k_more+8];\n");
    const auto found = test::run_text(text, {1, 1, 1}, {4, 1, 1}, {test::buffer_of(some), test::buffer_of(words(2, 0xeeeeeeeeU)), test::number(0x12345678U), {false, {1, 2, 0x9abcdef0U}}});
    CHECK(found.buffers[1] == words{0xeeee78eeU, 0xdef0eeeeU});
}

TEST_CASE("bytes are read again after they were written, between words that hold them") {
    const auto r = run(R"(
        st.global.u8 [%out+1], 17;
        ld.global.u32 %r1, [%out];
        st.global.u16 [%out+2], 513;
        ld.global.u8 %r2, [%out+3];
        ld.global.s8 %r3, [%out+1];
        st.global.u32 [%out+4], %r1;
        st.global.u8 [%out+7], %r2;
        ld.global.u16 %r4, [%out+6];
        st.global.u32 [%out+8], %r4;
        st.global.u32 [%out+12], %r3;)", 1, some, 4);
    CHECK(r.buffers[1] == words{0x020111eeU, 0x02ee11eeU, 0x000002eeU, 17});
}

TEST_CASE("vectors of bytes and half words") {
    const auto pass = [&](const std::string& type, const std::string& registers, std::uint32_t bytes) {
        const std::string n = std::to_string(bytes);
        return run("mul.lo.u64 %d1, %t64, " + n + ";\nadd.s64 %d2, %in, %d1;\nadd.s64 %d3, %out, %d1;\nld.global." + type + " {" + registers + "}, [%d2];\nst.global." + type +
                       " [%d3], {" + registers + "};", 32 / bytes, some, 8).buffers[1];
    };
    CHECK(pass("v2.u8", "%h1, %h2", 2) == some);
    CHECK(pass("v4.u8", "%h1, %h2, %h3, %h4", 4) == some);
    CHECK(pass("v4.s8", "%r1, %r2, %r3, %r4", 4) == some);
    CHECK(pass("v2.b16", "%h1, %h2", 4) == some);
    CHECK(pass("v4.u16", "%h1, %h2, %h3, %h4", 8) == some);
    CHECK(pass("v2.s16", "%r1, %r2", 4) == some);
    CHECK(pass("v2.u64", "%d4, %d5", 16) == some);
    CHECK(pass("v4.b32", "%r1, %r2, %r3, %r4", 16) == some);
    const auto signs = run("ld.global.v4.s8 {%r1, %r2, %r3, %r4}, [%in];\nst.global.v4.u32 [%out], {%r1, %r2, %r3, %r4};\nld.global.v2.s16 {%r1, %r2}, [%in];\n"
                           "st.global.v2.s32 [%out+16], {%r1, %r2};\nld.global.v2.u8 {%r1, %r2}, [%in+2];\nst.global.v2.s32 [%out+24], {%r2, %r1};", 1, some, 8);
    CHECK(signs.buffers[1] == words{1, 0x7f, 0xffffffffU, 0xffffff80U, 0x7f01, 0xffff80ffU, 0x80, 0xff});
}

TEST_CASE("parts of words that are not aligned, or of nobody, trap; a guard prevents it") {
    CHECK(run("ld.global.u16 %r1, [%in+1];\nst.global.u32 [%out], %r1;", 1, some, 1).trap == "misaligned");
    CHECK(run("st.global.u16 [%out+1], 3;", 1, some, 1).trap == "misaligned");
    CHECK(run("ld.global.v2.u16 {%r1, %r2}, [%in+2];\nst.global.u32 [%out], %r1;", 1, some, 1).trap == "misaligned");
    CHECK(run("st.global.u8 [%out+4], 3;", 1, some, 1).trap == "out of bounds");
    CHECK(run("ld.global.u8 %r1, [%in+-1];\nst.global.u32 [%out], %r1;", 1, some, 1).trap == "out of bounds");
    CHECK(run("setp.ne.u32 %p1, %t, 0;\n@%p1 st.global.u8 [%out+4], 3;\n@%p1 st.global.u16 [%out+1], 3;\nst.global.u8 [%out+3], 3;", 1, some, 1).buffers[1] == words{0x03eeeeeeU});
}

TEST_CASE("a block that stores a part of a word loads it, puts the part in and stores it") {
    const auto k = test::compile_text(kernel("add.s64 %d1, %in, %t64;\nld.global.u8 %h1, [%d1];\nadd.s64 %d2, %out, %t64;\nadd.s16 %h1, %h1, 3;\nst.global.u8 [%d2], %h1;"));
    const auto n = std::count_if(k.program.blocks.begin(), k.program.blocks.end(), [](const machine::machine_block& b) {
        return b.has_store && b.mem.op == machine::memory_op::load_byte_word && b.s4.op == machine::alu_op::insert && b.mem.store_size == machine::access_size::byte;
    });
    CHECK(n == 1);
    CHECK(k.program.blocks.size() == 2);
}
