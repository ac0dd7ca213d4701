// SPDX-License-Identifier: MIT
// The approximate functions of f32: their errors against long double, with the bounds that docs/floats.md gives, and special values.
#include <qwengpu/ptx/float_circle.hpp>
#include <qwengpu/ptx/float_exponential.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "support/catch.hpp"

#include "float_host.hpp"
#include "float_sequence.hpp"

namespace {

using namespace qwengpu;
using test::float_of;

enum class measure { absolute, relative, units };

/// The error of a result, in the measure that the PTX manual uses; units are those of the exact value's last place, 2^-149 at least.
double error_of(float is, long double exact, measure how) {
    const long double distance = std::fabs(static_cast<long double>(is) - exact);
    if (how == measure::absolute) return static_cast<double>(distance);
    if (how == measure::relative) return static_cast<double>(exact == 0 ? distance : distance / std::fabs(exact));
    int exponent = 0;
    (void)std::frexp(exact, &exponent);
    return static_cast<double>(std::ldexp(distance, 24 - std::max(exponent, -125)));
}

struct range {
    std::string ptx;
    long double (*exact)(long double);
    float from, to;
    measure how;
    double bound;  ///< that of docs/floats.md
};

/// Every step-th word between two floats of one sign, or both sides of 0 for a negative `from`.
double worst(const range& r) {
    test::float_sequence run(r.ptx + ".f32 %d, %a; mov.u32 %e, 0;");
    const auto try_words = [&](float from, float to) {
        const auto first = test::bits_of_float(from), last = test::bits_of_float(to);
        const std::uint32_t step = std::max<std::uint32_t>((last - first) / 200'000U, 1U);
        double most = 0;
        for (std::uint64_t x = first; x <= last; x += step) {
            const auto word = static_cast<std::uint32_t>(x);
            most = std::max(most, error_of(float_of(run(word)), r.exact(static_cast<long double>(float_of(word))), r.how));
        }
        return most;
    };
    if (r.from >= 0) return try_words(r.from, r.to);
    return std::max(try_words(0.0F, r.to), try_words(-0.0F, r.from));
}

constexpr float pi = 0x1.921fb6p1F;

const std::vector<range>& ranges() {
    using m = measure;
    static const std::vector<range> all{
        {"ex2.approx", [](long double x) { return std::exp2(x); }, -126.0F, 127.99F, m::relative, 0x1.6p-24},
        {"ex2.approx.ftz", [](long double x) { return std::exp2(x); }, -126.0F, 127.99F, m::relative, 0x1.6p-24},
        {"ex2.approx", [](long double x) { return std::exp2(x); }, -160.0F, 127.99F, m::units, 0.89},
        {"ex2.approx.ftz", [](long double x) { return std::exp2(x); }, -126.0F, 127.99F, m::units, 0.88},
        {"lg2.approx", [](long double x) { return std::log2(x); }, 0.5F, 2.0F, m::absolute, 0x1.4p-24},
        {"lg2.approx", [](long double x) { return std::log2(x); }, 2.0F, 3.4e38F, m::relative, 0x1.2p-24},
        {"lg2.approx", [](long double x) { return std::log2(x); }, 1e-45F, 0.5F, m::relative, 0x1.2p-24},
        {"sin.approx", [](long double x) { return std::sin(x); }, -2 * pi, 2 * pi, m::absolute, 0x1.cp-24},
        {"cos.approx", [](long double x) { return std::cos(x); }, -2 * pi, 2 * pi, m::absolute, 0x1.dp-24},
        {"sin.approx", [](long double x) { return std::sin(x); }, -100 * pi, 100 * pi, m::absolute, 0x1.dp-24},
        {"cos.approx.ftz", [](long double x) { return std::cos(x); }, -100 * pi, 100 * pi, m::absolute, 0x1.dp-24},
        {"sin.approx", [](long double x) { return std::sin(x); }, -100'000.0F, 100'000.0F, m::absolute, 0x1.4p-23},
        {"tanh.approx", [](long double x) { return std::tanh(x); }, -3.4e38F, 3.4e38F, m::relative, 0x1.ap-13},
        {"sqrt.approx", [](long double x) { return std::sqrt(x); }, 1e-45F, 3.4e38F, m::relative, 0x1.9p-24},
        {"rsqrt.approx", [](long double x) { return 1 / std::sqrt(x); }, 1e-45F, 3.4e38F, m::relative, 0x1.9p-24},
        {"rcp.approx.ftz", [](long double x) { return 1 / x; }, 1.2e-38F, 8.5e37F, m::units, 0.53},
        {"rcp.approx", [](long double x) { return 1 / x; }, 1.2e-38F, 8.5e37F, m::units, 0.5}};
    return all;
}

struct value {
    std::string ptx;
    std::uint32_t x, result;
};

constexpr std::uint32_t minus = 0x80000000U, infinity = 0x7f800000U, one = 0x3f800000U, quiet = 0x7fc00000U, no_number = test::host_nan;

}  // namespace

TEST_CASE("approximate functions are as exact as their page says") {
    for (const range& r : ranges()) {
        const double found = worst(r);
        INFO(r.ptx << " from " << r.from << " to " << r.to << ": 2^" << std::log2(found));
        CHECK(found <= r.bound);
    }
}

TEST_CASE("div.approx.ftz is within two units") {
    test::float_sequence divide("div.approx.ftz.f32 %d, %a, %b; mov.u32 %e, 0;");
    test::float_words words(11);
    double most = 0;
    for (int k = 0; k < 300'000; ++k) {
        const std::uint32_t a = words(), b = (words() & 0x807fffffU) | (1U + (words() % 252U)) << 23;
        const long double exact = static_cast<long double>(float_of(a)) / static_cast<long double>(float_of(b));
        if (std::isnan(float_of(a)) || std::fabs(exact) < 1.2e-38L || std::fabs(exact) > 3.4e38L || (a & infinity) == 0) continue;
        most = std::max(most, error_of(float_of(divide(a, b)), exact, measure::units));
    }
    CHECK(most <= 1.5);
    CHECK(divide(one, infinity) == 0);
    CHECK(divide(minus | one, 0) == (minus | infinity));
    CHECK(divide(0, 0) == no_number);
}

TEST_CASE("approximate functions of zeros, infinities, NaN and subnormal numbers") {
    const value table[] = {
        {"ex2.approx", 0, one}, {"ex2.approx", minus, one}, {"ex2.approx", 1, one}, {"ex2.approx", infinity, infinity}, {"ex2.approx", minus | infinity, 0},
        {"ex2.approx", quiet, no_number}, {"ex2.approx", 0x43000000U, infinity}, {"ex2.approx", 0xc3150000U, 1}, {"ex2.approx.ftz", 0xc3150000U, 0},
        {"lg2.approx", 0, minus | infinity}, {"lg2.approx", minus, minus | infinity}, {"lg2.approx", infinity, infinity}, {"lg2.approx", minus | one, no_number},
        {"lg2.approx", minus | infinity, no_number}, {"lg2.approx", quiet, no_number}, {"lg2.approx", 1, 0xc3150000U}, {"lg2.approx.ftz", 1, minus | infinity}, {"lg2.approx", one, 0},
        {"sin.approx", 0, 0}, {"sin.approx", minus, minus}, {"sin.approx", infinity, no_number}, {"sin.approx", quiet, no_number}, {"sin.approx.ftz", 1, 0}, {"sin.approx", 1, 1},
        {"cos.approx", 0, one}, {"cos.approx", minus, one}, {"cos.approx", minus | infinity, no_number}, {"cos.approx", quiet, no_number},
        {"tanh.approx", 0, 0}, {"tanh.approx", minus, minus}, {"tanh.approx", infinity, one}, {"tanh.approx", minus | infinity, minus | one}, {"tanh.approx", quiet, no_number},
        {"rcp.approx.ftz", 0, infinity}, {"rcp.approx.ftz", minus, minus | infinity}, {"rcp.approx.ftz", minus | 1, minus | infinity}, {"rcp.approx.ftz", infinity, 0},
        {"rcp.approx.ftz", quiet, no_number}, {"rcp.approx.ftz", 0x7f000000U, 0}, {"rcp.approx", 0x7f000000U, 0x00400000U}, {"rcp.approx", 1, infinity}};
    for (const value& v : table) {
        test::float_sequence run(v.ptx + ".f32 %d, %a; mov.u32 %e, 0;");
        INFO(v.ptx << " of 0x" << std::hex << v.x);
        CHECK(run(v.x) == v.result);
    }
}

TEST_CASE("sine and cosine stay between -1 and 1 where an angle is too large to mean anything") {
    for (const char* name : {"sin", "cos"}) {
        test::float_sequence run(std::string(name) + ".approx.f32 %d, %a; mov.u32 %e, 0;");
        for (std::uint32_t x = 0x47000000U; x < infinity; x += 99'991U) REQUIRE(std::fabs(float_of(run(x))) <= 1.0F);
    }
}
