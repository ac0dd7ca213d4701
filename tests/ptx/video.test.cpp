// SPDX-License-Identifier: MIT
// Video instructions: hand-worked results of the PTX manual's rules, then every instruction with every type and random parts,
// clamps and second operations, compiled and run, against the interpreter's arithmetic without limits.
#include <qwengpu/ptx/read.hpp>

#include <algorithm>
#include <array>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "support/catch.hpp"
#include "support/interpreter/video.hpp"

#include "instruction_bench.hpp"

namespace {

using namespace qwengpu;
using test::u64;

/// What the instruction gives, on the machine.
std::uint32_t on_machine(const std::string& text, std::uint32_t a, std::uint32_t b, std::uint32_t c) {
    const auto r = test::run_program(test::compile_text(test::bench_kernel({text, 32, nullptr})).program, {1, 1, 1}, {1, 1, 1}, {test::buffer_of({a, 0, b, 0, c, 0}), test::buffer_of({0, 0})});
    return r.buffers[1][0];
}

struct worked {
    const char* text;
    std::uint32_t a, b, c, result;
};

const worked by_hand[] = {
    {"vadd.s32.u32.s32.sat %r32, %a32.b0, %b32.h0, %c32;", 0x123456ff, 0xffff8000, 0, 0xffff80ff},  // 255 - 32768
    {"vadd.u32.u32.s32.sat %r32, %a32.b0, %b32.h0, %c32;", 0x123456ff, 0xffff8000, 0, 0},
    {"vadd.u32.u32.u32.sat %r32, %a32, %b32;", 0xfffffff0, 0x20, 0, 0xffffffff},
    {"vadd.u32.u32.u32 %r32, %a32, %b32;", 0xfffffff0, 0x20, 0, 0x10},
    {"vadd.u32.u32.u32.min %r32, %a32, %b32, %c32;", 0xfffffff0, 0x20, 0xffffffff, 0xffffffff},  // the sum has 33 bits
    {"vsub.s32.u32.u32.sat %r32, %a32, %b32;", 0, 0xffffffff, 0, 0x80000000},
    {"vabsdiff.s32.s32.s32.sat %r32.h0, %a32.b0, %b32.b2, %c32;", 0x80, 0x007f0000, 0x12345678, 0x123400ff},
    {"vabsdiff.u32.s32.s32 %r32, %a32, %b32;", 0x80000000, 0x7fffffff, 0, 0xffffffff},
    {"vmin.s32.s32.s32.add %r32, %a32, %b32, %c32;", 5, 0xfffffffe, 100, 98},
    {"vmax.u32.u32.s32 %r32, %a32, %b32;", 0x80000000, 0xffffffff, 0, 0x80000000},  // 2^31 and -1
    {"vshl.s32.s32.u32.sat.clamp %r32, %a32, %b32;", 0xffffffff, 31, 0, 0x80000000},
    {"vshl.u32.u32.u32.sat.clamp %r32, %a32, %b32;", 1, 40, 0, 0xffffffff},  // 2^32
    {"vshl.u32.u32.u32.wrap %r32, %a32.b1, %b32;", 0x300, 36, 0, 0x30},
    {"vshr.s32.s32.u32.clamp %r32.b3, %a32.h1, %b32, %c32;", 0x80000000, 4, 0x11223344, 0x00223344},
    {"vmad.s32.s32.u32.sat %r32, %a32, %b32, -%c32;", 0xffffffff, 0xffffffff, 5, 0x80000000},
    {"vmad.u32.u32.u32.shr15 %r32, %a32.h0, %b32.h0, %c32;", 0xffff, 0x8000, 0x8000, 0x10000},
    {"vmad.u32.u32.u32.po.shr7 %r32, %a32, %b32, %c32;", 127, 1, 0, 1},
    {"vmad.s32.u32.u32.sat %r32, -%a32, %b32, %c32;", 0xffffffff, 0xffffffff, 7, 0x80000000},
    {"vmad.u32.u32.u32.sat %r32, %a32, %b32, %c32;", 0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff},
    {"vset.s32.u32.lt %r32, %a32, %b32;", 0xffffffff, 0, 0, 1},
    {"vset.u32.u32.ne.max %r32, %a32, %b32.h1, %c32;", 2, 0x20000, 7, 7},
    {"vadd2.s32.s32.u32.sat %r32, %a32, %b32, %c32;", 0x7fff8000, 0xffff0001, 0, 0x7fff8001},
    {"vsub2.s32.s32.s32.sat %r32.h0, %a32.h10, %b32.h32, %c32;", 0x00008000, 0x00000001, 0xabcd1234, 0xabcd8000},
    {"vmin2.s32.u32.u32.add %r32.h10, %a32.h00, %b32.h22, %c32;", 0x00030005, 0x00090004, 10, 18},
    {"vavrg2.s32.s32.s32 %r32, %a32, %b32, %c32;", 0xfffd0003, 0xfffe0004, 0, 0xfffd0004},  // -3 and -2, 3 and 4
    {"vabsdiff4.u32.u32.u32.add %r32, %a32, %b32, %c32;", 0x01ff0305, 0x04000a01, 1000, 1269},
    {"vadd4.u32.u32.u32.sat %r32, %a32, %b32, %c32;", 0xff800102, 0x01800304, 0, 0xffff0406},
    {"vsub4.s32.s32.s32 %r32.b30, %a32.b7654, %b32.b0123, %c32;", 0x01020304, 0x10203040, 0xaaaaaaaa, 0x0caaaa3f},
    {"vset4.s32.u32.lt %r32, %a32, %b32, %c32;", 0xff000180, 0x00000100, 0, 0x01000001},
    {"vmax4.s32.s32.s32 %r32.b21, %a32, %b32, %c32;", 0x807f01ff, 0x7f800200, 0x11223344, 0x117f0244},
};

/// Forms of an instruction: text with random parts and words.
class forms {
public:
    explicit forms(unsigned seed) : random_(seed) {}

