// SPDX-License-Identifier: MIT
// Takes a kernel out of SSA form: values that phis join share one register variable (a web) where their lives allow it, and
// copies go where they do not. Lives may touch inside a block: then the old value's uses must come before the new value,
// which becomes a rule of the block's order (C. W. Click's and others' "coalescing"; here the order is still open).
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include <qwengpu/ptx/ir.hpp>
#include <qwengpu/ptx/ir_clean.hpp>
#include <qwengpu/ptx/ir_graph.hpp>
#include <qwengpu/ptx/ir_legalise.hpp>
#include <qwengpu/ptx/ir_liveness.hpp>
#include <qwengpu/ptx/ir_order.hpp>

namespace qwengpu::ptx::ir {

/// Which values share a register variable: `of(v)` is the web's first value.
class webs {
public:
    explicit webs(std::size_t values = 0) { grow(values); }

    void grow(std::size_t values) {
        for (std::size_t v = parent_.size(); v < values; ++v) {
            parent_.push_back(static_cast<value_id>(v));
            members_.push_back({static_cast<value_id>(v)});
        }
    }
    [[nodiscard]] value_id of(value_id v) const {
        while (parent_[v] != v) v = parent_[v];
        return v;
    }
    [[nodiscard]] const std::vector<value_id>& members(value_id v) const { return members_[of(v)]; }
    void join(value_id a, value_id b) {
        a = of(a);
        b = of(b);
        if (a == b) return;
        if (members_[a].size() < members_[b].size()) std::swap(a, b);
        parent_[b] = a;
        members_[a].insert(members_[a].end(), members_[b].begin(), members_[b].end());
        members_[b].clear();
    }

private:
    std::vector<value_id> parent_;
    std::vector<std::vector<value_id>> members_;
};

namespace detail {

/// A rule for a block's order: the node `use` before the node `make`.
struct order_rule {
    block_id where = 0;
    std::size_t use = 0, make = 0;
};

/// Where the old value x of a web is used in block b, if it dies there while y of the same web is made there.
inline std::vector<order_rule> rules_between(const function& f, const liveness& lives, const block_order& order, block_id b,
                                             value_id x, value_id y) {
    std::vector<order_rule> rules;
    const std::size_t* make = order.find(value(y));
    const auto& body = f.blocks[b].body;
    if (make == nullptr || !lives.alive_in(b, x)) return rules;
    for (std::size_t k = 0; k < body.size(); ++k) {
        bool uses = false;
        for_each_operand(f.at(body[k]), [&](const operand& o) { uses = uses || o == value(x); });
        if (uses && k != *make) rules.push_back({b, k, *make});
    }
    return rules;
}

class coalescer {
public:
    coalescer(const function& f, webs& w, const graph& g) : f_(f), webs_(w), lives_(f) {
        for (const block& b : f.blocks) orders_.emplace_back(f, b);
        find_spans();
        std::vector<value_id> phis;
        for (block_id b : g.order) phis.insert(phis.end(), f.blocks[b].phis.begin(), f.blocks[b].phis.end());
        std::stable_sort(phis.begin(), phis.end(), [&](value_id a, value_id b) { return g.depth(lives_.home(a)) > g.depth(lives_.home(b)); });
        for (value_id phi : phis)
            for (const operand& o : f.inputs(phi))
                if (o.is_value()) try_join(phi, o.bits);
    }

private:
    /// For every crossing value the blocks at whose start or end it is alive.
    void find_spans() {
        starts_.assign(f_.values.size(), {});
        ends_.assign(f_.values.size(), {});
        for (value_id v : lives_.crossing())
            for (block_id b = 0; b < f_.blocks.size(); ++b) {
                if (lives_.alive_in(b, v)) starts_[v].push_back(b);
                if (lives_.alive_out(b, v)) ends_[v].push_back(b);
            }
    }

    static bool meet(const std::vector<block_id>& x, const std::vector<block_id>& y) {
        for (std::size_t i = 0, j = 0; i < x.size() && j < y.size();) {
            if (x[i] == y[j]) return true;
            if (x[i] < y[j]) ++i;
            else ++j;
        }
        return false;
    }

