// SPDX-License-Identifier: MIT
// Local variables that are only loaded and stored at places known when compiling become values. A place may be known only when
// the pointer to it has become a value itself; so it is tried, in rounds, and what proves wrong is tried again without it.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include <qwengpu/ptx/ir.hpp>
#include <qwengpu/ptx/ir_clean.hpp>
#include <qwengpu/ptx/ir_graph.hpp>
#include <qwengpu/ptx/ir_optimise.hpp>
#include <qwengpu/ptx/ir_simplify.hpp>
#include <qwengpu/ptx/ssa.hpp>

namespace qwengpu::ptx::ir {

namespace detail {

/// The variable whose bytes, or a little beside them, hold `byte`.
inline std::size_t variable_at(const function& f, std::uint32_t byte) {
    constexpr std::uint32_t beside = 1U << 13;
    for (std::size_t k = 0; k < f.locals.size(); ++k)
        if (byte + beside >= f.locals[k].first_byte && byte < f.locals[k].first_byte + f.locals[k].bytes + beside) return k;
    return f.locals.size();
}

/// Whether an access is of one place that is known, so that nothing but its word matters.
inline bool is_simple_access(const function& f, const instruction& i, std::uint32_t& byte) {
    return (i.kind == made_by::load || i.kind == made_by::store) && local_place_of(f, i.a, byte) && !i.pinned() && byte % i.bytes() == 0;
}

/// Finds the local variables whose addresses go anywhere but into loads and stores.
class escapes {
public:
    explicit escapes(const function& f) : f_(f), escaped_(f.locals.size() + 1, false) {
        for (const block& b : f.blocks) {
            for (value_id v : b.phis)
                for (const operand& o : f.inputs(v)) use(o);
            for (value_id v : b.body) instruction_of(v);
            if (b.end.cond.present()) use(b.end.cond);
        }
    }
    [[nodiscard]] const std::vector<bool>& variables() const { return escaped_; }

private:
    void instruction_of(value_id v) {
        const instruction& i = f_.at(v);
        std::uint32_t byte = 0;
        const bool sum = i.is_alu(alu_op::add) && local_place_of(f_, value(v), byte);
        if (sum) return;  // what is added up is followed to where it is used
        const bool simple = is_simple_access(f_, i, byte);
        for_each_operand(i, [&](const operand& o) { if (!simple || &o != &i.a) use(o); });
    }
    void use(const operand& o) {
        std::uint32_t byte = 0;
        if (local_place_of(f_, o, byte)) escaped_[variable_at(f_, byte)] = true;
    }

    const function& f_;
    std::vector<bool> escaped_;
};

/// What a promotion may do: variables that stay in memory, and the first round in which a word may become a value.
struct promotion_plan {
    std::vector<bool> kept;
    std::map<std::uint32_t, int> first_round;
};

/// Puts variables of SSA form in the place of local words. `words` says in which round a word became a value.
class promoter {
public:
    promoter(function& f, const promotion_plan& plan, std::map<std::uint32_t, int>& words, int round)
        : f_(f), plan_(plan), words_(words), round_(round), ssa_(f), by_(f.values.size()), done_(f.blocks.size(), 0) {}

    /// Returns whether anything became a value.
    bool run() {
        const graph g = graph_of(f_);
        seal_ready(0);
        for (block_id b : g.order) {
            one_block(b);
            done_[b] = 1;
            for (block_id s : successors(f_.blocks[b])) seal_ready(s);
        }
        for_each_place(f_, [&](operand& o) { o = by_.of(o); });
        return some_;
    }
    /// Words that are values since an earlier round, although not all of their accesses were known then.
    [[nodiscard]] const std::vector<std::uint32_t>& too_early() const { return too_early_; }

private:
    /// Whether the access of this place is one that becomes a value now.
    bool promotes(std::uint32_t byte) {
        const std::size_t k = variable_at(f_, byte);
        if (k >= f_.locals.size() || plan_.kept[k] || byte < f_.locals[k].first_byte || byte >= f_.locals[k].first_byte + f_.locals[k].bytes) return false;
        const auto first = plan_.first_round.find(byte / 4);
        if (first != plan_.first_round.end() && first->second > round_) return false;
        if (words_.try_emplace(byte / 4, round_).first->second < round_) too_early_.push_back(byte / 4);
        return some_ = true;
    }

    void seal_ready(block_id b) {
        if (ssa_.sealed(b)) return;
        const auto& before = f_.blocks[b].predecessors;
        if (std::all_of(before.begin(), before.end(), [&](block_id p) { return done_[p] != 0; })) ssa_.seal(b);
    }

