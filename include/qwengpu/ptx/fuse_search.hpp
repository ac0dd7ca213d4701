// SPDX-License-Identifier: MIT
// Forms the machine blocks of one basic block: a beam search over what to put into the next block. States that have done
// the same nodes are one; the cheapest is kept. Cost is the tokens written so far plus what the rest will probably take.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include <qwengpu/error.hpp>
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

/// What may be behind us after some rounds.
struct state {
    progress at;
    double cost = 0, rest = 0;
    std::size_t open = 0;  ///< nodes that are not done
    int parent = -1;
    draft last;

    [[nodiscard]] double score() const { return cost + rest; }
};

/// A legal draft on top of a state, and what that would come to. Most are never looked at again, so it holds no sets.
struct attempt {
    draft last;
    std::array<bool, 4> keep{};
    double cost = 0, rest = 0;
    std::size_t open = 0;
    int parent = -1;
    bool complete = false;
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
    static constexpr std::size_t most_in_a_block = 5, most_candidates = 8;

    /// A node of the window, and those of its operands that only the draft itself can provide.
    struct waiting {
        int node = no_node;
        std::array<int, 4> missing{};
        std::size_t count = 0;
    };

    /// The first nodes that are not done. All nodes before the first are, so the first can always be worked.
    void find_window(const progress& at) {
        std::size_t k = 0;
        while (k < p_.nodes.size() && at.done.test(k)) ++k;
        open_ = 0;
        loads_.clear();
        alu_.clear();
        stores_.clear();
        for (; k < p_.nodes.size() && open_ < window_size_; ++k)
            if (!at.done.test(k)) ++open_, add_to_window(at, static_cast<int>(k));
    }

    void add_to_window(const progress& at, int n) {
        const node& x = p_.nodes[static_cast<std::size_t>(n)];
        if (x.kind == ir::made_by::store) return stores_.push_back(n);
        if (!e_.memory_allows(at, x)) return;
        waiting w{n, {}, 0};
        for (const input& i : x.in)
            if (!e_.in_register(at, i)) w.missing[w.count++] = i.node;
        if (x.is_collective() && !e_.in_register(at, x.in[1])) return;
        if (x.is_alu()) alu_.push_back(w);
        else loads_.push_back(w);
    }

    [[nodiscard]] static bool provides(const draft& d, const waiting& w, int stage) {
        for (std::size_t k = 0; k < w.count; ++k)
            if (const int made = d.stage_holding(w.missing[k]); made < 0 || made >= stage) return false;
        return true;
    }

    /// Nodes for a stage: those that go on with what the draft has made come first.
    std::size_t candidates(const draft& d, int stage, std::array<int, most_candidates>& found) const {
        std::array<int, most_candidates> others{};
        std::size_t go_on = 0, rest = 0;
        for (const waiting& w : stage == 1 ? loads_ : alu_) {
            if (go_on == breadth_ && rest == breadth_) break;
            if (stage != 1 && stage != 2 && p_.nodes[static_cast<std::size_t>(w.node)].only_stage3) continue;
            if (d.stage_holding(w.node) >= 0 || !provides(d, w, stage)) continue;
            if (w.count > 0 && go_on < breadth_) found[go_on++] = w.node;
            if (w.count == 0 && rest < breadth_) others[rest++] = w.node;
        }
        std::size_t n = go_on;
        for (std::size_t k = 0; k < rest && n < breadth_ + 2; ++k) found[n++] = others[k];
        return n;
    }

    template <class F>
    void stage(const progress& at, draft& d, int k, F& try_draft) {
        if (k == 4) return ends(at, d, try_draft);
        if (k > 1 && holds_atomic(p_, d)) return choices(d, try_draft);
        stage(at, d, k + 1, try_draft);
        std::array<int, most_candidates> found{};
        const std::size_t count = candidates(d, k, found);
        for (std::size_t c = 0; c < count; ++c) {
            d.stage[static_cast<std::size_t>(k)] = found[c];
            stage(at, d, k + 1, try_draft);
            d.stage[static_cast<std::size_t>(k)] = no_node;
        }
    }

