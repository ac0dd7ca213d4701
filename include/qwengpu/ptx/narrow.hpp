// SPDX-License-Identifier: MIT
// Narrows 64 bits to 32. An address is one word: its high word is 0, and two addresses compare as unsigned words. Which
// parameters are pointers follows from their use (cvta, .ptr, or being added up to an address); which values are addresses
// follows from that. What is left of 64-bit sums and comparisons becomes code on pairs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <set>
#include <vector>

#include <qwengpu/ptx/ir_knowledge.hpp>
#include <qwengpu/ptx/ir_rewrite.hpp>

namespace qwengpu::ptx::ir {

namespace detail {

/// Parameters whose low word is added up to this operand.
class pointer_roots {
public:
    pointer_roots(const function& f, const std::vector<bool>& known) : f_(f), known_(known), seen_(f.values.size(), 0) {}

    std::set<std::uint32_t> of(const operand& o, int depth = 200) {
        if (o.kind == from::parameter && (o.bits & 0xffffU) == 0) return {o.bits >> 16};
        if (!o.is_value() || seen_[o.bits] || depth == 0) return {};
        seen_[o.bits] = 1;
        const instruction& i = f_.at(o.bits);
        std::set<std::uint32_t> all;
        const auto join = [&](const operand& x) { all.merge(of(x, depth - 1)); };
        if (i.kind == made_by::phi)
            for (const operand& x : f_.inputs(o.bits)) join(x);
        if (i.is_alu(alu_op::sel)) join(i.a), join(i.b);
        if (i.is_alu(alu_op::add)) {
            join(i.a);
            if (i.mod == 0) join(i.b);
        }
        return only_known(all);
    }

private:
    /// In a sum with a pointer the other summands are offsets.
    std::set<std::uint32_t> only_known(const std::set<std::uint32_t>& all) const {
        std::set<std::uint32_t> sure;
        for (std::uint32_t p : all)
            if (known_[p]) sure.insert(p);
        return sure.empty() ? all : sure;
    }

    const function& f_;
    const std::vector<bool>& known_;
    std::vector<std::uint8_t> seen_;
};

class address_marks {
public:
    address_marks(const function& f, const std::vector<bool>& pointers) : f_(f), pointers_(pointers), marked_(f.values.size(), false) {
        for (bool changed = true; changed;) {
            changed = false;
            for (const block& b : f.blocks) {
                for (value_id v : b.phis) changed = mark(v, phi_is(v)) || changed;
                for (value_id v : b.body) changed = mark(v, sum_is(f.at(v))) || changed;
            }
        }
    }

    [[nodiscard]] bool is_address(const operand& o) const {
        if (o.kind == from::parameter) return (o.bits & 0xffffU) == 0 && pointers_[o.bits >> 16];
        return o.is_value() && o.bits < marked_.size() && marked_[o.bits];
    }

private:
    bool mark(value_id v, bool is) {
        if (!is || marked_[v]) return false;
        return marked_[v] = true;
    }
    [[nodiscard]] bool phi_is(value_id v) const {
        for (const operand& o : f_.inputs(v))
            if (is_address(o)) return true;
        return false;
    }
    [[nodiscard]] bool sum_is(const instruction& i) const {
        if (i.is_alu(alu_op::sel) || (i.is_alu(alu_op::lop) && i.mod == table::and_ab)) return is_address(i.a) || is_address(i.b);
        if (!i.is_alu(alu_op::add)) return false;
        if (i.mod & machine::mod::add_subtract) return is_address(i.a) && !is_address(i.b);
        return is_address(i.a) != (i.mod == 0 && is_address(i.b));
    }

