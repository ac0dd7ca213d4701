// SPDX-License-Identifier: MIT
// The functions of clang's CUDA header on bytes and half words of a word, DPX, and dot products, against arithmetic on one lane at a time.
#include <qwengpu/cuda/device_header.hpp>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "cuda/device_run.hpp"
#include "support/catch.hpp"

using namespace qwengpu::test;

namespace {

using lane_function = std::function<std::int64_t(std::int64_t, std::int64_t)>;

struct lanes_case {
    std::string name;  ///< __v<name>2 and __v<name>4
    bool is_signed;
    lane_function of;  ///< of one lane; its result's low bits are the lane's
};

/// Result clamped to a lane of `bits`.
std::int64_t clamped(std::int64_t v, int bits, bool is_signed) {
    const std::int64_t top = is_signed ? (std::int64_t{1} << (bits - 1)) - 1 : (std::int64_t{1} << bits) - 1;
    return std::clamp(v, is_signed ? -top - 1 : 0, top);
}
std::int64_t away_from_zero(std::int64_t sum) { return sum / 2 + sum % 2; }
std::int64_t lane_of(std::uint32_t word, int lane, int bits, bool is_signed) {
    const std::uint32_t field = (word >> (lane * bits)) & ((1U << bits) - 1);
    const std::int64_t v = field;
    return is_signed && (field >> (bits - 1)) != 0 ? v - (std::int64_t{1} << bits) : v;
}

std::vector<lanes_case> lane_cases(int bits) {
    const auto all = [](bool yes) { return yes ? std::int64_t{-1} : std::int64_t{0}; };
    std::vector<lanes_case> cases{
        {"add", false, [](auto a, auto b) { return a + b; }},
        {"sub", false, [](auto a, auto b) { return a - b; }},
        {"addss", true, [=](auto a, auto b) { return clamped(a + b, bits, true); }},
        {"addus", false, [=](auto a, auto b) { return clamped(a + b, bits, false); }},
        {"subss", true, [=](auto a, auto b) { return clamped(a - b, bits, true); }},
        {"subus", false, [=](auto a, auto b) { return clamped(a - b, bits, false); }},
        {"avgu", false, [](auto a, auto b) { return (a + b + 1) / 2; }},
        {"haddu", false, [](auto a, auto b) { return (a + b) / 2; }},
        {"avgs", true, [](auto a, auto b) { return away_from_zero(a + b); }},
        {"maxs", true, [](auto a, auto b) { return std::max(a, b); }},
        {"maxu", false, [](auto a, auto b) { return std::max(a, b); }},
        {"mins", true, [](auto a, auto b) { return std::min(a, b); }},
        {"minu", false, [](auto a, auto b) { return std::min(a, b); }},
        {"absdiffs", true, [](auto a, auto b) { return std::abs(a - b); }},
        {"absdiffu", false, [](auto a, auto b) { return std::abs(a - b); }},
    };
    const std::vector<std::pair<std::string, std::function<bool(std::int64_t, std::int64_t)>>> relations{
        {"ge", [](auto a, auto b) { return a >= b; }}, {"gt", [](auto a, auto b) { return a > b; }},
        {"le", [](auto a, auto b) { return a <= b; }}, {"lt", [](auto a, auto b) { return a < b; }},
        {"eq", [](auto a, auto b) { return a == b; }}, {"ne", [](auto a, auto b) { return a != b; }}};
    for (const auto& [name, holds] : relations)
        for (const std::string sign : {"s", "u"}) {
            const bool both = name == "eq" || name == "ne";
            if (both && sign == "u") continue;
            const std::string suffix = name + (both ? "" : sign);
            cases.push_back({"cmp" + suffix, sign == "s", [=, h = holds](auto a, auto b) { return all(h(a, b)); }});
            cases.push_back({"set" + suffix, sign == "s", [h = holds](auto a, auto b) { return h(a, b) ? std::int64_t{1} : std::int64_t{0}; }});
        }
    return cases;
}

const std::vector<std::uint32_t>& operands() {
    static const std::vector<std::uint32_t> all = [] {
        std::vector<std::uint32_t> v{0, 0xffffffff, 0x80808080, 0x7f7f7f7f, 0x80008000, 0x7fff7fff, 0x01ff80fe, 0x00010001, 0x12345678, 0x807f00ff};
        std::mt19937 random(7);
        while (v.size() < 16) v.push_back(static_cast<std::uint32_t>(random()));
        return v;
    }();
    return all;
}

/// Results of a kernel k(unsigned* a), a[3 t] = f(a[3 t], a[3 t + 1], a[3 t + 2]), for all pairs of operands; c is their sum.
template <class Check>
void check_pairs(const qwengpu::ptx::parsed_module& module, const std::string& name, const Check& expected) {
    const auto compiled = qwengpu::ptx::compile_kernel(module, name);
    for (const std::uint32_t a : operands()) {
        words data;
        for (const std::uint32_t b : operands()) data.insert(data.end(), {a, b, a + b});
        const words result = in_place(compiled.program, data, 16);
        for (std::size_t i = 0; i < operands().size(); ++i) {
            const std::uint32_t b = operands()[i];
            INFO(name << " of " << std::hex << a << " and " << b);
            CHECK(result[3 * i] == static_cast<std::uint32_t>(expected(a, b, a + b)));
        }
    }
}

std::string kernel_text(const std::string& name, const std::string& expression) {
    return "extern \"C\" __global__ void " + name + "(unsigned* d) { const int t = 3 * threadIdx.x; const unsigned a = d[t], b = d[t + 1], c = d[t + 2]; (void)b; (void)c; d[t] = " +
           expression + "; }\n";
}

}  // namespace