    /// Types as a number whose bits say which of result and sources have a sign.
    std::string one(const std::string& name, unsigned signs) {
        const auto type = [&](unsigned k) { return (signs >> k & 1) != 0 ? std::string(".s32") : std::string(".u32"); };
        const char last = name.back();
        const int parts = last == '2' ? 2 : last == '4' ? 4 : 1;
        const bool sets = name.starts_with("vset"), shifts = name == "vshl" || name == "vshr";
        std::string text = name + (sets ? "" : type(0)) + type(1) + (shifts ? ".u32" : type(2));
        if (sets) text += pick({".eq", ".ne", ".lt", ".le", ".gt", ".ge"});
        if (shifts) text += pick({".clamp", ".wrap"});
        if (name == "vmad") return text + multiply();
        return text + (parts == 1 ? scalar(sets) : at_once(parts, sets));
    }

private:
    std::size_t below(std::size_t n) { return random_() % n; }
    std::string pick(const std::vector<std::string>& all) { return all[below(all.size())]; }
    std::string part() { return pick({"", "", ".b0", ".b1", ".b2", ".b3", ".h0", ".h1"}); }
    std::string word(const std::string& name) { return below(8) == 0 ? pick({"0", "1", "-1", "77", "0x80000000", "0x12345678"}) : name + part(); }

    std::string scalar(bool sets) {
        const std::string clamp = sets || below(2) == 0 ? "" : ".sat";
        const std::string a = word("%a32"), b = word("%b32");
        switch (below(3)) {
            case 0: return clamp + " %r32, " + a + ", " + b + ";";
            case 1: return clamp + pick({".add", ".min", ".max"}) + " %r32, " + a + ", " + b + ", %c32;";
            default: return clamp + " %r32" + pick({".b0", ".b1", ".b2", ".b3", ".h0", ".h1"}) + ", " + a + ", " + b + ", %c32;";
        }
    }

