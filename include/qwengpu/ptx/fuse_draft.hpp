// SPDX-License-Identifier: MIT
// A machine block in the making: nodes in its stages. Evaluating a draft after some nodes are done says whether it is a
// legal block there, what it finishes, and how many tokens its record will probably take.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>

#include <qwengpu/ptx/fuse_problem.hpp>

namespace qwengpu::ptx::fuse {

/// Nodes of stages 1 to 4 (index 0 to 3) and of the store; `write` marks the values that go to registers.
struct draft {
    std::array<int, 4> stage{no_node, no_node, no_node, no_node};
    std::array<bool, 4> write{};
    int store = no_node;
    bool branch = false;

    [[nodiscard]] bool empty() const {
        return store == no_node && !branch && std::all_of(stage.begin(), stage.end(), [](int n) { return n == no_node; });
    }
    [[nodiscard]] int stage_holding(int n) const {
        for (int k = 0; k < 4; ++k)
            if (n != no_node && stage[static_cast<std::size_t>(k)] == n) return k;
        return -1;
    }
};

/// The node in the draft's memory stage, or nullptr.
inline const node* access_of(const problem& p, const draft& d) { return d.stage[1] == no_node ? nullptr : &p.nodes[static_cast<std::size_t>(d.stage[1])]; }

/// An atomic takes all stages from the second on, and the store.
inline bool holds_atomic(const problem& p, const draft& d) {
    const node* x = access_of(p, d);
    return x != nullptr && x->is_atomic();
}

/// What is behind us: nodes that need no more work, and of these the ones whose value is in a register.
struct progress {
    ir::bit_set done, written;
    int live = 0;  ///< registers alive, without those that nothing in the block reads
};

namespace detail {

/// Registers read by a block and what depends on them, as bits 0-3 for ports and bit 4 for the special register.
struct reads {
    std::array<std::uint32_t, 4> web{no_web, no_web, no_web, no_web};
    std::array<bool, 4> uniform{};
    int count = 0;
    machine::special_register special = machine::special_register::none;
    bool fits = true;

    unsigned port(std::uint32_t w, bool is_uniform) {
        for (int k = 0; k < count; ++k)
            if (web[static_cast<std::size_t>(k)] == w) return 1U << k;
        if (count == 4) return fits = false, 0;
        web[static_cast<std::size_t>(count)] = w;
        uniform[static_cast<std::size_t>(count)] = is_uniform;
        return 1U << count++;
    }
    unsigned special_port(machine::special_register s) {
        if (special != machine::special_register::none && special != s) fits = false;
        special = s;
        return 16U;
    }
    [[nodiscard]] bool all_uniform(unsigned ports) const {
        if (ports & 16U) return false;
        for (int k = 0; k < count; ++k)
            if (((ports >> k) & 1U) && !uniform[static_cast<std::size_t>(k)]) return false;
        return true;
    }
};

/// What a draft reads, what each stage is made from, and which stages others of the block are made from.
struct outline {
    detail::reads reads;
    std::array<unsigned, 4> from{};
    unsigned from_store = 0, from_branch = 0;
    std::array<bool, 4> serves{};
};

}  // namespace detail

class evaluator {
public:
    explicit evaluator(const problem& p) : p_(p) {}

    /// Whether an operand is no matter of the draft's: not made in this basic block, or in its register already.
    [[nodiscard]] static bool in_register(const progress& at, const input& i) { return i.node == no_node || at.written.test(index(i.node)); }

    [[nodiscard]] static bool memory_allows(const progress& at, const node& x) {
        return std::all_of(x.memory_before.begin(), x.memory_before.end(), [&](int before) { return at.done.test(index(before)); });
    }

    /// Whether an operand can be had at stage `stage` (0 to 3; 4: store and branch).
    [[nodiscard]] bool available(const progress& at, const draft& d, const input& i, int stage) const {
        if (in_register(at, i)) return true;
        const int made = d.stage_holding(i.node);
        return made >= 0 && made < stage;
    }

    [[nodiscard]] bool store_ready(const progress& at, const draft& d, int n) const {
        const node& x = p_.nodes[index(n)];
        if (!memory_allows(at, x)) return false;
        if (x.stores_part) return ready_part(at, d, x);
        return std::all_of(x.in.begin(), x.in.end(), [&](const input& i) { return available(at, d, i, 4); });
    }