    template <class F>
    void ends(const progress& at, draft& d, F& try_draft) {
        with_branch(at, d, try_draft);
        if (d.stage[1] != no_node) return;
        for (int n : stores_) {
            if (!e_.store_ready(at, d, n)) continue;
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
        if (!p_.branches || guarded || open_ > most_in_a_block || !e_.available(at, d, p_.condition, 4)) return;
        d.branch = true;
        choices(d, try_draft);
        d.branch = false;
    }

    /// Every value that could be worked out again: kept in a register, or not.
    template <class F>
    void choices(draft& d, F& try_draft) {
        const auto outline = e_.outline_of(d);
        if (!outline) return;
        std::array<bool, 4> keep{true, true, true, true};
        try_draft(d, *outline, keep);
        for (std::size_t k = 0; k < 4; ++k) {
            const int n = d.stage[k];
            if (n == no_node || !p_.nodes[static_cast<std::size_t>(n)].repeatable()) continue;
            keep[k] = false;
            try_draft(d, *outline, keep);
            keep[k] = true;
        }
    }

    const problem& p_;
    const evaluator& e_;
    std::size_t breadth_, window_size_;
    std::size_t open_ = 0;  ///< nodes in the window
    std::vector<waiting> alu_, loads_;
    std::vector<int> stores_;
};

class search {
public:
    search(const problem& p, const effort& how) : p_(p), how_(how), e_(p), proposer_(p, e_, p.nodes.size() > 60 ? 4 : 6, how.window) {
        if (p.nodes.size() > 200) how_.beam = std::min(how_.beam, std::size_t{2});
        else if (p.nodes.size() > 60) how_.beam = std::min(how_.beam, std::size_t{4});
    }

    std::vector<draft> run() {
        states_.push_back(first());
        after_ = states_.front().at;
        std::vector<int> front{0};
        while (!front.empty()) {
            next_.clear();
            for (int s : front) expand(s);
            front = select();
        }
        if (best_ < 0) throw error("ptx.internal", "no machine block can hold what a block of the kernel does; please report this kernel");
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

    void expand(int parent) {
        const state& from = states_[static_cast<std::size_t>(parent)];
        proposer_.propose(from.at, [&](const draft& d, const outline& o, const std::array<bool, 4>& keep) {
            attempt a{d, keep, 0, from.rest, from.open, parent, false};
            const auto tokens = e_.evaluate(from.at, a.last, o, keep, after_);
            if (!tokens) return;
            for (int n : d.stage) count_done(from.at, a, n);
            count_done(from.at, a, d.store);
            a.complete = a.open == 0 && d.branch == p_.branches;
            if (d.branch && a.open > 0) return;
            a.cost = from.cost + *tokens + how_.price_of_register * std::max(0, after_.live - how_.registers);
            next_.push_back(a);
        });
    }

    /// What the node was expected to cost is not to come any more once it is done.
    void count_done(const progress& before, attempt& a, int n) const {
        if (n == no_node) return;
        const auto k = static_cast<std::size_t>(n);
        if (before.done.test(k) || !after_.done.test(k)) return;
        a.rest -= p_.nodes[k].expected;
        --a.open;
    }

    /// The best states of the next round; complete ones leave the race.
    std::vector<int> select() {
        order_.clear();
        for (std::size_t k = 0; k < next_.size(); ++k) order_.emplace_back(next_[k].cost + next_[k].rest, k);
        std::sort(order_.begin(), order_.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
        std::vector<int> front;
        for (const auto& [score, k] : order_) {
            if (best_ >= 0 && score >= states_[static_cast<std::size_t>(best_)].score()) break;
            const bool complete = next_[k].complete;
            if (!complete && front.size() >= how_.beam) continue;
            state s = made(next_[k]);
            if (!complete && known(front, s)) continue;
            states_.push_back(std::move(s));
            const int id = static_cast<int>(states_.size() - 1);
            if (complete) best_ = id;
            else front.push_back(id);
        }
        return front;
    }

    state made(const attempt& a) const {
        state s{progress(), a.cost, a.rest, a.open, a.parent, a.last};
        (void)e_.evaluate(states_[static_cast<std::size_t>(a.parent)].at, s.last, *e_.outline_of(s.last), a.keep, s.at);
        return s;
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
    proposer proposer_;
    std::vector<state> states_;
    std::vector<attempt> next_;
    std::vector<std::pair<double, std::size_t>> order_;
    progress after_;
    int best_ = -1;
};

}  // namespace detail

/// The machine blocks of a basic block, in their order; none if there is nothing to do.
/// @throws error "ptx.internal" if there are none although there is something to do: a fault of what formed the problem
inline std::vector<draft> form_blocks(const problem& p, const effort& how) {
    if (p.nodes.empty() && !p.branches) return {};
    return detail::search(p, how).run();
}

}  // namespace qwengpu::ptx::fuse