    std::string at_once(int parts, bool sets) {
        const std::string how = below(3) == 0 ? ".add" : sets || below(2) == 0 ? "" : ".sat";
        const auto choice = [&] {
            std::string s = below(3) == 0 ? "" : parts == 2 ? ".h" : ".b";
            for (int k = 0; k < parts && !s.empty(); ++k) s += static_cast<char>('0' + below(static_cast<std::size_t>(2 * parts)));
            return s;
        };
        std::string mask;
        for (int k = parts; k-- > 0;)
            if (below(2) == 0) mask += static_cast<char>('0' + k);
        if (!mask.empty()) mask = (parts == 2 ? ".h" : ".b") + mask;
        const std::string a = choice(), b = choice();
        return how + " %r32" + mask + ", %a32" + a + ", %b32" + b + ", %c32;";
    }

    std::string multiply() {
        const std::string how = (below(2) == 0 ? ".sat" : "") + pick({"", ".shr7", ".shr15"});
        const std::string a = "%a32" + part(), b = "%b32" + part();
        switch (below(5)) {
            case 0: return ".po" + how + " %r32, " + a + ", " + b + ", %c32;";
            case 1: return how + " %r32, -" + a + ", " + b + ", %c32;";
            case 2: return how + " %r32, " + a + ", -" + b + ", %c32;";
            case 3: return how + " %r32, " + a + ", " + b + ", -%c32;";
            default: return how + " %r32, " + a + ", " + b + ", %c32;";
        }
    }

    std::mt19937 random_;
};

/// The first operands for which machine and interpreter differ; empty if there are none.
std::string difference(const std::string& text, unsigned seed) {
    constexpr std::uint32_t threads = 12;
    const auto m = ptx::read(test::bench_kernel({text, 32, nullptr}), "test.ptx");
    const auto& code = m.functions[0].code;
    const auto video = std::find_if(code.begin(), code.end(), [](const ptx::instruction& i) { return i.opcode[0] == 'v'; });
    const auto source = [&](std::size_t n, u64 in_register) { return n < video->operands.size() && video->operands[n].kind == ptx::operand_kind::integer ? static_cast<u64>(video->operands[n].value) & 0xffffffffU : in_register; };
    const auto program = ptx::compile_kernel(m, "k").program;
    test::operand_source next(seed);
    for (int launch = 0; launch < 3; ++launch) {
        test::words in;
        for (std::uint32_t k = 0; k < 3 * threads; ++k) in.insert(in.end(), {static_cast<std::uint32_t>(next()), 0});
        const auto r = test::run_program(program, {1, 1, 1}, {threads, 1, 1}, {test::buffer_of(in), test::buffer_of(test::words(2 * threads))});
        for (std::size_t t = 0; t < threads; ++t) {
            const u64 a = in[6 * t], b = in[6 * t + 2], c = in[6 * t + 4], want = test::interpreter::video_result(*video, source(1, a), source(2, b), c), is = r.buffers[1][2 * t];
            if (is != want) return text + " of " + std::to_string(a) + " " + std::to_string(b) + " " + std::to_string(c) + " gives " + std::to_string(is) + ", not " + std::to_string(want);
        }
    }
    return {};
}

const std::array names{"vadd", "vsub", "vabsdiff", "vmin", "vmax", "vshl", "vshr", "vmad", "vset", "vadd2", "vsub2", "vavrg2", "vabsdiff2", "vmin2", "vmax2", "vset2", "vadd4", "vsub4", "vavrg4", "vabsdiff4", "vmin4", "vmax4", "vset4"};

void check_forms(unsigned seed, int times) {
    forms f(seed);
    for (const char* name : names)
        for (unsigned signs = 0; signs < 8; ++signs)
            for (int k = 0; k < times; ++k) {
                const std::string text = f.one(name, signs);
                INFO(text);
                CHECK(difference(text, seed++) == "");
            }
}

}  // namespace

TEST_CASE("video instructions: results worked by hand from the manual") {
    for (const worked& w : by_hand) {
        INFO(w.text);
        CHECK(on_machine(w.text, w.a, w.b, w.c) == w.result);
    }
}

TEST_CASE("every video instruction and type, with random parts, clamps and second operations") { check_forms(1, 3); }
TEST_CASE("the same, many more", "[.heavy]") { check_forms(1000, 100); }
