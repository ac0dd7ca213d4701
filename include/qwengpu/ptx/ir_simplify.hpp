// SPDX-License-Identifier: MIT
// Simplifies one instruction: constant folding, identities, strength reduction, shifts drawn into additions, conditions
// followed to the bit they really test. Works while code is made and again afterwards; it never looks at uses but through
// `single_use`, which may be empty.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <functional>
#include <optional>
#include <utility>

#include <qwengpu/machine/instruction_table.hpp>
#include <qwengpu/ptx/ir.hpp>
#include <qwengpu/ptx/ir_knowledge.hpp>
#include <qwengpu/ptx/ir_logic.hpp>

namespace qwengpu::ptx::ir {

/// Whether a value has one use; empty where uses are not counted, which then hold back what only pays with one.
using use_query = std::function<bool(value_id)>;

namespace detail {

namespace m = machine::mod;

class simplifier {
public:
    simplifier(const function& f, instruction& i, const use_query& single_use) : f_(f), i_(i), single_use_(single_use) {}

    std::optional<operand> run() {
        if (i_.kind == made_by::load || i_.kind == made_by::store) return memory();
        if (i_.kind == made_by::wide_compare || i_.kind == made_by::wide_add_high || i_.kind == made_by::wide_sub_high) return wide_of_local();
        if (i_.kind != made_by::alu) return std::nullopt;
        if (all_literals()) return literal(machine::evaluate(i_.op, i_.a.bits, i_.b.bits, i_.c.bits, i_.mod));
        switch (i_.op) {
            case alu_op::add:
                if (i_.mod & m::add_carry) return with_carry();
                return (i_.mod & m::add_subtract) ? subtract() : add();
            case alu_op::prmt: return permute();
            case alu_op::funnel: return funnel();
            case alu_op::lop: return logic();
            case alu_op::shl: case alu_op::shr: case alu_op::sar: return shift();
            case alu_op::cmp: return compare();
            case alu_op::fcmp: return combination();
            case alu_op::sel: return select();
            case alu_op::min: case alu_op::max: return extreme();
            case alu_op::mul: return multiply();
            default: return std::nullopt;
        }
    }

private:
    [[nodiscard]] const instruction* made(const operand& o, alu_op op) const {
        return o.is_value() && f_.at(o.bits).is_alu(op) ? &f_.at(o.bits) : nullptr;
    }
    /// What makes it, if that is a comparison of integers or floats.
    [[nodiscard]] const instruction* comparison(const operand& o) const {
        const instruction* of_integers = made(o, alu_op::cmp);
        return of_integers != nullptr ? of_integers : made(o, alu_op::fcmp);
    }
    /// All relations that two operands can have: less, equal, greater; floats also none of these.
    [[nodiscard]] static constexpr unsigned relations(alu_op op) { return op == alu_op::fcmp ? 15U : 7U; }
    [[nodiscard]] bool only_here(const operand& o) const { return single_use_ && o.is_value() && single_use_(o.bits); }

    [[nodiscard]] bool all_literals() const {
        const auto fixed = [](const operand& o) { return !o.present() || o.is_literal(); };
        return fixed(i_.a) && fixed(i_.b) && fixed(i_.c);
    }

    std::optional<operand> again() { return run(); }

    void become(alu_op op, operand a, operand b, operand c = {}, unsigned mod = 0) {
        i_.op = op;
        i_.a = a;
        i_.b = b;
        i_.c = c;
        i_.mod = static_cast<std::uint8_t>(mod);
    }

    std::optional<operand> add() {
        unsigned shift = i_.mod & m::add_shift;
        if (i_.b.is_literal() && shift != 0) become(alu_op::add, i_.a, literal(i_.b.bits << shift)), shift = 0;
        if (i_.b.is(0)) return i_.a;
        if (i_.a.is(0) && shift == 0) return i_.b;
        if (i_.a.is(0)) return become(alu_op::shl, i_.b, literal(shift)), again();
        if (shift == 0 && !i_.a.is_value() && i_.b.is_value()) std::swap(i_.a, i_.b);
        if (shift == 0 && i_.a.is_literal()) std::swap(i_.a, i_.b);
        if (shift == 0 && i_.a == i_.b) return become(alu_op::shl, i_.a, literal(1)), again();
        if (draw_in_shift(shift)) return again();
        const instruction* inner = made(i_.a, alu_op::add);
        if (i_.b.is_literal() && inner != nullptr && inner->mod == 0 && inner->b.is_literal() && only_here(i_.a))
            return become(alu_op::add, inner->a, literal(inner->b.bits + i_.b.bits)), again();
        if (i_.b.is_literal() && inner != nullptr && (inner->mod & m::add_carry) == 0 && inner->a.is_literal() && only_here(i_.a))
            return become(alu_op::add, literal(inner->a.bits + i_.b.bits), inner->b, {}, inner->mod), again();
        const instruction* negated = made(i_.b, alu_op::add);
        if (shift == 0 && negated != nullptr && negated->mod == m::add_subtract && negated->a.is(0))
            return become(alu_op::add, i_.a, negated->b, {}, m::add_subtract), again();
        return std::nullopt;
    }

