// SPDX-License-Identifier: MIT
// Constant expressions against values worked out by the compiler of this test.
#include <qwengpu/ptx/constant_expression.hpp>

#include <string>

#include "support/catch.hpp"

using namespace qwengpu::ptx;

namespace {

constant value_of(std::string_view text) {
    cursor in(text);
    const constant c = parse_constant(in);
    REQUIRE(in.at_end());
    return c;
}

std::int64_t integer(std::string_view text) { return static_cast<std::int64_t>(value_of(text).bits); }

}  // namespace

TEST_CASE("operators bind as in C") {
    CHECK(integer("1 + 2 * 3") == 7);
    CHECK(integer("(1 + 2) * 3") == 9);
    CHECK(integer("10 - 4 - 3") == 3);
    CHECK(integer("1 << 4 | 3 & 5 ^ 1") == (1 << 4 | ((3 & 5) ^ 1)));
    CHECK(integer("5 > 3 && 2 > 3") == 0);
    CHECK(integer("5 > 3 || 2 > 3") == 1);
    CHECK(integer("1 ? 2 : 3 ? 4 : 5") == 2);
    CHECK(integer("0 ? 2 : 0 ? 4 : 5") == 5);
    CHECK(integer("-7 / 2") == -3);
    CHECK(integer("-7 % 3") == -1);
    CHECK(integer("~5") == -6);
    CHECK(integer("!5 + !0") == 1);
    CHECK(integer("- - 5") == 5);
    CHECK(integer("+-4") == -4);
}

TEST_CASE("signedness follows the operands") {
    CHECK(integer("-8 >> 1") == -4);
    CHECK(integer("0xfffffffffffffff8 >> 1") == 0x7ffffffffffffffc);
    CHECK(integer("-1 < 1") == 1);
    CHECK(integer("-1 < 1U") == 0);
    CHECK(integer("(.u64)-1 > 5") == 1);
    CHECK(integer("(.s64)0xffffffffffffffff < 0") == 1);
    CHECK(integer("-9223372036854775808 / -1") == INT64_MIN);
    CHECK(integer("1 << 64") == 0);
    CHECK(integer("-1 >> 200") == -1);
}

TEST_CASE("floats take a sign and nothing else") {
    CHECK(value_of("-0f3F800000").bits == 0xbf800000);
    CHECK(value_of("-1.0").bits == 0xbff0000000000000);
    CHECK_THROWS_AS(value_of("1.0 + 2"), syntax_error);
    CHECK_THROWS_AS(value_of("~1.0"), syntax_error);
}

TEST_CASE("wrong expressions are refused") {
    for (const char* bad : {"", "1 +", "(1", "1 / 0", "5 % (3 - 3)", "1 ? 2", "abc", "(.f32) 1"}) {
        INFO(bad);
        CHECK_THROWS_AS(value_of(bad), syntax_error);
    }
}

TEST_CASE("nesting has a limit and does not end the program") {
    CHECK(integer(std::string(40, '(') + "7" + std::string(40, ')')) == 7);
    CHECK_THROWS_AS(value_of(std::string(100000, '(')), syntax_error);
    CHECK_THROWS_AS(value_of(std::string(100000, '-') + "1"), syntax_error);
}
