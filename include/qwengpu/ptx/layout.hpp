// SPDX-License-Identifier: MIT
// The order of blocks. Lanes at the lowest block run first, so with every block before those that follow it lanes meet again
// at the post-dominator; a loop stands in one piece, ends in one latch, and what follows it stands behind it. Only a lock stands
// before all else: whoever drew a ticket comes to its turn although other lanes of the warp wait, for the lock or in loops of their own.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <qwengpu/ptx/ir.hpp>
#include <qwengpu/ptx/ir_clean.hpp>
#include <qwengpu/ptx/ir_graph.hpp>

namespace qwengpu::ptx::ir {

namespace detail {

/// The operand that a phi of the header gets from the new latch: the common one, or a phi there.
inline operand gathered(function& f, block_id latch, const std::vector<operand>& from) {
    if (std::all_of(from.begin(), from.end(), [&](const operand& o) { return o == from.front(); })) return from.front();
    const value_id phi = f.add_phi(latch, 0);
    f.inputs(phi) = from;
    return value(phi);
}

inline void join_latches(function& f, const loop& l) {
    const auto latch = static_cast<block_id>(f.blocks.size());
    f.blocks.emplace_back();
    for (value_id phi : std::vector<value_id>(f.blocks[l.header].phis)) {
        std::vector<operand> from;
        for (block_id p : l.latches) from.push_back(f.inputs(phi)[edge_index(f.blocks[l.header], p)]);
        const operand o = gathered(f, latch, from);
        f.inputs(phi).push_back(o);
    }
    f.blocks[l.header].predecessors.push_back(latch);
    for (block_id p : l.latches) {
        terminator& end = f.blocks[p].end;
        if (end.branches() && end.taken == l.header) end.taken = latch;
        if (end.next == l.header) end.next = latch;
        remove_edge(f, p, l.header);
    }
    block& b = f.blocks[latch];
    b.predecessors = l.latches;
    b.end.next = l.header;
    b.end.source = f.blocks[l.latches.front()].end.source;
    b.meeting_point = true;
}

class layout_maker {
public:
    layout_maker(const function& f, const graph& g) : f_(f), g_(g), placed_(f.blocks.size(), false) {}

    std::vector<block_id> run() {
        put(0);
        for (const lock_part part : {lock_part::section, lock_part::turn, lock_part::number, lock_part::wait})
            for (block_id b : g_.order)
                if (f_.blocks[b].part == part) put(b);
        place(g_.order, nowhere);
        return out_;
    }

private:
    void put(block_id b) {
        placed_[b] = true;
        out_.push_back(b);
    }

    /// Places blocks in reverse post-order; a loop inside `around` is placed whole where its header stands.
    void place(const std::vector<block_id>& blocks, std::uint32_t around) {
        for (block_id b : blocks) {
            if (placed_[b]) continue;
            std::uint32_t l = g_.loop_of[b];
            while (l != nowhere && l != around && g_.loops[l].parent != around) l = g_.loops[l].parent;
            if (l == nowhere || l == around) {
                put(b);
                continue;
            }
            std::vector<block_id> inside = g_.loops[l].blocks;
            std::sort(inside.begin(), inside.end(), [&](block_id x, block_id y) { return g_.position[x] < g_.position[y]; });
            place(inside, l);
        }
    }

    const function& f_;
    const graph& g_;
    std::vector<bool> placed_;
    std::vector<block_id> out_;
};

}  // namespace detail

/// Gives every loop with several back edges one latch, where its lanes meet before they go round again.
inline void give_loops_one_latch(function& f) {
    for (const loop& l : graph_of(f).loops)
        if (l.latches.size() > 1) detail::join_latches(f, l);
}

/// All blocks that can be reached, in the order in which they will stand.
inline std::vector<block_id> layout_of(const function& f) {
    const graph g = graph_of(f);
    return detail::layout_maker(f, g).run();
}

}  // namespace qwengpu::ptx::ir
