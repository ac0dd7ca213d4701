// SPDX-License-Identifier: MIT
// Integer arithmetic of PTX: add, sub, mul, mad and their kin in 16, 32 and 64 bits, with carry and saturation; division;
// minimum, maximum, absolute value.
#pragma once

#include <string_view>

#include <qwengpu/ptx/lower_divide.hpp>

namespace qwengpu::ptx::lower {

namespace detail {

namespace m = machine::mod;

inline bool is_64(const lowering& l) { return bits_of(l.now().type()) == 64; }
inline bool is_16(const lowering& l) { return bits_of(l.now().type()) == 16; }
inline unsigned sign_bit(const lowering& l) { return is_signed(l.now().type()) ? unsigned{m::is_signed} : 0U; }

/// a + b, or the nearest number there is: the sign of the exact sum is that of a where the sum has overflowed.
inline ir::operand saturate(lowering& l, ir::operand a, ir::operand sum, ir::operand overflow) {
    const ir::operand nearest = l.logic(ir::table::xor_ab, l.sign_of(a), ir::literal(0x7fffffffU));
    return l.select(l.shift_right(overflow, ir::literal(31)), nearest, sum);
}

/// The sum or difference with a carry coming in; the one that goes out is kept where .cc asks for it.
inline void add_with_carry(lowering& l, wide x, wide y, ir::operand in, bool minus) {
    if (!l.now().has("cc") && !is_64(l)) return l.result(minus ? l.sub_borrow(x.lo, y.lo, in) : l.add_carry(x.lo, y.lo, in));
    wide_with_carry_out r;
    if (is_64(l)) {
        r = add_pairs(l, x, y, in, minus);
    } else {
        const with_carry_out low = add_words(l, x.lo, y.lo, in, minus);
        r = {{low.word, ir::zero}, low.carry};
    }
    if (l.now().has("cc")) l.write_variable(lowering::carry_flag(), r.carry);
    l.result(r.value);
}

}  // namespace detail

inline void add_or_sub(lowering& l) {
    const bool minus = l.now().opcode == "sub";
    if (detail::is_64(l) && !l.now().has("cc")) {
        const wide y = l.pair(2), x = l.pair(1);
        return l.result(minus ? sub(l, x, y) : add(l, x, y));
    }
    const ir::operand a = l.raw_word(1), b = l.raw_word(2);
    if (l.now().has("cc")) {
        const wide y = l.pair(2), x = l.pair(1);
        return detail::add_with_carry(l, x, y, ir::zero, minus);
    }
    const ir::operand r = minus ? l.sub(a, b) : l.add(a, b);
    if (!l.now().has("sat")) return l.result(r);
    // Overflow: the operands (of a difference: a and not b) agree in sign, and the result does not.
    const ir::operand overflow = l.logic(minus ? 0x18U : 0x42U, a, b, r);
    l.result(detail::saturate(l, a, r, overflow));
}

/// addc, subc: the carry of the instruction before comes in; of subc it is a borrow.
inline void with_carry(lowering& l) {
    const ir::operand in = l.read_variable(lowering::carry_flag());
    const wide y = l.pair(2), x = l.pair(1);
    detail::add_with_carry(l, x, y, in, l.now().opcode == "subc");
}

namespace detail {

/// The low or high half of the product, plus c, in 32 bits (or 16, whose upper half is anything): the multiplier adds.
inline ir::operand product_plus(lowering& l, ir::operand c) {
    const ir::operand a = l.word(1), b = l.word(2);
    if (!l.now().has("hi")) return l.multiply(a, b, c);
    if (is_16(l)) return l.add(l.shift_right(l.multiply(a, b), ir::literal(16)), c);
    return l.multiply(a, b, c, is_signed(l.now().type()) ? unsigned{m::mul_high | m::mul_signed} : unsigned{m::mul_high});
}

/// The low or high half of the product, as wide as the instruction's type.
inline wide product(lowering& l) {
    if (!is_64(l)) return {product_plus(l, ir::zero), ir::zero};
    const wide y = l.pair(2), x = l.pair(1);
    return l.now().has("hi") ? multiply_high(l, x, y, is_signed(l.now().type())) : multiply(l, x, y);
}

inline wide wide_product(lowering& l) {
    if (is_16(l)) {
        const ir::operand b = l.word(2), a = l.word(1);
        return {l.multiply(a, b), ir::zero};
    }
    const ir::operand b = l.raw_word(2), a = l.raw_word(1);
    return multiply_words(l, a, b, is_signed(l.now().type()));
}

/// a + c as signed numbers, or the nearest there is.
inline ir::operand add_saturated(lowering& l, ir::operand a, ir::operand c) {
    const ir::operand r = l.add(a, c);
    return saturate(l, a, r, l.logic(0x42U, a, c, r));
}

}  // namespace detail

inline void mul(lowering& l) { l.result(l.now().has("wide") ? detail::wide_product(l) : detail::product(l)); }

inline void mad(lowering& l) {
    if (l.now().has("sat")) {
        const ir::operand c = l.raw_word(3);
        return l.result(detail::add_saturated(l, detail::product(l).lo, c));
    }
    if (l.now().has("cc")) {
        const wide c = l.pair(3);
        return detail::add_with_carry(l, detail::product(l), c, ir::zero, false);
    }
    if (l.now().has("wide")) {
        const wide p = detail::wide_product(l);
        return l.result(detail::is_16(l) ? wide{l.add(p.lo, l.raw_word(3)), ir::zero} : add(l, p, l.pair(3)));
    }
    if (detail::is_64(l)) {
        const wide c = l.pair(3);
        return l.result(add(l, detail::product(l), c));
    }
    l.result(detail::product_plus(l, l.raw_word(3)));
}

/// madc: mad with the carry of the instruction before.
inline void mad_with_carry(lowering& l) {
    const ir::operand in = l.read_variable(lowering::carry_flag());
    const wide c = l.pair(3);
    detail::add_with_carry(l, detail::product(l), c, in, false);
}

/// mul24, mad24: the low 24 bits of the factors; .hi takes bits 16 to 47 of the product.
inline void mul_24(lowering& l) {
    const bool with_sign = is_signed(l.now().type());
    const auto factor = [&](std::size_t n) {
        const ir::operand high = l.shift_left(l.raw_word(n), ir::literal(8));
        return with_sign ? l.shift_right_signed(high, ir::literal(8)) : l.shift_right(high, ir::literal(8));
    };
    const ir::operand b = factor(2), a = factor(1);
    const wide p = multiply_words(l, a, b, with_sign);
    const ir::operand r = l.now().has("hi") ? shift_right(l, p, ir::literal(16), false).lo : p.lo;
    if (l.now().has("sat")) return l.result(detail::add_saturated(l, r, l.raw_word(3)));
    l.result(l.now().opcode == "mad24" ? l.add(r, l.raw_word(3)) : r);
}

inline void div_or_rem(lowering& l) {
    const bool rest = l.now().opcode == "rem", with_sign = is_signed(l.now().type());
    if (detail::is_64(l)) {
        const wide d = l.pair(2), n = l.pair(1);
        return l.result(rest ? remainder(l, n, d, with_sign) : quotient(l, n, d, with_sign));
    }
    ir::instruction i;
    i.kind = ir::made_by::divide;
    i.mod = static_cast<std::uint8_t>((with_sign ? ir::divide_signed : 0) | (rest ? ir::divide_remainder : 0));
    i.a = l.word(1);
    i.b = l.word(2);
    l.result(l.emit(i));
}

inline void min_or_max(lowering& l) {
    const bool least = l.now().opcode == "min";
    const unsigned order = detail::sign_bit(l);
    if (!detail::is_64(l)) {
        const ir::operand b = l.word(2), a = l.word(1), r = l.emit(least ? lowering::op::min : lowering::op::max, a, b, {}, order);
        return l.result(l.now().has("relu") ? l.emit(lowering::op::max, r, ir::zero, {}, detail::m::is_signed) : r);
    }
    const wide a = l.pair(1), b = l.pair(2);
    l.result(select(l, compare(l, order | (least ? detail::m::cmp_lt : detail::m::cmp_gt), a, b), a, b));
}

inline void abs(lowering& l) {
    if (detail::is_64(l)) return l.result(magnitude(l, l.pair(1)));
    const ir::operand x = l.word(1);
    l.result(l.emit(lowering::op::max, x, l.sub(ir::zero, x), {}, detail::m::is_signed));
}

inline void neg(lowering& l) {
    if (detail::is_64(l)) return l.result(negate(l, l.pair(1)));
    l.result(l.sub(ir::zero, l.raw_word(1)));
}

/// add, min, max on two half words side by side.
inline void pair_of_halves(lowering& l) {
    const std::string_view name = l.now().opcode;
    const scalar_type half = is_signed(l.now().type()) ? scalar_type::s16 : scalar_type::u16;
    const auto one = [&](unsigned k) {
        const ir::operand a = l.part(l.raw_word(1), half, k), b = l.part(l.raw_word(2), half, k);
        if (name == "add") return l.add(a, b);
        const ir::operand r = l.emit(name == "min" ? lowering::op::min : lowering::op::max, a, b, {}, detail::m::is_signed);
        return l.now().has("relu") ? l.emit(lowering::op::max, r, ir::zero, {}, detail::m::is_signed) : r;
    };
    const ir::operand high = one(1), low = one(0);
    l.result(l.permute(low, high, 0x5410));
}

/// sad: c + |a - b|.
inline void sad(lowering& l) {
    const unsigned order = detail::sign_bit(l);
    if (detail::is_64(l)) {
        const wide a = l.pair(1), b = l.pair(2);
        const ir::operand below = compare(l, order | detail::m::cmp_lt, a, b);
        const wide forth = sub(l, a, b), back = sub(l, b, a), distance = select(l, below, back, forth);
        return l.result(add(l, l.pair(3), distance));
    }
    const ir::operand a = l.word(1), b = l.word(2);
    const ir::operand most = l.emit(lowering::op::max, a, b, {}, order), least = l.emit(lowering::op::min, a, b, {}, order);
    const ir::operand distance = l.sub(most, least);
    l.result(l.add(l.raw_word(3), distance));
}

/// dp4a: c plus the products of four bytes of a and b; dp2a: of two half words of a and the low (or high) two bytes of b.
inline void dot_product(lowering& l) {
    const bool of_four = l.now().opcode == "dp4a";
    const auto type = [&](std::size_t n, bool bytes) {
        const bool with_sign = is_signed(l.now().type(n));
        return bytes ? (with_sign ? scalar_type::s8 : scalar_type::u8) : (with_sign ? scalar_type::s16 : scalar_type::u16);
    };
    const unsigned first = l.now().has("hi") ? 2U : 0U, parts = of_four ? 4U : 2U;
    ir::operand sum = l.raw_word(3);
    for (unsigned k = 0; k < parts; ++k) {
        const ir::operand b = l.part(l.raw_word(2), type(1, true), first + k), a = l.part(l.raw_word(1), type(0, of_four), k);
        sum = l.multiply(a, b, sum);
    }
    l.result(sum);
}

}  // namespace qwengpu::ptx::lower
