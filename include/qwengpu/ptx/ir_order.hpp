// SPDX-License-Identifier: MIT
// What must come before what in a block: values before their uses, memory accesses that may meet in their order, and old
// values of a register variable read before the new one is written. "Before" includes "in the same machine block", where
// the stages allow it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <queue>
#include <unordered_map>
#include <utility>
#include <vector>

#include <qwengpu/ptx/ir.hpp>
#include <qwengpu/ptx/ir_liveness.hpp>

namespace qwengpu::ptx::ir {

/// The partial order of a block's body; nodes are positions in it.
class block_order {
public:
    block_order(const function& f, const block& b) : after_(b.body.size()), memory_before_(b.body.size()), rules_before_(b.body.size()) {
        for (std::size_t k = 0; k < b.body.size(); ++k) at_.emplace(b.body[k], k);
        for (std::size_t k = 0; k < b.body.size(); ++k)
            for_each_operand(f.at(b.body[k]), [&](const operand& o) { if (const auto d = find(o)) after_[*d].push_back(k); });
        order_memory(f, b);
    }

    /// Position of the value's instruction in this block, if it is here.
    [[nodiscard]] const std::size_t* find(const operand& o) const {
        const auto found = o.is_value() ? at_.find(o.bits) : at_.end();
        return found == at_.end() ? nullptr : &found->second;
    }

    /// The nodes that must come before k: accesses before an access, uses before a new value is written.
    [[nodiscard]] const std::vector<std::size_t>& memory_before(std::size_t k) const { return memory_before_[k]; }
    [[nodiscard]] const std::vector<std::size_t>& rules_before(std::size_t k) const { return rules_before_[k]; }

    void add_rule(std::size_t use, std::size_t make) {
        rules_before_[make].push_back(use);
        after_[use].push_back(make);
    }
    void remove_last_rule(std::size_t use, std::size_t make) {
        rules_before_[make].pop_back();
        after_[use].pop_back();
    }

    /// All nodes in an order that obeys everything, or fewer than all if there is none. Earlier in the body comes first.
    [[nodiscard]] std::vector<std::size_t> sorted() const {
        std::vector<std::size_t> open_before(after_.size(), 0), result;
        for (const auto& list : after_)
            for (std::size_t n : list) ++open_before[n];
        std::priority_queue<std::size_t, std::vector<std::size_t>, std::greater<>> ready;
        for (std::size_t k = 0; k < after_.size(); ++k)
            if (open_before[k] == 0) ready.push(k);
        while (!ready.empty()) {
            result.push_back(ready.top());
            ready.pop();
            for (std::size_t n : after_[result.back()])
                if (--open_before[n] == 0) ready.push(n);
        }
        return result;
    }

    /// Whether `to` must come after `from`.
    [[nodiscard]] bool reaches(std::size_t from, std::size_t to) const {
        std::vector<std::uint8_t> seen(after_.size(), 0);
        std::vector<std::size_t> open{from};
        while (!open.empty()) {
            const std::size_t k = open.back();
            open.pop_back();
            if (k == to) return true;
            for (std::size_t n : after_[k])
                if (!seen[n]) seen[n] = 1, open.push_back(n);
        }
        return false;
    }

private:
    /// An address as a base and a constant distance from it.
    struct reach {
        operand base{};
        std::uint32_t offset = 0, bytes = 4;
    };
    static reach reach_of(const function& f, const instruction& access) {
        const operand& address = access.a;
        if (address.is_literal()) return {zero, address.bits, access.bytes()};
        if (!address.is_value()) return {address, 0, access.bytes()};
        const instruction& i = f.at(address.bits);
        if (i.is_alu(alu_op::add) && i.mod == 0 && i.b.is_literal()) return {i.a, i.b.bits, access.bytes()};
        return {address, 0, access.bytes()};
    }
    static bool may_meet(const reach& x, const reach& y) {
        return x.base != y.base || x.offset - y.offset < y.bytes || y.offset - x.offset < x.bytes;
    }

    void add(std::size_t first, std::size_t then) {
        memory_before_[then].push_back(first);
        after_[first].push_back(then);
    }

    /// Accesses of different memories never meet; what is not private is not of local memory.
    static bool apart(const instruction& x, const instruction& y) {
        if (x.where != region::any && y.where != region::any) return x.where != y.where;
        return (x.where == region::local && !y.is_private) || (y.where == region::local && !x.is_private);
    }

    /// Whether x must come before y, which stands behind it: fences, volatile accesses, writes that others may see in their
    /// order, and accesses of one place.
    static bool keep_order(const instruction& x, const reach& at_x, const instruction& y, const reach& at_y) {
        if (x.epoch != y.epoch || (x.pinned() && y.pinned())) return true;
        if (apart(x, y) || (!x.writes_memory() && !y.writes_memory())) return false;
        const bool both_write = x.writes_memory() && y.writes_memory();
        const bool seen_by_others = x.where != region::local && y.where != region::local;
        return may_meet(at_x, at_y) || (seen_by_others && (both_write || x.pinned() || y.pinned()));
    }

    void order_memory(const function& f, const block& b) {
        std::vector<std::size_t> nodes;
        std::vector<reach> places;
        std::vector<bit_set> before;
        for (std::size_t k = 0; k < b.body.size(); ++k)
            if (f.at(b.body[k]).is_memory()) nodes.push_back(k), places.push_back(reach_of(f, f.at(b.body[k])));
        for (std::size_t y = 0; y < nodes.size(); ++y) {
            before.emplace_back(nodes.size());
            for (std::size_t x = y; x-- > 0;) {
                if (before[y].test(x) || !keep_order(f.at(b.body[nodes[x]]), places[x], f.at(b.body[nodes[y]]), places[y])) continue;
                add(nodes[x], nodes[y]);
                before[y].set(x);
                before[y].merge(before[x]);
            }
        }
    }

    std::unordered_map<value_id, std::size_t> at_;
    std::vector<std::vector<std::size_t>> after_, memory_before_, rules_before_;
};

}  // namespace qwengpu::ptx::ir
