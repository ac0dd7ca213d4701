// SPDX-License-Identifier: MIT
// The shape of a kernel: blocks in reverse post-order, dominators and natural loops.
// Dominators as in Cooper, Harvey and Kennedy, "A simple, fast dominance algorithm".
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <qwengpu/ptx/ir.hpp>

namespace qwengpu::ptx::ir {

inline constexpr std::uint32_t nowhere = 0xffffffffU;

/// A natural loop: all back edges to one header. `parent` is the loop around it, or nowhere.
struct loop {
    block_id header = 0;
    std::vector<block_id> latches{}, blocks{};
    std::uint32_t parent = nowhere;
    int depth = 1;
};

struct graph {
    std::vector<block_id> order;           ///< reverse post-order of the blocks that can be reached
    std::vector<std::uint32_t> position;   ///< of a block in `order`, or nowhere
    std::vector<block_id> dominator;       ///< immediate; the entry's is itself
    std::vector<loop> loops;               ///< outer loops before the inner ones
    std::vector<std::uint32_t> loop_of;    ///< innermost loop of a block, or nowhere

    [[nodiscard]] bool reachable(block_id b) const { return position[b] != nowhere; }
    [[nodiscard]] int depth(block_id b) const { return loop_of[b] == nowhere ? 0 : loops[loop_of[b]].depth; }
    [[nodiscard]] bool dominates(block_id a, block_id b) const {
        while (position[b] > position[a]) b = dominator[b];
        return a == b;
    }
    /// Whether block b lies in loop l, directly or in a loop inside it.
    [[nodiscard]] bool contains(std::uint32_t l, block_id b) const {
        for (std::uint32_t k = loop_of[b]; k != nowhere; k = loops[k].parent)
            if (k == l) return true;
        return false;
    }
};

namespace detail {

/// Depth-first order without recursion: kernels may have thousands of blocks in a row.
inline void find_order(const function& f, graph& g) {
    std::vector<std::uint8_t> state(f.blocks.size(), 0);
    std::vector<block_id> stack{0}, finished;
    while (!stack.empty()) {
        const block_id b = stack.back();
        if (state[b] == 0) {
            state[b] = 1;
            for (block_id s : successors(f.blocks[b]))
                if (state[s] == 0) stack.push_back(s);
        } else {
            stack.pop_back();
            if (state[b] == 1) finished.push_back(b);
            state[b] = 2;
        }
    }
    g.order.assign(finished.rbegin(), finished.rend());
    g.position.assign(f.blocks.size(), nowhere);
    for (std::size_t k = 0; k < g.order.size(); ++k) g.position[g.order[k]] = static_cast<std::uint32_t>(k);
}

inline block_id common_dominator(const graph& g, block_id a, block_id b) {
    while (a != b) {
        while (g.position[a] > g.position[b]) a = g.dominator[a];
        while (g.position[b] > g.position[a]) b = g.dominator[b];
    }
    return a;
}

inline void find_dominators(const function& f, graph& g) {
    g.dominator.assign(f.blocks.size(), nowhere);
    g.dominator[0] = 0;
    for (bool changed = true; changed;) {
        changed = false;
        for (block_id b : g.order) {
            if (b == 0) continue;
            block_id d = nowhere;
            for (block_id p : f.blocks[b].predecessors)
                if (g.reachable(p) && g.dominator[p] != nowhere) d = d == nowhere ? p : common_dominator(g, d, p);
            changed = changed || d != g.dominator[b];
            g.dominator[b] = d;
        }
    }
}

inline void find_loop_blocks(const function& f, const graph& g, loop& l) {
    std::vector<std::uint8_t> seen(f.blocks.size(), 0);
    seen[l.header] = 1;
    l.blocks = {l.header};
    std::vector<block_id> open = l.latches;
    while (!open.empty()) {
        const block_id b = open.back();
        open.pop_back();
        if (seen[b]) continue;
        seen[b] = 1;
        l.blocks.push_back(b);
        for (block_id p : f.blocks[b].predecessors)
            if (g.reachable(p)) open.push_back(p);
    }
}

inline void find_loops(const function& f, graph& g) {
    for (block_id h : g.order) {
        loop l;
        l.header = h;
        for (block_id p : f.blocks[h].predecessors)
            if (g.reachable(p) && g.dominates(h, p)) l.latches.push_back(p);
        if (l.latches.empty()) continue;
        find_loop_blocks(f, g, l);
        g.loops.push_back(std::move(l));
    }
    // A header in reverse post-order comes before the headers inside its loop, so later loops overwrite as inner ones.
    g.loop_of.assign(f.blocks.size(), nowhere);
    for (std::size_t k = 0; k < g.loops.size(); ++k) {
        loop& l = g.loops[k];
        l.parent = g.loop_of[l.header];
        l.depth = l.parent == nowhere ? 1 : g.loops[l.parent].depth + 1;
        for (block_id b : l.blocks) g.loop_of[b] = static_cast<std::uint32_t>(k);
    }
}

}  // namespace detail

inline graph graph_of(const function& f) {
    graph g;
    detail::find_order(f, g);
    detail::find_dominators(f, g);
    detail::find_loops(f, g);
    return g;
}

}  // namespace qwengpu::ptx::ir
