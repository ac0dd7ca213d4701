// SPDX-License-Identifier: MIT
// What module variables begin with, where addresses are in it: whole, in bytes (packed structs), with offsets, in chains.
#include <qwengpu/ptx/compile.hpp>

#include <cstdint>
#include <string>

#include "support/catch.hpp"

#include "run_kernel.hpp"

namespace {

using namespace qwengpu;

/// The four words that one thread stores, with these variables in the module.
test::words stored(const std::string& variables, const std::string& body) {
    std::string text = test::kernel_around(body);
    text.insert(text.find(".visible"), variables + "\n");
    const auto r = test::run_text(text, {1, 1, 1}, {1, 1, 1}, {test::buffer_of(test::words(4)), test::buffer_of(test::words(4))});
    INFO(r.trap << " line " << r.trap_line);
    REQUIRE(r.ended == machine::ending::finished);
    return r.buffers[1];
}

std::string refusal(const std::string& variables) {
    try {
        (void)stored(variables, "ret;");
    } catch (const error& e) {
        return e.id() + ": " + e.message();
    }
    return "accepted";
}

/// 0xFF(what), 0xFF00(what), ... for all eight bytes.
std::string bytes_of_address(const std::string& what) {
    std::string all, zeros;
    for (int k = 0; k < 8; ++k, zeros += "00") all += (k == 0 ? "0xFF" : ", 0xFF") + zeros + "(" + what + ")";
    return all;
}

}  // namespace

TEST_CASE("an address in bytes, aligned and not, as packed structs have it") {
    const std::string variables = ".global .align 4 .u32 val[3] = {77, 78, 79};\n"
                                  ".global .align 8 .u8 s[16] = {9, 0, 0, 0, 0, 0, 0, 0, " + bytes_of_address("generic(val)+4") + "};\n"
                                  ".const .align 1 .u8 packed[18] = {1, " + bytes_of_address("generic(val)") + ", 2, " + bytes_of_address("val+8") + "};";
    std::string gather = ".reg .u64 %p, %q, %g, %h; .reg .u32 %x, %y, %z;\n"
                         "ld.global.u64 %p, [s+8]; ld.u32 %x, [%p]; mov.u64 %g, 0; mov.u64 %h, 0;\n";
    for (int k = 7; k >= 0; --k)
        gather += "ld.const.u8 %q, [packed+" + std::to_string(1 + k) + "]; shl.b64 %g, %g, 8; or.b64 %g, %g, %q;\n"
                  "ld.const.u8 %q, [packed+" + std::to_string(10 + k) + "]; shl.b64 %h, %h, 8; or.b64 %h, %h, %q;\n";
    gather += "ld.u32 %y, [%g]; ld.u32 %z, [%h]; ld.const.u8 %t, [packed+9];\n"
              "st.global.u32 [%dst], %x; st.global.u32 [%dst+4], %y; st.global.u32 [%dst+8], %z; st.global.u32 [%dst+12], %t; ret;";
    CHECK(stored(variables, gather) == test::words{78, 77, 79, 2});
}

TEST_CASE("chains of addresses, offsets that go back, and a variable that knows itself") {
    const std::string variables = ".global .u32 a[4] = {1, 2, 3, 4};\n"
                                  ".global .u64 end[1] = {generic(a)+16};\n"
                                  ".global .u64 chain[2] = {end, generic(a)+4};\n"
                                  ".global .u64 self[2] = {self, 5};";
    CHECK(stored(variables, ".reg .u64 %p; ld.global.u64 %p, [chain]; ld.global.u64 %p, [%p]; ld.u32 %t, [%p+-4]; st.global.u32 [%dst], %t;\n"
                            "ld.global.u64 %p, [chain+8]; ld.u32 %t, [%p]; st.global.u32 [%dst+4], %t;\n"
                            "ld.global.u64 %p, [self]; ld.global.u32 %t, [%p+8]; st.global.u32 [%dst+8], %t; ret;") == test::words{4, 2, 5, 0});
}

TEST_CASE("floats as the bits of a variable that is no float") {
    CHECK(stored(".global .b32 f = 0f3F800000;\n.global .b64 d = 0d4000000000000001;",
                 "ld.global.u32 %t, [f]; st.global.u32 [%dst], %t; ld.global.u32 %t, [d]; st.global.u32 [%dst+4], %t;\n"
                 "ld.global.u32 %t, [d+4]; st.global.u32 [%dst+8], %t; ret;") == test::words{0x3f800000, 1, 0x40000000, 0});
    CHECK(refusal(".global .u32 n = 0f3F800000;").find("expected an integer") != std::string::npos);
}

TEST_CASE("shared memory begins with nothing") {
    CHECK(refusal(".shared .b32 x[2] = {1, 2};").find("only variables in .global and .const begin with values") != std::string::npos);
}