    /// What the draft reads and what is made from it; nothing if it reads more than a block may.
    [[nodiscard]] std::optional<detail::outline> outline_of(const draft& d) const {
        detail::outline o;
        if (const node* x = access_of(p_, d); x != nullptr && reads_register_zero(*x)) (void)o.reads.port(no_web, true);
        for (int k = 0; k < 4; ++k)
            if (const int n = d.stage[index(k)]; n != no_node) o.from[index(k)] = sources(d, n, o);
        if (d.store != no_node) o.from_store = sources(d, d.store, o);
        if (d.branch) o.from_branch = source(d, p_.condition, o);
        if (!o.reads.fits) return std::nullopt;
        return o;
    }

    /// Finishes the draft on top of `at`: nodes that are done behind it, registers alive. `keep` holds for each stage whether
    /// a value that could be worked out again goes to a register. Returns the tokens of a record, or nothing if illegal.
    std::optional<double> evaluate(const progress& at, draft& d, const detail::outline& o, const std::array<bool, 4>& keep, progress& after) const {
        after = at;
        if (d.store != no_node) after.done.set(index(d.store));
        if (!mark_done(d, keep, after) || !all_serve(d, o) || !harmless(d, o) || !suits_memory_stage(d, o.reads) || !rules_hold(d, after)) return std::nullopt;
        after.live += change_of_live(at, d, after);
        return tokens(d, o);
    }

private:
    static std::size_t index(int n) { return static_cast<std::size_t>(n); }

    /// A collective names the register that it reads, if it reads zero too: register 0 takes a port.
    [[nodiscard]] static bool reads_register_zero(const node& x) {
        const input& i = x.in[1];
        return x.is_collective() && i.node == no_node && i.external == no_web && i.special == machine::special_register::none;
    }

    /// A store of a part of a word loads the word in the memory stage and puts the part in in stage 4.
    [[nodiscard]] bool ready_part(const progress& at, const draft& d, const node& x) const {
        return d.stage[1] == no_node && d.stage[3] == no_node && available(at, d, x.in[0], 1) && available(at, d, x.in[1], 3) &&
               available(at, d, x.in[2], 1);
    }

    [[nodiscard]] bool users_done(const node& x, const progress& after, const draft& d) const {
        if (x.used_by_branch && !d.branch) return false;
        return std::all_of(x.users.begin(), x.users.end(), [&](int u) { return after.done.test(index(u)); });
    }

    /// From the last stage to the first, since users stand behind what they use.
    bool mark_done(draft& d, const std::array<bool, 4>& keep, progress& after) const {
        for (int k = 3; k >= 0; --k) {
            const int n = d.stage[index(k)];
            if (n == no_node) continue;
            const node& x = p_.nodes[index(n)];
            const bool wanted = x.crosses || x.must_write || !users_done(x, after, d);
            d.write[index(k)] = wanted && (keep[index(k)] || !x.repeatable());
            if (!wanted || d.write[index(k)]) after.done.set(index(n));
            if (d.write[index(k)]) after.written.set(index(n));
            if (!x.repeatable() && !after.done.test(index(n))) return false;
        }
        return true;
    }

    unsigned source(const draft& d, const input& i, detail::outline& o) const {
        if (i.special != machine::special_register::none) return o.reads.special_port(i.special);
        if (i.external != no_web) return o.reads.port(p_.externals[i.external].web, p_.externals[i.external].uniform);
        if (i.node == no_node) return 0;
        if (const int made = d.stage_holding(i.node); made >= 0) {
            o.serves[index(made)] = true;
            return o.from[index(made)];
        }
        const node& x = p_.nodes[index(i.node)];
        return o.reads.port(x.web, x.uniform);
    }

    unsigned sources(const draft& d, int n, detail::outline& o) const {
        unsigned all = 0;
        for (const input& i : p_.nodes[index(n)].in) all |= source(d, i, o);
        return all;
    }

    /// No slot may overwrite a register that a later slot (an earlier stage) is still made from.
    [[nodiscard]] bool harmless(const draft& d, const detail::outline& o) const {
        for (int late = 3; late >= 0; --late) {
            if (!d.write[index(late)]) continue;
            const std::uint32_t web = p_.nodes[index(d.stage[index(late)])].web;
            for (int early = 0; early < late; ++early) {
                if (!d.write[index(early)]) continue;
                if (p_.nodes[index(d.stage[index(early)])].web == web) return false;
                for (int k = 0; k < o.reads.count; ++k)
                    if (o.reads.web[index(k)] == web && ((o.from[index(early)] >> k) & 1U)) return false;
            }
        }
        return true;
    }

