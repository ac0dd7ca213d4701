// SPDX-License-Identifier: MIT
// Division of 32-bit numbers. With z0 = rcp(d) from the machine, two Newton steps e = 2^32 - d z, z += z e >> 32 leave
// z <= 2^32 / d and 2^32 - d z < 2 d for every d > 0 (all 2^32 were tried), so n z >> 32 misses the quotient by at most 2.
// x / 0 = 2^32 - 1 and x % 0 = x; INT_MIN / -1 = INT_MIN, rest 0.
#pragma once

#include <bit>
#include <cstdint>

#include <qwengpu/ptx/ir_knowledge.hpp>
#include <qwengpu/ptx/ir_rewrite.hpp>

namespace qwengpu::ptx::ir {

namespace detail {

/// Twice brings r below d: where r < d, r - d wraps to a larger number.
inline operand reduce(rewriter& w, operand r, operand d) { return w.emit(alu_op::min, r, w.sub(r, d)); }

struct first_guess {
    operand quotient, rest;
};

inline first_guess guess(rewriter& w, operand n, operand d) {
    const operand minus_d = w.sub(zero, d);
    operand z = w.emit(alu_op::rcp, d);
    for (int step = 0; step < 2; ++step) {
        const operand e = w.emit(alu_op::mul, minus_d, z, zero);
        z = w.emit(alu_op::mul, z, e, z, machine::mod::mul_high);
    }
    const operand q = w.emit(alu_op::mul, n, z, zero, machine::mod::mul_high);
    return {q, w.emit(alu_op::mul, q, minus_d, n)};
}

inline operand unsigned_rest(rewriter& w, operand n, operand d) {
    if (d.is_literal() && std::has_single_bit(d.bits)) return w.emit(alu_op::lop, n, literal(d.bits - 1), zero, table::and_ab);
    return reduce(w, reduce(w, guess(w, n, d).rest, d), d);
}

/// The quotient; what it is for d = 0 is not said.
inline operand unsigned_quotient(rewriter& w, operand n, operand d) {
    if (d.is_literal() && std::has_single_bit(d.bits))
        return w.emit(alu_op::shr, n, literal(static_cast<std::uint32_t>(std::countr_zero(d.bits))));
    const auto not_below = static_cast<unsigned>(machine::mod::cmp_gt | machine::mod::cmp_eq);
    const first_guess g = guess(w, n, d);
    const operand q = w.add(g.quotient, w.compare(not_below, g.rest, d));
    return w.add(q, w.compare(not_below, reduce(w, g.rest, d), d));
}

inline operand magnitude(rewriter& w, const function& f, operand x) {
    if (is_not_negative(f, x)) return x;
    return w.emit(alu_op::max, x, w.sub(zero, x), {}, machine::mod::is_signed);
}

/// Bit 0 is the sign of x.
inline operand sign_bit(rewriter& w, operand x) { return w.emit(alu_op::shr, x, literal(31)); }

inline operand negated_if(rewriter& w, operand condition, operand x) { return w.select(condition, w.sub(zero, x), x); }

inline operand rest(rewriter& w, const function& f, const instruction& i) {
    if ((i.mod & divide_signed) == 0) return unsigned_rest(w, i.a, i.b);
    const operand b = magnitude(w, f, i.b), a = magnitude(w, f, i.a), r = unsigned_rest(w, a, b);
    return negated_if(w, sign_bit(w, i.a), r);
}

inline operand quotient(rewriter& w, const function& f, const instruction& i) {
    operand q;
    if ((i.mod & divide_signed) == 0) {
        q = unsigned_quotient(w, i.a, i.b);
    } else {
        const operand signs = w.emit(alu_op::lop, i.a, i.b, zero, table::xor_ab);
        const operand b = magnitude(w, f, i.b), a = magnitude(w, f, i.a), size = unsigned_quotient(w, a, b);
        q = negated_if(w, sign_bit(w, signs), size);
    }
    return w.select(w.compare(machine::mod::cmp_eq, i.b, zero), literal(0xffffffffU), q);
}

}  // namespace detail

/// Replaces the divisions of a kernel by sequences; equal parts of quotient and rest merge when it is optimised again.
inline void expand_divisions(function& f) {
    rewriter w(f);
    w.run([&](const instruction& i) {
        if (i.kind != made_by::divide) return operand{};
        return (i.mod & divide_remainder) ? detail::rest(w, f, i) : detail::quotient(w, f, i);
    });
}

}  // namespace qwengpu::ptx::ir
