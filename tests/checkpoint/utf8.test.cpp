// SPDX-License-Identifier: MIT
// UTF-8, by the table of RFC 3629: the first and last code points of every length, and what lies just outside.
#include <qwengpu/checkpoint/utf8.hpp>

#include "support/catch.hpp"

#include <string>

using qwengpu::checkpoint::is_utf8;

TEST_CASE("well-formed texts of all lengths") {
    for (const std::string text : {"", "a", "\x7f", "\xc2\x80", "\xdf\xbf", "\xe0\xa0\x80", "\xed\x9f\xbf", "\xee\x80\x80", "\xef\xbf\xbf", "\xf0\x90\x80\x80", "\xf4\x8f\xbf\xbf", "a\xc3\xa9z"}) CHECK(is_utf8(text));
    CHECK(is_utf8(std::string(1, '\0')));
}

TEST_CASE("overlong forms, surrogates, what is too large, and pieces are none") {
    for (const std::string text : {"\x80", "\xbf", "\xc0\x80", "\xc1\xbf", "\xe0\x9f\xbf", "\xed\xa0\x80", "\xf0\x8f\xbf\xbf", "\xf4\x90\x80\x80", "\xf5\x80\x80\x80", "\xff", "\xc2", "\xe1\x80", "\xf1\x80\x80",
                                   "\xc2z", "\xe1z\x80", "\xe1\x80z", "\xf1\x80\x80z", "ok\xfe"})
        CHECK_FALSE(is_utf8(text));
}
