// SPDX-License-Identifier: MIT
// Tidies the control flow: branches that always go one way become jumps, blocks in a row become one, empty blocks are
// jumped over. Counts of PTX instructions move to the edges, so that what a lane executes stays known.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include <qwengpu/ptx/ir.hpp>
#include <qwengpu/ptx/ir_graph.hpp>
#include <qwengpu/ptx/ir_optimise.hpp>

namespace qwengpu::ptx::ir {

namespace detail {

inline std::size_t edge_index(const block& to, block_id from) {
    return static_cast<std::size_t>(std::find(to.predecessors.begin(), to.predecessors.end(), from) - to.predecessors.begin());
}

inline bool has_edge(const block& to, block_id from) { return edge_index(to, from) < to.predecessors.size(); }

inline void remove_edge(function& f, block_id from, block_id to) {
    if (!is_block(to) || !has_edge(f.blocks[to], from)) return;
    block& t = f.blocks[to];
    const auto at = static_cast<std::ptrdiff_t>(edge_index(t, from));
    t.predecessors.erase(t.predecessors.begin() + at);
    for (value_id v : t.phis) f.inputs(v).erase(f.inputs(v).begin() + at);
}

/// Makes the block jump along `keep` of its two ways.
inline void settle(function& f, block_id b, bool taken) {
    terminator& e = f.blocks[b].end;
    const block_id gone = taken ? e.next : e.taken;
    if (e.taken != e.next) remove_edge(f, b, gone);
    if (taken) e.next = e.taken, e.ptx_if_next = e.ptx_if_taken, e.trap_if_next = e.trap_if_taken;
    e.cond = {};
    e.taken = exit_target;
    e.ptx_if_taken = 0;
}

/// A block that does nothing but go on; the entry stays.
inline bool is_empty(const function& f, block_id b) {
    const block& e = f.blocks[b];
    return b != 0 && e.phis.empty() && e.body.empty() && !e.end.branches() && !e.end.waits() && e.end.next != b;
}

/// Whether the edge from p over the empty block e can go on to e's target: phis there must not tell the two ways apart.
inline bool can_jump_over(const function& f, block_id p, block_id e) {
    const block_id t = f.blocks[e].end.next;
    if (!is_block(t) || !has_edge(f.blocks[t], p)) return true;
    const std::size_t new_way = edge_index(f.blocks[t], e), old_way = edge_index(f.blocks[t], p);
    return std::all_of(f.blocks[t].phis.begin(), f.blocks[t].phis.end(),
                       [&](value_id v) { return f.inputs(v)[new_way] == f.inputs(v)[old_way]; });
}

inline void jump_over(function& f, block_id p, block_id e) {
    const block_id t = f.blocks[e].end.next;
    const int count = f.blocks[e].ptx_instructions + f.blocks[e].end.ptx_if_next;
    if (is_block(t) && !has_edge(f.blocks[t], p)) {
        const std::size_t from = edge_index(f.blocks[t], e);
        f.blocks[t].predecessors.push_back(p);
        for (value_id v : f.blocks[t].phis) f.inputs(v).push_back(operand(f.inputs(v)[from]));
    }
    remove_edge(f, p, e);
    terminator& end = f.blocks[p].end;
    const std::uint32_t trap = f.blocks[e].end.next_trap();
    if (end.branches() && end.taken == e) end.taken = t, end.ptx_if_taken += count, end.trap_if_taken = trap;
    if (end.next == e) end.next = t, end.ptx_if_next += count, end.trap_if_next = trap;
}

inline bool jump_over_empty(function& f, block_id b) {
    bool changed = false;
    const std::vector<block_id> before = f.blocks[b].predecessors;
    for (block_id p : before) {
        if (!can_jump_over(f, p, b)) continue;
        jump_over(f, p, b);
        changed = true;
    }
    return changed;
}

/// Takes the only successor of b into b, if b is its only predecessor.
inline bool merge_next(function& f, block_id b) {
    const block_id n = f.blocks[b].end.next;
    if (f.blocks[b].end.branches() || f.blocks[b].end.waits() || !is_block(n) || n == b || n == 0 || f.blocks[n].predecessors.size() != 1) return false;
    if (!f.blocks[n].phis.empty() || f.blocks[b].part != f.blocks[n].part) return false;
    block& to = f.blocks[b];
    block& from = f.blocks[n];
    to.body.insert(to.body.end(), from.body.begin(), from.body.end());
    to.ptx_instructions += to.end.ptx_if_next + from.ptx_instructions;
    to.end = from.end;
    from.body.clear();
    from.dead = true;
    for (block_id s : successors(to)) f.blocks[s].predecessors[edge_index(f.blocks[s], n)] = b;
    from.end = {};
    from.predecessors.clear();
    return true;
}

inline void drop_unreachable(function& f) {
    graph g;
    find_order(f, g);
    for (block_id b = 0; b < f.blocks.size(); ++b) {
        if (g.reachable(b) || f.blocks[b].dead) continue;
        for (block_id s : successors(f.blocks[b])) remove_edge(f, b, s);
        f.blocks[b] = {};
        f.blocks[b].dead = true;
    }
}

inline bool clean_block(function& f, block_id b) {
    bool changed = false;
    const terminator& e = f.blocks[b].end;
    if (e.branches() && (e.cond.is_literal() || e.taken == e.next)) {
        settle(f, b, ((e.cond.bits & 1U) != 0) == e.sense);
        changed = true;
    }
    while (merge_next(f, b)) changed = true;
    return (is_empty(f, b) && jump_over_empty(f, b)) || changed;
}

}  // namespace detail

/// Tidies the control flow until nothing changes; says whether anything did.
inline bool clean(function& f) {
    bool ever = false;
    for (bool changed = true; changed; ever = ever || changed) {
        detail::drop_unreachable(f);
        changed = false;
        for (block_id b = 0; b < f.blocks.size(); ++b)
            if (!f.blocks[b].dead) changed = detail::clean_block(f, b) || changed;
    }
    return ever;
}

/// Simplifies, merges and tidies until nothing changes.
inline void optimise(function& f) {
    for (int round = 0; round < 16; ++round) {
        const graph g = graph_of(f);
        const bool values = detail::optimiser(f, g).run();
        drop_unused(f);
        if (!clean(f) && !values) return;
    }
}

}  // namespace qwengpu::ptx::ir