TEST_CASE("functions of two words on their bytes and half words") {
    std::string text;
    for (const int bits : {8, 16})
        for (const auto& c : lane_cases(bits)) text += kernel_text(c.name + std::to_string(32 / bits), "__v" + c.name + std::to_string(32 / bits) + "(a, b)");
    const auto module = clang_module(text);
    for (const int bits : {8, 16})
        for (const auto& c : lane_cases(bits))
            check_pairs(module, c.name + std::to_string(32 / bits), [&](std::uint32_t a, std::uint32_t b, std::uint32_t) {
                std::uint32_t r = 0;
                for (int lane = 0; lane < 32 / bits; ++lane) {
                    const auto v = static_cast<std::uint32_t>(c.of(lane_of(a, lane, bits, c.is_signed), lane_of(b, lane, bits, c.is_signed)));
                    r |= (v & ((1U << bits) - 1)) << (lane * bits);
                }
                return r;
            });
}

TEST_CASE("functions of one word on its bytes and half words, and sums of differences") {
    std::string text;
    for (const std::string n : {"2", "4"}) {
        for (const std::string name : {"neg", "negss", "abs", "absss"}) text += kernel_text(name + n, "__v" + name + n + "(a)");
        for (const std::string name : {"sads", "sadu"}) text += kernel_text(name + n, "__v" + name + n + "(a, b)");
    }
    const auto module = clang_module(text);
    for (const int bits : {8, 16}) {
        const std::string n = std::to_string(32 / bits);
        const auto one = [&](const std::string& name, const std::function<std::int64_t(std::int64_t)>& of) {
            check_pairs(module, name + n, [&](std::uint32_t a, std::uint32_t, std::uint32_t) {
                std::uint32_t r = 0;
                for (int lane = 0; lane < 32 / bits; ++lane) r |= (static_cast<std::uint32_t>(of(lane_of(a, lane, bits, true))) & ((1U << bits) - 1)) << (lane * bits);
                return r;
            });
        };
        one("neg", [](std::int64_t a) { return -a; });
        one("abs", [](std::int64_t a) { return std::abs(a); });
        one("negss", [&](std::int64_t a) { return clamped(-a, bits, true); });
        one("absss", [&](std::int64_t a) { return clamped(std::abs(a), bits, true); });
        for (const bool is_signed : {true, false})
            check_pairs(module, (is_signed ? "sads" : "sadu") + n, [&](std::uint32_t a, std::uint32_t b, std::uint32_t) {
                std::int64_t sum = 0;
                for (int lane = 0; lane < 32 / bits; ++lane) sum += std::abs(lane_of(a, lane, bits, is_signed) - lane_of(b, lane, bits, is_signed));
                return sum;
            });
    }
}