    /// A carry that is known to be 0 goes; where a carry is all there is, it is the sum.
    std::optional<operand> with_carry() {
        i_.c = condition_of(f_, i_.c).inverted ? i_.c : condition_of(f_, i_.c).bit;
        const bool minus = (i_.mod & m::add_subtract) != 0;
        if (i_.c.is_literal() && (i_.c.bits & 1U) == 0) return become(alu_op::add, i_.a, i_.b, {}, i_.mod & ~unsigned{m::add_carry}), again();
        if (i_.c.is_literal() && i_.b.is_literal() && (i_.mod & m::add_shift) == 0)
            return become(alu_op::add, i_.a, literal(i_.b.bits + 1), {}, minus ? unsigned{m::add_subtract} : 0U), again();
        if (!minus && i_.a.is(0) && i_.b.is(0) && is_boolean(f_, i_.c)) return i_.c;
        if (!i_.a.is(0) && i_.b.is(0) && is_boolean(f_, i_.c)) return become(alu_op::add, i_.a, i_.c, {}, minus ? unsigned{m::add_subtract} : 0U), again();
        return std::nullopt;
    }

    /// Bytes chosen by a literal, where they are all of one word in its order, or repeat a sign that is there already.
    std::optional<operand> permute() {
        if (!i_.c.is_literal()) return std::nullopt;
        const std::uint32_t nibbles = i_.c.bits & 0xffffU;
        if (nibbles == 0x3210) return i_.a;
        if (nibbles == 0x7654) return i_.b;
        if (nibbles == 0x9910 && signed_bits(f_, i_.a) <= 16) return i_.a;
        if (nibbles == 0x8880 && signed_bits(f_, i_.a) <= 8) return i_.a;
        const bool sign_of_word = nibbles == 0x9910 || nibbles == 0x8880;
        const instruction* inner = sign_of_word ? made(i_.a, alu_op::lop) : nullptr;
        const std::uint32_t wanted = nibbles == 0x9910 ? 0xffffU : 0xffU;
        if (inner != nullptr && inner->mod == table::and_ab && inner->b.is_literal() && (inner->b.bits & wanted) == wanted)
            return i_.a = inner->a, again();
        return std::nullopt;
    }

    /// A pair shifted by a literal: a shift of one word, where the other is 0 or the amount is.
    std::optional<operand> funnel() {
        if (!i_.c.is_literal()) return std::nullopt;
        const bool left = (i_.mod & m::funnel_left) != 0;
        i_.c.bits &= 31U;
        if (i_.c.bits == 0) return left ? i_.b : i_.a;
        if (left && i_.a.is(0)) return become(alu_op::shl, i_.b, i_.c), again();
        if (!left && i_.b.is(0)) return become(alu_op::shr, i_.a, i_.c), again();
        if (left && i_.b.is(0)) return become(alu_op::shr, i_.a, literal(32 - i_.c.bits)), again();
        if (!left && i_.a.is(0)) return become(alu_op::shl, i_.b, literal(32 - i_.c.bits)), again();
        return std::nullopt;
    }

    /// a + (x << k) for k <= 3: the addition's own shift does it.
    bool draw_in_shift(unsigned shift) {
        const auto small = [&](const operand& o, unsigned with) {
            const instruction* s = made(o, alu_op::shl);
            return s != nullptr && s->b.is_literal() && s->b.bits + with <= 3 ? s : nullptr;
        };
        if (shift == 0 && small(i_.b, 0) == nullptr && small(i_.a, 0) != nullptr) std::swap(i_.a, i_.b);
        const instruction* s = small(i_.b, shift);
        if (s != nullptr) become(alu_op::add, i_.a, s->a, {}, shift + s->b.bits);
        return s != nullptr;
    }

