// SPDX-License-Identifier: MIT
// The syntax tree of hand-made modules: every kind of declaration and operand, against what was written.
#include <qwengpu/ptx/parser.hpp>

#include <string>
#include <vector>

#include "support/catch.hpp"
#include "support/ptx_text.hpp"

using namespace qwengpu::ptx;
using namespace qwengpu::test;

namespace {

const function& kernel(const parsed_module& m) { return *m.find_function("k"); }
const instruction& first(const parsed_module& m) { return kernel(m).code.at(0); }

}  // namespace

TEST_CASE("the head of a module") {
    const auto m = read(".version 8.3\n.target sm_90a, debug\n.address_size 32\n.file 1 \"a.cu\", 5, 6\n.file 2 \"b.h\"\n", "x.ptx");
    CHECK(m.version_major == 8);
    CHECK(m.version_minor == 3);
    CHECK(m.target == std::vector<std::string>{"sm_90a", "debug"});
    CHECK(m.address_size == 32);
    CHECK(m.files == std::map<std::uint32_t, std::string>{{1, "a.cu"}, {2, "b.h"}});
    CHECK(read(".version 6.0\n.target sm_70\n", "x.ptx").address_size == 32);
}

TEST_CASE("an instruction with guard, modifiers and operands") {
    const auto m = read_body("@!%p1 add.sat.s32 %r1, %r2, -5;");
    const instruction& i = first(m);
    REQUIRE(i.predicate);
    CHECK(i.predicate->negated);
    CHECK(kernel(m).registers[i.predicate->reg].name == "%p1");
    CHECK(i.opcode == "add");
    CHECK(i.modifiers == std::vector<std::string_view>{"sat", "s32"});
    CHECK(i.types == std::vector<scalar_type>{scalar_type::s32});
    CHECK(i.full_name() == "add.sat.s32");
    CHECK(i.where == place{7, 7});
    REQUIRE(i.operands.size() == 3);
    CHECK(kernel(m).registers[i.operands[0].id].name == "%r1");
    CHECK(kernel(m).registers[i.operands[0].id].type == scalar_type::b32);
    CHECK(i.operands[2].kind == operand_kind::integer);
    CHECK(i.operands[2].value == -5);
}

TEST_CASE("addresses") {
    const auto m = read_body("ld.global.v2.u32 {%r1, _}, [%rd1+-8]; ld.param.u64 %rd2, [k_p]; ld.global.u32 %r1, [%rd1]; ld.shared.u32 %r1, [16];"
                             "st.global.u32 [%rd1+4], %r1;");
    const auto& code = kernel(m).code;
    CHECK(code[0].vector == 2);
    CHECK(code[0].space == state_space::global);
    CHECK(code[0].operands[0].kind == operand_kind::vector);
    CHECK(code[0].operands[0].items[1].kind == operand_kind::sink);
    CHECK(code[0].operands[1].kind == operand_kind::address);
    CHECK(code[0].operands[1].value == -8);
    CHECK(code[0].operands[1].items[0].kind == operand_kind::reg);
    const operand& param = code[1].operands[1].items[0];
    CHECK(m.variable_of(param.sym, kernel(m)).name == "k_p");
    CHECK(code[2].operands[1].value == 0);
    CHECK(code[3].operands[1].items.empty());
    CHECK(code[3].operands[1].value == 16);
    CHECK(code[4].operands[0].value == 4);
}

TEST_CASE("special registers, floats, pairs, negated predicates") {
    const auto m = read_body("mov.u32 %r1, %tid.x; mov.u32 %r1, WARP_SZ; mov.f32 %f1, 1.5; mov.f32 %f1, 0fBF800000;"
                             "setp.lt.and.s32 %p1|%p2, %r1, 3, !%p3; mov.b64 {%r1, %r2}, %rd1; mov.u64 %rd1, k_p;");
    const auto& code = kernel(m).code;
    CHECK(code[0].operands[1].special == sreg::tid_x);
    CHECK(code[1].operands[1].special == sreg::warp_size);
    CHECK(code[2].operands[1].kind == operand_kind::f32_bits);
    CHECK(code[2].operands[1].value == 0x3fc00000);
    CHECK(code[3].operands[1].value == 0xbf800000);
    CHECK(code[4].operands[0].kind == operand_kind::pair);
    CHECK(code[4].operands[3].negated);
    CHECK(code[5].operands[0].kind == operand_kind::vector);
    CHECK(code[6].operands[1].kind == operand_kind::symbol_value);
}

