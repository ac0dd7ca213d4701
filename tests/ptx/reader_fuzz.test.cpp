// SPDX-License-Identifier: MIT
// Damaged PTX: cut off at every byte, with bytes flipped, pieces swapped. Every answer is a tree or a diagnostic_error with
// printable text; the reader never ends in another way.
#include <qwengpu/ptx/read.hpp>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "support/catch.hpp"
#include "support/choices.hpp"
#include "support/ptx_text.hpp"

using namespace qwengpu::test;
namespace ptx = qwengpu::ptx;

namespace {

bool printable_text(const std::string& text) {
    return std::all_of(text.begin(), text.end(), [](char c) { return c == '\n' || (c >= 0x20 && c <= 0x7e); });
}

/// True if the text is read, false if it is refused; anything else fails the test.
bool reads(const std::string& text) {
    try {
        (void)ptx::read(text, "fuzz.ptx");
        return true;
    } catch (const ptx::diagnostic_error& e) {
        const bool has_place =
            std::all_of(e.all().begin(), e.all().end(), [](const ptx::diagnostic& d) { return d.where.line > 0; });
        if (!printable_text(e.what()) || !has_place) FAIL(e.what());
        return false;
    }
}

std::vector<std::string> samples() {
    std::vector<std::string> texts;
    for (const char* name : {"ptx/nvcc/call.ptx", "ptx/clang/vote.ptx", "ptx/nvcc_O0/const_table.ptx", "ptx/nvcc/vec4.ptx"})
        texts.push_back(slurp(std::filesystem::path(QWENGPU_TEST_DATA) / "kernels" / name));
    return texts;
}

/// One random change; every choice is a statement of its own, so that all compilers make the same ones.
void damage(std::string& text, choices& random) {
    const auto at = static_cast<std::size_t>(random.below(static_cast<int>(text.size())));
    const auto from = static_cast<std::size_t>(random.below(static_cast<int>(text.size())));
    const auto length = static_cast<std::size_t>(random.between(1, 40));
    switch (random.below(5)) {
        case 0: text[at] = static_cast<char>(random.word()); break;
        case 1: text[at] ^= static_cast<char>(1 << random.below(7)); break;
        case 2: text.erase(at, length / 2 + 1); break;
        case 3: text.insert(at, std::string(text, from, length)); break;
        default: text.insert(at, 1, "{}()[];,.@|<>:%\"/*"[random.below(18)]);
    }
}

std::string damaged(std::string text, choices& random) {
    for (int hits = random.between(1, 4); hits > 0; --hits) damage(text, random);
    return text;
}

}  // namespace

TEST_CASE("files cut off anywhere are refused or read") {
    const auto files = samples();
    for (const auto& [text, step] : {std::pair(files[3], std::size_t{1}), std::pair(files[0], std::size_t{13})}) {
        std::size_t whole = 0, tries = 0;
        for (std::size_t n = 0; n < text.size(); n += step, ++tries) whole += reads(text.substr(0, n)) ? 1U : 0U;
        CHECK(whole > 0);
        CHECK(whole < tries / 10);
        CHECK(reads(text));
    }
}

TEST_CASE("a hand-made file with everything in it, cut off anywhere") {
    const std::string text =
        ptx_head() +
        ".file 1 \"a.cu\"\n.global .u32 g[2][2] = {{1, 2}, {-3, 0x4}};\n.global .u64 q[] = {g, generic(g)+4};\n"
        ".func (.param .b32 r) f (.param .b32 a) { .reg .b32 %x; ld.param.b32 %x, [a]; st.param.b32 [r+0], %x; ret; }\n"
        ".entry k(.param .u64 .ptr .global .align 4 p) .maxntid 32 { .reg .pred %p<3>; .reg .b32 %r<9>; .loc 1 2 3\n"
        "L: setp.lt.s32 %p1|%p2, %r1, (3 + 4) * -2; @!%p1 bra L; { .param .b32 x; .param .b32 y; call.uni (y), f, (x); }\n"
        "t: .branchtargets L, M; brx.idx %r1, t; M: mov.f32 %r3, 0f3F800000; ret; }\n.section .debug { .b8 1 }\n";
    REQUIRE(reads(text));
    for (std::size_t n = 0; n < text.size(); ++n) reads(text.substr(0, n));
    SUCCEED();
}

TEST_CASE("files with bytes changed at random are refused or read") {
    choices random(20240229);
    std::size_t refused = 0;
    const auto texts = samples();
    for (int k = 0; k < 1500; ++k)
        refused += reads(damaged(texts[static_cast<std::size_t>(k) % texts.size()], random)) ? 0U : 1U;
    CHECK(refused > 500);
}

TEST_CASE("random bytes and random tokens are refused") {
    choices random(7);
    static const char* const tokens[] = {".entry",
                                         ".func",
                                         "k",
                                         "(",
                                         ")",
                                         "{",
                                         "}",
                                         "[",
                                         "]",
                                         ";",
                                         ",",
                                         ".reg",
                                         ".b32",
                                         "%r1",
                                         "add",
                                         ".s32",
                                         "5",
                                         "@",
                                         "!",
                                         ".param",
                                         ":",
                                         "=",
                                         ".global",
                                         "<",
                                         ">",
                                         "0f3F800000",
                                         "\"s\"",
                                         "+",
                                         "-",
                                         "|",
                                         ".loc",
                                         ".section",
                                         "call",
                                         "bra",
                                         "L",
                                         "mov",
                                         "_",
                                         ".pragma",
                                         ".align",
                                         ".v4",
                                         ".file",
                                         "?",
                                         ".branchtargets",
                                         ".u64",
                                         "generic",
                                         "\n"};
    for (int k = 0; k < 4000; ++k) {
        std::string text = k % 2 == 0 ? ptx_head() : kernel_with("").substr(0, kernel_with("").size() - 8);
        for (int n = random.below(60); n > 0; --n)
            text += std::string(tokens[random.below(static_cast<int>(std::size(tokens)))]) + " ";
        reads(text);
        std::string bytes(static_cast<std::size_t>(random.below(200)), ' ');
        for (char& c : bytes) c = static_cast<char>(random.word());
        CHECK_FALSE(reads(bytes));
    }
}