    void try_join(value_id a, value_id b) {
        if (webs_.of(a) == webs_.of(b)) return;
        std::vector<order_rule> rules;
        for (value_id x : webs_.members(a))
            for (value_id y : webs_.members(b))
                if (!compatible(x, y, rules)) return;
        if (add_all(rules)) webs_.join(a, b);
    }

    bool compatible(value_id x, value_id y, std::vector<order_rule>& rules) const {
        if (meet(starts_[x], starts_[y]) || meet(ends_[x], ends_[y])) return false;
        return touch(x, y, rules) && touch(y, x, rules);
    }

    /// Whether x may end in the block where y is made.
    bool touch(value_id x, value_id y, std::vector<order_rule>& rules) const {
        const block_id b = lives_.home(y);
        if (!lives_.alive_in(b, x) || f_.at(y).kind == made_by::phi) return true;
        if (f_.blocks[b].end.cond == value(x) || reads_again(f_.at(y), x)) return false;
        const auto more = rules_between(f_, lives_, orders_[b], b, x, y);
        rules.insert(rules.end(), more.begin(), more.end());
        return true;
    }

    /// Atomics and collectives read registers again after their result is written.
    static bool reads_again(const instruction& y, value_id x) {
        if (y.kind == made_by::collective) return y.b == value(x);
        bool reads = false;
        if (y.kind == made_by::atomic) for_each_operand(y, [&](const operand& o) { reads = reads || o == value(x); });
        return reads;
    }

    bool add_all(const std::vector<order_rule>& rules) {
        for (std::size_t k = 0; k < rules.size(); ++k) {
            block_order& order = orders_[rules[k].where];
            if (!order.reaches(rules[k].make, rules[k].use)) {
                order.add_rule(rules[k].use, rules[k].make);
                continue;
            }
            while (k-- > 0) orders_[rules[k].where].remove_last_rule(rules[k].use, rules[k].make);
            return false;
        }
        return true;
    }

    const function& f_;
    webs& webs_;
    liveness lives_;
    std::vector<block_order> orders_;
    std::vector<std::vector<block_id>> starts_, ends_;
};

/// Puts copies where a phi's input does not share its web.
class copier {
public:
    copier(function& f, webs& w) : f_(f), webs_(w), lives_(f), graph_(graph_of(f)) {}

    /// Inserts the copies and returns them.
    std::vector<value_id> run() {
        const auto blocks = static_cast<block_id>(f_.blocks.size());
        for (block_id s = 0; s < blocks; ++s)
            for (std::size_t way = 0; way < f_.blocks[s].predecessors.size(); ++way) one_way(s, way);
        return copies_;
    }

private:
    void one_way(block_id s, std::size_t way) {
        std::vector<value_id> apart;
        for (value_id phi : f_.blocks[s].phis) {
            const operand& o = f_.inputs(phi)[way];
            if (!o.is_value() || webs_.of(o.bits) != webs_.of(phi)) apart.push_back(phi);
        }
        if (apart.empty()) return;
        const block_id where = place_for(s, way, apart);
        for (value_id phi : apart) {
            const operand c = copy(where, f_.inputs(phi)[way]);
            f_.inputs(phi)[way] = c;
            webs_.join(phi, c.bits);
        }
    }

    operand copy(block_id where, const operand& o) {
        const value_id v = f_.add(move_of(o, f_.blocks[where].end.source));
        f_.blocks[where].body.push_back(v);
        copies_.push_back(v);
        webs_.grow(f_.values.size());
        return value(v);
    }

    /// The predecessor, or a new block on the way where the copies would disturb another way or run too often.
    block_id place_for(block_id s, std::size_t way, const std::vector<value_id>& apart) {
        const block_id p = f_.blocks[s].predecessors[way];
        if (f_.blocks[p].part != lock_part::none) return split(p, s, way);
        if (!f_.blocks[p].end.branches()) return p;
        if (depth(p) <= depth(s) && !disturbs(p, s, apart)) return p;
        return split(p, s, way);
    }

    int depth(block_id b) const { return b < graph_.loop_of.size() ? graph_.depth(b) : 0; }

