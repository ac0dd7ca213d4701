// SPDX-License-Identifier: MIT
// Functions of two floats of clang's CUDA header, those that take floats apart, and the overloads of C++, run on the emulator, against the host.
#include <qwengpu/cuda/device_header.hpp>

#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include <qwengpu/error.hpp>

#include "cuda/device_run.hpp"
#include "support/catch.hpp"

using namespace qwengpu::test;

namespace {

struct pair_function {
    std::string name, expression;  ///< of a and b
    double bound;                  ///< units in the last place; 0: exactly the host's float
    double (*host)(double, double);
};

const std::vector<pair_function>& functions() {
    static const std::vector<pair_function> all{
        {"pow", "powf(a, b)", 1.5, [](double a, double b) { return std::pow(a, b); }},
        {"atan2", "atan2f(a, b)", 2, [](double a, double b) { return std::atan2(a, b); }},
        {"hypot", "hypotf(a, b)", 1.5, [](double a, double b) { return std::hypot(a, b); }},
        {"rhypot", "rhypotf(a, b)", 2.5, [](double a, double b) { return 1.0 / std::hypot(a, b); }},
        {"norm3", "norm3df(a, b, a)", 2, [](double a, double b) { return std::hypot(std::hypot(a, a), b); }},
        {"fmod", "fmodf(a, b)", 0, [](double a, double b) { return std::fmod(a, b); }},
        {"remainder", "remainderf(a, b)", 0, [](double a, double b) { return std::remainder(a, b); }},
        {"nextafter", "nextafterf(a, b)", 0, [](double a, double b) { return static_cast<double>(std::nextafter(static_cast<float>(a), static_cast<float>(b))); }},
        {"fdim", "fdimf(a, b)", 0, [](double a, double b) { return static_cast<double>(std::fdim(static_cast<float>(a), static_cast<float>(b))); }},
        {"copysign", "copysignf(a, b)", 0, [](double a, double b) { return std::copysign(a, b); }},
        {"ldexp", "ldexpf(a, (int)b)", 0, [](double a, double b) { return std::ldexp(a, std::isfinite(b) && std::abs(b) < 1e9 ? static_cast<int>(b) : b > 0 ? 2000 : b < 0 ? -2000 : 0); }},
        {"frexp", "frexp_both(a)", 0, [](double a, double) { int n = 0; const double m = std::frexp(a, &n); return std::isfinite(a) && a != 0.0 ? m * (300 + n) : a; }},
        {"modf", "modf_both(a)", 0, [](double a, double) { double whole = 0; const double rest = std::modf(a, &whole); return std::isinf(a) ? a : static_cast<double>(static_cast<float>(rest + 3 * std::fmod(whole, 1024.0))); }},
    };
    return all;
}

std::string source() {
    std::string text = "__device__ float frexp_both(float a) { int n; const float m = frexpf(a, &n); return isfinite(a) && a != 0.0f ? m * (300 + n) : a; }\n"
                       "__device__ float modf_both(float a) { float w; const float r = modff(a, &w); return isinf(a) ? w : __fmaf_rn(3.0f, fmodf(w, 1024.0f), r); }\n";
    for (const auto& f : functions())
        text += "extern \"C\" __global__ void k_" + f.name + "(float* d) { const int t = 2 * threadIdx.x; const float a = d[t], b = d[t + 1]; d[t] = " + f.expression + "; }\n";
    return text;
}

bool agrees(float got, double want, double bound) {
    const auto nearest = static_cast<float>(want);
    if (std::isnan(want) || std::isnan(got)) return std::isnan(want) && std::isnan(got);
    if (got == nearest) return std::signbit(got) == std::signbit(nearest);
    if (std::isinf(got) || std::isinf(nearest)) return bound > 0 && std::abs(std::isinf(got) ? want : static_cast<double>(got)) > 3.4028e38;
    int e = 0;
    (void)std::frexp(want, &e);
    return std::abs(static_cast<double>(got) - want) <= bound * std::ldexp(1.0, std::max(e - 24, -149));
}

}  // namespace