    const function& f_;
    const std::vector<bool>& pointers_;
    std::vector<bool> marked_;
};

/// How a pair stands for its low word: the high word is 0, or the low word's sign.
struct extension {
    bool zeros = false, signs = false;
};

inline extension extension_of(const function& f, const operand& lo, const operand& hi) {
    if (lo.is_literal() && hi.is_literal()) return {hi.bits == 0, hi.bits == ((lo.bits >> 31) ? 0xffffffffU : 0U)};
    if (hi.is(0)) return {true, is_not_negative(f, lo)};
    const instruction* sign = hi.is_value() && f.at(hi.bits).is_alu(alu_op::sar) ? &f.at(hi.bits) : nullptr;
    return {false, sign != nullptr && sign->a == lo && sign->b.is(31)};
}

class wide_expansion {
public:
    wide_expansion(function& f, const std::vector<bool>& pointers) : f_(f), marks_(f, pointers), w_(f) {}

    void run() {
        w_.run([&](const instruction& i) {
            switch (i.kind) {
                case made_by::wide_compare: return compare(i);
                case made_by::wide_add_high: return add_high(i);
                case made_by::wide_sub_high: return sub_high(i);
                default: return operand{};
            }
        });
    }

private:
    using m_type = unsigned;

    operand compare(const instruction& i) {
        const m_type orders = i.mod & 7U, sign = i.mod & machine::mod::is_signed;
        const extension x = extension_of(f_, i.a, i.b), y = extension_of(f_, i.c, i.d);
        if (marks_.is_address(i.a) || marks_.is_address(i.c)) return w_.compare(orders, i.a, i.c);
        if (x.zeros && y.zeros) return w_.compare(orders, i.a, i.c);
        if (x.signs && y.signs) return w_.compare(orders | sign, i.a, i.c);
        const m_type strict = orders & ~m_type{machine::mod::cmp_eq};
        const operand low = w_.compare(orders, i.a, i.c);
        if (orders == machine::mod::cmp_eq) return w_.compare(orders | machine::mod::cmp_and, i.b, i.d, low);
        if (strict == (machine::mod::cmp_lt | machine::mod::cmp_gt)) return w_.compare(strict | machine::mod::cmp_or, i.b, i.d, low);
        const operand tie = w_.compare(machine::mod::cmp_eq | m_type{machine::mod::cmp_and}, i.b, i.d, low);
        return w_.compare(strict | sign | machine::mod::cmp_or, i.b, i.d, tie);
    }

    operand add_high(const instruction& i) {
        if (marks_.is_address(i.a) != marks_.is_address(i.c)) return zero;
        const std::uint64_t most = std::uint64_t{upper_bound(f_, i.a)} + upper_bound(f_, i.c);
        if (most <= largest_word) return w_.add(i.b, i.d);
        const operand part = i.a.is_literal() ? i.a : i.c;
        return w_.emit(alu_op::add, i.b, i.d, w_.compare(machine::mod::cmp_lt, w_.add(i.a, i.c), part), machine::mod::add_carry);
    }

    operand sub_high(const instruction& i) {
        if (marks_.is_address(i.a) && !marks_.is_address(i.c)) return zero;
        return w_.emit(alu_op::add, i.b, i.d, w_.compare(machine::mod::cmp_lt, i.a, i.c), machine::mod::add_carry | machine::mod::add_subtract);
    }

    function& f_;
    address_marks marks_;
    rewriter w_;
};

}  // namespace detail

/// Completes which parameters are pointers: those known already, and those that addresses begin with.
inline void find_pointers(function& f) {
    const std::vector<bool> known = f.pointers;
    detail::pointer_roots roots(f, known);
    for (const block& b : f.blocks)
        for (value_id v : b.body)
            if (f.at(v).is_memory() && f.at(v).where != region::shared && f.at(v).where != region::local)
                for (std::uint32_t p : roots.of(f.at(v).a)) f.pointers[p] = f.pointers[p] || !f.structures[p];
}

/// Replaces what is left of 64-bit operations by code on words.
inline void expand_wide(function& f) {
    find_pointers(f);
    for_each_place(f, [&](operand& o) {
        if (o.kind == from::parameter && (o.bits & 0xffffU) != 0 && f.pointers[o.bits >> 16]) o = zero;
    });
    detail::wide_expansion(f, f.pointers).run();
}

}  // namespace qwengpu::ptx::ir
