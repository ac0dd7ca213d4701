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
        std::uint32_t offset = 0;
    };
    static reach reach_of(const function& f, const operand& address) {
        if (!address.is_value()) return {address, 0};
        const instruction& i = f.at(address.bits);
        if (i.is_alu(alu_op::add) && i.mod == 0 && i.b.is_literal()) return {i.a, i.b.bits};
        return {address, 0};
    }
    static bool may_meet(const reach& x, const reach& y) { return x.base != y.base || x.offset == y.offset; }

    void add(std::size_t first, std::size_t then) {
        memory_before_[then].push_back(first);
        after_[first].push_back(then);
    }

    /// Stores keep their order; a load keeps its place between the stores it may meet.
    void order_memory(const function& f, const block& b) {
        std::vector<std::pair<std::size_t, reach>> stores, loads;
        for (std::size_t k = 0; k < b.body.size(); ++k) {
            const instruction& i = f.at(b.body[k]);
            if (!i.is_memory()) continue;
            const reach here = reach_of(f, i.a);
            if (i.kind == made_by::store) {
                if (!stores.empty()) add(stores.back().first, k);
                for (const auto& [load, where] : loads)
                    if (may_meet(here, where)) add(load, k);
                stores.emplace_back(k, here);
            } else {
                for (std::size_t s = stores.size(); s-- > 0;)
                    if (i.pinned || may_meet(here, stores[s].second)) {
                        add(stores[s].first, k);
                        break;
                    }
                loads.emplace_back(k, here);
            }
        }
    }

    std::unordered_map<value_id, std::size_t> at_;
    std::vector<std::vector<std::size_t>> after_, memory_before_, rules_before_;
};

}  // namespace qwengpu::ptx::ir