    std::optional<operand> subtract() {
        if (i_.b.is_literal()) return become(alu_op::add, i_.a, literal(0U - i_.b.bits)), again();
        if (i_.a == i_.b) return zero;
        const instruction* negated = made(i_.b, alu_op::add);
        if (negated != nullptr && negated->mod == m::add_subtract && negated->a.is(0))
            return become(alu_op::add, i_.a, negated->b), again();
        return std::nullopt;
    }

    std::optional<operand> logic() {
        if (auto same = simplify_logic(i_)) return same;
        if (i_.mod == table::and_ab && i_.b.is_literal())
            if (const auto same = masked(i_.b.bits)) return same;
        for (std::size_t k = 0; k < 3; ++k) {
            const detail::logic outer = logic_of(i_);
            const instruction* inner = made(outer.in[k], alu_op::lop);
            if (inner == nullptr || !only_here(outer.in[k])) continue;
            if (auto merged = substitute(outer, k, logic_of(*inner))) return set_logic(i_, *merged), again();
        }
        const instruction* test = comparison(i_.a);
        if (i_.mod == table::xor_ab && i_.b.is(1) && test != nullptr && (test->mod & m::cmp_combine) == 0 && only_here(i_.a))
            return become(test->op, test->a, test->b, {}, test->mod ^ relations(test->op)), again();
        return combined_comparison();
    }

    /// x & mask, where it is known what the mask does.
    std::optional<operand> masked(std::uint32_t mask) {
        const auto possible_of = [&](const operand& o) {
            const int zeros = trailing_zeros(f_, o);
            return zeros >= 32 ? 0U : all_ones_above(upper_bound(f_, o)) & (largest_word << zeros);
        };
        const std::uint32_t possible = possible_of(i_.a);
        if ((possible & ~mask) == 0) return i_.a;
        if ((possible & mask) == 0) return zero;
        const instruction* sum = made(i_.a, alu_op::add);
        if (sum == nullptr || sum->mod != 0 || !sum->b.is_literal()) return std::nullopt;
        // base + n, where n lies below the bits of the base: the mask takes or leaves n's low bits.
        const std::uint32_t low = ~(largest_word << std::min(trailing_zeros(f_, sum->a), 31)), n = sum->b.bits;
        if ((mask & ~low) == 0) return literal(n & mask);
        if ((mask | low) == largest_word) return become(alu_op::add, sum->a, literal((n & ~low) | (n & mask & low))), again();
        return std::nullopt;
    }

    /// and, or, xor of a condition and a comparison nobody else wants: the comparison does it.
    std::optional<operand> combined_comparison() {
        if (!i_.c.is(0) || !i_.b.is_value()) return std::nullopt;
        unsigned how = 0;
        if (i_.mod == table::and_ab) how = m::cmp_and;
        if (i_.mod == table::or_ab) how = m::cmp_or;
        if (i_.mod == table::xor_ab) how = m::cmp_xor;
        if (how == 0 || !is_boolean(f_, i_.a) || !is_boolean(f_, i_.b)) return std::nullopt;
        for (const auto& [test, other] : {std::pair(i_.a, i_.b), std::pair(i_.b, i_.a)}) {
            const instruction* c = comparison(test);
            if (c == nullptr || (c->mod & m::cmp_combine) != 0 || !only_here(test)) continue;
            return become(c->op, c->a, c->b, other, c->mod | how), again();
        }
        return std::nullopt;
    }

    std::optional<operand> shift() {
        if (i_.b.is(0) || i_.a.is(0)) return i_.a;
        if (!i_.b.is_literal()) return std::nullopt;
        if (i_.b.bits > 31 && i_.op != alu_op::sar) return zero;
        if (i_.b.bits > 31) i_.b = literal(31);
        if (i_.op == alu_op::sar && is_not_negative(f_, i_.a)) return become(alu_op::shr, i_.a, i_.b), again();
        if (i_.op == alu_op::shr && i_.b.bits < 32 && (upper_bound(f_, i_.a) >> i_.b.bits) == 0) return zero;
        const instruction* inner = made(i_.a, i_.op);
        if (inner == nullptr || !inner->b.is_literal()) return std::nullopt;
        std::uint32_t sum = inner->b.bits + i_.b.bits;
        if (i_.op == alu_op::sar && sum > 31) sum = 31;
        return become(i_.op, inner->a, literal(sum)), again();
    }