TEST_CASE("labels are positions, and unused ones are left out") {
    const auto m = read_body("unused: bra.uni end; again: add.s32 %r1, %r1, 1; @%p1 bra again; end: ret; last:");
    const function& f = kernel(m);
    REQUIRE(f.labels.size() == 2);
    CHECK(f.labels[f.code[0].operands[0].id].name == "end");
    CHECK(f.labels[f.code[0].operands[0].id].position == 3);
    CHECK(f.labels[f.code[2].operands[0].id].position == 1);
}

TEST_CASE("inner scopes have registers and labels of their own") {
    const auto m = read_body("mov.u32 %r1, 1; bra L; { .reg .b64 %r1; mov.u64 %r1, 2; L: bra L; bra out; } L: { bra L; } { L: bra L; } out:");
    const function& f = kernel(m);
    CHECK(f.registers[f.code[0].operands[0].id].type == scalar_type::b32);
    CHECK(f.registers[f.code[2].operands[0].id].type == scalar_type::b64);
    const auto target = [&](std::size_t k) { return f.labels[f.code[k].operands[0].id].position; };
    CHECK(target(1) == 5);
    CHECK(target(3) == 3);
    CHECK(target(4) == 7);
    CHECK(target(5) == 5);
    CHECK(target(6) == 6);
}

TEST_CASE("a range of registers costs nothing until one is used") {
    const auto m = read(ptx_head() + ".entry k() { .reg .b32 %r<4000000000>, %x1<10>, y; mov.u32 %r3999999999, 1; mov.u32 %x10, 2; mov.u32 y, 3; }", "x");
    std::vector<std::string> names;
    for (const auto& r : kernel(m).registers) names.push_back(r.name);
    CHECK(names == std::vector<std::string>{"%r3999999999", "%x10", "y"});
    CHECK(wrong_body("mov.u32 %r16, 1;") == "ptx.parse 7: register %r16 is not declared");
    CHECK(wrong_body("mov.u32 %r01, 1;") == "ptx.parse 7: register %r01 is not declared");
}

TEST_CASE("kernels: parameters, attributes, debug places, pragmas") {
    const auto m = read(ptx_head() +
                            ".visible .entry k(.param .u64 .ptr .global .align 4 a, .param .align 8 .b8 s[16], .param .f32 x)\n"
                            ".maxntid 16, 2, 1\n.minnctapersm 2\n{\n.pragma \"nounroll\";\n.loc 1 20 3\nret;\n"
                            ".loc 1 30 5, function_name $L__info_string0+4, inlined_at 1 20 3\nret;\n"
                            ".loc 2 107 3, function_name $L__info_string0, inlined_at 1 21 2\nret;\n}\n"
                            ".section .debug_str { $L__info_string0: .b8 102, 0\n { } }\n@@DWARF .byte 0x1\n.section .debug_loc { }\n",
                        "x.ptx");
    const function& f = kernel(m);
    CHECK(f.is_entry);
    CHECK(f.link == linkage::visible);
    REQUIRE(f.parameters.size() == 3);
    const variable& a = f.variables[f.parameters[0].id];
    CHECK((a.is_pointer && a.pointer_space == state_space::global && a.pointer_alignment == 4));
    const variable& s = f.variables[f.parameters[1].id];
    CHECK((s.alignment == 8 && s.bytes() == 16 && s.type == scalar_type::b8));
    REQUIRE(f.attributes.size() == 2);
    CHECK(f.attributes[0].values == std::vector<std::uint64_t>{16, 2, 1});
    CHECK(f.pragmas == std::vector<std::string>{"nounroll"});
    CHECK(f.code[0].cuda == cuda_place{1, 20, 3});
    CHECK(f.code[1].cuda == cuda_place{1, 30, 5});
    CHECK(f.code[2].cuda == cuda_place{1, 21, 2});  // copied in from a header: where it was called
    CHECK(f.end == place{15, 1});
}

