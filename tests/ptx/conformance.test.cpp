// SPDX-License-Identifier: MIT
// docs/conformance.md is what the compiler makes of every PTX instruction and type. Run the hidden test case
// [write_conformance] to write it anew.
#include <algorithm>
#include <fstream>
#include <iterator>
#include <set>
#include <string>

#include "support/catch.hpp"

#include "conformance_page.hpp"

namespace {

using namespace qwengpu;

const std::string page_path = std::string(QWENGPU_TEST_DATA) + "/../docs/conformance.md";

const std::vector<test::conformance>& made() {
    static const auto all = test::all_conformance();
    return all;
}

const test::conformance& line_of(const std::string& name) {
    const auto found = std::find_if(made().begin(), made().end(), [&](const test::conformance& c) { return c.name == name; });
    REQUIRE(found != made().end());
    return *found;
}

}  // namespace

TEST_CASE("the page of conformance is what the compiler does") {
    std::ifstream file(page_path);
    REQUIRE(file);
    const std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
    CHECK((text == test::conformance_page(made())));
}

TEST_CASE("every instruction of the table has a line; what is refused is refused by the compiler, not by the reader") {
    std::set<std::string> opcodes;
    for (const auto& c : made()) {
        INFO(c.name << ": " << c.refused);
        opcodes.insert(c.name.substr(0, c.name.find('.')));
        CHECK((c.refused.empty() || c.refused.find("ptx.unsupported: ") == 0));
        CHECK((c.refused.empty() || c.refused.size() > 30));
    }
    for (const auto& row : ptx::opcode_table) CHECK(opcodes.contains(std::string(row.name)));
}

TEST_CASE("no integer of 8 to 64 bits and no f32 arithmetic is refused") {
    const std::set<std::string> types{"b16", "b32", "b64", "u8", "u16", "u32", "u64", "s8", "s16", "s32", "s64", "f32", "pred"};
    const std::set<std::string> elsewhere{"isspacep"};
    for (const auto& c : made()) {
        const auto words = test::detail::split(c.name, '.');
        const bool ours = words.size() > 1 && types.contains(words.back()) && (words.size() < 3 || types.contains(words[words.size() - 2]) || !ptx::type_named(words[words.size() - 2]));
        if (!ours || elsewhere.contains(words[0])) continue;
        INFO(c.name);
        CHECK(c.refused == "");
    }
}

TEST_CASE("instructions of the machine are native, moves are free") {
    for (const char* name : {"add.s32", "sub.u16", "and.b32", "mul.lo.s32", "mul.hi.u32", "mad.lo.s32", "min.s32", "setp.eq.s32", "selp.b32", "popc.b32", "shf.l.wrap.b32", "prmt.b32",
                             "lop3.b32", "ld.global.u8", "ld.global.s16", "st.global.b32", "add.f32", "fma.rn.f32", "cvt.rn.f32.s32", "cvt.s32.s16"}) {
        INFO(name);
        CHECK(line_of(name).operations == 1);
        CHECK(line_of(name).blocks == 1);
    }
    for (const char* name : {"mov.b32", "mov.b64", "cvta.to.global.u64", "cvt.u32.u64", "membar.cta"}) CHECK(line_of(name).operations == 0);
    // A sum of 64 bits: low word, carry, high word, in one block that writes two words.
    CHECK((line_of("add.s64").blocks == 1 && line_of("add.s64").operations == 3 && line_of("add.s64").tokens == 17));
}

TEST_CASE("write the page of conformance", "[.][write_conformance]") {
    std::ofstream(page_path) << test::conformance_page(made());
}