    std::optional<operand> compare() {
        if (auto settled = combination()) return settled;
        if (!i_.a.is_value() && i_.b.is_value()) {
            std::swap(i_.a, i_.b);
            i_.mod = mirrored(i_.mod);
        }
        const unsigned what = i_.mod & 7U;
        const bool alone = (i_.mod & m::cmp_combine) == 0;
        if (alone && what == 0) return zero;
        if (alone && what == 7) return literal(1);
        if (alone && i_.a == i_.b) return literal((what & m::cmp_eq) ? 1 : 0);
        if (alone && i_.b.is(0) && is_local(i_.a)) return null_test(what);
        return alone ? boolean_test(what) : std::nullopt;
    }

    [[nodiscard]] bool is_local(const operand& o) const {
        std::uint32_t byte = 0;
        return local_place_of(f_, o, byte);
    }

    /// Whether a local variable is at address 0.
    static std::optional<operand> null_test(unsigned what) {
        if (what == m::cmp_eq) return zero;
        if (what == (m::cmp_lt | m::cmp_gt)) return literal(1);
        return std::nullopt;
    }

    /// The high word of a local variable's address is 0, and of a place some bytes beside it.
    std::optional<operand> wide_of_local() const {
        const bool a = is_local(i_.a), c = is_local(i_.c);
        if (i_.kind == made_by::wide_add_high && a != c) return zero;
        if (i_.kind == made_by::wide_sub_high && a && !c) return zero;
        if (i_.kind == made_by::wide_compare && a && i_.c.is(0) && i_.d.is(0)) return null_test(i_.mod & 7U);
        return std::nullopt;
    }

    /// Follows operand c to its bit; settles the combination where that bit is known.
    std::optional<operand> combination() {
        const unsigned how = i_.mod & m::cmp_combine;
        if (how == 0) return i_.c = {}, std::nullopt;
        const condition c = condition_of(f_, i_.c);
        i_.c = c.bit;
        if (c.inverted) i_.mod ^= m::cmp_not_c;
        if (!i_.c.is_literal()) return std::nullopt;
        const bool with = ((i_.c.bits & 1U) != 0) != ((i_.mod & m::cmp_not_c) != 0);
        if (how == m::cmp_and && !with) return zero;
        if (how == m::cmp_or && with) return literal(1);
        const unsigned flip = how == m::cmp_xor && with ? relations(i_.op) : 0U;
        become(i_.op, i_.a, i_.b, {}, (i_.mod & ~unsigned{m::cmp_combine | m::cmp_not_c}) ^ flip);
        return std::nullopt;
    }

    /// x == 0, x != 1 and so on of a word that is 0 or 1, and a == b written as a - b == 0.
    std::optional<operand> boolean_test(unsigned what) {
        const bool equal = what == m::cmp_eq;
        if ((!equal && what != (m::cmp_lt | m::cmp_gt)) || !i_.b.is_literal()) return std::nullopt;
        const instruction* inner = made(i_.a, alu_op::add);
        if (i_.b.is(0) && inner != nullptr && inner->mod == m::add_subtract && only_here(i_.a))
            return become(alu_op::cmp, inner->a, inner->b, {}, what), again();
        if (i_.b.bits > 1 || !is_boolean(f_, i_.a)) return std::nullopt;
        if (equal == (i_.b.bits == 1)) return i_.a;
        return become(alu_op::lop, i_.a, literal(1), zero, table::xor_ab), again();
    }

    std::optional<operand> select() {
        const condition c = condition_of(f_, i_.c);
        i_.c = c.bit;
        if (c.inverted) std::swap(i_.a, i_.b);
        if (i_.a == i_.b) return i_.a;
        if (i_.c.is_literal()) return (i_.c.bits & 1U) ? i_.a : i_.b;
        if (i_.a.is(1) && i_.b.is(0) && is_boolean(f_, i_.c)) return i_.c;
        if (i_.a.is(1) && i_.b.is(0)) return become(alu_op::lop, i_.c, literal(1), zero, table::and_ab), again();
        if (i_.a.is(0) && i_.b.is(1) && is_boolean(f_, i_.c))
            return become(alu_op::cmp, i_.c, zero, {}, m::cmp_eq), again();
        return std::nullopt;
    }

