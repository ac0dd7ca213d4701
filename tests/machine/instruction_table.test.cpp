// SPDX-License-Identifier: MIT
// Every row of the instruction table against arithmetic done another way: wider integers, single bits, sorted pairs.
#include <qwengpu/machine/instruction_table.hpp>

#include <algorithm>
#include <array>
#include <bitset>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "support/catch.hpp"
#include "support/choices.hpp"

namespace {

using namespace qwengpu::machine;
using u32 = std::uint32_t;
using i64 = std::int64_t;
__extension__ using wide = __int128;
using expected_function = std::function<u32(u32, u32, u32, unsigned)>;

constexpr wide word_size = wide{1} << 32;

/// A word as a number, and a number as the word it wraps to.
wide number(u32 x, bool is_signed) { return is_signed && (x >> 31) ? wide{x} - word_size : wide{x}; }
u32 wrapped(wide n) { return static_cast<u32>(((n % word_size) + word_size) % word_size); }

u32 shifted(u32 a, u32 b, bool left, bool fill) {
    std::bitset<32> bits;
    for (i64 i = 0; i < 32; ++i) {
        const i64 from = left ? i - i64{b} : i + i64{b};
        bits[static_cast<std::size_t>(i)] = from < 0 ? false : from > 31 ? fill : ((a >> from) & 1u) != 0;
    }
    return static_cast<u32>(bits.to_ulong());
}

u32 by_table(u32 a, u32 b, u32 c, unsigned table) {
    u32 r = 0;
    for (int i = 31; i >= 0; --i) {
        const unsigned row = ((a >> i) & 1u) * 4 + ((b >> i) & 1u) * 2 + ((c >> i) & 1u);
        r = r * 2 + ((table >> row) & 1u);
    }
    return r;
}

u32 compared(u32 a, u32 b, u32 c, unsigned m) {
    const wide x = number(a, (m & 8) != 0), y = number(b, (m & 8) != 0);
    const unsigned relation = x < y ? 1u : x == y ? 2u : 4u;
    const unsigned r = (m & relation) != 0 ? 1u : 0u;
    const unsigned other = (c % 2) ^ (m / 64 % 2);
    const std::array<unsigned, 4> results{r, r * other, r + other > 0 ? 1u : 0u, (r + other) % 2};
    return results[m / 16 % 4];
}

u32 extreme(u32 a, u32 b, unsigned m, bool largest) {
    std::array<std::pair<wide, u32>, 2> both{{{number(a, m != 0), a}, {number(b, m != 0), b}}};
    std::sort(both.begin(), both.end());
    return both[largest ? 1 : 0].second;
}

u32 product(u32 a, u32 b, u32 c, unsigned m) {
    const wide whole = number(a, (m & 2) != 0) * number(b, (m & 2) != 0);
    const wide high = (whole - wide{wrapped(whole)}) / word_size;
    return wrapped(((m & 1) ? high : whole) + c);
}

u32 counted(u32 a) {
    u32 n = 0;
    for (; a != 0; a /= 2) n += a % 2;
    return n;
}

u32 zeros_in_front(u32 a) {
    u32 n = 32;
    for (; a != 0; a /= 2) --n;
    return n;
}

u32 reversed(u32 a) {
    u32 r = 0;
    for (int i = 0; i < 32; ++i, a /= 2) r = r * 2 + a % 2;
    return r;
}

/// From the definition: 11 bits of 2^21 / (1 + the leading 11 bits), at the place of 2^32 / a.
u32 reciprocal(u32 a) {
    if (a == 0) return 0;
    const u32 p = 31 - zeros_in_front(a);
    const wide leading = p >= 10 ? wide{a} / (wide{1} << (p - 10)) : wide{a} * (wide{1} << (10 - p));
    const wide t = (wide{1} << 21) / (leading + 1);
    return static_cast<u32>(p <= 21 ? t * (wide{1} << (21 - p)) : t / (wide{1} << (p - 21)));
}

/// Bit by bit: bit 8i + k of the result is bit k of the byte picked, or its bit 7.
u32 permuted(u32 a, u32 b, u32 c, unsigned) {
    std::bitset<32> bits;
    for (u32 i = 0; i < 32; ++i) {
        const u32 nibble = c / (1u << (i / 8 * 4)) % 16, byte = nibble % 8;
        const u32 at = nibble >= 8 ? 7 : i % 8;
        bits[i] = ((byte < 4 ? a : b) >> (byte % 4 * 8 + at) & 1u) != 0;
    }
    return static_cast<u32>(bits.to_ulong());
}

u32 inserted(u32 a, u32 b, u32 c, unsigned m) {
    const u32 parts = m == 1 ? 2 : 4, size = 32 / parts, at = m == 1 ? c / 2 % 2 : c % 4;
    const wide part = wide{1} << size, place = wide{1} << (size * at);
    const wide old = wide{a} / place % part;
    return wrapped(wide{a} + (wide{b} % part - old) * place);
}

u32 funnelled(u32 a, u32 b, u32 c, unsigned m) {
    const wide pair = wide{b} * word_size + wide{a}, power = wide{1} << (c % 32);
    return wrapped(m == 1 ? pair * power / word_size : pair / power);
}

const std::map<std::string, expected_function> expectations{
    {"none", [](u32, u32, u32, unsigned) { return 0u; }},
    {"add", [](u32 a, u32 b, u32 c, unsigned m) { 
         const wide carry = (m & 8) != 0 ? wide{c % 2} : wide{0};
         return wrapped(m & 4 ? wide{a} - b - carry : wide{a} + wide{b} * (1 << (m & 3)) + carry);
     }},
    {"lop", by_table},
    {"shl", [](u32 a, u32 b, u32, unsigned) { return shifted(a, b, true, false); }},
    {"shr", [](u32 a, u32 b, u32, unsigned) { return shifted(a, b, false, false); }},
    {"sar", [](u32 a, u32 b, u32, unsigned) { return shifted(a, b, false, (a >> 31) != 0); }},
    {"cmp", compared},
    {"sel", [](u32 a, u32 b, u32 c, unsigned) { return std::array<u32, 2>{b, a}[c % 2]; }},
    {"min", [](u32 a, u32 b, u32, unsigned m) { return extreme(a, b, m, false); }},
    {"max", [](u32 a, u32 b, u32, unsigned m) { return extreme(a, b, m, true); }},
    {"prmt", permuted},
    {"insert", inserted},
    {"funnel", funnelled},
    {"mul", product},
    {"popc", [](u32 a, u32, u32, unsigned) { return counted(a); }},
    {"clz", [](u32 a, u32, u32, unsigned) { return zeros_in_front(a); }},
    {"brev", [](u32 a, u32, u32, unsigned) { return reversed(a); }},
    {"rcp", [](u32 a, u32, u32, unsigned) { return reciprocal(a); }},
};

std::vector<u32> corners() {
    std::vector<u32> all{0, 1, 2, 3, 31, 32, 33, 0xff, 0x7fff, 0x8000, 0xffff, 0x10000, 0x55555555, 0xaaaaaaaa};
    for (const u32 x : {0x3fffffffu, 0x7ffffffeu, 0x7fffffffu, 0x80000000u, 0x80000001u, 0xfffffffeu, 0xffffffffu})
        all.push_back(x);
    return all;
}

/// The values of mod that mean something for an instruction.
std::vector<unsigned> mods_of(const instruction_row& row) {
    std::vector<unsigned> mods;
    for (unsigned m = 0; m < 256; ++m)
        if ((m & ~unsigned{row.mod_bits}) == 0 && (row.op != alu_op::add || m % 8 < 5)) mods.push_back(m);
    return mods;
}

void check(const instruction_row& row, u32 a, u32 b, u32 c, unsigned m) {
    const auto by_name = expectations.find(std::string(row.name));
    if (by_name == expectations.end()) return;
    const u32 expected = by_name->second(a, b, c, m);
    const u32 made = evaluate(row.op, a, b, c, static_cast<std::uint8_t>(m));
    if (made == expected) return;
    FAIL(row.name << " of " << a << ", " << b << ", " << c << " with mod " << m << ": " << made << ", not " << expected);
}

}  // namespace

