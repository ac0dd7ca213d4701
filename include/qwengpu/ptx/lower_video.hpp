// SPDX-License-Identifier: MIT
// Video instructions: arithmetic on bytes, half words and words that are selected in registers, with a second operation or a
// place in the third source. Numbers are exact in between (34 bits of PTX): one word where bounds say that it is enough, else two.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include <qwengpu/ptx/check_video.hpp>
#include <qwengpu/ptx/lower_compare.hpp>

namespace qwengpu::ptx::lower {

namespace detail {

/// A number between two bounds. Its high word is there where it does not fit a signed word.
struct bounded {
    ir::operand lo{}, hi{};
    std::int64_t least = 0, most = 0;

    [[nodiscard]] bool is_word() const { return least >= INT32_MIN && most <= INT32_MAX; }
    [[nodiscard]] bool is_unsigned_word() const { return least >= 0 && most <= std::int64_t{UINT32_MAX}; }
};

inline wide pair_of(lowering& l, const bounded& x) {
    if (x.hi.present()) return {x.lo, x.hi};
    return {x.lo, x.least >= 0 ? ir::zero : l.sign_of(x.lo)};
}

inline bounded number_of(wide x, std::int64_t least, std::int64_t most) {
    bounded r{x.lo, {}, least, most};
    if (!r.is_word()) r.hi = x.hi;
    return r;
}
inline bounded constant(std::int64_t x) {
    const auto bits = static_cast<std::uint64_t>(x);
    return number_of({ir::literal(static_cast<std::uint32_t>(bits)), ir::literal(static_cast<std::uint32_t>(bits >> 32))}, x, x);
}

/// A whole word as a number of this type, or one that a part of `bits` bits holds.
inline bounded whole(ir::operand x, scalar_type t) {
    return is_signed(t) ? number_of({x, {}}, INT32_MIN, INT32_MAX) : number_of({x, ir::zero}, 0, UINT32_MAX);
}
inline std::int64_t least_of(int bits, bool with_sign) { return with_sign ? -(std::int64_t{1} << (bits - 1)) : 0; }
inline std::int64_t most_of(int bits, bool with_sign) { return (std::int64_t{1} << (with_sign ? bits - 1 : bits)) - 1; }

inline bounded part_of(lowering& l, ir::operand word, int bits, unsigned k, bool with_sign) {
    const scalar_type t = bits == 8 ? (with_sign ? scalar_type::s8 : scalar_type::u8) : (with_sign ? scalar_type::s16 : scalar_type::u16);
    return {l.part(word, t, k), {}, least_of(bits, with_sign), most_of(bits, with_sign)};
}

inline bounded sum_of(lowering& l, const bounded& x, const bounded& y, bool minus) {
    const std::int64_t least = minus ? x.least - y.most : x.least + y.least, most = minus ? x.most - y.least : x.most + y.most;
    const bounded r{minus ? l.sub(x.lo, y.lo) : l.add(x.lo, y.lo), {}, least, most};
    if (r.is_word()) return r;
    const wide b = pair_of(l, y), a = pair_of(l, x);
    return number_of(minus ? sub(l, a, b) : add(l, a, b), least, most);
}

inline bounded distance(lowering& l, const bounded& x, const bounded& y) {
    const bounded d = sum_of(l, x, y, true);
    const std::int64_t most = std::max(d.most, -d.least);
    if (d.is_word() && most <= INT32_MAX) return {l.emit(lowering::op::max, d.lo, l.sub(ir::zero, d.lo), {}, m::is_signed), {}, 0, most};
    return number_of(lower::magnitude(l, pair_of(l, d)), 0, most);
}

/// Whether x < y (or >, or what else the orders say).
inline ir::operand is(lowering& l, unsigned orders, const bounded& x, const bounded& y) {
    if (x.is_word() && y.is_word()) return l.compare(orders | m::is_signed, x.lo, y.lo);
    if (x.is_unsigned_word() && y.is_unsigned_word()) return l.compare(orders, x.lo, y.lo);
    const wide b = pair_of(l, y), a = pair_of(l, x);
    return compare(l, orders | m::is_signed, a, b);
}

inline bounded extreme_of(lowering& l, const bounded& x, const bounded& y, bool is_least) {
    const std::int64_t least = is_least ? std::min(x.least, y.least) : std::max(x.least, y.least), most = is_least ? std::min(x.most, y.most) : std::max(x.most, y.most);
    const auto op = is_least ? lowering::op::min : lowering::op::max;
    if (x.is_word() && y.is_word()) return {l.emit(op, x.lo, y.lo, {}, m::is_signed), {}, least, most};
    if (x.is_unsigned_word() && y.is_unsigned_word()) return number_of({l.emit(op, x.lo, y.lo), ir::zero}, least, most);
    const ir::operand first = is(l, is_least ? m::cmp_lt : m::cmp_gt, x, y);
    const wide b = pair_of(l, y), a = pair_of(l, x);
    return number_of(select(l, first, a, b), least, most);
}

/// The nearest number that a type of so many bits has.
inline bounded clamp_to(lowering& l, bounded x, int bits, bool with_sign) {
    const std::int64_t least = least_of(bits, with_sign), most = most_of(bits, with_sign);
    if (x.least < least) x = extreme_of(l, x, constant(least), false);
    if (x.most > most) x = extreme_of(l, x, constant(most), true);
    return x;
}

/// The result of two numbers, which the name of the instruction says; .s34 holds all of them.
inline bounded video_operation(lowering& l, const bounded& a, const bounded& b, scalar_type ordered_as) {
    const std::string_view name = l.now().opcode.substr(0, l.now().opcode.find_first_of("24"));
    if (name == "vadd") return sum_of(l, a, b, false);
    if (name == "vsub") return sum_of(l, a, b, true);
    if (name == "vabsdiff") return distance(l, a, b);
    if (name == "vmin" || name == "vmax") return extreme_of(l, a, b, name == "vmin");
    if (name == "vset") return {is(l, comparison_mod(l.now(), ordered_as) & 7U, a, b), {}, 0, 1};
    // vavrg: half the sum, rounded up where it is not negative.
    const bounded sum = sum_of(l, a, b, false);
    const ir::operand up = sum.least >= 0 ? ir::literal(1) : l.add(l.sign_of(sum.lo), ir::literal(1));
    return {l.shift_right_signed(l.add(sum.lo, up), ir::literal(1)), {}, sum.least >> 1, (sum.most + 1) >> 1};
}

/// Source n of a scalar instruction, with the part that its selector names.
inline bounded scalar_source(lowering& l, std::size_t n, scalar_type t) {
    const std::string_view part = l.now().operands[n].selector;
    const ir::operand word = l.raw_word(n);
    return part.empty() ? whole(word, t) : part_of(l, word, part[0] == 'b' ? 8 : 16, static_cast<unsigned>(part[1] - '0'), is_signed(t));
}

/// vshl, vshr: amounts up to 32; what is left of the 34 bits of a product with 2^32 counts with its sign.
inline bounded video_shift(lowering& l, const bounded& a, const bounded& b) {
    const ir::operand n = l.now().has("wrap") ? l.both(b.lo, ir::literal(31)) : l.emit(lowering::op::min, b.lo, ir::literal(32));
    if (l.now().opcode == "vshr") {
        const ir::operand low = a.is_word() ? l.shift_right_signed(a.lo, n) : l.shift_right(a.lo, n);
        return number_of({low, ir::zero}, std::min<std::int64_t>(a.least, 0), std::max<std::int64_t>(a.most, 0));
    }
    const wide r = shift_left(l, pair_of(l, a), n);
    const ir::operand high = l.shift_right_signed(l.shift_left(r.hi, ir::literal(30)), ir::literal(30));
    return number_of({r.lo, high}, least_of(34, true), most_of(34, true));
}

/// The result joined with the third source, or put into it.
inline ir::operand with_third(lowering& l, const bounded& x, scalar_type t) {
    const std::string_view into = l.now().operands[0].selector;
    if (l.now().has("add")) return l.add(x.lo, l.raw_word(3));
    if (l.now().has("min") || l.now().has("max")) return extreme_of(l, x, whole(l.raw_word(3), t), l.now().has("min")).lo;
    if (into.empty()) return x.lo;
    const auto k = static_cast<std::uint32_t>(into[1] - '0');
    return l.emit(lowering::op::insert, l.raw_word(3), x.lo, ir::literal(into[0] == 'b' ? k : 2 * k), into[0] == 'b' ? 0U : unsigned{m::insert_half});
}

/// Number k of the eight bytes, or four half words, of the two sources b:a.
inline bounded element(lowering& l, std::size_t n, scalar_type t, int k) {
    const int parts = video_parts(l.now().opcode);
    const std::string_view chosen = l.now().operands[n].selector;
    const int from = chosen.empty() ? (n == 1 ? k : parts + k) : chosen[static_cast<std::size_t>(parts - k)] - '0';
    const ir::operand word = l.raw_word(from < parts ? 1 : 2);
    return part_of(l, word, 32 / parts, static_cast<unsigned>(from % parts), is_signed(t));
}

/// The low bytes (half words) of several words side by side; where a part is not there, that of `other`.
inline ir::operand side_by_side(lowering& l, const std::array<ir::operand, 4>& x, int parts, ir::operand other) {
    const auto there = [&](int k) { return x[static_cast<std::size_t>(k)].present(); };
    if (parts == 2 && there(0) && there(1)) return l.permute(x[0], x[1], 0x5410);
    if (parts == 4 && there(0) && there(1) && there(2) && there(3)) {
        const ir::operand low = l.permute(x[0], x[1], 0x40), high = l.permute(x[2], x[3], 0x40);
        return l.permute(low, high, 0x5410);
    }
    for (int k = 0; k < parts; ++k)
        if (there(k)) other = l.emit(lowering::op::insert, other, x[static_cast<std::size_t>(k)], ir::literal(static_cast<std::uint32_t>(4 / parts * k)), parts == 2 ? unsigned{m::insert_half} : 0U);
    return other;
}

}  // namespace detail

/// vadd, vsub, vabsdiff, vmin, vmax, vshl, vshr, vset.
inline void video_scalar(lowering& l) {
    using namespace detail;
    const bool sets = l.now().opcode == "vset", shifts = l.now().opcode == "vshl" || l.now().opcode == "vshr";
    const scalar_type result = sets ? scalar_type::u32 : l.now().type(0), first = l.now().type(sets ? 0 : 1), second = l.now().type(sets ? 1 : 2);
    const bounded b = scalar_source(l, 2, second), a = scalar_source(l, 1, first);
    bounded r = shifts ? video_shift(l, a, b) : video_operation(l, a, b, scalar_type::u32);
    const std::string_view into = l.now().operands[0].selector;
    if (l.now().has("sat")) r = clamp_to(l, r, into.empty() ? 32 : into[0] == 'b' ? 8 : 16, is_signed(result));
    l.result(with_third(l, r, result));
}

/// vadd2 and its kin: on two half words or four bytes at once; results go into the third source, or are added to it.
inline void video_parts_at_once(lowering& l) {
    using namespace detail;
    const int parts = video_parts(l.now().opcode);
    const bool sets = l.now().opcode.substr(0, 4) == "vset", adds = l.now().has("add");
    const scalar_type first = l.now().type(sets ? 0 : 1), second = l.now().type(sets ? 1 : 2);
    const std::string_view mask = l.now().operands[0].selector;
    std::array<ir::operand, 4> results{};
    ir::operand total = l.raw_word(3);
    for (int k = 0; k < parts; ++k) {
        if (!mask.empty() && mask.find(static_cast<char>('0' + k)) == mask.npos) continue;
        const bounded b = element(l, 2, second, k), a = element(l, 1, first, k);
        bounded r = video_operation(l, a, b, scalar_type::u32);
        if (l.now().has("sat")) r = clamp_to(l, r, 32 / parts, is_signed(l.now().type(0)));
        results[static_cast<std::size_t>(k)] = r.lo;
        if (adds) total = l.add(total, r.lo);
    }
    l.result(adds ? total : side_by_side(l, results, parts, total));
}

namespace detail {

/// 96 bits, low word first.
struct three_words {
    ir::operand w0{}, w1{}, w2{};
};

/// The product of two words, each with or without a sign.
inline three_words whole_product(lowering& l, const bounded& a, const bounded& b, bool a_signed, bool b_signed) {
    if (a_signed == b_signed) {
        const wide p = multiply_words(l, a.lo, b.lo, a_signed);
        return {p.lo, p.hi, a_signed ? l.sign_of(p.hi) : ir::zero};
    }
    // A negative factor counts 2^32 times the other one too much as an unsigned number.
    const wide p = multiply_words(l, a.lo, b.lo, false);
    const ir::operand excess = a_signed ? l.both(l.sign_of(a.lo), b.lo) : l.both(l.sign_of(b.lo), a.lo), high = l.sub(p.hi, excess);
    return {p.lo, high, l.sign_of(high)};
}

inline three_words sum_of_three(lowering& l, const three_words& x, const three_words& y, ir::operand carry) {
    const with_carry_out low = add_words(l, x.w0, y.w0, carry, false), middle = add_words(l, x.w1, y.w1, low.carry, false);
    return {low.word, middle.word, l.add_carry(x.w2, y.w2, middle.carry)};
}

inline three_words shifted_right(lowering& l, const three_words& x, std::uint32_t n) {
    if (n == 0) return x;
    const ir::operand by = ir::literal(n);
    return {l.funnel_right(x.w0, x.w1, by), l.funnel_right(x.w1, x.w2, by), l.shift_right_signed(x.w2, by)};
}

/// The nearest number of 32 bits.
inline ir::operand clamped_word(lowering& l, const three_words& x, bool with_sign) {
    if (!with_sign) return l.select(l.compare(m::cmp_eq, l.either(x.w1, x.w2), ir::zero), x.w0, ir::literal(0xffffffffU));
    const ir::operand sign = l.sign_of(x.w0), middle = l.logic(ir::table::xor_ab, x.w1, sign), top = l.logic(ir::table::xor_ab, x.w2, sign);
    const ir::operand differs = l.either(middle, top);
    const ir::operand nearest = l.logic(ir::table::xor_ab, l.sign_of(x.w2), ir::literal(0x7fffffffU));
    return l.select(l.compare(m::cmp_eq, differs, ir::zero), x.w0, nearest);
}

}  // namespace detail

/// vmad: a b + c, with the product or c negated (as ~x + 1) or one more, shifted and clamped. The result has a sign if anything has.
inline void video_multiply(lowering& l) {
    using namespace detail;
    const instruction& i = l.now();
    const bool a_signed = is_signed(i.type(1)), b_signed = is_signed(i.type(2)), negates = i.operands[1].minus != i.operands[2].minus, c_negates = i.operands[3].minus;
    const bool with_sign = a_signed || b_signed || negates || c_negates;
    const bounded b = scalar_source(l, 2, i.type(2)), a = scalar_source(l, 1, i.type(1));
    three_words p = whole_product(l, a, b, a_signed, b_signed);
    if (negates) p = {l.invert(p.w0), l.invert(p.w1), l.invert(p.w2)};
    const ir::operand given = l.raw_word(3), c = c_negates ? l.invert(given) : given, fill = with_sign ? l.sign_of(c) : ir::zero;
    const three_words sum = sum_of_three(l, p, {c, fill, fill}, ir::literal(negates || c_negates || i.has("po") ? 1 : 0));
    const three_words r = shifted_right(l, sum, i.has("shr7") ? 7 : i.has("shr15") ? 15 : 0);
    l.result(i.has("sat") ? clamped_word(l, r, with_sign) : r.w0);
}

}  // namespace qwengpu::ptx::lower
