// SPDX-License-Identifier: MIT
// Forms the machine blocks of one basic block: a beam search over what to put into the next block. States that have done
// the same nodes are one; the cheapest is kept. Cost is the tokens written so far plus what the rest will probably take.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include <qwengpu/ptx/fuse_draft.hpp>

namespace qwengpu::ptx::fuse {

/// How hard to search, and how many registers there are.
struct effort {
    std::size_t beam = 8;
    std::size_t window = 40;        ///< how far ahead to look: few nodes keep to the input's order, and to its few registers
    int registers = 15;
    double price_of_register = 40;  ///< tokens that a register too many counts
};

namespace detail {

struct state {
    progress at;
    double cost = 0, rest = 0;
    std::size_t open = 0;  ///< nodes that are not done
    int parent = -1;
    draft last;
    bool complete = false;

    [[nodiscard]] double score() const { return cost + rest; }
};

/// Lists the drafts worth trying on top of one state.
class proposer {
public:
    proposer(const problem& p, const evaluator& e, std::size_t breadth, std::size_t window)
        : p_(p), e_(e), breadth_(breadth), window_size_(window) {}

    template <class F>
    void propose(const progress& at, F&& try_draft) {
        find_window(at);
        draft d;
        stage(at, d, 0, try_draft);
    }

private:
    static constexpr std::size_t most_in_a_block = 5;

    /// The first nodes that are not done. All nodes before the first are, so the first can always be worked.
    void find_window(const progress& at) {
        while (first_ < p_.nodes.size() && at.done.test(first_)) ++first_;
        window_.clear();
        for (std::size_t k = first_; k < p_.nodes.size() && window_.size() < window_size_; ++k)
            if (!at.done.test(k)) window_.push_back(static_cast<int>(k));
    }

    [[nodiscard]] bool suits(const node& n, int stage) const {
        if (stage == 1) return n.kind == ir::made_by::load || n.is_collective() || n.is_atomic();
        return n.is_alu() && (stage == 2 || !n.only_stage3);
    }

    /// Nodes for a stage: those that go on with what the draft has made come first.
    void candidates(const progress& at, const draft& d, int stage, std::vector<int>& found) const {
        std::array<std::vector<int>, 2> by_rank;
        for (int n : window_) {
            const node& x = p_.nodes[static_cast<std::size_t>(n)];
            if (!suits(x, stage) || d.stage_holding(n) >= 0 || !e_.ready(at, d, n, stage)) continue;
            const bool goes_on = std::any_of(x.in.begin(), x.in.end(), [&](const input& i) { return d.stage_holding(i.node) >= 0; });
            auto& list = by_rank[goes_on ? 0 : 1];
            if (list.size() < breadth_) list.push_back(n);
        }
        found = std::move(by_rank[0]);
        for (int n : by_rank[1])
            if (found.size() < breadth_ + 2) found.push_back(n);
    }

    template <class F>
    void stage(const progress& at, draft& d, int k, F& try_draft) {
        if (k == 4) return ends(at, d, try_draft);
        if (k > 1 && holds_atomic(d)) return choices(d, try_draft);
        stage(at, d, k + 1, try_draft);
        std::vector<int> found;
        candidates(at, d, k, found);
        for (int n : found) {
            d.stage[static_cast<std::size_t>(k)] = n;
            stage(at, d, k + 1, try_draft);
            d.stage[static_cast<std::size_t>(k)] = no_node;
        }
    }

    /// An atomic takes all stages from the second on, and the store.
    [[nodiscard]] bool holds_atomic(const draft& d) const {
        return d.stage[1] != no_node && p_.nodes[static_cast<std::size_t>(d.stage[1])].is_atomic();
    }

    template <class F>
    void ends(const progress& at, draft& d, F& try_draft) {
        with_branch(at, d, try_draft);
        if (d.stage[1] != no_node) return;
        for (int n : window_) {
            if (p_.nodes[static_cast<std::size_t>(n)].kind != ir::made_by::store || !e_.ready(at, d, n, 4)) continue;
            d.store = n;
            with_branch(at, d, try_draft);
            d.store = no_node;
            return;
        }
    }

    template <class F>
    void with_branch(const progress& at, draft& d, F& try_draft) {
        if (!d.empty()) choices(d, try_draft);
        const bool guarded = d.store != no_node && p_.nodes[static_cast<std::size_t>(d.store)].guarded_store;
        if (!p_.branches || guarded || window_.size() > most_in_a_block || !e_.available(at, d, p_.condition, 4)) return;
        d.branch = true;
        choices(d, try_draft);
        d.branch = false;
    }

