// SPDX-License-Identifier: MIT
// f32 instructions that the machine does itself, with every modifier, against the host's FPU.
#include <qwengpu/ptx/lower_float.hpp>

#include <cmath>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "support/catch.hpp"

#include "float_host.hpp"
#include "float_sequence.hpp"
#include "run_kernel.hpp"

namespace {

using namespace qwengpu;
using test::float_of;

/// Triples of words: corners against corners, and random ones.
template <class F>
void for_words(std::uint32_t seed, F&& f) {
    const auto corners = test::float_corners();
    test::float_words words(seed);
    for (std::uint32_t a : corners)
        for (std::uint32_t b : corners) f(a, b, words());
    for (int k = 0; k < 20'000; ++k) {
        const std::uint32_t a = words(), b = words(), c = words();
        f(a, b, c);
        f(a, b, a ^ 0x80000000U);
    }
}

void check(const std::string& ptx, const std::function<std::uint32_t(std::uint32_t, std::uint32_t, std::uint32_t)>& expected) {
    test::float_sequence run(ptx + " mov.u32 %e, 0;");
    test::wrong_answers found;
    for_words(static_cast<std::uint32_t>(std::hash<std::string>()(ptx)),
              [&](std::uint32_t a, std::uint32_t b, std::uint32_t c) { found.compare(run(a, b, c), expected(a, b, c), a, b, c); });
    INFO(ptx << ": " << found.first);
    CHECK(found.wrong == 0);
}

bool is_nan(std::uint32_t x) { return std::isnan(float_of(x)); }

std::uint32_t extreme(std::uint32_t a, std::uint32_t b, bool largest, bool of_nan) {
    if (is_nan(a) && is_nan(b)) return test::host_nan;
    if (is_nan(a) || is_nan(b)) return of_nan ? test::host_nan : is_nan(a) ? b : a;
    const float x = float_of(a), y = float_of(b);
    if (x < y || (x == y && std::signbit(x) && !std::signbit(y))) return largest ? b : a;
    return largest ? a : b;
}

}  // namespace

TEST_CASE("add, sub, mul, fma and mad of f32 round, flush and saturate as asked") {
    for (const test::host_manner& how : test::all_manners(true)) {
        const auto same = [&](const std::string& name, const std::string& operands, float (*f)(float, float, float)) {
            check(name + how.text() + operands, [&](auto a, auto b, auto c) { return test::host_result(how, a, b, c, f); });
        };
        same("add", " %d, %a, %b;", [](float x, float y, float) { return x + y; });
        same("sub", " %d, %a, %b;", [](float x, float y, float) { return x - y; });
        same("mul", " %d, %a, %b;", [](float x, float y, float) { return x * y; });
        same("fma", " %d, %a, %b, %c;", [](float x, float y, float z) { return std::fma(x, y, z); });
        same("mad", " %d, %a, %b, %c;", [](float x, float y, float z) { return std::fma(x, y, z); });
    }
    check("add.f32 %d, %a, 0f40490FDB;", [](auto a, auto, auto) { return test::host_result({}, a, 0, 0, [](float x, float, float) { return x + 0x1.921fb6p1F; }); });
}

TEST_CASE("min and max of f32: NaN, zeros, three operands, xorsign") {
    for (bool largest : {false, true})
        for (bool ftz : {false, true})
            for (bool of_nan : {false, true}) {
                const std::string name = std::string(largest ? "max" : "min") + (ftz ? ".ftz" : "") + (of_nan ? ".NaN" : "");
                const auto of = [=](std::uint32_t a, std::uint32_t b) { return extreme(test::host_flushed(a, ftz), test::host_flushed(b, ftz), largest, of_nan); };
                check(name + ".f32 %d, %a, %b;", [&](auto a, auto b, auto) { return of(a, b); });
                check(name + ".f32 %d, %a, %b, %c;", [&](auto a, auto b, auto c) { return of(of(a, b), c); });
                check(name + ".xorsign.abs.f32 %d, %a, %b;", [&](auto a, auto b, auto) {
                    const std::uint32_t r = of(a & 0x7fffffffU, b & 0x7fffffffU);
                    return is_nan(r) ? test::host_nan : r | ((a ^ b) & 0x80000000U);
                });
            }
}

