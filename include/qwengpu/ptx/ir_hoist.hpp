// SPDX-License-Identifier: MIT
// Moves what a loop would work out the same every time in front of it, where that takes a multiplier or reciprocal: above all
// the Newton steps of a division by something that the loop does not change.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <qwengpu/machine/instruction_table.hpp>
#include <qwengpu/ptx/ir.hpp>
#include <qwengpu/ptx/ir_graph.hpp>

namespace qwengpu::ptx::ir {

namespace detail {

class hoister {
public:
    explicit hoister(function& f) : f_(f), g_(graph_of(f)), home_(f.values.size(), trap_target) {
        for (block_id b : g_.order) {
            for (value_id v : f.blocks[b].phis) home_[v] = b;
            for (value_id v : f.blocks[b].body) home_[v] = b;
        }
    }

    /// Inner loops first, so that a value can move out of several.
    void run() {
        for (std::size_t l = g_.loops.size(); l-- > 0;) {
            const block_id before = block_before(g_.loops[l]);
            if (before != trap_target) hoist(static_cast<std::uint32_t>(l), before);
        }
    }

private:
    /// The only way into the loop, if it leads nowhere else.
    [[nodiscard]] block_id block_before(const loop& l) const {
        block_id found = trap_target;
        for (block_id p : f_.blocks[l.header].predecessors) {
            if (std::find(l.latches.begin(), l.latches.end(), p) != l.latches.end()) continue;
            if (found != trap_target) return trap_target;
            found = f_.blocks[p].part == lock_part::none ? p : trap_target;
        }
        return found;
    }

    void hoist(std::uint32_t l, block_id before) {
        for (block_id b : g_.order) {
            if (!g_.contains(l, b)) continue;
            for (value_id v : std::vector<value_id>(f_.blocks[b].body))
                if (wanted(v) && fixed(l, v)) move(v, before);
        }
    }

    /// A reciprocal, or a product that a reciprocal goes into.
    [[nodiscard]] bool wanted(value_id v) const {
        const instruction& i = f_.at(v);
        if (i.is_alu(alu_op::rcp)) return true;
        if (!i.is_alu(alu_op::mul)) return false;
        const auto made_of_reciprocal = [&](const operand& o) {
            return o.is_value() && (f_.at(o.bits).is_alu(alu_op::rcp) || (f_.at(o.bits).is_alu(alu_op::mul) && hoisted(o.bits)));
        };
        return made_of_reciprocal(i.a) || made_of_reciprocal(i.b);
    }
    [[nodiscard]] bool hoisted(value_id v) const { return std::find(moved_.begin(), moved_.end(), v) != moved_.end(); }

    /// Whether all operands are made outside of the loop, or by simple instructions that can move with it.
    [[nodiscard]] bool fixed(std::uint32_t l, value_id v, int depth = 3) const {
        bool all = f_.at(v).kind == made_by::alu;
        auto i = f_.at(v);
        for_each_operand(i, [&](const operand& o) {
            if (all && o.is_value() && g_.contains(l, home_[o.bits])) all = depth > 0 && fixed(l, o.bits, depth - 1);
        });
        return all;
    }

    /// Moves the value to the end of a block; what it is made of is copied there, and may stay in the loop for other uses.
    void move(value_id v, block_id to) {
        instruction i = f_.at(v);
        for_each_operand(i, [&](operand& o) { o = outside(o, to); });
        f_.at(v) = i;
        auto& from = f_.blocks[home_[v]].body;
        from.erase(std::find(from.begin(), from.end(), v));
        f_.blocks[to].body.push_back(v);
        home_[v] = to;
        moved_.push_back(v);
    }

    operand outside(const operand& o, block_id to) {
        if (!o.is_value() || g_.dominates(home_[o.bits], to)) return o;
        instruction i = f_.at(o.bits);
        for_each_operand(i, [&](operand& inner) { inner = outside(inner, to); });
        const value_id copy = f_.add(i);
        f_.blocks[to].body.push_back(copy);
        home_.push_back(to);
        return value(copy);
    }

    function& f_;
    graph g_;
    std::vector<block_id> home_;
    std::vector<value_id> moved_;
};

}  // namespace detail

/// Moves loop-invariant reciprocals and the products made of them in front of their loops.
inline void hoist_reciprocals(function& f) { detail::hoister(f).run(); }

}  // namespace qwengpu::ptx::ir
