// SPDX-License-Identifier: MIT
// The float functions of the CUDA header for clang, run on the emulator, against the host's functions of doubles: largest error in units of
// the last place. The bounds are those of docs/floats.md.
#include <qwengpu/cuda/device_header.hpp>

#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "cuda/device_run.hpp"
#include "support/catch.hpp"

using namespace qwengpu::test;

namespace {

struct float_function {
    std::string name;  ///< without the f
    double bound;      ///< units
    double (*host)(double);
    float low, high;   ///< the inputs that are tried, beside random words
};

constexpr double pi = 3.14159265358979323846;
double sine_of_half_turns(double x) {
    const double r = std::remainder(x, 2.0);
    return std::abs(r) == 1.0 || r == 0.0 ? std::copysign(0.0, x) : std::sin(pi * (r > 0.5 ? 1.0 - r : r < -0.5 ? -1.0 - r : r));
}
double cosine_of_half_turns(double x) {
    const double r = std::abs(std::remainder(x, 2.0));
    return r == 0.5 ? 0.0 : r < 0.25 ? std::cos(pi * r) : r > 0.75 ? -std::cos(pi * (1.0 - r)) : std::sin(pi * (0.5 - r));
}
double normal(double x) { return 0.5 * std::erfc(-x * std::sqrt(0.5)); }
/// Newton's method: on erfc from 0, which converges from that side for every y from 0 to 1; on erf for numbers near 0.
double inverse_erfc(double y) {
    double x = 0.0;
    for (int i = 0; i < 300; ++i) x += (std::erfc(x) - y) / (2.0 / std::sqrt(pi) * std::exp(-x * x));
    return x;
}
double inverse_erf(double x) {
    const double size = std::abs(x);
    if (!(size < 1.0)) return size == 1.0 ? std::copysign(HUGE_VAL, x) : std::nan("");
    if (size > 0.5) return std::copysign(inverse_erfc(1.0 - size), x);
    double y = 0.88 * x;
    for (int i = 0; i < 9; ++i) y -= (std::erf(y) - x) / (2.0 / std::sqrt(pi) * std::exp(-y * y));
    return y;
}
double inverse_erfc_of_all(double y) {
    if (!(y >= 0.0 && y <= 2.0)) return std::nan("");
    if (y == 0.0 || y == 2.0) return y == 0.0 ? HUGE_VAL : -HUGE_VAL;
    return std::abs(1.0 - y) < 0.5 ? inverse_erf(1.0 - y) : y < 1.0 ? inverse_erfc(y) : -inverse_erfc(2.0 - y);
}
double scaled_erfc(double x) {
    const double h = 1.0 / (x * x);
    return x < 25.0 ? std::exp(x * x) * std::erfc(x) : (1.0 - 0.5 * h + 0.75 * h * h) / (x * std::sqrt(pi));
}

const std::vector<float_function>& functions() {
    static const std::vector<float_function> all{
        {"exp", 1, [](double x) { return std::exp(x); }, -105, 90},       {"exp2", 2, [](double x) { return std::exp2(x); }, -151, 129},
        {"exp10", 1, [](double x) { return std::pow(10.0, x); }, -46, 39}, {"expm1", 1.5, [](double x) { return std::expm1(x); }, -20, 89},
        {"log", 1, [](double x) { return std::log(x); }, 0, 4},           {"log2", 2, [](double x) { return std::log2(x); }, 0, 4},
        {"log10", 1.5, [](double x) { return std::log10(x); }, 0, 4},     {"log1p", 1.5, [](double x) { return std::log1p(x); }, -1, 3},
        {"sinh", 1.5, [](double x) { return std::sinh(x); }, -3, 3},      {"cosh", 1.5, [](double x) { return std::cosh(x); }, -3, 3},
        {"tanh", 1.5, [](double x) { return std::tanh(x); }, -3, 3},      {"asinh", 2, [](double x) { return std::asinh(x); }, -3, 3},
        {"acosh", 2, [](double x) { return std::acosh(x); }, 1, 4},     {"atanh", 2, [](double x) { return std::atanh(x); }, -1, 1},
        {"cbrt", 1, [](double x) { return std::cbrt(x); }, -9, 9},        {"rcbrt", 1, [](double x) { return 1.0 / std::cbrt(x); }, -9, 9},
        {"sqrt", 0.5, [](double x) { return std::sqrt(x); }, 0, 9},       {"rsqrt", 2, [](double x) { return 1.0 / std::sqrt(x); }, 0, 9},
        {"sin", 2.5, [](double x) { return std::sin(x); }, -10, 10},      {"cos", 2.5, [](double x) { return std::cos(x); }, -10, 10},
        {"tan", 3.5, [](double x) { return std::tan(x); }, -10, 10},      {"sinpi", 1.5, sine_of_half_turns, -4, 4},
        {"cospi", 1, cosine_of_half_turns, -4, 4},                        {"asin", 2, [](double x) { return std::asin(x); }, -1, 1},
        {"acos", 1.5, [](double x) { return std::acos(x); }, -1, 1},      {"atan", 1.5, [](double x) { return std::atan(x); }, -4, 4},
        {"erf", 1, [](double x) { return std::erf(x); }, -4, 4},          {"erfc", 4, [](double x) { return std::erfc(x); }, -4, 11},
        {"normcdf", 4.5, normal, -9, 4},                                  {"erfinv", 3, inverse_erf, -1, 1},
        {"erfcinv", 3, inverse_erfc_of_all, 0, 2},                        {"erfcx", 5, scaled_erfc, 0, 26},
        {"normcdfinv", 4.5, [](double p) { return -std::sqrt(2.0) * inverse_erfc_of_all(2.0 * p); }, 0, 1},
        {"tgamma", 3, [](double x) { return std::tgamma(x); }, 0, 36},    {"lgamma", 6, [](double x) { return std::lgamma(x); }, 0, 9},
        {"floor", 0, [](double x) { return std::floor(x); }, -4, 4},      {"round", 0, [](double x) { return std::round(x); }, -4, 4},
        {"trunc", 0, [](double x) { return std::trunc(x); }, -4, 4},      {"logb", 0, [](double x) { return std::logb(x); }, -4, 4},
    };
    return all;
}

double unit(double y) {
    int e = 0;
    (void)std::frexp(y, &e);
    return std::ldexp(1.0, std::max(e - 24, -149));
}
/// In units of the last place; infinite where a NaN, an infinity or the sign of zero is wrong.
double error_of(float got, double want) {
    const auto nearest = static_cast<float>(want);
    const double wrong = std::numeric_limits<double>::infinity();
    if (std::isnan(want) || std::isnan(got)) return std::isnan(want) && std::isnan(got) ? 0.0 : wrong;
    if (got == nearest) return got == 0.0f && want == 0.0 && std::signbit(got) != std::signbit(want) ? wrong : std::isinf(got) ? 0.0 : std::abs(static_cast<double>(got) - want) / unit(want);
    // One side of the border to infinity is as near as the other.
    if (std::isinf(got) || std::isinf(nearest)) return std::abs(std::isinf(got) ? want : static_cast<double>(got)) > 3.4028e38 ? 0.0 : wrong;
    return std::abs(static_cast<double>(got) - want) / unit(want);
}

std::vector<float> inputs_of(const float_function& f, int count, std::mt19937& random) {
    const float inf = std::numeric_limits<float>::infinity();
    std::vector<float> all{0.0f, -0.0f, 1.0f, -1.0f, 0.5f, -0.5f, 2.0f, inf, -inf, std::nanf(""), number_of(1), number_of(0x80000001), number_of(0x007fffff), number_of(0x00800000),
                           number_of(0x7f7fffff), number_of(0xff7fffff), number_of(0x3f7fffff), number_of(0x3f800001), 1e-10f, 1e10f, 131072.0f, 131073.0f};
    std::uniform_real_distribution<float> near(f.low, f.high);
    while (all.size() < static_cast<std::size_t>(count)) {
        all.push_back(near(random));
        const float any = number_of(static_cast<std::uint32_t>(random()));
        all.push_back(f.name == "lgamma" || f.name == "tgamma" ? std::abs(any) : any);  // near a negative pole there is no bound
    }
    return all;
}

std::string source_of(const std::vector<float_function>& all) {
    std::string text;
    for (const auto& f : all) text += "extern \"C\" __global__ void k_" + f.name + "(float* a) { const int i = threadIdx.x; a[i] = " + f.name + "f(a[i]); }\n";
    return text;
}

void check_bounds(int count) {
    const auto module = clang_module(source_of(functions()));
    std::mt19937 random(20261);
    for (const auto& f : functions()) {
        const auto compiled = qwengpu::ptx::compile_kernel(module, "k_" + f.name);
        const auto inputs = inputs_of(f, count, random);
        for (std::size_t at = 0; at < inputs.size(); at += 32) {
            words data;
            for (std::size_t i = at; i < std::min(at + 32, inputs.size()); ++i) data.push_back(bits(inputs[i]));
            const words result = in_place(compiled.program, data, static_cast<unsigned>(data.size()));
            for (std::size_t i = 0; i < data.size(); ++i) {
                const float x = inputs[at + i];
                const double want = f.host(static_cast<double>(x));
                INFO(f.name << "f(" << x << ", " << std::hex << data[i] << ") is " << number_of(result[i]) << ", not " << want);
                CHECK(error_of(number_of(result[i]), want) <= f.bound);
            }
        }
    }
}

}  // namespace

TEST_CASE("float functions of clang's CUDA header are within their bounds") { check_bounds(128); }

TEST_CASE("float functions of clang's CUDA header are within their bounds, many inputs", "[.heavy]") { check_bounds(4000); }
