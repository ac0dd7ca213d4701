// SPDX-License-Identifier: MIT
// The whole kernel as fused blocks: values in the four stages of each, in the order in which the program will hold them.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <qwengpu/ptx/fuse_search.hpp>
#include <qwengpu/ptx/ir.hpp>
#include <qwengpu/ptx/layout.hpp>

namespace qwengpu::ptx {

inline constexpr ir::value_id no_value = 0xffffffffU;

/// A machine block before registers have numbers. Targets are indices of fused blocks, or ir::exit_target, ir::trap_target.
struct fused_block {
    std::array<ir::value_id, 4> stage{no_value, no_value, no_value, no_value};
    std::array<bool, 4> write{};
    ir::value_id store = no_value;
    bool branch = false;
    bool meeting = false;         ///< gets one of the highest numbers, where the lanes of a warp meet
    int barrier = -1, barrier_count = 0;
    ir::lock_part part = ir::lock_part::none;
    ir::operand condition{};
    bool sense = true;
    std::uint32_t next = ir::exit_target, taken = ir::exit_target;
    std::uint32_t source = 0;     ///< of the branch
    std::uint32_t trap_if_taken = 0, trap_if_next = 0;  ///< sources of traps
    int ptx_instructions = 0, ptx_if_taken = 0;

    /// The stage (0 to 3) that makes the operand before stage `before`, or -1 if it comes from a register.
    [[nodiscard]] int made_in(const ir::operand& o, int before) const {
        for (int k = 0; k < before && k < 4; ++k)
            if (o.is_value() && stage[static_cast<std::size_t>(k)] == o.bits) return k;
        return -1;
    }
};

/// Calls f(operand, stage) for everything the block reads, by whom: stages count from 0, and 4 is what comes behind them.
template <class F>
void for_each_operand(const ir::function& fn, const fused_block& b, F&& f) {
    for (int k = 0; k < 4; ++k)
        if (const ir::value_id v = b.stage[static_cast<std::size_t>(k)]; v != no_value)
            ir::for_each_operand(fn.at(v), [&](const ir::operand& o) { f(o, k); });
    if (b.store != no_value) ir::for_each_operand(fn.at(b.store), [&](const ir::operand& o) { f(o, 4); });
    if (b.branch) f(b.condition, 4);
}

/// Calls f(value) for every value that the block reads from a register.
template <class F>
void for_each_read(const ir::function& fn, const fused_block& b, F&& f) {
    for_each_operand(fn, b, [&](const ir::operand& o, int stage) {
        if (o.is_value() && b.made_in(o, stage) < 0) f(o.bits);
    });
}

namespace detail {

class scheduler {
public:
    scheduler(const ir::function& f, const ir::webs& w, const fuse::effort& how)
        : f_(f), webs_(w), how_(how), graph_(ir::graph_of(f)), lives_(f), uniform_(f, graph_), first_(f.blocks.size(), ir::exit_target), last_(f.blocks.size(), 0) {}

    std::vector<fused_block> run() {
        const std::vector<ir::block_id> order = ir::layout_of(f_);
        for (ir::block_id b : order) form(b, false);
        if (way(0).target != 0) {
            // The entry does nothing, and what it leads to does not stand first: it becomes a block of its own.
            out_.clear();
            first_.assign(f_.blocks.size(), ir::exit_target);
            for (ir::block_id b : order) form(b, b == 0);
        }
        for (ir::block_id b : order) link(b);
        give_waiting_blocks_a_way_out();
        return std::move(out_);
    }

private:
    struct way_on {
        std::uint32_t target = ir::exit_target;
        int ptx_instructions = 0;
        std::uint32_t trap = 0;
    };

    void form(ir::block_id b, bool always) {
        const fuse::problem p = fuse::problem_of(f_, b, webs_, lives_, uniform_);
        // What all locks share is one machine block in any case.
        const bool is_shared = f_.blocks[b].part == ir::lock_part::wait || f_.blocks[b].part == ir::lock_part::turn;
        std::vector<fuse::draft> drafts = fuse::form_blocks(p, is_shared ? fuse::effort{} : how_);
        if (drafts.empty() && (always || f_.blocks[b].meeting_point || only_goes_round(b))) drafts.emplace_back();
        if (b == 0 && !drafts.empty() && is_collective(p, drafts.front())) drafts.insert(drafts.begin(), fuse::draft{});
        const ir::terminator& end = f_.blocks[b].end;
        if (end.waits() && (drafts.empty() || end.meets_warp || is_alone(p, drafts.back()))) drafts.emplace_back();
        if (drafts.empty()) return;
        first_[b] = static_cast<std::uint32_t>(out_.size());
        for (const fuse::draft& d : drafts) {
            out_.push_back(resolve(p, b, d));
            out_.back().next = static_cast<std::uint32_t>(out_.size());
        }
        last_[b] = static_cast<std::uint32_t>(out_.size() - 1);
        out_.back().meeting = out_.back().meeting || end.meets_warp;
        out_.back().barrier = end.barrier;
        out_.back().barrier_count = end.barrier_count;
        out_.back().ptx_instructions = f_.blocks[b].ptx_instructions;
    }