TEST_CASE("DPX functions and dot products of words") {
    const auto s = [](std::uint32_t a) { return std::int64_t{static_cast<std::int32_t>(a)}; };
    const auto module = clang_module(
        kernel_text("max3", "__vimax3_s32(a, b, c)") + kernel_text("min3u", "__vimin3_u32(a, b, c)") + kernel_text("addmax", "__viaddmax_s32(a, b, c)") +
        kernel_text("addminrelu", "__viaddmin_s32_relu(a, b, c)") + kernel_text("max3h", "__vimax3_s16x2(a, b, c)") + kernel_text("addmaxh", "__viaddmax_s16x2_relu(a, b, c)") +
        kernel_text("which", "([&] { bool f; const int r = __vibmax_s32(a, b, &f); return r ^ (f ? 1 : 0); })()") +
        kernel_text("dp2lo", "__dp2a_lo((int)a, (int)b, (int)c)") + kernel_text("dp2hi", "__dp2a_hi(a, b, c)") + kernel_text("dp4", "__dp4a((int)a, (int)b, (int)c)") +
        kernel_text("mulhi", "__mulhi((int)a, (int)b)") + kernel_text("hadd", "__rhadd((int)a, (int)b)") + kernel_text("sad", "__sad((int)a, (int)b, c)"));
    const auto halves = [&](std::uint32_t a, std::uint32_t b, std::uint32_t c, auto of) {
        std::uint32_t r = 0;
        for (int lane = 0; lane < 2; ++lane) r |= (static_cast<std::uint32_t>(of(lane_of(a, lane, 16, true), lane_of(b, lane, 16, true), lane_of(c, lane, 16, true))) & 0xffff) << (16 * lane);
        return r;
    };
    const auto wrapped = [](std::int64_t v) { return std::int64_t{static_cast<std::int16_t>(v)}; };
    using w = std::uint32_t;
    check_pairs(module, "max3", [&](w a, w b, w c) { return std::max({s(a), s(b), s(c)}); });
    check_pairs(module, "min3u", [&](w a, w b, w c) { return std::min({a, b, c}); });
    check_pairs(module, "addmax", [&](w a, w b, w c) { return std::max(s(a + b), s(c)); });
    check_pairs(module, "addminrelu", [&](w a, w b, w c) { return std::max(std::min(s(a + b), s(c)), std::int64_t{0}); });
    check_pairs(module, "max3h", [&](w a, w b, w c) { return halves(a, b, c, [](auto x, auto y, auto z) { return std::max({x, y, z}); }); });
    check_pairs(module, "addmaxh", [&](w a, w b, w c) { return halves(a, b, c, [&](auto x, auto y, auto z) { return std::max({wrapped(x + y), z, std::int64_t{0}}); }); });
    check_pairs(module, "which", [&](w a, w b, w) { return static_cast<w>(std::max(s(a), s(b))) ^ (s(a) >= s(b) ? 1U : 0U); });
    check_pairs(module, "dp2lo", [&](w a, w b, w c) { return s(c) + lane_of(a, 0, 16, true) * lane_of(b, 0, 8, true) + lane_of(a, 1, 16, true) * lane_of(b, 1, 8, true); });
    check_pairs(module, "dp2hi", [&](w a, w b, w c) { return c + lane_of(a, 0, 16, false) * lane_of(b, 2, 8, false) + lane_of(a, 1, 16, false) * lane_of(b, 3, 8, false); });
    check_pairs(module, "dp4", [&](w a, w b, w c) {
        std::int64_t sum = s(c);
        for (int lane = 0; lane < 4; ++lane) sum += lane_of(a, lane, 8, true) * lane_of(b, lane, 8, true);
        return sum;
    });
    check_pairs(module, "mulhi", [&](w a, w b, w) { return (s(a) * s(b)) >> 32; });
    check_pairs(module, "hadd", [&](w a, w b, w) { return (s(a) + s(b) + 1) >> 1; });
    check_pairs(module, "sad", [&](w a, w b, w c) { return std::abs(s(a) - s(b)) + std::int64_t{c}; });
}

TEST_CASE("copies of bytes, atomics of a scope, and compare-and-swap of half words") {
    const auto module = clang_module(R"(
extern "C" __global__ void k(unsigned* d) {
    memcpy(&d[0], &d[2], 8);
    memset(&d[2], 0x5a, 3);
    atomicAdd_block(&d[3], 1);
    atomicCAS_block(&d[4], 7, 8);
    atomicInc_system(&d[5], 9);
    atomicMax_block((int*)&d[6], -3);
    d[7] = atomicCAS((unsigned short*)&d[8] + 1, (unsigned short)0x1234, (unsigned short)0xabcd);
}
)");
    const auto compiled = qwengpu::ptx::compile_kernel(module, "k");
    CHECK(in_place(compiled.program, {1, 2, 0x11223344, 5, 7, 9, 0xfffffff0, 0, 0x12345678}, 1) ==
          words{0x11223344, 5, 0x115a5a5a, 6, 8, 0, 0xfffffffd, 0x1234, 0xabcd5678});
}
