// SPDX-License-Identifier: MIT
// Tokens: words, dotted words, numbers of every form, places, and bytes that are none.
#include <qwengpu/ptx/lexer.hpp>

#include <string>
#include <vector>

#include "support/catch.hpp"

using namespace qwengpu::ptx;

namespace {

std::vector<token> all_tokens(std::string_view text) {
    lexer l(text);
    std::vector<token> tokens;
    for (token t = l.next(); t.kind != token_kind::end; t = l.next()) tokens.push_back(t);
    return tokens;
}

std::vector<std::string> texts(std::string_view text) {
    std::vector<std::string> all;
    for (const token& t : all_tokens(text)) all.emplace_back(t.text);
    return all;
}

token single(std::string_view text) {
    const auto tokens = all_tokens(text);
    REQUIRE(tokens.size() == 1);
    return tokens[0];
}

std::string failure(std::string_view text) {
    try {
        (void)all_tokens(text);
    } catch (const syntax_error& e) {
        return std::to_string(e.where.line) + ":" + std::to_string(e.where.column) + " " + e.what();
    }
    return "";
}

}  // namespace

TEST_CASE("an instruction becomes words, dotted words and punctuation") {
    CHECK(texts("@!%p1 add.sat.s32\t%r1,%r2,-5;") ==
          std::vector<std::string>{"@", "!", "%p1", "add", "sat", "s32", "%r1", ",", "%r2", ",", "-", "5", ";"});
    CHECK(texts("ld.global.L2::128B.shared::cta.b32") == std::vector<std::string>{"ld", "global", "L2::128B", "shared::cta", "b32"});
    CHECK(texts("$L__BB0_1: _ %r<9>") == std::vector<std::string>{"$L__BB0_1", ":", "_", "%r", "<", "9", ">"});
    CHECK(texts("a<<2 >= b != c && d || 5 % 3") == std::vector<std::string>{"a", "<<", "2", ">=", "b", "!=", "c", "&&", "d", "||", "5", "%", "3"});
}

TEST_CASE("a percent sign before a word belongs to it, alone it is an operator") {
    CHECK(texts("%r1 % 2") == std::vector<std::string>{"%r1", "%", "2"});
}

TEST_CASE("comments vanish and places count lines and columns from one") {
    const auto t = all_tokens("// one\nadd /* two\nthree */ .s32\n  ;");
    REQUIRE(t.size() == 3);
    CHECK(t[0].where == place{2, 1});
    CHECK(t[1].where == place{3, 10});
    CHECK(t[2].where == place{4, 3});
}

TEST_CASE("integers in all bases") {
    CHECK(single("42").value == 42);
    CHECK(single("0").value == 0);
    CHECK(single("017").value == 15);
    CHECK(single("0b1011").value == 11);
    CHECK(single("0x1fU").value == 31);
    CHECK(single("0XAb").value == 0xab);
    CHECK(single("18446744073709551615").value == 18446744073709551615ULL);
    CHECK_FALSE(single("9223372036854775807").is_unsigned);
    CHECK(single("9223372036854775808").is_unsigned);
    CHECK(single("5U").is_unsigned);
    CHECK(single("0x1fU").kind == token_kind::integer);
}

TEST_CASE("floats are bits") {
    CHECK(single("0f3F800000").kind == token_kind::f32);
    CHECK(single("0f3F800000").value == 0x3f800000);
    CHECK(single("0F80000000").value == 0x80000000);
    CHECK(single("0d3FF0000000000000").kind == token_kind::f64);
    CHECK(single("0d3FF0000000000000").value == 0x3ff0000000000000);
    CHECK(single("1.5").value == 0x3ff8000000000000);
    CHECK(single("2e1").value == 0x4034000000000000);
    CHECK(single("1.25e-1").value == 0x3fc0000000000000);
}

TEST_CASE("what looks like a number and is none is an error with its place") {
    for (const char* bad : {"09", "0x", "0b12", "0f3F80000", "0f3F8000000", "12ab", "18446744073709551616", "0fgggggggg", "1.5x"}) {
        INFO(bad);
        CHECK(failure(std::string(" ") + bad).starts_with("1:2 '"));
    }
}

TEST_CASE("strings keep what is in them, and must end in their line") {
    CHECK(single("\"a b\\\"c\"").text == "a b\\\"c");
    CHECK(failure("\"abc\n\"").starts_with("1:1 this string is never closed"));
    CHECK(failure("\"abc\\").starts_with("1:1 this string is never closed"));
    CHECK(failure("x /* abc").starts_with("1:3 this comment is never closed"));
}

TEST_CASE("bytes that are no text are named by their value and never shown") {
    CHECK(failure("add \xff").find("0xff") != std::string::npos);
    CHECK(failure("add \xff").find('\xff') == std::string::npos);
    CHECK(failure("# 1 \"k.ptx\"\n  # 2\na\n b # c") == "4:4 the character '#' does not belong to PTX here");
    CHECK(failure("a # b") == "1:3 the character '#' does not belong to PTX here");
}
