// SPDX-License-Identifier: MIT
// The problem of forming machine blocks from one basic block: instructions as nodes with what each needs, may do and costs.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include <qwengpu/ptx/ir.hpp>
#include <qwengpu/ptx/ir_liveness.hpp>
#include <qwengpu/ptx/uniformity.hpp>
#include <qwengpu/ptx/webs.hpp>

namespace qwengpu::ptx::fuse {

inline constexpr int no_node = -1;
inline constexpr std::uint32_t no_web = 0xffffffffU;
/// Lanes that a record writes a value for, if it differs between them: fewer than four where lanes have parted.
inline constexpr double lanes = 3.5;

/// What an operand is to the node that has it.
struct input {
    int node = no_node;                ///< made in this block
    std::uint32_t external = no_web;   ///< index into problem::externals: in a register when the block begins
    machine::special_register special = machine::special_register::none;
};

struct node {
    ir::value_id v = 0;
    ir::made_by kind = ir::made_by::alu;
    bool only_stage3 = false, uniform = false;
    bool crosses = false;              ///< must be in its register when the block ends
    bool guarded_store = false;        ///< shares the block's condition, so it stands in no block with a branch
    bool stores_part = false;          ///< a store that takes the memory stage and stage 4 too
    bool must_write = false;           ///< a load whose value nobody uses still needs a slot
    std::uint32_t web = no_web;
    double word = 1.5;                 ///< tokens of its word
    double expected = 0;               ///< tokens that it will probably cost while it is still to come
    std::array<input, 4> in{};
    std::vector<int> users, memory_before, rules_before;
    bool used_by_branch = false;

    [[nodiscard]] bool is_alu() const { return kind == ir::made_by::alu; }
    [[nodiscard]] bool is_atomic() const { return kind == ir::made_by::atomic; }
    [[nodiscard]] bool is_collective() const { return kind == ir::made_by::collective; }
    /// Cheap enough to be worked out again instead of kept in a register.
    [[nodiscard]] bool repeatable() const { return is_alu() && !only_stage3; }
};

/// A register that is alive when the block begins.
struct external {
    std::uint32_t web = no_web;
    bool uniform = false;
    bool stays = false;                ///< alive at the end of the block too
    std::vector<int> users;
};

struct problem {
    std::vector<node> nodes;           ///< in an order that obeys all rules
    std::vector<external> externals;
    bool branches = false;
    input condition{};
    int through = 0;                   ///< registers alive from start to end that nothing here reads
};

namespace detail {

class problem_maker {
public:
    problem_maker(const ir::function& f, ir::block_id b, const ir::webs& w, const ir::liveness& lives, const ir::uniformity& uniform)
        : f_(f), block_(f.blocks[b]), id_(b), webs_(w), lives_(lives), uniform_(uniform) {}

    problem run() {
        const ir::block_order order = ir::detail::order_with_rules(f_, webs_, lives_, id_);
        const std::vector<std::size_t> sorted = order.sorted();
        std::vector<int> new_place(sorted.size());
        for (std::size_t k = 0; k < sorted.size(); ++k) {
            new_place[sorted[k]] = static_cast<int>(k);
            place_.emplace(block_.body[sorted[k]], static_cast<int>(k));
        }
        for (std::size_t old : sorted) {
            node n = make(block_.body[old]);
            for (std::size_t m : order.memory_before(old)) n.memory_before.push_back(new_place[m]);
            for (std::size_t r : order.rules_before(old)) n.rules_before.push_back(new_place[r]);
            out_.nodes.push_back(std::move(n));
        }
        out_.branches = block_.end.branches();
        if (out_.branches) out_.condition = branch_input();
        count_users();
        for (node& n : out_.nodes) n.expected = expected(n);
        count_through();
        return std::move(out_);
    }

private:
    node make(ir::value_id v) {
        const ir::instruction& i = f_.at(v);
        node n;
        n.v = v;
        n.kind = i.kind;
        n.only_stage3 = n.is_alu() && machine::find_instruction(i.op)->only_stage3;
        n.uniform = uniform_.uniform(v);
        n.crosses = lives_.alive_out(id_, v);
        n.guarded_store = i.kind == ir::made_by::store && i.c.present();
        n.stores_part = i.stores_part();
        n.web = webs_.of(v);
        n.word = ir::tokens_of_word(f_, v);
        std::size_t k = 0;
        for (const ir::operand* o : {&i.a, &i.b, &i.c, &i.d}) n.in[k++] = input_of(*o);
        return n;
    }

    input input_of(const ir::operand& o) {
        if (o.kind == ir::from::special) return {no_node, no_web, static_cast<machine::special_register>(o.bits)};
        if (!o.is_value()) return {};
        const auto here = place_.find(o.bits);
        if (here != place_.end()) return {here->second, no_web, machine::special_register::none};
        const std::uint32_t web = webs_.of(o.bits);
        const auto [at, fresh] = external_.try_emplace(web, static_cast<std::uint32_t>(out_.externals.size()));
        if (fresh) out_.externals.push_back({web, uniform_.uniform(o), lives_.alive_out(id_, o.bits), {}});
        return {no_node, at->second, machine::special_register::none};
    }

    input branch_input() {
        const input i = input_of(block_.end.cond);
        if (i.node != no_node) out_.nodes[static_cast<std::size_t>(i.node)].used_by_branch = true;
        return i;
    }

    void count_users() {
        for (std::size_t k = 0; k < out_.nodes.size(); ++k)
            for (const input& i : out_.nodes[k].in) {
                const int user = static_cast<int>(k);
                if (i.node != no_node) add_once(out_.nodes[static_cast<std::size_t>(i.node)].users, user);
                if (i.external != no_web) add_once(out_.externals[i.external].users, user);
            }
        for (node& n : out_.nodes)
            n.must_write = n.kind == ir::made_by::load && n.users.empty() && !n.used_by_branch && !n.crosses;
    }

    static void add_once(std::vector<int>& list, int n) {
        if (list.empty() || list.back() != n) list.push_back(n);
    }

    /// A share of a record, and of the word's tokens where it will likely need a register.
    static double expected(const node& n) {
        constexpr double record_share = 0.35;
        const double word = n.uniform ? 1 + n.word : lanes * n.word;
        if (n.kind == ir::made_by::store || n.kind == ir::made_by::atomic) return 1 + lanes * 2.5;
        if (n.crosses || n.must_write) return record_share + word;
        const bool awkward = !n.repeatable() && n.users.size() > 1;
        return record_share + word * (awkward ? 0.6 : 0.2);
    }

    void count_through() {
        for (ir::value_id v : lives_.crossing())
            if (lives_.alive_in(id_, v) && lives_.alive_out(id_, v) && !external_.contains(webs_.of(v))) ++out_.through;
    }

    const ir::function& f_;
    const ir::block& block_;
    ir::block_id id_;
    const ir::webs& webs_;
    const ir::liveness& lives_;
    const ir::uniformity& uniform_;
    problem out_;
    std::unordered_map<ir::value_id, int> place_;
    std::unordered_map<std::uint32_t, std::uint32_t> external_;
};

}  // namespace detail

inline problem problem_of(const ir::function& f, ir::block_id b, const ir::webs& w, const ir::liveness& lives, const ir::uniformity& uniform) {
    return detail::problem_maker(f, b, w, lives, uniform).run();
}

}  // namespace qwengpu::ptx::fuse
