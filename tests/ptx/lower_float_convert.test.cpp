// SPDX-License-Identifier: MIT
// cvt between f32 and integers of every width, and from f32 to f32, against the host.
#include <qwengpu/ptx/lower_float_convert.hpp>

#include <algorithm>
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

/// x to the nearest integer of this many bits; what the PTX manual says of NaN.
std::uint64_t integer_of(float x, int rounding, int bits, bool is_signed) {
    if (std::isnan(x)) return bits == 64 ? std::uint64_t{1} << 63 : 0;
    const float whole = test::in_mode(rounding, [&] { volatile float y = x; return std::nearbyint(static_cast<float>(y)); });
    const double top = std::ldexp(1.0, is_signed ? bits - 1 : bits);
    const std::uint64_t most = (std::uint64_t{1} << (is_signed ? bits - 1 : bits - 1)) * (is_signed ? 1U : 2U) - 1;
    if (static_cast<double>(whole) >= top) return most;
    if (whole < 0 && !is_signed) return 0;
    if (static_cast<double>(whole) < -top) return ~most;
    return whole < 0 ? static_cast<std::uint64_t>(static_cast<std::int64_t>(whole)) : static_cast<std::uint64_t>(whole);
}

float float_of_integer(std::uint64_t x, int rounding, int bits, bool is_signed) {
    const auto shifted = x << (64 - bits);
    volatile long double exact = 0;  // its 64 bits of significand hold any of them
    if (is_signed) exact = static_cast<long double>(static_cast<std::int64_t>(shifted) >> (64 - bits));
    else exact = static_cast<long double>(shifted >> (64 - bits));
    return test::in_mode(rounding, [&] { return static_cast<float>(exact); });
}

const char* integral_names[] = {"rni", "rzi", "rmi", "rpi"};

std::vector<std::uint32_t> float_operands() {
    auto all = test::float_corners();
    test::float_words words(99);
    for (int k = 0; k < 20'000; ++k) {
        const std::uint32_t x = words();
        all.push_back(x);
        all.push_back((x & 0x807fffffU) | (120U + x % 76U) << 23);  // around the integers
    }
    for (int n : {8, 16, 31, 32, 63, 64})
        for (float d : {-1.5F, -1.0F, -0.5F, 0.0F, 0.5F, 1.0F})
            for (float s : {-1.0F, 1.0F}) all.push_back(test::bits_of_float(s * (std::ldexp(1.0F, n) + d)));
    return all;
}

std::string to_integer(const std::string& type, int bits, const char* rounding, bool ftz) {
    const std::string head = std::string("cvt.") + rounding + (ftz ? ".ftz." : ".") + type + ".f32 ";
    if (bits == 64) return head + "%w, %a; mov.b64 {%d, %e}, %w;";
    return head + "%d, %a; mov.u32 %e, 0;";
}

}  // namespace

TEST_CASE("cvt from f32 to integers rounds and saturates") {
    const auto operands = float_operands();
    for (int bits : {8, 16, 32, 64})
        for (bool is_signed : {false, true})
            for (int rounding = 0; rounding < 4; ++rounding)
                for (bool ftz : {false, true}) {
                    const std::string type = (is_signed ? "s" : "u") + std::to_string(bits), ptx = to_integer(type, bits, integral_names[rounding], ftz);
                    test::float_sequence run(ptx);
                    test::wrong_answers low, high;
                    for (std::uint32_t a : operands) {
                        const auto is = run.both(a);
                        const std::uint64_t should = integer_of(test::float_of(test::host_flushed(a, ftz)), rounding, bits, is_signed);
                        low.compare(is[0], static_cast<std::uint32_t>(should), a);
                        if (bits == 64) high.compare(is[1], static_cast<std::uint32_t>(should >> 32), a);
                    }
                    INFO(ptx << ": " << low.first << high.first);
                    CHECK(low.wrong + high.wrong == 0);
                }
}

TEST_CASE("cvt from integers to f32 rounds once") {
    std::mt19937_64 random(5);
    std::vector<std::uint64_t> operands;
    for (int k = 0; k < 64; ++k)
        for (std::uint64_t near : {0ULL, 1ULL, ~0ULL, 1ULL << (k > 25 ? k - 24 : 0), 3ULL << (k > 25 ? k - 25 : 0)}) operands.push_back((1ULL << k) + near);
    for (int k = 0; k < 20'000; ++k) operands.push_back(random() >> (random() & 63U));
    for (int bits : {8, 16, 32, 64})
        for (bool is_signed : {false, true})
            for (int rounding = 0; rounding < 4; ++rounding)
                for (bool sat : {false, true}) {
                    const std::string from = bits == 64 ? "mov.b64 %w, {%a, %b}; " : bits < 32 ? "cvt.u16.u32 %h, %a; " : "";
                    const std::string ptx = from + "cvt." + test::rounding_names[rounding] + (sat ? ".sat" : "") + ".f32." + (is_signed ? "s" : "u") + std::to_string(bits) +
                                            (bits == 64 ? " %d, %w;" : bits < 32 ? " %d, %h;" : " %d, %a;");
                    test::float_sequence run(ptx + " mov.u32 %e, 0;");
                    test::wrong_answers found;
                    for (std::uint64_t x : operands) {
                        float should = float_of_integer(x, rounding, bits, is_signed);
                        if (sat) should = should > 0.0F ? std::min(should, 1.0F) : 0.0F;
                        const auto lo = static_cast<std::uint32_t>(x), hi = static_cast<std::uint32_t>(x >> 32);
                        found.compare(run(lo, hi), test::bits_of_float(should), lo, hi);
                    }
                    INFO(ptx << ": " << found.first);
                    CHECK(found.wrong == 0);
                }
}

TEST_CASE("cvt from f32 to f32: integral values, .ftz, .sat") {
    const auto operands = float_operands();
    const auto check = [&](const std::string& modifiers, int rounding, bool ftz, bool sat, bool moves) {
        test::float_sequence run("cvt" + modifiers + ".f32.f32 %d, %a; mov.u32 %e, 0;");
        test::wrong_answers found;
        for (std::uint32_t a : operands) {
            if (moves && std::isnan(test::float_of(a))) continue;  // which NaN comes of a move is nobody's business
            const auto should = test::host_result({rounding < 0 ? 0 : rounding, ftz, sat}, a, 0, 0,
                                                  [&](float x, float, float) { return rounding < 0 ? x : std::nearbyint(x); });
            found.compare(run(a), should, a);
        }
        INFO(modifiers << ": " << found.first);
        CHECK(found.wrong == 0);
    };
    check("", -1, false, false, true);
    check(".ftz", -1, true, false, true);
    check(".sat", -1, false, true, false);
    check(".ftz.sat", -1, true, true, false);
    for (int rounding = 0; rounding < 4; ++rounding)
        for (bool ftz : {false, true})
            for (bool sat : {false, true})
                check(std::string(".") + integral_names[rounding] + (ftz ? ".ftz" : "") + (sat ? ".sat" : ""), rounding, ftz, sat, false);
}
