// SPDX-License-Identifier: MIT
// Integer arithmetic of PTX: add, sub, mul, mad and their kin in 16, 32 and 64 bits, with carry and saturation; division;
// minimum, maximum, absolute value.
#pragma once

#include <qwengpu/ptx/lower_wide.hpp>

namespace qwengpu::ptx::lower {

namespace detail {

namespace m = machine::mod;

inline bool is_64(const lowering& l) { return bits_of(l.now().type()) == 64; }
inline bool is_16(const lowering& l) { return bits_of(l.now().type()) == 16; }
inline unsigned sign_bit(const lowering& l) { return is_signed(l.now().type()) ? unsigned{m::is_signed} : 0U; }

/// a + b, or the nearest number there is: the sign of the exact sum is that of a where the sum has overflowed.
inline ir::operand saturate(lowering& l, ir::operand a, ir::operand sum, ir::operand overflow) {
    return l.select(l.shift_right(overflow, ir::literal(31)), l.logic(ir::table::xor_ab, l.sign_of(a), ir::literal(0x7fffffffU)), sum);
}

}  // namespace detail

inline void add_or_sub(lowering& l) {
    const bool minus = l.now().opcode == "sub";
    if (detail::is_64(l)) {
        if (l.now().has("cc")) return l.refuse("64-bit carry chains are not supported; use 32-bit ones");
        return l.result(minus ? sub(l, l.pair(1), l.pair(2)) : add(l, l.pair(1), l.pair(2)));
    }
    const ir::operand a = l.raw_word(1), b = l.raw_word(2);
    const ir::operand r = minus ? l.sub(a, b) : l.add(a, b);
    if (l.now().has("cc"))
        l.write_variable(lowering::carry_flag(), minus ? l.compare(detail::m::cmp_lt, a, b) : l.compare(detail::m::cmp_lt, r, a));
    if (!l.now().has("sat")) return l.result(r);
    // Overflow: the operands (of a difference: a and not b) agree in sign, and the result does not.
    const ir::operand overflow = l.logic(minus ? 0x18U : 0x42U, a, b, r);
    l.result(detail::saturate(l, a, r, overflow));
}

/// addc, subc: the carry of the instruction before comes in; of subc it is a borrow.
inline void with_carry(lowering& l) {
    if (detail::is_64(l)) return l.refuse("64-bit carry chains are not supported; use 32-bit ones");
    const bool minus = l.now().opcode == "subc";
    const ir::operand a = l.raw_word(1), b = l.raw_word(2), in = l.read_variable(lowering::carry_flag());
    const ir::operand part = minus ? l.sub(a, b) : l.add(a, b);
    const ir::operand r = minus ? l.sub(part, in) : l.add(part, in);
    if (l.now().has("cc")) {
        const ir::operand first = minus ? l.compare(detail::m::cmp_lt, a, b) : l.compare(detail::m::cmp_lt, part, a);
        const ir::operand second = minus ? l.compare(detail::m::cmp_lt, part, in) : l.compare(detail::m::cmp_lt, r, part);
        l.write_variable(lowering::carry_flag(), l.either(first, second));
    }
    l.result(r);
}

namespace detail {

/// The product that mul and mad begin with, plus c where that is free.
inline ir::operand product(lowering& l, ir::operand c) {
    const scalar_type t = l.now().type();
    const ir::operand a = l.word(1), b = l.word(2);
    if (!l.now().has("hi")) return l.multiply(a, b, c);
    if (!is_16(l)) return l.multiply(a, b, c, is_signed(t) ? unsigned{m::mul_high | m::mul_signed} : unsigned{m::mul_high});
    return l.add(l.shift_right(l.multiply(a, b), ir::literal(16)), c);
}

inline wide wide_product(lowering& l) {
    if (is_16(l)) return {l.multiply(l.word(1), l.word(2)), ir::zero};
    return multiply_words(l, l.raw_word(1), l.raw_word(2), is_signed(l.now().type()));
}

}  // namespace detail

inline void mul(lowering& l) {
    if (l.now().has("wide")) return l.result(detail::wide_product(l));
    if (!detail::is_64(l)) return l.result(detail::product(l, ir::zero));
    if (l.now().has("hi")) return l.refuse("the high half of a 64-bit product is not supported; use 32-bit numbers");
    l.result(multiply(l, l.pair(1), l.pair(2)));
}

inline void mad(lowering& l) {
    if (l.now().has("sat")) return l.refuse("saturating mad is not supported; use mul and add.sat");
    if (l.now().has("wide")) {
        const wide p = detail::wide_product(l);
        return l.result(detail::is_16(l) ? wide{l.add(p.lo, l.raw_word(3)), ir::zero} : add(l, p, l.pair(3)));
    }
    if (detail::is_64(l)) {
        if (l.now().has("hi") || l.now().has("cc")) return l.refuse("this form of 64-bit mad is not supported; use 32-bit numbers");
        return l.result(add(l, multiply(l, l.pair(1), l.pair(2)), l.pair(3)));
    }
    const ir::operand c = l.raw_word(3);
    const ir::operand r = detail::product(l, c);
    if (l.now().has("cc")) l.write_variable(lowering::carry_flag(), l.compare(detail::m::cmp_lt, r, c));
    l.result(r);
}

/// madc: mad with the carry of the instruction before.
inline void mad_with_carry(lowering& l) {
    if (detail::is_64(l)) return l.refuse("64-bit carry chains are not supported; use 32-bit ones");
    const ir::operand c = l.raw_word(3), in = l.read_variable(lowering::carry_flag());
    const ir::operand part = detail::product(l, c), r = l.add(part, in);
    if (l.now().has("cc"))
        l.write_variable(lowering::carry_flag(), l.either(l.compare(detail::m::cmp_lt, part, c), l.compare(detail::m::cmp_lt, r, part)));
    l.result(r);
}

/// mul24, mad24: the low 24 bits of the factors; .hi takes bits 16 to 47 of the product.
inline void mul_24(lowering& l) {
    if (l.now().has("sat")) return l.refuse("saturating mad24 is not supported; use mul24 and add.sat");
    const bool with_sign = is_signed(l.now().type());
    const auto factor = [&](std::size_t n) {
        const ir::operand high = l.shift_left(l.raw_word(n), ir::literal(8));
        return with_sign ? l.shift_right_signed(high, ir::literal(8)) : l.shift_right(high, ir::literal(8));
    };
    const wide p = multiply_words(l, factor(1), factor(2), with_sign);
    const ir::operand r = l.now().has("hi") ? shift_right(l, p, ir::literal(16), false).lo : p.lo;
    l.result(l.now().opcode == "mad24" ? l.add(r, l.raw_word(3)) : r);
}

inline void div_or_rem(lowering& l) {
    if (detail::is_64(l)) return l.refuse("64-bit division is not supported; use 32-bit numbers");
    ir::instruction i;
    i.kind = ir::made_by::divide;
    i.mod = static_cast<std::uint8_t>((is_signed(l.now().type()) ? ir::divide_signed : 0) |
                                      (l.now().opcode == "rem" ? ir::divide_remainder : 0));
    i.a = l.word(1);
    i.b = l.word(2);
    l.result(l.emit(i));
}

inline void min_or_max(lowering& l) {
    if (l.now().has("relu")) return l.refuse("the modifier .relu is not supported; use a second max");
    const bool least = l.now().opcode == "min";
    const unsigned order = detail::sign_bit(l);
    if (!detail::is_64(l))
        return l.result(l.emit(least ? lowering::op::min : lowering::op::max, l.word(1), l.word(2), {}, order));
    const wide a = l.pair(1), b = l.pair(2);
    l.result(select(l, compare(l, order | (least ? detail::m::cmp_lt : detail::m::cmp_gt), a, b), a, b));
}

inline void abs(lowering& l) {
    if (detail::is_64(l)) {
        const wide x = l.pair(1);
        return l.result(select(l, l.shift_right(x.hi, ir::literal(31)), negate(l, x), x));
    }
    const ir::operand x = l.word(1);
    l.result(l.emit(lowering::op::max, x, l.sub(ir::zero, x), {}, detail::m::is_signed));
}

inline void neg(lowering& l) {
    if (detail::is_64(l)) return l.result(negate(l, l.pair(1)));
    l.result(l.sub(ir::zero, l.raw_word(1)));
}

/// sad: c + |a - b|.
inline void sad(lowering& l) {
    if (detail::is_64(l)) return l.refuse("64-bit sad is not supported; use sub, abs and add");
    const ir::operand a = l.word(1), b = l.word(2);
    const unsigned order = detail::sign_bit(l);
    const ir::operand most = l.emit(lowering::op::max, a, b, {}, order), least = l.emit(lowering::op::min, a, b, {}, order);
    l.result(l.add(l.raw_word(3), l.sub(most, least)));
}

}  // namespace qwengpu::ptx::lower