TEST_CASE("abs, neg and copysign of f32 move the sign and nothing else") {
    check("abs.f32 %d, %a;", [](auto a, auto, auto) { return a & 0x7fffffffU; });
    check("neg.f32 %d, %a;", [](auto a, auto, auto) { return a ^ 0x80000000U; });
    check("copysign.f32 %d, %a, %b;", [](auto a, auto b, auto) { return (b & 0x7fffffffU) | (a & 0x80000000U); });
    const auto flushed = [](std::uint32_t x) { return is_nan(x) ? test::host_nan : test::host_flushed(x, true); };
    check("abs.ftz.f32 %d, %a;", [&](auto a, auto, auto) { return flushed(a & 0x7fffffffU); });
    check("neg.ftz.f32 %d, %a;", [&](auto a, auto, auto) { return flushed(a ^ 0x80000000U); });
}

TEST_CASE("testp knows the classes of numbers") {
    const auto is = [](const std::string& what, bool (*f)(float)) {
        check("testp." + what + ".f32 %p, %a; selp.u32 %d, 1, 0, %p;", [f](auto a, auto, auto) { return f(float_of(a)) ? 1U : 0U; });
    };
    is("finite", [](float x) { return std::isfinite(x); });
    is("infinite", [](float x) { return std::isinf(x); });
    is("number", [](float x) { return !std::isnan(x); });
    is("notanumber", [](float x) { return std::isnan(x); });
    is("normal", [](float x) { return std::isnormal(x); });
    is("subnormal", [](float x) { return std::fpclassify(x) == FP_SUBNORMAL; });
}

namespace {

struct relation {
    const char* name;
    bool (*holds)(float, float);
};

const relation relations[] = {
    {"eq", [](float x, float y) { return x == y; }}, {"ne", [](float x, float y) { return x < y || x > y; }}, {"lt", [](float x, float y) { return x < y; }},
    {"le", [](float x, float y) { return x <= y; }}, {"gt", [](float x, float y) { return x > y; }}, {"ge", [](float x, float y) { return x >= y; }},
    {"equ", [](float x, float y) { return !(x < y || x > y); }}, {"neu", [](float x, float y) { return x != y; }}, {"ltu", [](float x, float y) { return !(x >= y); }},
    {"leu", [](float x, float y) { return !(x > y); }}, {"gtu", [](float x, float y) { return !(x <= y); }}, {"geu", [](float x, float y) { return !(x < y); }},
    {"num", [](float x, float y) { return !std::isnan(x) && !std::isnan(y); }}, {"nan", [](float x, float y) { return std::isnan(x) || std::isnan(y); }}};

}  // namespace

TEST_CASE("setp and set of f32: fourteen relations, joined with a predicate or not") {
    for (const relation& r : relations)
        for (bool ftz : {false, true}) {
            const auto holds = [&](std::uint32_t a, std::uint32_t b) { return r.holds(float_of(test::host_flushed(a, ftz)), float_of(test::host_flushed(b, ftz))); };
            const std::string what = std::string(".") + r.name, type = std::string(ftz ? ".ftz" : "") + ".f32";
            check("setp" + what + type + " %p, %a, %b; selp.u32 %d, 7, 3, %p;", [&](auto a, auto b, auto) { return holds(a, b) ? 7U : 3U; });
            check("set" + what + (ftz ? ".ftz" : "") + ".u32.f32 %d, %a, %b;", [&](auto a, auto b, auto) { return holds(a, b) ? 0xffffffffU : 0U; });
            check("set" + what + (ftz ? ".ftz" : "") + ".f32.f32 %d, %a, %b;", [&](auto a, auto b, auto) { return holds(a, b) ? 0x3f800000U : 0U; });
            const std::string third = "and.b32 %c, %c, 1; setp.ne.u32 %q, %c, 0; ";
            const auto both_ways = " %p|%q, %a, %b, %q; selp.u32 %d, 1, 0, %p; selp.u32 %e, 2, 0, %q; or.b32 %d, %d, %e;";
            const auto joined = [&](const char* how, bool (*join)(bool, bool)) {
                check(third + "setp" + what + "." + how + type + both_ways, [&](auto a, auto b, auto c) {
                    const bool with = (c & 1U) != 0, h = holds(a, b);
                    return (join(h, with) ? 1U : 0U) | (join(!h, with) ? 2U : 0U);
                });
            };
            joined("and", [](bool x, bool y) { return x && y; });
            joined("or", [](bool x, bool y) { return x || y; });
            joined("xor", [](bool x, bool y) { return x != y; });
        }
}

