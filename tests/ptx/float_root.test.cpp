// SPDX-License-Identifier: MIT
// sqrt of f32 against the host's, bit by bit, in all roundings. The sequence sees only the significand (with an even exponent),
// so the heavy test, which tries every one of those, is a proof.
#include <qwengpu/ptx/float_root.hpp>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>

#include "support/catch.hpp"

#include "float_host.hpp"
#include "float_sequence.hpp"

namespace {

using namespace qwengpu;

class root {
public:
    explicit root(const test::host_manner& how) : how_(how), sequence_("sqrt" + how.text() + " %d, %a; mov.u32 %e, 0;") {}

    void check(std::uint32_t a) {
        found_.compare(sequence_(a), test::host_result(how_, a, 0, 0, [](float x, float, float) { return std::sqrt(x); }), a);
    }
    void finish() const {
        INFO(how_.text() << ": " << found_.first);
        CHECK(found_.wrong == 0);
    }

private:
    test::host_manner how_;
    test::float_sequence sequence_;
    test::wrong_answers found_{};
};

constexpr std::uint32_t one = 0x3f800000U, four = 0x40800000U;

}  // namespace

TEST_CASE("square roots of f32 are those of the host, however rounded") {
    std::uint32_t seed = 7;
    for (const test::host_manner& how : test::all_manners(false)) {
        root r(how);
        for (std::uint32_t a : test::float_corners()) r.check(a);
        test::float_words words(++seed);
        for (int k = 0; k < 100'000; ++k) r.check(words());
        for (std::uint32_t near = 0; near < 2000; ++near) r.check(one + near), r.check(four - 1 - near), r.check(near);
        r.finish();
    }
}

TEST_CASE("the square root of every significand is right, however rounded", "[.heavy]") {
    for (int rounding = 0; rounding < 4; ++rounding) {
        root r({rounding, false, false});
        for (std::uint32_t x = one; x < four; ++x) r.check(x);
        r.finish();
    }
}

TEST_CASE("approximate roots: zeros, negative numbers, infinity and NaN") {
    test::float_sequence sqrt("sqrt.approx.f32 %d, %a; mov.u32 %e, 0;"), inverse("rsqrt.approx.f32 %d, %a; mov.u32 %e, 0;");
    struct row { std::uint32_t x, root, inverse; };
    for (const row& r : {row{0, 0, 0x7f800000U}, row{0x80000000U, 0x80000000U, 0xff800000U}, row{0x7f800000U, 0x7f800000U, 0},
                         row{0xff800000U, test::host_nan, test::host_nan}, row{0xbf800000U, test::host_nan, test::host_nan},
                         row{0x7fc00000U, test::host_nan, test::host_nan}, row{0x40800000U, 0x40000000U, 0x3f000000U}, row{0x80000001U, test::host_nan, test::host_nan}}) {
        INFO(std::hex << r.x);
        CHECK(sqrt(r.x) == r.root);
        CHECK(inverse(r.x) == r.inverse);
    }
}