    std::optional<operand> extreme() {
        if (i_.a == i_.b) return i_.a;
        if (!i_.a.is_value()) std::swap(i_.a, i_.b);
        const bool is_max = i_.op == alu_op::max;
        if ((i_.mod & m::is_signed) && i_.b.is_literal() && is_not_negative(f_, i_.a)) {
            if (static_cast<std::int32_t>(i_.b.bits) <= 0) return is_max ? i_.a : i_.b;
        }
        if (!(i_.mod & m::is_signed) && i_.b.is(0)) return is_max ? i_.a : zero;
        return std::nullopt;
    }

    std::optional<operand> multiply() {
        if (i_.a.is_literal() && !i_.b.is_literal()) std::swap(i_.a, i_.b);
        if ((i_.mod & m::mul_high) == 0) i_.mod = 0;
        const operand c = i_.c.present() ? i_.c : zero;
        if (i_.a.is_literal()) {
            const std::uint32_t product = machine::evaluate(alu_op::mul, i_.a.bits, i_.b.bits, 0, i_.mod);
            return become(alu_op::add, c, literal(product)), again();
        }
        if (!i_.b.is_literal()) return std::nullopt;
        if (i_.b.is(0)) return c;
        return (i_.mod & m::mul_high) ? multiply_high(c) : multiply_low(c);
    }

    std::optional<operand> multiply_high(const operand& c) {
        const std::uint32_t n = i_.b.bits;
        const bool is_signed = (i_.mod & m::mul_signed) != 0;
        if (!c.is(0) || !std::has_single_bit(n) || (is_signed && n > 0x40000000U)) return std::nullopt;
        if (n == 1 && !is_signed) return zero;
        const unsigned shift = n == 1 ? 31U : 32U - static_cast<unsigned>(std::countr_zero(n));
        return become(is_signed ? alu_op::sar : alu_op::shr, i_.a, literal(shift)), again();
    }

    std::optional<operand> multiply_low(const operand& c) {
        const std::uint32_t n = i_.b.bits;
        if (n == 1) return become(alu_op::add, c, i_.a), again();
        if (n == 0xffffffffU) return become(alu_op::add, c, i_.a, {}, m::add_subtract), again();
        const auto power = static_cast<unsigned>(std::countr_zero(n));
        if (std::has_single_bit(n) && power <= 3) return become(alu_op::add, c, i_.a, {}, power), again();
        if (!c.is(0)) return std::nullopt;
        if (std::has_single_bit(n)) return become(alu_op::shl, i_.a, literal(power)), again();
        if (n == 3 || n == 5 || n == 9)
            return become(alu_op::add, i_.a, i_.a, {}, static_cast<unsigned>(std::countr_zero(n - 1))), again();
        return std::nullopt;
    }

    std::optional<operand> memory() {
        if (i_.stores_part()) drop_mask();
        operand& guard = i_.kind == made_by::load ? i_.b : i_.c;
        if (!guard.present()) return std::nullopt;
        const condition c = condition_of(f_, guard);
        guard = c.bit;
        if (c.inverted) i_.sense = !i_.sense;
        if (guard.is_literal() && ((guard.bits & 1U) != 0) == i_.sense) {
            guard = {};
            if (i_.kind == made_by::load) i_.c = {};
        }
        return std::nullopt;
    }

    /// Of a part of a word only the low bits are stored, so what is done to the others does not matter.
    void drop_mask() {
        const std::uint32_t wanted = i_.size == machine::access_size::byte ? 0xffU : 0xffffU;
        const instruction* mask = made(i_.b, alu_op::lop);
        if (mask != nullptr && mask->mod == table::and_ab && mask->b.is_literal() && (mask->b.bits & wanted) == wanted) i_.b = mask->a;
    }

    const function& f_;
    instruction& i_;
    const use_query& single_use_;
};

}  // namespace detail

/// Simplifies an instruction in place; if its value is simply some operand, returns that and the instruction is not needed.
inline std::optional<operand> simplify(const function& f, instruction& i, const use_query& single_use = {}) {
    return detail::simplifier(f, i, single_use).run();
}

}  // namespace qwengpu::ptx::ir
