// SPDX-License-Identifier: MIT
// Bitwise instructions of PTX: logic, shifts, counts, bit fields, byte permutation, funnel shifts. The rules for amounts and
// positions beyond the width are those of the PTX manual.
#pragma once

#include <array>
#include <string_view>

#include <qwengpu/ptx/lower_integer.hpp>

namespace qwengpu::ptx::lower {

inline void logic(lowering& l) {
    const std::string_view name = l.now().opcode;
    const unsigned table = name == "and" ? ir::table::and_ab : name == "or" ? ir::table::or_ab : ir::table::xor_ab;
    if (l.now().type() == scalar_type::pred) {
        const ir::operand q = l.predicate(l.now().operands[2]), p = l.predicate(l.now().operands[1]);
        return l.result(l.logic(table, p, q));
    }
    const wide a = l.pair(1), b = l.pair(2);
    l.result({l.logic(table, a.lo, b.lo), detail::is_64(l) ? l.logic(table, a.hi, b.hi) : ir::zero});
}

inline void bit_not(lowering& l) {
    if (l.now().type() == scalar_type::pred)
        return l.result(l.logic(ir::table::xor_ab, l.predicate(l.now().operands[1]), ir::literal(1)));
    const wide a = l.pair(1);
    l.result({l.invert(a.lo), detail::is_64(l) ? l.invert(a.hi) : ir::zero});
}

/// cnot: 1 if the operand is 0, else 0.
inline void cnot(lowering& l) {
    if (detail::is_64(l)) return l.result(compare(l, machine::mod::cmp_eq, l.pair(1), {ir::zero, ir::zero}));
    l.result(l.compare(machine::mod::cmp_eq, l.extend(l.raw_word(1), l.now().type()), ir::zero));
}

inline void lop3(lowering& l) {
    if (l.now().operands[4].kind != operand_kind::integer) return l.refuse("the table of lop3 must be a number");
    const auto table = static_cast<unsigned>(l.now().operands[4].value) & 0xffU;
    const ir::operand c = l.raw_word(3), b = l.raw_word(2), a = l.raw_word(1), r = l.logic(table, a, b, c);
    const operand& d = l.now().operands[0];
    if (!l.now().has("or") && !l.now().has("and")) return l.result(r);
    const ir::operand some = l.compare(machine::mod::cmp_lt | machine::mod::cmp_gt, r, ir::zero), with = l.predicate(l.now().operands[5]);
    if (d.kind == operand_kind::pair) l.write(d.items[0], r);
    if (d.kind == operand_kind::pair) l.write(d.items[1], l.logic(l.now().has("or") ? ir::table::or_ab : ir::table::and_ab, some, with));
}

inline void shift(lowering& l) {
    const ir::operand n = l.raw_word(2);
    const bool left = l.now().opcode == "shl", with_sign = is_signed(l.now().type());
    if (detail::is_64(l)) return l.result(left ? shift_left(l, l.pair(1), n) : shift_right(l, l.pair(1), n, with_sign));
    if (left) return l.result(l.shift_left(l.raw_word(1), n));
    l.result(with_sign ? l.shift_right_signed(l.word(1), n) : l.shift_right(l.word(1), n));
}

/// shf: the upper or lower half of hi:lo, shifted by n; .clamp counts up to 32, .wrap takes n mod 32.
inline void funnel_shift(lowering& l) {
    const bool left = l.now().has("l");
    const ir::operand lo = l.raw_word(1), hi = l.raw_word(2), n = l.raw_word(3);
    const ir::operand r = left ? l.funnel_left(lo, hi, n) : l.funnel_right(lo, hi, n);
    if (l.now().has("wrap")) return l.result(r);
    l.result(l.select(l.compare(machine::mod::cmp_lt, n, ir::literal(32)), r, left ? lo : hi));
}

namespace detail {

inline ir::operand leading_zeros(lowering& l, wide x) {
    const ir::operand of_low = l.add(l.emit(lowering::op::clz, x.lo), ir::literal(32));
    const ir::operand of_high = l.emit(lowering::op::clz, x.hi);
    return l.select(l.compare(m::cmp_eq, x.hi, ir::zero), of_low, of_high);
}

}  // namespace detail

inline void count(lowering& l) {
    const wide x = l.pair(1);
    if (l.now().opcode == "clz")
        return l.result(detail::is_64(l) ? detail::leading_zeros(l, x) : l.emit(lowering::op::clz, x.lo));
    const ir::operand low = l.emit(lowering::op::popc, x.lo);
    l.result(detail::is_64(l) ? l.add(low, l.emit(lowering::op::popc, x.hi)) : low);
}

inline void reverse(lowering& l) {
    const wide x = l.pair(1);
    const ir::operand first = l.emit(lowering::op::brev, x.lo);
    if (!detail::is_64(l)) return l.result(first);
    l.result({l.emit(lowering::op::brev, x.hi), first});
}

/// bfind: position of the highest one (of a negative signed number: of the highest zero), or -1; .shiftamt: the shift that
/// brings it to the top.
inline void find_bit(lowering& l) {
    wide x = l.pair(1);
    const bool is_wide = detail::is_64(l);
    if (is_signed(l.now().type())) {
        const ir::operand sign = l.sign_of(is_wide ? x.hi : x.lo);
        x = {l.logic(ir::table::xor_ab, x.lo, sign), is_wide ? l.logic(ir::table::xor_ab, x.hi, sign) : ir::zero};
    }
    const ir::operand zeros = is_wide ? detail::leading_zeros(l, x) : l.emit(lowering::op::clz, x.lo);
    const ir::operand top = ir::literal(is_wide ? 63 : 31);
    if (!l.now().has("shiftamt")) return l.result(l.sub(top, zeros));
    const ir::operand none = l.compare(machine::mod::cmp_gt, zeros, top);
    l.result(l.select(none, ir::literal(0xffffffffU), zeros));
}

namespace detail {

/// Position and length of a bit field: their low 8 bits count.
inline ir::operand field_number(lowering& l, std::size_t n) { return l.both(l.raw_word(n), ir::literal(255)); }

/// A mask of `length` ones from `position` on; what lies beyond bit 31 is cut off. A length of 32 or more is all ones.
inline ir::operand field_mask(lowering& l, ir::operand position, ir::operand length) {
    const ir::operand ones = l.sub(l.shift_left(ir::literal(1), length), ir::literal(1));
    return l.shift_left(ones, position);
}

/// As field_mask, of a 64-bit value.
inline wide wide_field_mask(lowering& l, ir::operand position, ir::operand length) {
    const wide one{ir::literal(1), ir::zero};
    return shift_left(l, sub(l, shift_left(l, one, length), one), position);
}

inline wide choose_bits(lowering& l, wide mask, wide yes, wide no) {
    constexpr unsigned b_selects_a_or_c = 0xe2;
    return {l.logic(b_selects_a_or_c, yes.lo, mask.lo, no.lo), l.logic(b_selects_a_or_c, yes.hi, mask.hi, no.hi)};
}

/// How far a field is brought up to end at the top of `width` bits, and down again; where it ends beyond the top, its length
/// is what is left.
struct field_shifts {
    ir::operand up, down;
};

inline field_shifts shifts_of_field(lowering& l, ir::operand position, ir::operand length, std::uint32_t width) {
    const ir::operand most = l.sub(ir::literal(width), l.emit(lowering::op::min, position, ir::literal(width)));
    const ir::operand used = l.emit(lowering::op::min, length, most);
    return {l.sub(l.sub(ir::literal(width), position), used), l.sub(ir::literal(width), used)};
}

inline wide signed_field(lowering& l, wide x, ir::operand position, ir::operand length) {
    const std::uint32_t width = is_64(l) ? 64 : 32;
    const ir::operand sign = l.sign_of(width == 64 ? x.hi : x.lo);
    const field_shifts by = shifts_of_field(l, position, length, width);
    const wide field = width == 64 ? shift_right(l, shift_left(l, x, by.up), by.down, true)
                                   : wide{l.shift_right_signed(l.shift_left(x.lo, by.up), by.down), ir::zero};
    const ir::operand beyond = l.compare(m::cmp_gt, position, ir::literal(width - 1));
    const ir::operand none = l.compare(m::cmp_eq, length, ir::zero);
    return select(l, none, {ir::zero, ir::zero}, select(l, beyond, {sign, sign}, field));
}

}  // namespace detail

/// bfe: the field as a number; signed: filled with its highest bit, or the word's where it ends beyond that.
inline void extract_field(lowering& l) {
    const wide x = l.pair(1);
    const ir::operand position = detail::field_number(l, 2), length = detail::field_number(l, 3);
    if (is_signed(l.now().type())) return l.result(detail::signed_field(l, x, position, length));
    if (!detail::is_64(l)) {
        const ir::operand mask = detail::field_mask(l, ir::zero, length);
        return l.result(l.both(l.shift_right(x.lo, position), mask));
    }
    const wide field = shift_right(l, x, position, false), mask = detail::wide_field_mask(l, ir::zero, length);
    l.result({l.both(field.lo, mask.lo), l.both(field.hi, mask.hi)});
}

/// bfi: b with the low bits of a put in at a position.
inline void insert_field(lowering& l) {
    const ir::operand position = detail::field_number(l, 3), length = detail::field_number(l, 4);
    if (detail::is_64(l)) {
        const wide mask = detail::wide_field_mask(l, position, length), into = l.pair(2);
        return l.result(detail::choose_bits(l, mask, shift_left(l, l.pair(1), position), into));
    }
    const wide mask{detail::field_mask(l, position, length), ir::zero}, into{l.raw_word(2), ir::zero};
    l.result(detail::choose_bits(l, mask, {l.shift_left(l.raw_word(1), position), ir::zero}, into).lo);
}

/// szext: the low n bits as a number, extended; .clamp: n of 32 and more is the whole word, .wrap: n counts modulo 32.
inline void extend_low_bits(lowering& l) {
    const ir::operand n = l.raw_word(2);
    const ir::operand used = l.now().has("wrap") ? l.both(n, ir::literal(31)) : l.emit(lowering::op::min, n, ir::literal(32));
    const ir::operand by = l.sub(ir::literal(32), used), up = l.shift_left(l.raw_word(1), by);
    l.result(is_signed(l.now().type()) ? l.shift_right_signed(up, by) : l.shift_right(up, by));
}

/// fns: the place of the n-th one of a word from a base on, upward or for a negative n downward; of n = 0 the base itself, if
/// there is a one. The word is mirrored for the way down. Then halves are passed over that hold fewer ones than are left.
inline void find_nth_one(lowering& l) {
    const ir::operand word = l.raw_word(1), base = l.raw_word(2), n = l.raw_word(3);
    const ir::operand down = l.compare(machine::mod::cmp_lt | machine::mod::is_signed, n, ir::zero), back = l.sub(ir::literal(31), base);
    const ir::operand from = l.select(down, back, base);
    const ir::operand along = l.select(down, l.emit(lowering::op::brev, word), word);
    const ir::operand ones = l.shift_left(l.shift_right(along, from), from);
    const ir::operand is_base = l.compare(machine::mod::cmp_eq, n, ir::zero), lowest = l.both(ones, l.shift_left(ir::literal(1), from));
    ir::operand rest = l.select(is_base, lowest, ones), place = ir::zero;
    ir::operand left = l.emit(lowering::op::max, l.select(down, l.sub(ir::zero, n), n), ir::literal(1));
    const ir::operand there = l.emit(lowering::op::popc, rest), found = l.compare(machine::mod::cmp_lt | machine::mod::cmp_eq, left, there);
    for (std::uint32_t half = 16; half > 0; half /= 2) {
        const ir::operand low = l.emit(lowering::op::popc, l.both(rest, ir::literal((1U << half) - 1)));
        const ir::operand passed = l.compare(machine::mod::cmp_gt, left, low), less = l.sub(left, low), behind = l.shift_right(rest, ir::literal(half));
        left = l.select(passed, less, left);
        rest = l.select(passed, behind, rest);
        place = l.add(place, l.select(passed, ir::literal(half), ir::zero));
    }
    const ir::operand mirrored = l.sub(ir::literal(31), place), real = l.select(down, mirrored, place);
    l.result(l.select(found, real, ir::literal(0xffffffffU)));
}

/// bmsk: a mask of some length at some position; .clamp cuts at 32, .wrap counts mod 32.
inline void bit_mask(lowering& l) {
    ir::operand position = l.raw_word(1), length = l.raw_word(2);
    if (l.now().has("wrap")) {
        position = l.both(position, ir::literal(31));
        length = l.both(length, ir::literal(31));
    }
    l.result(detail::field_mask(l, position, length));
}

/// prmt: the modes with names are tables of selectors for the four values of c's low two bits.
inline void permute_bytes(lowering& l) {
    struct mode { std::string_view name; std::array<unsigned, 4> selectors; };
    static constexpr std::array<mode, 6> modes{{{"f4e", {0x3210, 0x4321, 0x5432, 0x6543}}, {"b4e", {0x5670, 0x6701, 0x7012, 0x0123}},
                                                {"rc8", {0x0000, 0x1111, 0x2222, 0x3333}}, {"ecl", {0x3210, 0x3211, 0x3222, 0x3333}},
                                                {"ecr", {0x0000, 0x1110, 0x2210, 0x3210}}, {"rc16", {0x1010, 0x3232, 0x1010, 0x3232}}}};
    ir::operand selector = l.raw_word(3);
    for (const mode& m : modes) {
        if (!l.now().has(m.name)) continue;
        const auto of = [&](std::size_t k) { return ir::literal(m.selectors[k]); };
        const ir::operand high = l.shift_right(selector, ir::literal(1));
        const ir::operand below_two = l.select(selector, of(1), of(0));
        selector = l.select(high, l.select(selector, of(3), of(2)), below_two);
    }
    if (selector.is_literal()) selector = ir::stage_literal(selector.bits & 0xffffU);
    const ir::operand b = l.raw_word(2), a = l.raw_word(1);
    l.result(l.emit(lowering::op::prmt, a, b, selector));
}

}  // namespace qwengpu::ptx::lower