TEST_CASE("slct by an f32: -0 counts as not negative, NaN does not") {
    for (bool ftz : {false, true})
        check(std::string("slct") + (ftz ? ".ftz" : "") + ".u32.f32 %d, %a, %b, %c;",
              [&](auto a, auto b, auto c) { return float_of(test::host_flushed(c, ftz)) >= 0.0F ? a : b; });
}

TEST_CASE("constants are folded, and a comparison takes its negation and its conjunction in") {
    test::float_sequence folded("mov.f32 %d, 0f40400000; mul.f32 %d, %d, 0f40000000; sqrt.rn.f32 %d, %d; div.rn.f32 %d, %d, 0f40000000; mov.u32 %e, 0;");
    CHECK(folded.size() == 0);
    CHECK(folded(0) == 0x3f9cc471U);  // sqrt(6) / 2
    test::float_sequence negated("setp.lt.f32 %p, %a, %b; not.pred %q, %p; selp.u32 %d, 1, 0, %q; mov.u32 %e, 0;");
    CHECK(negated.size() == 1);
    CHECK(negated(0x3f800000U, 0x40000000U) == 0);
    CHECK(negated(0x7fc00000U, 0x40000000U) == 1);
    test::float_sequence joined("setp.lt.f32 %p, %a, %b; setp.lt.f32 %q, %b, %c; and.pred %p, %p, %q; selp.u32 %d, 1, 0, %p; mov.u32 %e, 0;");
    CHECK(joined.size() == 2);
    CHECK(joined(0x3f800000U, 0x40000000U, 0x40400000U) == 1);
    CHECK(joined(0x3f800000U, 0x40000000U, 0x7fc00000U) == 0);
}

TEST_CASE("f32 instructions on the emulator, four threads with operands of their own") {
    const auto run = test::run_text(test::kernel_around(R"(.reg .f32 %f<9>;
    ld.global.f32 %f1, [%src]; ld.global.f32 %f2, [%src+4]; ld.global.f32 %f3, [%src+8];
    fma.rn.f32 %f4, %f1, %f2, %f3; div.rn.f32 %f5, %f1, %f2; sqrt.rn.f32 %f6, %f3; min.f32 %f7, %f1, %f2;
    st.global.f32 [%dst], %f4; st.global.f32 [%dst+4], %f5; st.global.f32 [%dst+8], %f6; st.global.f32 [%dst+12], %f7;)"),
                                    {1, 1, 1}, {4, 1, 1}, {test::buffer_of({0x3f800000U, 0x40400000U, 0x40000000U, 0, 0x7f7fffffU, 0x3f000000U, 0xc0800000U, 0,
                                                                            0x80000000U, 0, 1, 0, 0x7fc00000U, 0x7f800000U, 0x80000000U, 0}),
                                                           test::buffer_of(test::words(16))});
    CHECK(run.trap.empty());
    CHECK(run.buffers.at(1) == test::words{0x40a00000U, 0x3eaaaaabU, 0x3fb504f3U, 0x3f800000U, 0x7effffffU, 0x7f800000U, test::host_nan, 0x3f000000U,
                                           0x00000001U, test::host_nan, 0x1a3504f3U, 0x80000000U, test::host_nan, test::host_nan, 0x80000000U, 0x7f800000U});
}

TEST_CASE("floats of other sizes are refused with their line and a way out") {
    for (const char* body : {"add.f64 %x, %x, %x;", "mul.f16 %h0, %h0, %h0;", "fma.rn.bf16 %h0, %h0, %h0, %h0;", "cvt.rna.tf32.f32 %t, %t;"}) {
        try {
            (void)test::compile_text(test::kernel_around(std::string(".reg .f64 %x; ") + body));
            FAIL("compiled: " << body);
        } catch (const ptx::diagnostic_error& e) {
            REQUIRE(e.all().size() == 1);
            CHECK(e.all()[0].id == "ptx.unsupported");
            CHECK(e.all()[0].where.line == 20);
            CHECK(e.all()[0].message.find("not supported; use f") != std::string::npos);
        }
    }
}
