// SPDX-License-Identifier: MIT
// Passes over a whole kernel: simplify every instruction, drop phis that choose nothing, merge equal values (a value merges
// into one computed in a dominating block), drop what nobody uses, and follow what is left of the control flow.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include <qwengpu/ptx/ir.hpp>
#include <qwengpu/ptx/ir_graph.hpp>
#include <qwengpu/ptx/ir_simplify.hpp>

namespace qwengpu::ptx::ir {

/// How many operands of instructions, phis and branches name each value.
inline std::vector<std::uint32_t> count_uses(const function& f) {
    std::vector<std::uint32_t> uses(f.values.size(), 0);
    for_each_place(f, [&](const operand& o) { if (o.is_value()) ++uses[o.bits]; });
    return uses;
}

namespace detail {

/// What values were replaced by; chains are followed and shortened. Values made later are not replaced.
class replacements {
public:
    explicit replacements(std::size_t n) : by_(n) {}
    void set(value_id v, operand o) { by_[v] = o; }
    [[nodiscard]] bool replaced(value_id v) const { return v < by_.size() && by_[v].present(); }
    operand of(operand o) {
        while (o.is_value() && replaced(o.bits)) {
            operand& step = by_[o.bits];
            if (step.is_value() && replaced(step.bits)) step = by_[step.bits];
            o = step;
        }
        return o;
    }

private:
    std::vector<operand> by_;
};

using value_key = std::tuple<made_by, alu_op, std::uint8_t, std::uint64_t, std::uint64_t, std::uint64_t, std::uint64_t>;

inline value_key key_of(const instruction& i) {
    const auto word = [](const operand& o) { return std::uint64_t{static_cast<std::uint8_t>(o.kind)} << 32 | o.bits; };
    return {i.kind, i.op, i.mod, word(i.a), word(i.b), word(i.c), word(i.d)};
}

struct key_hash {
    std::size_t operator()(const value_key& k) const {
        std::uint64_t h = static_cast<std::uint64_t>(std::get<0>(k)) << 16 | static_cast<std::uint64_t>(std::get<1>(k)) << 8 | std::get<2>(k);
        for (std::uint64_t x : {std::get<3>(k), std::get<4>(k), std::get<5>(k), std::get<6>(k)}) h = (h ^ x) * 0x9e3779b97f4a7c15ULL;
        return static_cast<std::size_t>(h ^ (h >> 29));
    }
};

/// One round over all blocks in reverse post-order; says whether anything changed.
class optimiser {
public:
    optimiser(function& f, const graph& g) : f_(f), g_(g), by_(f.values.size()), uses_(count_uses(f)) {}

    bool run() {
        for (block_id b : g_.order) one_block(b);
        for (block_id b : g_.order) finish(b);
        return changed_;
    }

private:
    void one_block(block_id b) {
        auto& phis = f_.blocks[b].phis;
        std::erase_if(phis, [&](value_id v) { return chooses_nothing(v); });
        auto& body = f_.blocks[b].body;
        std::erase_if(body, [&](value_id v) { return goes_away(b, v); });
        branch(f_.blocks[b]);
    }

    bool chooses_nothing(value_id v) {
        operand only{};
        for (operand& o : f_.inputs(v)) {
            o = by_.of(o);
            if (o == value(v) || o == only) continue;
            if (only.present()) return false;
            only = o;
        }
        return replace(v, only.present() ? only : zero);
    }

    bool goes_away(block_id b, value_id v) {
        instruction& i = f_.at(v);
        const instruction before = i;
        for_each_operand(i, [&](operand& o) { o = by_.of(o); });
        const use_query single = [this](value_id x) { return uses_[x] == 1; };
        if (const auto same = simplify(f_, i, single)) return replace(v, *same);
        if (key_of(before) != key_of(i)) recount(before, i);
        if (i.kind == made_by::store) return i.c.is_literal();
        if (i.kind == made_by::atomic || i.kind == made_by::collective) return false;
        if (i.kind == made_by::load) return i.b.is_literal() ? replace(v, i.c.present() ? i.c : zero) : false;
        return merges(b, v);
    }

    /// Keeps the counts true enough for `single`: an operand that moved into another instruction has one more use there.
    void recount(const instruction& before, const instruction& after) {
        changed_ = true;
        for_each_operand(after, [&](const operand& o) { if (o.is_value()) ++uses_[o.bits]; });
        for_each_operand(before, [&](const operand& o) { if (o.is_value() && uses_[o.bits] > 0) --uses_[o.bits]; });
    }

    bool merges(block_id b, value_id v) {
        auto [at, fresh] = known_.try_emplace(key_of(f_.at(v)), std::vector<std::pair<block_id, value_id>>{});
        for (const auto& [where, earlier] : at->second)
            if (g_.dominates(where, b)) {
                uses_[earlier] += uses_[v];
                return replace(v, value(earlier));
            }
        at->second.emplace_back(b, v);
        return false;
    }

    bool replace(value_id v, operand o) {
        changed_ = true;
        if (o.is_value()) uses_[o.bits] += uses_[v];
        by_.set(v, o);
        return true;
    }

    void branch(block& b) {
        if (!b.end.branches()) return;
        const condition c = condition_of(f_, by_.of(b.end.cond));
        b.end.cond = by_.of(c.bit);
        if (c.inverted) b.end.sense = !b.end.sense;
    }

    /// Operands met before their replacement was known: phis of loop headers, and what stands before a back edge.
    void finish(block_id b) {
        for (value_id v : f_.blocks[b].phis)
            for (operand& o : f_.inputs(v)) o = by_.of(o);
        for (value_id v : f_.blocks[b].body) for_each_operand(f_.at(v), [&](operand& o) { o = by_.of(o); });
        f_.blocks[b].end.cond = by_.of(f_.blocks[b].end.cond);
    }

    function& f_;
    const graph& g_;
    replacements by_;
    std::vector<std::uint32_t> uses_;
    std::unordered_map<value_key, std::vector<std::pair<block_id, value_id>>, key_hash> known_;
    bool changed_ = false;
};

}  // namespace detail

/// Drops pure instructions and phis that nothing needs.
inline void drop_unused(function& f) {
    std::vector<std::uint8_t> needed(f.values.size(), 0);
    std::vector<value_id> open;
    const auto need = [&](const operand& o) {
        if (o.is_value() && !needed[o.bits]) needed[o.bits] = 1, open.push_back(o.bits);
    };
    for (const block& b : f.blocks) {
        if (b.dead) continue;
        need(b.end.cond);
        for (value_id v : b.body)
            if (!is_pure(f.at(v))) need(value(v));
    }
    while (!open.empty()) {
        const value_id v = open.back();
        open.pop_back();
        if (f.at(v).kind == made_by::phi)
            for (const operand& o : f.inputs(v)) need(o);
        for_each_operand(f.at(v), need);
    }
    for (block& b : f.blocks) {
        std::erase_if(b.phis, [&](value_id v) { return !needed[v]; });
        std::erase_if(b.body, [&](value_id v) { return !needed[v]; });
    }
}

}  // namespace qwengpu::ptx::ir
