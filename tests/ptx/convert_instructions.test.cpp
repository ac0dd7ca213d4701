// SPDX-License-Identifier: MIT
// Conversions, moves, comparisons and selections of integers of every width, compared with the host.
#include <algorithm>
#include <cstdint>
#include <limits>
#include <string>

#include "support/catch.hpp"

#include "instruction_bench.hpp"

namespace {

using namespace qwengpu::test;
using i64 = std::int64_t;
using u32 = std::uint32_t;
__extension__ using i128 = __int128;

constexpr u32 w(u64 x) { return static_cast<u32>(x); }
constexpr u64 of(i64 x) { return static_cast<u64>(x); }

/// The number that the low bits of x are, as that type.
template <class T>
constexpr i128 number_in(u64 x) { return static_cast<T>(x); }

/// cvt from T to U, and cvt.sat.
template <class U, class T>
u64 converted(u64 a, u64, u64) { return static_cast<u64>(static_cast<U>(number_in<T>(a))); }
template <class U, class T>
u64 clamped(u64 a, u64, u64) {
    const i128 least = std::numeric_limits<U>::min(), most = std::numeric_limits<U>::max();
    return static_cast<u64>(static_cast<U>(std::clamp(number_in<T>(a), least, most)));
}

struct type_name {
    const char* name;
    int bits;  ///< of the register it is in
};
template <class T>
constexpr type_name name_of() {
    constexpr bool is_signed = std::numeric_limits<T>::is_signed;
    switch (sizeof(T)) {
        case 1: return {is_signed ? "s8" : "u8", 16};
        case 2: return {is_signed ? "s16" : "u16", 16};
        case 4: return {is_signed ? "s32" : "u32", 32};
        default: return {is_signed ? "s64" : "u64", 64};
    }
}

template <class U, class T>
void check_pair(bool saturates) {
    constexpr type_name to = name_of<U>(), from = name_of<T>();
    const std::string text = std::string(saturates ? "cvt.sat." : "cvt.") + to.name + "." + from.name + " %r" + std::to_string(to.bits) + ", %a" + std::to_string(from.bits) + ";";
    // A result of 8 bits fills its register of 16, extended.
    CHECK(difference({text, to.bits, saturates ? clamped<U, T> : converted<U, T>}, 20, 77) == "");
}

template <class U>
void check_to(bool saturates) {
    check_pair<U, std::int8_t>(saturates);
    check_pair<U, std::uint8_t>(saturates);
    check_pair<U, std::int16_t>(saturates);
    check_pair<U, std::uint16_t>(saturates);
    check_pair<U, std::int32_t>(saturates);
    check_pair<U, std::uint32_t>(saturates);
    check_pair<U, std::int64_t>(saturates);
    check_pair<U, std::uint64_t>(saturates);
}

void check_conversions(bool saturates) {
    check_to<std::int8_t>(saturates);
    check_to<std::uint8_t>(saturates);
    check_to<std::int16_t>(saturates);
    check_to<std::uint16_t>(saturates);
    check_to<std::int32_t>(saturates);
    check_to<std::uint32_t>(saturates);
    check_to<std::int64_t>(saturates);
    check_to<std::uint64_t>(saturates);
}

template <class T>
void check_order(const char* order, bool (*holds)(i128, i128)) {
    constexpr type_name t = name_of<T>();
    const std::string bits = std::to_string(t.bits), text = std::string("setp.") + order + "." + t.name + " %p1, %a" + bits + ", %b" + bits + ";";
    static bool (*now)(i128, i128);
    now = holds;
    CHECK(difference({text, 1, [](u64 a, u64 b, u64) { return u64{now(number_in<T>(a), number_in<T>(b))}; }}, 20, 5) == "");
}

template <class T>
void check_orders() {
    check_order<T>("eq", [](i128 a, i128 b) { return a == b; });
    check_order<T>("ne", [](i128 a, i128 b) { return a != b; });
    check_order<T>("lt", [](i128 a, i128 b) { return a < b; });
    check_order<T>("le", [](i128 a, i128 b) { return a <= b; });
    check_order<T>("gt", [](i128 a, i128 b) { return a > b; });
    check_order<T>("ge", [](i128 a, i128 b) { return a >= b; });
    if (std::numeric_limits<T>::is_signed) return;
    check_order<T>("lo", [](i128 a, i128 b) { return a < b; });
    check_order<T>("hs", [](i128 a, i128 b) { return a >= b; });
}

const instruction_case choices[] = {
    {"setp.lt.and.s32 %p1|%p2, %a32, %b32, %pa;\nselp.b32 %w1, 2, 0, %p1;\nselp.b32 %w2, 1, 0, %p2;\nor.b32 %r32, %w1, %w2;", 32,
     [](u64 a, u64 b, u64) { const bool r = static_cast<std::int32_t>(a) < static_cast<std::int32_t>(b), c = a & 1; return u64{r && c} * 2 + u64{!r && c}; }},
    {"setp.ge.xor.u64 %p1|%p2, %a64, %b64, !%pb;\nselp.b32 %w1, 2, 0, %p1;\nselp.b32 %w2, 1, 0, %p2;\nor.b32 %r32, %w1, %w2;", 32,
     [](u64 a, u64 b, u64) { const bool r = a >= b, c = (b & 1) == 0; return u64{r != c} * 2 + u64{!r != c}; }},
    {"setp.eq.or.b16 %p1, %a16, %b16, %pa;", 1, [](u64 a, u64 b, u64) { return u64{(a & 0xffff) == (b & 0xffff) || (a & 1) != 0}; }},
    {"setp.ne.b64 %p1, %a64, 0;", 1, [](u64 a, u64, u64) { return u64{a != 0}; }},
    {"setp.gt.s64 %p1, %a64, -1;", 1, [](u64 a, u64, u64) { return ~a >> 63; }},
    {"set.lt.u32.s16 %r32, %a16, %b16;", 32, [](u64 a, u64 b, u64) { return static_cast<std::int16_t>(a) < static_cast<std::int16_t>(b) ? ~u64{0} : 0; }},
    {"set.ge.s32.u64 %r32, %a64, %b64;", 32, [](u64 a, u64 b, u64) { return a >= b ? ~u64{0} : 0; }},
    {"set.hi.and.f32.u32 %r32, %a32, %b32, %pa;", 32, [](u64 a, u64 b, u64) { return w(a) > w(b) && (a & 1) ? u64{0x3f800000} : 0; }},
    {"selp.b16 %r16, %a16, %b16, %pa;", 16, [](u64 a, u64 b, u64) { return a & 1 ? a : b; }},
    {"selp.s32 %r32, %a32, 7, !%pa;", 32, [](u64 a, u64, u64) { return a & 1 ? u64{7} : a; }},
    {"selp.b64 %r64, %a64, %b64, %pb;", 64, [](u64 a, u64 b, u64) { return b & 1 ? a : b; }},
    {"slct.u16.s32 %r16, %a16, %b16, %c32;", 16, [](u64 a, u64 b, u64 c) { return w(c) >> 31 ? b : a; }},
    {"slct.s32.s32 %r32, %a32, %b32, %c32;", 32, [](u64 a, u64 b, u64 c) { return w(c) >> 31 ? b : a; }},
    {"slct.b64.s32 %r64, %a64, %b64, %c32;", 64, [](u64 a, u64 b, u64 c) { return w(c) >> 31 ? b : a; }},
};

const instruction_case moves[] = {
    {"mov.u16 %r16, %a16;", 16, [](u64 a, u64, u64) { return a; }},
    {"mov.b64 %r64, %a64;", 64, [](u64 a, u64, u64) { return a; }},
    {"mov.u64 %r64, 81985529216486895;", 64, [](u64, u64, u64) { return u64{81985529216486895}; }},
    {"mov.pred %p1, %pa;", 1, [](u64 a, u64, u64) { return a; }},
    {"mov.b32 %r32, {%a16, %b16};", 32, [](u64 a, u64 b, u64) { return (a & 0xffff) | (b & 0xffff) << 16; }},
    {"mov.b64 %r64, {%a32, %b32};", 64, [](u64 a, u64 b, u64) { return (a & 0xffffffff) | b << 32; }},
    {"mov.b64 %r64, {%a16, %b16, %c16, %a16};", 64, [](u64 a, u64 b, u64 c) { return (a & 0xffff) | (b & 0xffff) << 16 | (c & 0xffff) << 32 | a << 48; }},
    {"mov.b32 {%h1, %h2}, %a32;\nmov.b32 %r32, {%h2, %h1};", 32, [](u64 a, u64, u64) { return a << 16 | u64{w(a)} >> 16; }},
    {"mov.b64 {%w1, %w2}, %a64;\nsub.u32 %r32, %w1, %w2;", 32, [](u64 a, u64, u64) { return a - (a >> 32); }},
    {"mov.b64 {%h1, %h2, %h3, %h4}, %a64;\nsub.u16 %r16, %h4, %h2;", 16, [](u64 a, u64, u64) { return (a >> 48) - (a >> 16); }},
    {"mov.b64 {_, %w2}, %a64;\nmov.u32 %r32, %w2;", 32, [](u64 a, u64, u64) { return a >> 32; }},
};

/// What guards leave alone: the old value of every word of the destination.
const instruction_case guards[] = {
    {"mov.u64 %r64, %b64;\n@%pa add.s64 %r64, %a64, %c64;", 64, [](u64 a, u64 b, u64 c) { return a & 1 ? a + c : b; }},
    {"mov.u32 %r32, %b32;\n@!%pa prmt.b32 %r32, %a32, %c32, 0x3715;", 32,
     [](u64 a, u64 b, u64 c) { return a & 1 ? b : ((c >> 8 & 255) | (a >> 8 & 255) << 8 | (c >> 24 & 255) << 16 | (a >> 24 & 255) << 24); }},
    {"mov.u16 %r16, %b16;\n@%pb cvt.sat.s16.s64 %r16, %a64;", 16, [](u64 a, u64 b, u64) { return b & 1 ? of(std::clamp<i64>(static_cast<i64>(a), -32768, 32767)) : b; }},
};

}  // namespace

TEST_CASE("conversions between all integers") { check_conversions(false); }
TEST_CASE("conversions between all integers that saturate") { check_conversions(true); }
TEST_CASE("comparisons of every order and width") {
    check_orders<std::int16_t>();
    check_orders<std::uint16_t>();
    check_orders<std::int32_t>();
    check_orders<std::uint32_t>();
    check_orders<std::int64_t>();
    check_orders<std::uint64_t>();
}
TEST_CASE("comparisons joined with predicates, choices") { check_all(choices, 100); }
TEST_CASE("moves, packed and unpacked") { check_all(moves, 200); }
TEST_CASE("under a guard the old value stays, in all its words") { check_all(guards, 300); }
