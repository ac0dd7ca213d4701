// SPDX-License-Identifier: MIT
// The f64 instructions that are lowered, against the host's: mul, neg, abs, cvt. And sinf of large angles, which needs them.
#include <qwengpu/ptx/lower_double.hpp>

#include <bit>
#include <cmath>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "support/catch.hpp"

#include "float_host.hpp"
#include "float_sequence.hpp"

namespace {

using namespace qwengpu;

std::uint64_t bits_of_double(double x) { return std::isnan(x) ? 0x7fffffffffffffffULL : std::bit_cast<std::uint64_t>(x); }

std::vector<std::uint64_t> double_corners() {
    std::vector<std::uint64_t> all;
    for (std::uint64_t e : {0ULL, 1ULL, 2ULL, 52ULL, 511ULL, 896ULL, 970ULL, 1022ULL, 1023ULL, 1075ULL, 1150ULL, 1151ULL, 1534ULL, 2045ULL, 2046ULL, 2047ULL})
        for (std::uint64_t f : {0ULL, 1ULL, 0x8000000000000ULL, 0x8000000000001ULL, 0xfffffffffffffULL, 0xfffffe0000000ULL, 0xffffff0000000ULL, 0x0000010000000ULL, 0x0000010000001ULL})
            for (std::uint64_t s : {0ULL, 1ULL}) all.push_back(s << 63 | e << 52 | f);
    return all;
}

/// One operand from the words %a, %b.
template <class Is, class Should>
std::string first_wrong(const std::vector<std::uint64_t>& operands, Is is, Should should) {
    test::wrong_answers found;
    for (std::uint64_t x : operands) {
        const std::uint64_t i = is(x), s = should(x);
        const auto lo = static_cast<std::uint32_t>(x), hi = static_cast<std::uint32_t>(x >> 32);
        found.compare(static_cast<std::uint32_t>(i), static_cast<std::uint32_t>(s), lo, hi);
        found.compare(static_cast<std::uint32_t>(i >> 32), static_cast<std::uint32_t>(s >> 32), lo, hi);
    }
    return found.first;
}

std::vector<std::uint64_t> doubles() {
    auto all = double_corners();
    std::mt19937_64 random(17);
    for (int k = 0; k < 30'000; ++k) {
        const std::uint64_t x = random(), e = k % 2 == 0 ? 870 + x % 290 : x % 2048;
        all.push_back((random() & 0x800fffffffffffffULL & ~((1ULL << x % 40) - 1)) | e << 52);
    }
    return all;
}

class unary {
public:
    explicit unary(const std::string& ptx) : run_("mov.b64 %w, {%a, %b}; " + ptx) {}
    std::uint64_t operator()(std::uint64_t x) {
        const auto r = run_.both(static_cast<std::uint32_t>(x), static_cast<std::uint32_t>(x >> 32));
        return r[0] | std::uint64_t{r[1]} << 32;
    }

private:
    test::float_sequence run_;
};

constexpr const char* split = " mov.b64 {%d, %e}, %v;";

}  // namespace

TEST_CASE("f64 to f32 is rounded once, in every mode") {
    const auto operands = doubles();
    for (const test::host_manner& how : test::all_manners(false)) {
        const std::string ptx = std::string("cvt.") + test::rounding_names[how.rounding] + (how.ftz ? ".ftz" : "") + ".f32.f64 %d, %w; mov.u32 %e, 0;";
        INFO(ptx);
        CHECK(first_wrong(operands, unary(ptx), [&](std::uint64_t x) -> std::uint64_t {
            volatile double y = std::bit_cast<double>(x);
            return test::host_flushed(test::bits_of_float(test::in_mode(how.rounding, [&] { return static_cast<float>(y); })), how.ftz);
        }).empty());
    }
}

TEST_CASE("f32 and integers to f64") {
    std::vector<std::uint64_t> operands = doubles();
    for (std::uint32_t x : test::float_corners()) operands.push_back(x);
    for (int k = 0; k < 64; ++k)
        for (std::uint64_t near : {0ULL, 1ULL, ~0ULL, 1ULL << (k > 53 ? k - 53 : 0), 3ULL << (k > 54 ? k - 54 : 0)}) operands.push_back((1ULL << k) + near);
    const auto check = [&](const std::string& ptx, auto exact) {
        INFO(ptx);
        CHECK(first_wrong(operands, unary(ptx + split), [&](std::uint64_t x) { return bits_of_double(exact(x)); }).empty());
    };
    check("cvt.f64.f32 %v, %a;", [](std::uint64_t x) { return static_cast<double>(test::float_of(static_cast<std::uint32_t>(x))); });
    check("cvt.rn.f64.s64 %v, %w;", [](std::uint64_t x) { return static_cast<double>(static_cast<std::int64_t>(x)); });
    check("cvt.rn.f64.u64 %v, %w;", [](std::uint64_t x) { return static_cast<double>(x); });
    check("cvt.rn.f64.s32 %v, %a;", [](std::uint64_t x) { return static_cast<double>(static_cast<std::int32_t>(x)); });
    check("cvt.rn.f64.u32 %v, %a;", [](std::uint64_t x) { return static_cast<double>(static_cast<std::uint32_t>(x)); });
}

TEST_CASE("products of f64 are those of the host") {
    const auto corners = double_corners();
    for (const std::uint64_t by : {0x3fe0000000000000ULL, 0x3bf921fb54442d19ULL, 0x0000000000000003ULL, 0x7fe8000000000001ULL, 0x8000000000000000ULL, 0x7ff0000000000000ULL, 0x001fffffffffffffULL,
                                   0x3ff0000000000000ULL, 0xbfeffffffffffffULL << 4, 0x7ff8000000000000ULL, 0x3c00000000000001ULL, 0x1ff5555555555555ULL}) {
        std::string digits;
        for (int k = 60; k >= 0; k -= 4) digits += "0123456789ABCDEF"[by >> k & 15U];
        INFO(digits);
        CHECK(first_wrong(doubles(), unary("mul.f64 %v, %w, 0d" + digits + ";" + split),
                          [&](std::uint64_t x) { return bits_of_double(std::bit_cast<double>(x) * std::bit_cast<double>(by)); }).empty());
    }
    test::float_sequence square("mov.b64 %w, {%a, %b}; mul.rn.f64 %v, %w, %w; mov.b64 {%d, %e}, %v;");
    for (std::uint64_t x : doubles()) {
        const auto r = square.both(static_cast<std::uint32_t>(x), static_cast<std::uint32_t>(x >> 32));
        REQUIRE((r[0] | std::uint64_t{r[1]} << 32) == bits_of_double(std::bit_cast<double>(x) * std::bit_cast<double>(x)));
    }
}

TEST_CASE("f64 signs are one bit, and other f64 instructions are refused") {
    unary neg(std::string("neg.f64 %v, %w;") + split), abs(std::string("abs.f64 %v, %w;") + split);
    CHECK(neg(0x7ff0000000000000ULL) == 0xfff0000000000000ULL);
    CHECK(abs(0x8000000000000001ULL) == 1);
    for (const char* ptx : {"add.f64 %v, %w, %w;", "mul.rz.f64 %v, %w, %w;", "cvt.rzi.s32.f64 %a, %w;", "setp.lt.f64 %p, %w, %w;"})
        CHECK_THROWS_AS(unary(std::string(ptx) + split), ptx::diagnostic_error);
}