TEST_CASE("the table holds every op once, in order, and finds it") {
    REQUIRE(instruction_table.size() == expectations.size() + 9);  // those of floats have a test of their own
    int last = -1;
    for (const instruction_row& row : instruction_table) {
        CHECK(static_cast<int>(row.op) > last);
        last = static_cast<int>(row.op);
        CHECK(find_instruction(row.op) == &row);
        CHECK(row.only_stage3 == (last >= 16));
    }
    for (const int hole : {27, 40, 63, 64, 255}) CHECK(find_instruction(static_cast<alu_op>(hole)) == nullptr);
}

TEST_CASE("instructions at corner values, with every mod") {
    for (const instruction_row& row : instruction_table)
        for (const unsigned m : mods_of(row))
            for (const u32 a : corners())
                for (const u32 b : corners())
                    for (const u32 c : {0u, 1u, 0x80000000u, 0xffffffffu}) check(row, a, b, c, m);
    SUCCEED();
}

TEST_CASE("instructions at random values") {
    qwengpu::test::choices choose(20260);
    for (const instruction_row& row : instruction_table) {
        const std::vector<unsigned> mods = mods_of(row);
        for (int i = 0; i < 50'000; ++i)
            check(row, choose.interesting_word(), choose.interesting_word(), choose.interesting_word(),
                  mods[static_cast<std::size_t>(choose.below(static_cast<int>(mods.size())))]);
    }
    SUCCEED();
}

TEST_CASE("a reciprocal is never too large, and close") {
    qwengpu::test::choices choose(5);
    for (int i = 0; i < 200'000; ++i) {
        const u32 a = choose.interesting_word();
        if (a == 0) continue;
        const wide r = evaluate(alu_op::rcp, a, 0, 0, 0);
        if (r * a > word_size) FAIL("rcp " << a << " is above 2^32 / a");
        if (a < 0x00200000 && r * a * 512 < word_size * 510) FAIL("rcp " << a << " is more than 1/256 below 2^32 / a");
    }
    SUCCEED();
}

TEST_CASE("what an instruction reads") {
    CHECK(operands_of({alu_op::add}) == (operand_a | operand_b));
    CHECK(operands_of({alu_op::popc}) == operand_a);
    CHECK(operands_of({alu_op::cmp}) == (operand_a | operand_b));
    CHECK(operands_of({alu_op::cmp, {}, {}, {}, mod::cmp_xor}) == (operand_a | operand_b | operand_c));
    CHECK(operands_of({alu_op::add, {}, {}, {}, mod::add_carry}) == (operand_a | operand_b | operand_c));
    CHECK(operands_of({alu_op::fcmp}) == (operand_a | operand_b));
    CHECK(operands_of({alu_op::fadd}) == (operand_a | operand_c));
    CHECK(operands_of({alu_op::i2f}) == operand_a);
    CHECK(operands_of({alu_op::i2f, {}, {}, {}, mod::wide}) == (operand_a | operand_b));
    CHECK(operands_of({alu_op::none}) == operands_none);
    CHECK(operands_of({static_cast<alu_op>(40)}) == operands_none);
}