    /// Every value that could be worked out again: kept in a register, or not.
    template <class F>
    void choices(draft& d, F& try_draft) {
        std::array<bool, 4> keep{true, true, true, true};
        try_draft(d, keep);
        for (std::size_t k = 0; k < 4; ++k) {
            const int n = d.stage[k];
            if (n == no_node || !p_.nodes[static_cast<std::size_t>(n)].repeatable()) continue;
            keep[k] = false;
            try_draft(d, keep);
            keep[k] = true;
        }
    }

    const problem& p_;
    const evaluator& e_;
    std::size_t breadth_, window_size_;
    std::size_t first_ = 0;
    std::vector<int> window_;
};

class search {
public:
    search(const problem& p, const effort& how) : p_(p), how_(how), e_(p) {
        if (p.nodes.size() > 200) how_.beam = 2;
        else if (p.nodes.size() > 60) how_.beam = 4;
    }

    std::vector<draft> run() {
        states_.push_back(first());
        std::vector<int> front{0};
        while (!front.empty()) {
            std::vector<state> next;
            for (int s : front) expand(s, next);
            front = select(next);
        }
        return path(best_);
    }

private:
    state first() const {
        state s;
        s.at = {ir::bit_set(p_.nodes.size()), ir::bit_set(p_.nodes.size()), static_cast<int>(p_.externals.size()) + p_.through};
        for (const node& n : p_.nodes) s.rest += n.expected;
        s.open = p_.nodes.size();
        return s;
    }

    void expand(int parent, std::vector<state>& next) {
        const state& from = states_[static_cast<std::size_t>(parent)];
        proposer propose(p_, e_, p_.nodes.size() > 60 ? 4 : 6, how_.window);
        propose.propose(from.at, [&](const draft& d, const std::array<bool, 4>& keep) {
            state s;
            s.last = d;
            const auto tokens = e_.evaluate(from.at, s.last, keep, s.at);
            if (!tokens) return;
            s.rest = from.rest;
            s.open = from.open;
            for (int n : d.stage) count_done(from.at, s, n);
            count_done(from.at, s, d.store);
            s.complete = s.open == 0 && d.branch == p_.branches;
            if (d.branch && s.open > 0) return;
            s.cost = from.cost + *tokens + how_.price_of_register * std::max(0, s.at.live - how_.registers);
            s.parent = parent;
            next.push_back(std::move(s));
        });
    }

    /// What the node was expected to cost is not to come any more once it is done.
    void count_done(const progress& before, state& s, int n) const {
        if (n == no_node) return;
        const auto k = static_cast<std::size_t>(n);
        if (before.done.test(k) || !s.at.done.test(k)) return;
        s.rest -= p_.nodes[k].expected;
        --s.open;
    }

    /// The best states of the next round; complete ones leave the race.
    std::vector<int> select(std::vector<state>& next) {
        std::sort(next.begin(), next.end(), [](const state& a, const state& b) { return a.score() < b.score(); });
        std::vector<int> front;
        for (state& s : next) {
            if (best_ >= 0 && s.score() >= states_[static_cast<std::size_t>(best_)].score()) break;
            if (!s.complete && (front.size() >= how_.beam || known(front, s))) continue;
            states_.push_back(std::move(s));
            const int id = static_cast<int>(states_.size() - 1);
            if (states_.back().complete) best_ = id;
            else front.push_back(id);
        }
        return front;
    }

    [[nodiscard]] bool known(const std::vector<int>& front, const state& s) const {
        return std::any_of(front.begin(), front.end(), [&](int k) {
            const progress& x = states_[static_cast<std::size_t>(k)].at;
            return x.done == s.at.done && x.written == s.at.written;
        });
    }

    std::vector<draft> path(int s) const {
        std::vector<draft> drafts;
        for (; s > 0; s = states_[static_cast<std::size_t>(s)].parent) drafts.push_back(states_[static_cast<std::size_t>(s)].last);
        std::reverse(drafts.begin(), drafts.end());
        return drafts;
    }

    const problem& p_;
    effort how_;
    evaluator e_;
    std::vector<state> states_;
    int best_ = -1;
};

}  // namespace detail

/// The machine blocks of a basic block, in their order; none if there is nothing to do.
inline std::vector<draft> form_blocks(const problem& p, const effort& how) {
    if (p.nodes.empty() && !p.branches) return {};
    return detail::search(p, how).run();
}

}  // namespace qwengpu::ptx::fuse