    /// A collective reads its register once more for every slot, an atomic all of its own after it wrote what was there.
    [[nodiscard]] bool suits_memory_stage(const draft& d, const detail::reads& r) const {
        const node* x = access_of(p_, d);
        if (x == nullptr) return true;
        if (x->is_atomic()) return !d.write[0] && !(d.write[1] && std::find(r.web.begin(), r.web.end(), x->web) != r.web.end());
        if (!x->is_collective()) return true;
        const input& i = x->in[1];
        const std::uint32_t web = i.external != no_web ? p_.externals[i.external].web : i.node != no_node ? p_.nodes[index(i.node)].web : no_web;
        for (std::size_t k = 0; k < 4; ++k)
            if (d.write[k] && p_.nodes[index(d.stage[k])].web == web) return false;
        return true;
    }

    /// A new value of a web is written only when all uses of the old one are done.
    [[nodiscard]] bool rules_hold(const draft& d, const progress& after) const {
        for (int k = 0; k < 4; ++k) {
            if (!d.write[index(k)]) continue;
            for (int use : p_.nodes[index(d.stage[index(k)])].rules_before)
                if (!after.done.test(index(use))) return false;
        }
        return true;
    }

    /// Every value reaches a slot of the block: it is written, or something else in the block is made from it.
    [[nodiscard]] bool all_serve(const draft& d, const detail::outline& o) const {
        for (std::size_t k = 0; k < 4; ++k)
            if (d.stage[k] != no_node && !d.write[k] && !o.serves[k] && !p_.nodes[index(d.stage[k])].is_atomic()) return false;
        return true;
    }

    int change_of_live(const progress& at, const draft& d, const progress& after) const {
        int change = 0;
        for (bool w : d.write) change += w ? 1 : 0;
        std::array<std::uint32_t, 24> seen{};
        std::size_t n = 0;
        const auto first_time = [&](std::uint32_t key) {
            if (std::find(seen.begin(), seen.begin() + static_cast<std::ptrdiff_t>(n), key) != seen.begin() + static_cast<std::ptrdiff_t>(n)) return false;
            if (n < seen.size()) seen[n++] = key;
            return true;
        };
        const auto look = [&](const input& i) {
            if (i.external != no_web && first_time(i.external)) change -= dies(p_.externals[i.external], after) ? 1 : 0;
            if (i.node != no_node && at.written.test(index(i.node)) && first_time(0x80000000U | static_cast<std::uint32_t>(i.node)))
                change -= !p_.nodes[index(i.node)].crosses && users_done(p_.nodes[index(i.node)], after, d) ? 1 : 0;
        };
        for (int s : d.stage)
            if (s != no_node) std::for_each(p_.nodes[index(s)].in.begin(), p_.nodes[index(s)].in.end(), look);
        if (d.store != no_node) std::for_each(p_.nodes[index(d.store)].in.begin(), p_.nodes[index(d.store)].in.end(), look);
        if (d.branch) look(p_.condition);
        return change;
    }

    [[nodiscard]] bool dies(const external& e, const progress& after) const {
        return !e.stays && std::all_of(e.users.begin(), e.users.end(), [&](int u) { return after.done.test(index(u)); });
    }

    /// Header, then slots in their order: per lane, until all that is left is the same in all lanes.
    [[nodiscard]] double tokens(const draft& d, const detail::outline& o) const {
        struct position { double cost; unsigned from; };
        std::array<position, 6> slots{};
        std::size_t n = 0;
        if (d.branch) slots[n++] = {1, o.from_branch};
        if (d.store != no_node) slots[n++] = {2.5, o.from_store};
        for (int k = 3; k >= 0; --k)
            if (d.write[index(k)]) slots[n++] = {p_.nodes[index(d.stage[index(k)])].word, o.from[index(k)]};
        if (holds_atomic(p_, d)) return 1 + lanes * (2.5 + (n > 0 ? slots[0].cost : 0));
        std::size_t uniform_from = n;
        while (uniform_from > 0 && o.reads.all_uniform(slots[uniform_from - 1].from)) --uniform_from;
        double sum = uniform_from < n ? 2 : 1;
        for (std::size_t k = 0; k < n; ++k) sum += slots[k].cost * (k < uniform_from ? lanes : 1);
        return sum;
    }

    const problem& p_;
};

}  // namespace qwengpu::ptx::fuse
