// SPDX-License-Identifier: MIT
// What the host's FPU says of f32 instructions, and operands to try them with: corners of the format and random words.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include "support/host_float.hpp"

namespace qwengpu::test {

inline constexpr const char* rounding_names[] = {"rn", "rz", "rm", "rp"};
inline constexpr std::uint32_t host_nan = 0x7fffffffU;

inline float float_of(std::uint32_t bits) { return std::bit_cast<float>(bits); }
inline std::uint32_t bits_of_float(float x) { return std::isnan(x) ? host_nan : std::bit_cast<std::uint32_t>(x); }
inline std::uint32_t host_flushed(std::uint32_t x, bool ftz) { return detail::flushed(x, ftz); }

/// f() computed in a rounding mode. Volatile operands in f keep the compiler from computing it elsewhere.
template <class F>
float in_mode(int mode, F&& f) {
    const detail::rounding_mode scope(static_cast<unsigned>(mode));
    volatile float r = f();
    return r;
}

/// An instruction's manner: how it rounds, .ftz, .sat.
struct host_manner {
    int rounding = 0;
    bool ftz = false, sat = false;

    [[nodiscard]] std::string text() const { return std::string(".") + rounding_names[rounding] + (ftz ? ".ftz" : "") + (sat ? ".sat" : "") + ".f32"; }
};

/// The bits of f(x, y, z) for words a, b, c.
template <class F>
std::uint32_t host_result(const host_manner& how, std::uint32_t a, std::uint32_t b, std::uint32_t c, F&& f) {
    volatile float x = float_of(host_flushed(a, how.ftz)), y = float_of(host_flushed(b, how.ftz)), z = float_of(host_flushed(c, how.ftz));
    float r = in_mode(how.rounding, [&] { return f(static_cast<float>(x), static_cast<float>(y), static_cast<float>(z)); });
    if (how.sat) r = r > 0.0F ? std::min(r, 1.0F) : 0.0F;
    return host_flushed(bits_of_float(r), how.ftz);
}

/// All four roundings, with and without .ftz (and .sat).
inline std::vector<host_manner> all_manners(bool with_sat) {
    std::vector<host_manner> all;
    for (int rounding = 0; rounding < 4; ++rounding)
        for (bool ftz : {false, true})
            for (bool sat : {false, true})
                if (with_sat || !sat) all.push_back({rounding, ftz, sat});
    return all;
}

/// Signed fractions around all and no ones, with exponents where something begins or ends.
inline std::vector<std::uint32_t> float_corners() {
    std::vector<std::uint32_t> all;
    for (std::uint32_t exponent : {0U, 1U, 2U, 24U, 103U, 126U, 127U, 128U, 150U, 151U, 157U, 158U, 253U, 254U, 255U})
        for (std::uint32_t fraction : {0U, 1U, 2U, 0x3fffffU, 0x400000U, 0x400001U, 0x7ffffeU, 0x7fffffU})
            for (std::uint32_t sign : {0U, 1U}) all.push_back(sign << 31 | exponent << 23 | fraction);
    return all;
}

/// Random words; some have short fractions, some exponents close to those of the one before, so that rare results are not rare.
class float_words {
public:
    explicit float_words(std::uint32_t seed) : random_(seed) {}

    std::uint32_t operator()() {
        auto x = static_cast<std::uint32_t>(random_());
        const auto kind = static_cast<std::uint32_t>(random_()) >> 8;
        if (kind % 4 == 0) x &= ~((1U << (kind >> 4) % 23U) - 1);
        if (kind % 3 == 0) x = (x & 0x807fffffU) | (((last_ >> 23) + (kind >> 9) % 9U - 4U) & 255U) << 23;
        return last_ = x;
    }

private:
    std::mt19937 random_;
    std::uint32_t last_ = 0;
};

/// How often two answers differed, and where first.
struct wrong_answers {
    std::size_t tried = 0, wrong = 0;
    std::string first{};

    void compare(std::uint32_t is, std::uint32_t should, std::uint32_t a, std::uint32_t b = 0, std::uint32_t c = 0) {
        ++tried;
        if (is == should || wrong++ > 0) return;
        std::ostringstream text;
        text << std::hex << "of 0x" << a << " 0x" << b << " 0x" << c << " came 0x" << is << ", not 0x" << should;
        first = text.str();
    }
};

}  // namespace qwengpu::test