    bool disturbs(block_id p, block_id s, const std::vector<value_id>& apart) const {
        const operand& cond = f_.blocks[p].end.cond;
        for (value_id phi : apart)
            for (value_id member : webs_.members(phi)) {
                if (cond == value(member)) return true;
                for (block_id other : successors(f_.blocks[p]))
                    if (other != s && (alive_in(other, member) || is_input(other, p, member))) return true;
            }
        return false;
    }

    /// At the start of a block that was split off an edge: what it copies, and what the block behind it needs.
    bool alive_in(block_id b, value_id v) const {
        if (b < graph_.loop_of.size()) return v < known_values_ && lives_.alive_in(b, v);
        const block& m = f_.blocks[b];
        const bool copied = std::any_of(m.body.begin(), m.body.end(), [&](value_id c) { return f_.at(c).a == value(v); });
        return copied || alive_in(m.end.next, v) || is_input(m.end.next, b, v);
    }

    bool is_input(block_id to, block_id from, value_id v) const {
        const std::size_t way = edge_index(f_.blocks[to], from);
        return std::any_of(f_.blocks[to].phis.begin(), f_.blocks[to].phis.end(),
                           [&](value_id phi) { return f_.inputs(phi)[way] == value(v); });
    }

    block_id split(block_id p, block_id s, std::size_t way) {
        const auto middle = static_cast<block_id>(f_.blocks.size());
        f_.blocks.emplace_back();
        block& m = f_.blocks.back();
        terminator& end = f_.blocks[p].end;
        m.predecessors = {p};
        m.end.next = s;
        m.end.source = end.source;
        if (end.taken == s) end.taken = middle;
        else end.next = middle;
        f_.blocks[s].predecessors[way] = middle;
        return middle;
    }

    function& f_;
    webs& webs_;
    liveness lives_;
    graph graph_;
    std::size_t known_values_ = f_.values.size();
    std::vector<value_id> copies_;
};

/// The order of a block with the rules that webs add.
inline block_order order_with_rules(const function& f, const webs& w, const liveness& lives, block_id b) {
    block_order order(f, f.blocks[b]);
    for (value_id y : f.blocks[b].body) {
        if (w.members(y).size() < 2) continue;
        for (value_id x : w.members(y))
            for (const order_rule& r : rules_between(f, lives, order, b, x, y)) order.add_rule(r.use, r.make);
    }
    return order;
}

/// Where copies at the end of a block wait for each other (a swap), they go through values of their own.
inline void break_cycles(function& f, webs& w, const std::vector<value_id>& copies) {
    const liveness lives(f);
    std::vector<std::uint8_t> is_copy(f.values.size(), 0);
    for (value_id v : copies) is_copy[v] = 1;
    for (block_id b = 0; b < f.blocks.size(); ++b) {
        if (order_with_rules(f, w, lives, b).sorted().size() == f.blocks[b].body.size()) continue;
        const std::vector<value_id> before = std::exchange(f.blocks[b].body, {});
        for (value_id v : before) {
            if (is_copy[v] && f.at(v).a.is_value()) {
                const value_id through = f.add(move_of(f.at(v).a, f.at(v).source));
                f.blocks[b].body.push_back(through);
                f.at(v).a = value(through);
            }
            f.blocks[b].body.push_back(v);
        }
        w.grow(f.values.size());
    }
}

/// Lanes that wait for different sections stand in one block (share_waits.hpp), so their numbers are in one register.
inline void join_numbers(const function& f, webs& w) {
    operand first{};
    for (const block& b : f.blocks) {
        if (b.part != lock_part::wait && b.part != lock_part::turn) continue;
        for (value_id v : b.body)
            for_each_operand(f.at(v), [&](const operand& o) {
                if (!o.is_value() || std::find(b.body.begin(), b.body.end(), o.bits) != b.body.end()) return;
                if (first.present()) w.join(first.bits, o.bits);
                else first = o;
            });
    }
}

}  // namespace detail

/// Joins what phis join and inserts copies for the rest; blocks may be added on edges.
inline webs make_webs(function& f) {
    webs w(f.values.size());
    detail::join_numbers(f, w);
    detail::coalescer(f, w, graph_of(f));
    const std::vector<value_id> copies = detail::copier(f, w).run();
    detail::break_cycles(f, w, copies);
    return w;
}

}  // namespace qwengpu::ptx::ir
