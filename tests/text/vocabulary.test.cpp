// SPDX-License-Identifier: MIT
// The vocabulary against the table of docs/machine.md, written down here a second time by hand.
#include <qwengpu/text/spelling.hpp>
#include <qwengpu/text/vocabulary.hpp>

#include "support/catch.hpp"

#include <string>

using namespace qwengpu;
using text::token;
using text::token_class;

namespace {

using mission = text::vocabulary<>;
constexpr machine::sizes small_sizes{.lanes = 2, .warps = 2, .registers = 4, .words = 16, .constants = 32, .blocks = 16};
using small = text::vocabulary<small_sizes>;

}  // namespace

TEST_CASE("ids are dense and in the order of the contract", "[text]") {
    CHECK(mission::encode(token_class::launch) == 0);
    CHECK(mission::encode(token_class::end) == 1);
    CHECK(mission::encode(token_class::cta) == 2);
    CHECK(mission::encode(token_class::all) == 3);
    CHECK(mission::encode(token_class::skip) == 4);
    CHECK(mission::encode(token_class::br, 1) == 6);
    CHECK(mission::encode(token_class::fair, 3) == 7 + 3);
    CHECK(mission::encode(token_class::trap, 2) == 11 + 2);
    CHECK(mission::encode(token_class::release, 5, 1) == 19 + 5 + 8);
    CHECK(mission::encode(token_class::start, 0b0110, 5) == 35 + 6 + 16 * 5);
    CHECK(mission::encode(token_class::mask, 0b1111, 7) == 163 + 15 + 16 * 7);
    CHECK(mission::encode(token_class::constant, 12) == 291 + 12);
    CHECK(mission::encode(token_class::addr, 126, 27) == 419 + 126 + 128 * 27);
    CHECK(mission::encode(token_class::prog, 1022, 5) == 4515 + 1022 + 1024 * 5);
    CHECK(mission::encode(token_class::hdr, 1023, 7) == 12707 + 1023 + 1024 * 7);
    CHECK(mission::encode(token_class::short_word, 0xfff) == 20899 + 4095);
    CHECK(mission::encode(token_class::lo, 0) == 24995);
    CHECK(mission::encode(token_class::hi, 0xffff) == 24995 + 65536 + 65535);
    CHECK(mission::size == 24995 + 131072);
}

TEST_CASE("a smaller machine has narrower fields", "[text]") {
    CHECK(small::count(token_class::fair) == 2);
    CHECK(small::count(token_class::start) == 8);
    CHECK(small::count(token_class::addr) == 16 * 32);
    CHECK(small::count(token_class::hdr) == 32);
    CHECK(small::count(token_class::prog) == 128);
    CHECK(small::count(token_class::lo) == 65536);
}

TEST_CASE("rows hold their fields where the contract puts them", "[text]") {
    CHECK(mission::expand(mission::encode(token_class::hdr, 12, 3)) == text::row_bits{12 | 3 << 10, 0x1fff});
    CHECK(mission::expand(mission::encode(token_class::release, 6, 1)) == text::row_bits{6 | 1 << 3, 0xf});
    CHECK(mission::expand(mission::encode(token_class::start, 9, 3)) == text::row_bits{9 | 3 << 10, 0x1c0f});
    CHECK(mission::expand(mission::encode(token_class::addr, 100, 2)) == text::row_bits{100 | 2 << 7, 0x0fff});
    CHECK(mission::expand(mission::encode(token_class::short_word, 0xffb)) == text::row_bits{0xfffffffb, 0xffffffff});
    CHECK(mission::expand(mission::encode(token_class::short_word, 5)) == text::row_bits{5, 0xffffffff});
    CHECK(mission::expand(mission::encode(token_class::lo, 0xabcd)) == text::row_bits{0xabcd, 0xffff});
    CHECK(mission::expand(mission::encode(token_class::hi, 0xabcd)) == text::row_bits{0xabcd0000, 0xffff0000});
    CHECK(mission::expand(mission::encode(token_class::launch)) == text::row_bits{0, 0});
    CHECK(small::expand(small::encode(token_class::hdr, 5, 1)) == text::row_bits{5 | 1 << 10, 0x040f});
    CHECK(small::expand(small::encode(token_class::addr, 5, 31)) == text::row_bits{5 | 31 << 7, 0x0f8f});
}

TEST_CASE("short words", "[text]") {
    for (const std::int32_t v : {-2048, -1, 0, 1, 2047}) CHECK(mission::fits_short(static_cast<std::uint32_t>(v)));
    for (const std::int32_t v : {-2049, 2048, 65535, INT32_MIN, INT32_MAX})
        CHECK_FALSE(mission::fits_short(static_cast<std::uint32_t>(v)));
}

TEST_CASE("every id decodes, encodes, is spelled and read back", "[text]") {
    const auto all_of = [](auto v, auto spelled, auto parsed) {
        using V = decltype(v);
        bool good = true;
        for (token id = 0; id < V::size; ++id) {
            const auto d = V::decode(id);
            good = good && V::encode(d.id, d.first, d.second) == id && parsed(spelled(id)) == id;
        }
        return good;
    };
    CHECK(all_of(mission{}, text::spell<>, text::parse_token<>));
    CHECK(all_of(small{}, text::spell<small_sizes>, text::parse_token<small_sizes>));
}

TEST_CASE("spellings", "[text]") {
    const auto spelled = [](token_class c, std::uint32_t a = 0, std::uint32_t b = 0) {
        return text::spell(mission::encode(c, a, b));
    };
    CHECK(spelled(token_class::hdr, 12, 3) == "hdr:w3:b12");
    CHECK(spelled(token_class::short_word, 0xffb) == "short:-5");
    CHECK(spelled(token_class::lo, 0x1a2b) == "lo:1a2b");
    CHECK(spelled(token_class::start, 0b1011, 2) == "start:w2:l013");
    CHECK(spelled(token_class::start, 0, 2) == "start:w2:l");
    CHECK(spelled(token_class::prog, 7, 5) == "prog:g5:b7");
    CHECK(spelled(token_class::addr, 17, 2) == "addr:v2:17");
    CHECK(spelled(token_class::all) == "all");
}

TEST_CASE("what is no spelling is refused", "[text]") {
    for (const auto* bad : {"", "hdr", "hdr:w8:b0", "hdr:w0:b1024", "hdr:b1:w1", "short:2048", "short:-2049", "lo:10000", "lo:-1",
                            "launch:", "nothing", "start:w0:l4", "hdr:w1:b1:", "br:2", "hi:12g4", "addr:v32:1"})
        CHECK_FALSE(text::parse_token(bad));
}
