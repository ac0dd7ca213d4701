// SPDX-License-Identifier: MIT
// div and rcp of f32 against the host's divider, bit by bit, in all roundings: all pairs of corners and random words.
#include <qwengpu/ptx/float_divide.hpp>

#include <cstddef>
#include <cstdint>
#include <string>

#include "support/catch.hpp"

#include "float_host.hpp"
#include "float_sequence.hpp"

namespace {

using namespace qwengpu;

/// `mixed` numbers whose quotients are often subnormal, or just not.
test::wrong_answers try_division(const test::host_manner& how, std::size_t random, std::uint32_t seed) {
    test::float_sequence divide("div" + how.text() + " %d, %a, %b; mov.u32 %e, 0;");
    test::wrong_answers found;
    const auto check = [&](std::uint32_t a, std::uint32_t b) {
        found.compare(divide(a, b), test::host_result(how, a, b, 0, [](float x, float y, float) { return x / y; }), a, b);
    };
    const auto corners = test::float_corners();
    for (std::uint32_t a : corners)
        for (std::uint32_t b : corners) check(a, b);
    test::float_words words(seed);
    for (std::size_t k = 0; k < random; ++k) {
        std::uint32_t a = words();
        const std::uint32_t b = words(), near = (b >> 23) + 4U * 32U + (a >> 3) % 32U;
        if (k % 3 == 0) a = (a & 0x807fffffU) | (near & 255U) << 23;
        check(a, b);
    }
    return found;
}

test::wrong_answers try_reciprocal(const test::host_manner& how, std::size_t random, std::uint32_t seed) {
    test::float_sequence reciprocal("rcp" + how.text() + " %d, %a; mov.u32 %e, 0;");
    test::wrong_answers found;
    const auto check = [&](std::uint32_t a) { found.compare(reciprocal(a), test::host_result(how, a, 0, 0, [](float x, float, float) { return 1.0F / x; }), a); };
    for (std::uint32_t a : test::float_corners()) check(a);
    test::float_words words(seed);
    for (std::size_t k = 0; k < random; ++k) check(words());
    return found;
}

void check_all(std::size_t random) {
    std::uint32_t seed = 2026;
    for (const test::host_manner& how : test::all_manners(false)) {
        for (const auto& found : {try_division(how, random, ++seed), try_reciprocal(how, random / 4, ++seed)}) {
            INFO(how.text() << ": " << found.first);
            CHECK(found.wrong == 0);
        }
    }
}

}  // namespace

TEST_CASE("quotients and reciprocals of f32 are those of the host, however rounded") { check_all(100'000); }

TEST_CASE("quotients and reciprocals of f32 are those of the host, ten million quotients and a quarter as many reciprocals each", "[.heavy]") { check_all(10'000'000); }

TEST_CASE("div.full, and div.approx without .ftz, are correctly rounded quotients") {
    for (const char* form : {"full", "approx"}) {
        test::float_sequence divide(std::string("div.") + form + ".f32 %d, %a, %b; mov.u32 %e, 0;");
        CHECK(divide(0x3f800000U, 0x40400000U) == 0x3eaaaaabU);
        CHECK(divide(0x00000003U, 0x3f000000U) == 0x00000006U);
        CHECK(divide(0x3f800000U, 0xff800000U) == 0x80000000U);
    }
}

TEST_CASE("a division takes what its page says") {
    test::float_sequence divide("div.rn.f32 %d, %a, %b; mov.u32 %e, 0;"), flushing("div.rn.ftz.f32 %d, %a, %b; mov.u32 %e, 0;");
    test::float_sequence reciprocal("rcp.rn.f32 %d, %a; mov.u32 %e, 0;");
    CHECK(divide.stage3_only() == 9);
    CHECK(flushing.stage3_only() == 7);
    CHECK(reciprocal.stage3_only() == 8);
    CHECK(divide.size() == 66);
    CHECK(flushing.size() == 60);
    CHECK(reciprocal.size() == 57);
}