TEST_CASE("functions, declared first, and calls") {
    const auto m = read(ptx_head() +
                            ".extern .func (.param .b32 r) f (.param .b32 a, .param .b64 b);\n"
                            ".func g(.reg .b32 %x) .noreturn;\n.weak .func (.param .b32 r) f (.param .b32 a, .param .b64 b) { ret; }\n"
                            ".entry k() { .param .b32 p0; .param .b64 p1; .param .b32 q; .reg .b64 %rd1; .reg .b32 %r1;\n"
                            "call.uni (q), f, (p0, p1); call g, (%r1); call (q), %rd1, (p0, p1), proto; proto: .callprototype (.param .b32 _) _ (.param .b32 _, .param .b64 _); }",
                        "x.ptx");
    CHECK(m.functions.size() == 3);
    CHECK(m.find_function("f")->has_body);
    CHECK(m.find_function("f")->link == linkage::weak);
    CHECK(m.find_function("g")->noreturn);
    CHECK(m.find_function("g")->parameters[0].in_register);
    const auto& code = kernel(m).code;
    REQUIRE(code[0].operands.size() == 3);
    CHECK(m.functions[code[0].operands[1].sym.id].name == "f");
    CHECK(code[0].operands[2].items.size() == 2);
    CHECK(code[1].operands[0].items.empty());
    CHECK(code[2].operands[3].kind == operand_kind::call_table);
}

TEST_CASE("branch tables") {
    const auto m = read_body("t: .branchtargets A, B; brx.idx %r1, t; A: ret; B: ret;");
    const function& f = kernel(m);
    REQUIRE(f.branch_tables.size() == 1);
    CHECK(f.code[0].operands[1].id == 0);
    CHECK(f.labels[f.branch_tables[0].labels[1]].name == "B");
}

TEST_CASE("variables and initialisers") {
    const auto m = read(ptx_head() +
                            ".global .align 16 .b8 s[];\n.const .u32 t[3] = {1, 2};\n.global .f32 x = 1.0;\n.global .u32 g[2][2] = {{1, 2}, {3}};\n"
                            ".global .u64 p[2] = {t, generic(x)+8};\n.extern .shared .align 8 .b8 dyn[];\n.global .u16 open[] = {5, 6, 7};\n"
                            ".global .v4 .f32 v = {1.0, 2.0, 0.0, 0.0};\n.global .u8 part[2] = {0xff(t), 0xff00(t)};\n.global .s8 m = -1;\n",
                        "x.ptx");
    REQUIRE(m.variables.size() == 10);
    CHECK((m.variables[1].space == state_space::constant && m.variables[1].initial[1].bits == 2 && m.variables[1].bytes() == 12));
    CHECK(m.variables[2].initial[0].bits == 0x3f800000);
    CHECK((m.variables[3].initial[2].index == 2 && m.variables[3].initial[2].bits == 3));
    CHECK(m.variables[4].initial[0].sym == symbol{symbol_kind::module_variable, 1});
    CHECK((m.variables[4].initial[1].generic && m.variables[4].initial[1].bits == 8));
    CHECK((m.variables[5].link == linkage::external && m.variables[5].alignment == 8 && m.variables[5].bytes() == 0));
    CHECK(m.variables[6].dims == std::vector<std::uint64_t>{3});
    CHECK((m.variables[7].vector == 4 && m.variables[7].initial.size() == 4 && m.variables[7].alignment == 16));
    CHECK(m.variables[8].initial[1].mask == 0xff00);
    CHECK(m.variables[9].initial[0].bits == 0xff);
}

TEST_CASE("textures and other foreign instructions parse") {
    const auto m = read(ptx_head() + ".global .texref tex;\n.entry k() { .reg .f32 %f<9>; tex.1d.v4.f32.f32 {%f1,%f2,%f3,%f4}, [tex, {%f1}]; }", "x");
    CHECK(m.variables[0].type == scalar_type::texref);
    CHECK(first(m).opcode == "tex");
    CHECK(first(m).operands[1].kind == operand_kind::texture);
}