    static bool is_collective(const fuse::problem& p, const fuse::draft& d) {
        const fuse::node* x = fuse::access_of(p, d);
        return x != nullptr && x->is_collective();
    }
    /// A collective or an atomic: nobody waits in its block.
    static bool is_alone(const fuse::problem& p, const fuse::draft& d) { return is_collective(p, d) || fuse::holds_atomic(p, d); }

    /// An endless loop of nothing needs a block to be in.
    [[nodiscard]] bool only_goes_round(ir::block_id b) const {
        ir::block_id at = b;
        for (std::size_t steps = 0; steps <= f_.blocks.size(); ++steps) {
            const ir::block& here = f_.blocks[at];
            if (!here.body.empty() || here.end.branches() || !ir::is_block(here.end.next)) return false;
            at = here.end.next;
            if (at == b) return true;
        }
        return false;
    }

    [[nodiscard]] fused_block resolve(const fuse::problem& p, ir::block_id b, const fuse::draft& d) const {
        const auto value_of = [&](int n) { return n == fuse::no_node ? no_value : p.nodes[static_cast<std::size_t>(n)].v; };
        fused_block out;
        for (std::size_t k = 0; k < 4; ++k) out.stage[k] = value_of(d.stage[k]);
        out.write = d.write;
        out.store = value_of(d.store);
        out.branch = d.branch;
        out.part = f_.blocks[b].part;
        out.meeting = is_collective(p, d) && f_.at(out.stage[1]).meets;
        out.source = f_.blocks[b].end.source;
        if (d.branch) out.condition = f_.blocks[b].end.cond, out.sense = f_.blocks[b].end.sense;
        return out;
    }

    /// Where a way really leads: blocks that do nothing are passed over.
    [[nodiscard]] way_on way(ir::block_id b, std::uint32_t trap = 0) const {
        way_on w;
        w.trap = trap;
        while (ir::is_block(b) && first_[b] == ir::exit_target) {
            w.ptx_instructions += f_.blocks[b].ptx_instructions + f_.blocks[b].end.ptx_if_next;
            w.trap = f_.blocks[b].end.next_trap();
            b = f_.blocks[b].end.next;
        }
        w.target = ir::is_block(b) ? first_[b] : b;
        return w;
    }

    void link(ir::block_id b) {
        if (first_[b] == ir::exit_target) return;
        const ir::terminator& end = f_.blocks[b].end;
        fused_block& out = out_[last_[b]];
        const way_on next = way(end.next, end.next_trap());
        out.next = next.target;
        out.trap_if_next = next.trap;
        out.ptx_instructions += next.ptx_instructions + end.ptx_if_next;
        if (!out.branch) return;
        const way_on taken = way(end.taken, end.taken_trap());
        out.taken = taken.target;
        out.trap_if_taken = taken.trap;
        out.ptx_if_taken = taken.ptx_instructions + end.ptx_if_taken - next.ptx_instructions - end.ptx_if_next;
    }

    /// A block with a barrier cannot go to exit itself.
    void give_waiting_blocks_a_way_out() {
        const auto way_out = static_cast<std::uint32_t>(out_.size());
        bool wanted = false;
        for (fused_block& b : out_) {
            if (b.barrier < 0 || b.next != ir::exit_target) continue;
            b.next = way_out;
            wanted = true;
        }
        if (wanted) out_.emplace_back();
    }

    const ir::function& f_;
    const ir::webs& webs_;
    fuse::effort how_;
    ir::graph graph_;
    ir::liveness lives_;
    ir::uniformity uniform_;
    std::vector<std::uint32_t> first_, last_;
    std::vector<fused_block> out_;
};

}  // namespace detail

/// Forms and orders all blocks of a kernel that is out of SSA form.
inline std::vector<fused_block> schedule_blocks(const ir::function& f, const ir::webs& w, const fuse::effort& how) {
    return detail::scheduler(f, w, how).run();
}

}  // namespace qwengpu::ptx
