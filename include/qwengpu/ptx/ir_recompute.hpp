// SPDX-License-Identifier: MIT
// Values that cost nothing to work out again need no register between blocks: a simple instruction on constants and at most
// one value that is in a register anyway is copied to the blocks that use it. Copies go to no deeper loop, where a stage is
// worth more than a register.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include <qwengpu/machine/instruction_table.hpp>
#include <qwengpu/ptx/ir.hpp>
#include <qwengpu/ptx/ir_graph.hpp>
#include <qwengpu/ptx/ir_liveness.hpp>

namespace qwengpu::ptx::ir {

namespace detail {

class recomputer {
public:
    explicit recomputer(function& f) : f_(f), g_(graph_of(f)), lives_(f), joined_(f.values.size(), false) {
        for (const block& b : f.blocks)
            for (value_id phi : b.phis) {
                joined_[phi] = true;
                for (const operand& o : f.inputs(phi))
                    if (o.is_value()) joined_[o.bits] = true;
            }
    }

    void run() {
        for (block_id b : g_.order) {
            std::map<value_id, value_id> here;
            std::vector<value_id> made;
            for (value_id v : f_.blocks[b].body) {
                instruction i = f_.at(v);
                for_each_operand(i, [&](operand& o) { o = local(b, o, here, made, i.source); });
                f_.at(v) = i;
                made.push_back(v);
            }
            operand& cond = f_.blocks[b].end.cond;
            const operand now = local(b, cond, here, made, f_.blocks[b].end.source);
            f_.blocks[b].end.cond = now;
            f_.blocks[b].body = std::move(made);
        }
    }

private:
    /// The operand itself, or its copy in block b.
    operand local(block_id b, const operand& o, std::map<value_id, value_id>& here, std::vector<value_id>& made, std::uint32_t source) {
        if (!o.is_value() || !worth_copying(b, o.bits)) return o;
        const auto [at, fresh] = here.try_emplace(o.bits, 0);
        if (fresh) {
            instruction copy = f_.at(o.bits);
            copy.source = source;
            at->second = f_.add(copy);
            made.push_back(at->second);
        }
        return value(at->second);
    }

    [[nodiscard]] bool worth_copying(block_id b, value_id v) const {
        // Blocks that all locks share read one register, the lane's number.
        if (f_.blocks[b].part == lock_part::wait || f_.blocks[b].part == lock_part::turn) return false;
        if (v >= joined_.size() || joined_[v] || lives_.home(v) == b) return false;
        const instruction& i = f_.at(v);
        if (i.kind != made_by::alu || machine::find_instruction(i.op)->only_stage3) return false;
        if (g_.depth(b) > g_.depth(lives_.home(v))) return false;
        int fresh = 0;
        bool possible = true;
        auto copy = i;
        for_each_operand(copy, [&](const operand& o) {
            if (!o.is_value()) return;
            // A copy made here stays in its block. A value that a phi joins may have been replaced by the time b runs; one
            // that is in no register yet would need one.
            const bool known = o.bits < joined_.size();
            if (known && lives_.alive_in(b, o.bits)) return;
            if (!known || joined_[o.bits] || !lives_.crosses(o.bits)) possible = false;
            ++fresh;
        });
        return possible && fresh <= 1;
    }

    function& f_;
    graph g_;
    liveness lives_;
    std::vector<bool> joined_;
};

}  // namespace detail

/// Copies cheap values to where they are used; what is left without uses is to be dropped.
inline void recompute_cheap_values(function& f) { detail::recomputer(f).run(); }

}  // namespace qwengpu::ptx::ir