TEST_CASE("functions of two floats, corners and random numbers, against the host") {
    const auto module = clang_module(source());
    const float inf = std::numeric_limits<float>::infinity();
    const std::vector<float> corners{0.0f, -0.0f, 1.0f, -1.0f, inf, -inf, std::nanf(""), number_of(1), number_of(0x80800000), number_of(0x7f7fffff), 0.5f, -3.0f, 2.0f, 16777217.0f, 1e-30f, 0.1f};
    std::vector<float> inputs;
    for (const float a : corners)
        for (const float b : corners) inputs.insert(inputs.end(), {a, b});
    std::mt19937 random(11);
    std::uniform_real_distribution<float> near(-20.0f, 20.0f);
    for (int i = 0; i < 64; ++i) inputs.insert(inputs.end(), {near(random), near(random)});
    for (int i = 0; i < 128; ++i) inputs.push_back(number_of(static_cast<std::uint32_t>(random())));
    for (const auto& f : functions()) {
        const auto compiled = qwengpu::ptx::compile_kernel(module, "k_" + f.name);
        for (std::size_t at = 0; at < inputs.size(); at += 64) {
            words data;
            for (std::size_t i = at; i < at + 64; ++i) data.push_back(bits(inputs[i]));
            const words result = in_place(compiled.program, data, 32);
            for (std::size_t i = 0; i < 64; i += 2) {
                const float a = inputs[at + i], b = inputs[at + i + 1];
                const double want = f.host(static_cast<double>(a), static_cast<double>(b));
                INFO(f.expression << " of " << a << " and " << b << " is " << number_of(result[i]) << ", not " << want);
                CHECK(agrees(number_of(result[i]), want, f.bound));
            }
        }
    }
}

TEST_CASE("overloads of C++ take floats as floats, with and without <cmath>") {
    for (const std::string include : {"", "#include <cmath>\n#include <algorithm>\n#include <limits>\n"}) {
        const auto module = clang_module(include + R"(
extern "C" __global__ void k(float* d) {
    const float a = d[0], b = d[1];
    d[2] = sqrt(a) + fabs(b) + abs(b) + floor(a) + pow(a, 2) + pow(a, 0.5f) + fmod(a, 3.0f);
    d[3] = std::sqrt(a) + std::abs(b) + std::max(a, b) + std::min(a, b) + std::fma(a, b, 1.0f) + std::pow(a, 2.0f) + std::floor(a);
    d[4] = exp(a - 9.0f) + log(a / 9.0f) + sin(a - 9.0f) + std::exp(a - 9.0f) + std::cos(a - 9.0f) + cosf(0.0f) + std::tanh(a - 9.0f);
    d[5] = (float)max(a, 0.0) + (float)min(1.0, b) + fmax(a, b) + (float)isnan(a) + (float)std::isinf(a) + (float)sqrt(16.0) + (float)exp(0.0);
}
)");
        const auto compiled = qwengpu::ptx::compile_kernel(module, "k");
        const words r = in_place(compiled.program, {bits(9.0f), bits(-2.0f), 0, 0, 0, 0}, 1);
        CHECK(number_of(r[2]) == 3.0f + 2 + 2 + 9 + 81 + 3 + 0);
        CHECK(number_of(r[3]) == 3.0f + 2 + 9 - 2 - 17 + 81 + 9);
        CHECK(number_of(r[4]) == 1.0f + 0 + 0 + 1 + 1 + 1 + 0);
        CHECK(number_of(r[5]) == 9.0f - 2 + 9 + 0 + 0 + 4 + 1);
    }
}

TEST_CASE("what clang's CUDA header cannot give is refused with its name and a remedy") {
    const auto refusal = [](const std::string& text) {
        try {
            (void)qwengpu::ptx::compile_kernel(clang_module(text), "k");
        } catch (const qwengpu::error& e) {
            return e.message();
        }
        return std::string("nothing is refused");
    };
    const auto kernel = [](const std::string& body) { return "extern \"C\" __global__ void k(float* d) { " + body + " }\n"; };
    const auto has = [](const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; };
    CHECK(has(refusal(kernel("d[0] = (float)exp((double)d[0]);")), "exp of a double is not supported; use float: expf"));
    CHECK(has(refusal(kernel("int* p = new int[3]; p[0] = (int)d[0]; d[1] = p[(int)d[2]];")), "operator new is not supported: a kernel has no heap"));
    CHECK(has(refusal(kernel("int* p = (int*)malloc(12); p[0] = (int)d[0]; d[1] = p[(int)d[2]];")), "a kernel has no heap"));
    CHECK(has(refusal("#include <cuda_fp16.h>\n" + kernel("d[0] = 1;")), "cuda_fp16.h: 16-bit and smaller floats are not supported; use float"));
    CHECK(has(refusal("#include <curand_kernel.h>\n" + kernel("d[0] = 1;")), "curand_kernel.h: this is part of the CUDA toolkit"));
    CHECK(has(refusal("#include <thrust/sort.h>\n" + kernel("d[0] = 1;")), "thrust/sort.h: this is part of the CUDA toolkit"));
    CHECK(!has(refusal("#include \"mine.h\"\n" + kernel("d[0] = 1;")), "toolkit"));
}