    void one_block(block_id b) {
        const std::vector<value_id> before = std::exchange(f_.blocks[b].body, {});
        for (value_id v : before) {
            std::uint32_t byte = 0;
            const instruction i = f_.at(v);
            if (!is_simple_access(f_, i, byte) || !promotes(byte)) f_.blocks[b].body.push_back(v);
            else if (i.kind == made_by::load) load(b, v, i, byte);
            else store(b, i, byte);
        }
    }

    /// Operands may be loads that are values already.
    operand now(const operand& o) { return by_.of(o); }

    void load(block_id b, value_id v, const instruction& i, std::uint32_t byte) {
        const operand word = part(b, ssa_.read(b, byte / 4), i.access, byte % 4, i.source);
        const operand otherwise = now(i.c);
        by_.set(v, i.b.present() ? choose(b, now(i.b), i.sense, word, otherwise.present() ? otherwise : zero, i.source) : word);
    }

    void store(block_id b, const instruction& i, std::uint32_t byte) {
        const operand old = ssa_.read(b, byte / 4), data = now(i.b);
        operand x = data;
        if (i.stores_part())
            x = emit(b, {.op = alu_op::insert, .mod = i.size == machine::access_size::half ? machine::mod::insert_half : std::uint8_t{0}, .a = old, .b = data,
                         .c = literal(byte % 4), .source = i.source});
        ssa_.write(b, byte / 4, i.c.present() ? choose(b, now(i.c), i.sense, x, old, i.source) : x);
    }

    operand choose(block_id b, operand bit, bool sense, operand yes, operand no, std::uint32_t source) {
        return emit(b, {.op = alu_op::sel, .a = sense ? yes : no, .b = sense ? no : yes, .c = bit, .source = source});
    }

    operand part(block_id b, operand word, machine::memory_op access, std::uint32_t at, std::uint32_t source) {
        if (machine::size_of(access) == machine::access_size::word) return word;
        const std::uint32_t bits = machine::size_of(access) == machine::access_size::half ? 16 : 8;
        const bool with_sign = access == machine::memory_op::load_s8 || access == machine::memory_op::load_s16;
        const operand high = emit(b, {.op = alu_op::shl, .a = word, .b = literal(32 - bits - 8 * at), .source = source});
        return emit(b, {.op = with_sign ? alu_op::sar : alu_op::shr, .a = high, .b = literal(32 - bits), .source = source});
    }

    operand emit(block_id b, instruction i) {
        if (const auto same = simplify(f_, i)) return *same;
        f_.blocks[b].body.push_back(f_.add(i));
        return value(f_.blocks[b].body.back());
    }

    function& f_;
    const promotion_plan& plan_;
    std::map<std::uint32_t, int>& words_;
    int round_;
    bool some_ = false;
    std::vector<std::uint32_t> too_early_;
    ssa_builder ssa_;
    replacements by_;
    std::vector<std::uint8_t> done_;
};

/// One trial of a plan, and what it shows to be wrong with the plan.
class promotion_trial {
public:
    promotion_trial(const function& f, const promotion_plan& plan) : f_(f) {
        std::map<std::uint32_t, int> words;
        for (int round = 1; good_; ++round) {
            promoter p(f_, plan, words, round);
            if (!p.run()) break;
            for (std::uint32_t w : p.too_early()) later_[w] = round, good_ = false;
            optimise(f_);
        }
        escaped_ = escapes(f_).variables();
    }

    /// The function, if the plan was right: no address of a variable that became values went anywhere else. Then no access that
    /// is left can be of one, since its address would have come from there.
    [[nodiscard]] bool proves(const promotion_plan& plan) const {
        for (std::size_t k = 0; k < escaped_.size(); ++k)
            if (escaped_[k] && !plan.kept[k]) return false;
        return good_;
    }
    /// A plan with the mistakes taken out.
    [[nodiscard]] promotion_plan better(promotion_plan plan) const {
        for (const auto& [word, round] : later_) plan.first_round[word] = round;
        if (!good_) return plan;
        for (std::size_t k = 0; k < escaped_.size(); ++k) plan.kept[k] = plan.kept[k] || escaped_[k];
        return plan;
    }
    [[nodiscard]] function& result() { return f_; }

private:
    function f_;
    bool good_ = true;
    std::map<std::uint32_t, int> later_;
    std::vector<bool> escaped_;
};

}  // namespace detail

/// Local words become values where nothing but loads and stores knows their addresses.
inline void promote_locals(function& f) {
    if (f.locals.empty()) return;
    constexpr int most_trials = 24;
    detail::promotion_plan plan{std::vector<bool>(f.locals.size() + 1, false), {}};
    for (int n = 0;; ++n) {
        if (n == most_trials) plan = {detail::escapes(f).variables(), {}};
        detail::promotion_trial trial(f, plan);
        if (!trial.proves(plan) && n < most_trials) {
            plan = trial.better(std::move(plan));
            continue;
        }
        f = std::move(trial.result());
        return;
    }
}

}  // namespace qwengpu::ptx::ir
