// SPDX-License-Identifier: MIT
// The type checker against the tables of the PTX manual ("Type Checking Rules", "Operand Size Exceeding Instruction-Type
// Size").
#include <qwengpu/ptx/check.hpp>

#include <array>
#include <string>
#include <string_view>

#include "support/catch.hpp"
#include "support/ptx_text.hpp"

using namespace qwengpu::ptx;
using namespace qwengpu::test;

namespace {

bool has(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

/// Registers of every type: %x_s32 and so on.
std::string typed(std::string_view body) {
    std::string text = ptx_head() + ".entry k() {\n";
    for (const char* t :
         {"pred", "b8", "b16", "b32", "b64", "u8", "u16", "u32", "u64", "s8", "s16", "s32", "s64", "f32", "f64"})
        text += ".reg ." + std::string(t) + " %x_" + t + ", %y_" + t + "; ";
    return text + "\n" + std::string(body) + "\nret; }\n";
}

bool good(const std::string& body) { return wrong_with(typed(body)).empty(); }

/// Columns: registers of 16, 32 and 64 bits; manual's answers for instruction types. 1 is allowed.
struct row {
    const char* type;
    std::string_view allowed;
};

const std::array<const char*, 15> columns{"pred", "b8",  "u8",  "s8",  "b16", "u16", "s16", "b32",
                                          "u32",  "s32", "f32", "b64", "u64", "s64", "f64"};

void check_table(const std::string& before, const std::string& after, const std::vector<row>& rows) {
    for (const row& r : rows)
        for (std::size_t k = 0; k < columns.size(); ++k) {
            const std::string body = before + "." + r.type + " " +
                                     (after.empty() ? "%x_" + std::string(columns[k]) + ", %y_" + columns[k]
                                                    : "%x_" + std::string(columns[k]) + after) +
                                     ";";
            INFO(body);
            CHECK(good(body) == (r.allowed[k] == '1'));
        }
}

}  // namespace

TEST_CASE("operands have the instruction's size and a type that agrees") {
    //                          p b8 u8 s8 b16 u16 s16 b32 u32 s32 f32 b64 u64 s64 f64
    check_table("mov", "",
                {{"b16", "000011100000000"},
                 {"u16", "000011100000000"},
                 {"b32", "000000011110000"},
                 {"s32", "000000011100000"},
                 {"u32", "000000011100000"},
                 {"f32", "000000010010000"},
                 {"b64", "000000000001111"},
                 {"s64", "000000000001110"},
                 {"f64", "000000000001001"},
                 {"pred", "100000000000000"}});
}

TEST_CASE("the destination of a load may be wider, but not a wider float") {
    //                                   p b8 u8 s8 b16 u16 s16 b32 u32 s32 f32 b64 u64 s64 f64
    check_table("ld.global", ", [%x_u64]",
                {{"b8", "011111111101110"},
                 {"s8", "011111111101110"},
                 {"u16", "000011111101110"},
                 {"s32", "000000011101110"},
                 {"b32", "000000011111110"},
                 {"f32", "000000010011000"},
                 {"b64", "000000000001111"},
                 {"f64", "000000000001001"}});
}

TEST_CASE("conversions check both sides") {
    CHECK(good("cvt.u32.u16 %x_b32, %x_b16;"));
    CHECK(good("cvt.s32.s8 %x_b32, %y_b32;"));
    CHECK(good("cvt.rn.f32.s32 %x_f32, %x_s32;"));
    CHECK(good("cvt.rzi.s32.f32 %x_b32, %x_f32;"));
    CHECK_FALSE(good("cvt.rn.f32.s32 %x_s32, %x_s32;"));
    CHECK_FALSE(good("cvt.s64.s32 %x_b32, %x_b32;"));
    CHECK_FALSE(good("cvt.u32.u64 %x_b32, %x_b32;"));
}

TEST_CASE("what would be ambiguous is refused") {
    CHECK_FALSE(good("ld.global.shared.u32 %x_b32, [%x_b64];"));
    CHECK_FALSE(good("setp.lt.gt.s32 %x_pred, %x_b32, %y_b32;"));
    CHECK_FALSE(good("setp.lt.and.s32 %x_pred, %x_b32, %y_b32;"));
    CHECK_FALSE(good("setp.lt.s32 %x_pred, %x_b32, %y_b32, %y_pred;"));
    CHECK_FALSE(good("setp.lt.b32 %x_pred, %x_b32, %y_b32;"));
    CHECK_FALSE(good("cvt.f32.s32 %x_f32, %x_b32;"));
    CHECK_FALSE(good("cvt.rn.s32.f32 %x_b32, %x_f32;"));
    CHECK(good("cvt.f64.f32 %x_f64, %x_f32;"));
    CHECK(good("cvt.rni.f32.f32 %x_f32, %y_f32;"));
    CHECK_FALSE(good("cvt.rn.s64.s32 %x_b64, %x_b32;"));
    CHECK_FALSE(good("add.sat.u32 %x_b32, %x_b32, %y_b32;"));
    CHECK_FALSE(good("atom.global.add.b32 %x_b32, [%x_b64], 1;"));
    CHECK_FALSE(good("prmt.b32.f4e.b4e %x_b32, %y_b32, %y_b32, 1;"));
    CHECK_FALSE(good("add.s32 _, %x_b32, %y_b32;"));
    CHECK(good("atom.global.add.u32 _, [%x_b64], 1;"));
}

TEST_CASE("wide products, shifts and counts have sizes of their own") {
    CHECK(good("mul.wide.s32 %x_b64, %x_b32, 4;"));
    CHECK(good("mad.wide.u16 %x_b32, %x_b16, %y_b16, %y_b32;"));
    CHECK_FALSE(good("mul.wide.s32 %x_b32, %x_b32, 4;"));
    CHECK(good("shl.b64 %x_b64, %y_b64, %x_b32;"));
    CHECK_FALSE(good("shl.b64 %x_b64, %y_b64, %x_b64;"));
    CHECK(good("popc.b64 %x_b32, %x_b64;"));
    CHECK_FALSE(good("popc.b64 %x_b64, %x_b64;"));
    CHECK(good("bfe.u64 %x_b64, %y_b64, %x_b32, 4;"));
    CHECK(good("slct.b32.s32 %x_b32, %y_b32, 5, %x_s32;"));
    CHECK(good("set.lt.u32.f32 %x_b32, %x_f32, %y_f32;"));
    CHECK_FALSE(good("set.lt.u32.f32 %x_b32, %x_f32, %y_s32;"));
}

TEST_CASE("vectors, packed moves and pairs") {
    CHECK(good("ld.global.v2.u8 {%x_b16, %x_b32}, [%x_b64];"));
    CHECK(good("st.global.v4.f32 [%x_b64], {%x_f32, %y_f32, 0f00000000, %x_f32};"));
    CHECK_FALSE(good("ld.global.v2.u32 {%x_b32, %y_b32, %x_u32}, [%x_b64];"));
    CHECK_FALSE(good("ld.global.v2.u32 %x_b32, [%x_b64];"));
    CHECK_FALSE(good("ld.global.u32 {%x_b32, %y_b32}, [%x_b64];"));
    CHECK(good("mov.b64 {%x_b32, %y_b32}, %x_b64;"));
    CHECK(good("mov.b32 %x_b32, {%x_b16, %y_b16};"));
    CHECK_FALSE(good("mov.b64 %x_b64, {%x_b16, %y_b16};"));
    CHECK(good("setp.lt.s32 %x_pred|%y_pred, %x_b32, 1;"));
    CHECK(good("shfl.sync.idx.b32 %x_b32|%x_pred, %y_b32, 0, 31, -1;"));
    CHECK_FALSE(good("setp.lt.s32 %x_b32, %x_b32, 1;"));
    CHECK_FALSE(good("add.s32 %x_b32|%x_pred, %x_b32, 1;"));
}

TEST_CASE("constants must suit the type") {
    CHECK(good("mov.pred %x_pred, -1;"));
    CHECK(good("add.f32 %x_f32, %y_f32, 0f3F800000;"));
    CHECK(good("add.f32 %x_f32, %y_f32, 1.5;"));
    CHECK_FALSE(good("add.f32 %x_f32, %y_f32, 1;"));
    CHECK_FALSE(good("add.s32 %x_s32, %y_s32, 1.5;"));
    CHECK_FALSE(good("add.s32 %x_s32, %y_s32, 0f3F800000;"));
    CHECK(good("mov.b32 %x_b32, 0f3F800000;"));
    CHECK_FALSE(good("add.u32 %x_b32, %x_b32, %tid.x;"));
    CHECK(good("add.u64 %x_b64, %x_b64, WARP_SZ;"));
    CHECK_FALSE(good("mov.u64 %x_b64, %tid.x;"));
    CHECK_FALSE(good("add.s32 1, %x_s32, %y_s32;"));
    CHECK_FALSE(good("add.s32 %x_s32, !%x_s32, 1;"));
}

TEST_CASE("the message names register, type and instruction") {
    CHECK(wrong_body("add.s32 %rd3, %r1, %r1;") == "ptx.type 7: operand 1 of add.s32: .b64 %rd3 does not fit .s32");
    CHECK(has(wrong_body("add.b32 %r1, %r1, %r1;"), "add does not take the type .b32 in add.b32; it takes .u16"));
    CHECK(has(wrong_body("ld.global.u32 %r1, [k_p];"), "k_p is a .param variable, but ld.global.u32 reaches .global"));
    CHECK(has(wrong_body("ld.global.u32 %r1, [%f1];"), ".f32 %f1 cannot be an address"));
}

TEST_CASE("an untyped register in a float instruction is allowed, and pointed out beside another error only") {
    CHECK(wrong_body("add.f32 %f1, %r1, %f2;").empty());
    const std::string wrong = wrong_body("add.f32 %f1, %r1, %f2;\nadd.s32 %rd3, %r1, %r1;");
    CHECK(has(wrong, "ptx.type 7: operand 2 of add.f32: .b32 %r1 for .f32"));
    CHECK(has(wrong, "ptx.type 8: operand 1 of add.s32"));
}

TEST_CASE("calls fit what the function declares") {
    const std::string f = ".func (.param .b32 r) f (.param .b32 a, .param .b64 b) { ret; }\n.global .u32 v;\n";
    const auto call = [&](const std::string& body) {
        return wrong_with(ptx_head() + f + ".entry k() { .param .b32 p; .param .b64 q; .param .b32 r;\n" + body + " }");
    };
    CHECK(call("call.uni (r), f, (p, q);").empty());
    CHECK(call("call.uni f, (p, q);").size() == 1);
    CHECK(call("call.uni (r), f, (p);") == std::vector<std::string>{"ptx.type 7: function f has 2 arguments, the call has 1"});
    CHECK(has(call("call.uni (r), f, (q, q);").at(0), "q has 8 bytes, function f takes 4 here"));
    CHECK(has(call("call v;").at(0), "v is no function"));
}

TEST_CASE("syntax errors come before type errors, both are told") {
    const auto all = wrong_with(kernel_with("add.s32 %rd1, %r1, 1;\nfrob;"));
    REQUIRE(all.size() == 2);
    CHECK(has(all[0], "ptx.parse 8"));
    CHECK(has(all[1], "ptx.type 7"));
}
