// SPDX-License-Identifier: MIT
// Wrong PTX: what is said, at which line, and that one error does not hide or make another.
#include <qwengpu/ptx/parser.hpp>

#include <string>
#include <vector>

#include "support/catch.hpp"
#include "support/ptx_text.hpp"

using namespace qwengpu::test;

namespace {

using lines = std::vector<std::string>;

bool has(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("names that are not declared") {
    CHECK(wrong_body("add.s32 %r1, %q7, 1;") == "ptx.parse 7: register %q7 is not declared");
    CHECK(wrong_body("ld.param.u64 %rd1, [k_q];") == "ptx.parse 7: parameter or symbol k_q is not declared");
    CHECK(wrong_body("bra nowhere;") == "ptx.parse 7: label nowhere is not defined in this function");
    CHECK(wrong_body("{ inner: } bra inner;") == "ptx.parse 7: label inner is not defined in this function");
    CHECK(wrong_body("@%q bra L; L:") == "ptx.parse 7: register %q is not declared");
    CHECK(has(wrong_body("brx.idx %r1, t;"), "table t is not defined"));
    CHECK(has(wrong_body("call f;"), "symbol f is not declared"));
    CHECK(wrong_with(ptx_head() + ".global .u64 x = y;") == lines{"ptx.parse 4: parameter or symbol y is not declared"});
}

TEST_CASE("instructions and modifiers that do not exist") {
    CHECK(wrong_body("frobnicate.s32 %r1, %r2;") == "ptx.parse 7: unknown instruction 'frobnicate.s32'");
    CHECK(wrong_body("add.sideways.s32 %r1, %r2, %r3;") == "ptx.parse 7: unknown modifier '.sideways' of add");
    CHECK(has(wrong_body("add.rn.s32 %r1, %r2, %r3;"), "'.rn' does not go with this form of add: add.rn.s32"));
    CHECK(has(wrong_body("mul.s32 %r1, %r2, %r3;"), "mul.s32 needs a modifier: .lo, .hi"));
    CHECK(has(wrong_body("add.sat.sat.s32 %r1, %r2, %r3;"), "'.sat' of add is there twice"));
    CHECK(has(wrong_body("add %r1, %r2, %r3;"), "add has 0 types, add takes 1: .u16"));
    CHECK(has(wrong_body("cvt.u32 %r1, %r2;"), "has 1 types, cvt takes 2"));
}

TEST_CASE("numbers of operands") {
    CHECK(wrong_body("add.s32 %r1, %r2;") == "ptx.parse 7: add.s32 takes 3 operands, 2 given");
    CHECK(has(wrong_body("bar.sync;"), "bar.sync takes 1 to 2 operands, 0 given"));
    CHECK(has(wrong_body("ret %r1;"), "ret takes 0 operands, 1 given"));
}

TEST_CASE("syntax") {
    CHECK(wrong_body("add.s32 %r1 %r2, %r3;") == "ptx.parse 7: expected ',' or ';' after an operand of add.s32, found '%r2'");
    CHECK(has(wrong_body("ld.global.u32 %r1, [%rd1;"), "expected ']', found ';'"));
    CHECK(has(wrong_body("mov.u32 %r1, ;"), "expected a constant, found ';'"));
    CHECK(has(wrong_body(".reg .b32 %r<x>;"), "expected the number of registers, found 'x'"));
    CHECK(has(wrong_body(".reg .q32 %a;"), "expected a type such as .b32, found '.q32'"));
    CHECK(has(wrong_body(".reg .b32 %a, %a;"), "'%a' is declared twice in this scope (first in line 7)"));
    CHECK(has(wrong_body("L: L: ret;"), "label L is defined twice"));
    CHECK(has(wrong_body("L: bra M; L: M: ret;"), "label L is defined twice"));
    CHECK_FALSE(has(wrong_body("L: bra M; L: M: ret;"), "label M"));
    CHECK(has(wrong_body("@%r1 ret;"), "%r1 is no predicate register"));
    CHECK(has(wrong_body(".local .align 3 .b8 x[4];"), "power of two"));
    CHECK(has(wrong_body("mov.u32 %r1.x, 1;"), "%r1 is no vector register"));
}

TEST_CASE("all errors of a file are found, and what follows from one is not another") {
    const auto all = wrong_with(
        kernel_with("frob.s32 {%r1, %q1}, [%rd1];\nadd.s32 %r1, %q7, 1;\nld.global.v4.u32 {%r1, %q8, %r2, %r3}, [%rd1];\n"
                    "mov.u32 %r1 1;\n{ .reg .b32 %z; mov.u32 %z, %q9; }\nbra nowhere;"));
    CHECK(all == lines{"ptx.parse 7: unknown instruction 'frob.s32'", "ptx.parse 8: register %q7 is not declared",
                       "ptx.parse 9: register %q8 is not declared",
                       "ptx.parse 10: expected ',' or ';' after an operand of mov.u32, found '1'",
                       "ptx.parse 11: register %q9 is not declared",
                       "ptx.parse 12: label nowhere is not defined in this function"});
}

TEST_CASE("a second list of parameters is refused") {
    CHECK(has(wrong_with(ptx_head() + ".entry k() (.param .u32 a) { ret; }").at(0), "4: expected '{', found '('"));
}

TEST_CASE("errors of two functions, and between them") {
    const auto all =
        wrong_with(ptx_head() + ".entry a() { mov.u32 %r1, 1; }\n.frob x { y; }\n.entry b() { bra x; }\n.entry b() { ret; }\n");
    REQUIRE(all.size() == 4);
    CHECK(has(all[0], "4: register %r1"));
    CHECK(has(all[1], "5: expected a directive, a variable, .entry or .func, found '.frob'"));
    CHECK(has(all[2], "6: label x"));
    CHECK(has(all[3], "7: kernel b has two bodies"));
}

TEST_CASE("a file that ends early says inside what") {
    const std::string head = ptx_head() + ".entry k(.param .u64 a";
    CHECK(has(wrong_with(head).at(0), "unexpected end of file: the file ends inside the head of kernel k"));
    CHECK(has(wrong_with(head + ") { .reg .b32 %r<4>; add.s32 %r1, %r").at(0),
              "unexpected end of file: the file ends inside the body of kernel k"));
    CHECK(has(wrong_with(head + ") { ret;").at(0), "unexpected end of file: the file ends inside the body of kernel k"));
    CHECK(wrong_with(head + ") { .reg .b32 %r<4>; add.s32 %r1, %r").size() == 1);
}

TEST_CASE("texts that are no PTX at all") {
    CHECK(has(wrong_with("").at(0), "the file is empty"));
    CHECK(has(wrong_with("\n \t\n").at(0), "the file is empty"));
    CHECK(has(wrong_with("int main() {}").at(0), "this is not PTX: expected .version first, found 'int'"));
    const auto elf =
        wrong_with(std::string("\x7f"
                               "ELF\0\1\2",
                               7));
    CHECK(has(elf.at(0), "this is not PTX text: a byte at offset 0"));
    CHECK(has(wrong_with(ptx_head() + std::string("\0", 1)).at(0), "4: this is not PTX text"));
}

TEST_CASE("bytes of the file are never echoed raw") {
    for (int byte = 1; byte < 256; ++byte) {
        for (const std::string& text :
             {ptx_head() + static_cast<char>(byte), kernel_with(std::string("add.") + static_cast<char>(byte) + " %r1;")})
            for (const std::string& line : wrong_with(text))
                CHECK(std::all_of(line.begin(), line.end(), [](char c) { return c >= 0x20 && c <= 0x7e; }));
    }
}

TEST_CASE("a long name is cut in the message") {
    const auto all = wrong_with(kernel_with("mov.u32 %r1, " + std::string(100000, 'a') + ";"));
    REQUIRE(all.size() == 1);
    CHECK(all[0].size() < 200);
}

TEST_CASE("nesting is limited, not the program's stack") {
    CHECK(has(wrong_with(kernel_with(std::string(100000, '{'))).at(0), "nested deeper"));
    CHECK(has(wrong_with(ptx_head() + ".global .u32 a[2] = " + std::string(100000, '{')).at(0), "more braces"));
    CHECK_FALSE(wrong_with(kernel_with(std::string(900, '{') + std::string(900, '}'))).size());
}

TEST_CASE("the number of errors is limited and said") {
    std::string body;
    for (int k = 0; k < 200; ++k) body += "frob;\n";
    const auto all = wrong_with(kernel_with(body));
    CHECK(all.size() == 50);
    CHECK(has(all.back(), "there may be more"));
}
