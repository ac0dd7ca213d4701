// SPDX-License-Identifier: MIT
// Which values are probably the same in all lanes, and how many tokens a word of a value probably takes. Both only guide the
// choice between correct forms of a program; nothing depends on their being right.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include <qwengpu/ptx/ir.hpp>
#include <qwengpu/ptx/ir_graph.hpp>
#include <qwengpu/ptx/ir_knowledge.hpp>

namespace qwengpu::ptx::ir {

/// Per value: whether it follows from parameters, constants and block coordinates alone.
class uniformity {
public:
    uniformity(const function& f, const graph& g) : f_(f), g_(g), varies_(f.values.size(), false) {
        for (bool changed = true; changed;) {
            changed = false;
            for (block_id b : g.order) {
                for (value_id v : f.blocks[b].phis) changed = mark(v, phi_varies(b, v)) || changed;
                for (value_id v : f.blocks[b].body) changed = mark(v, instruction_varies(f.at(v))) || changed;
            }
        }
    }

    [[nodiscard]] bool uniform(const operand& o) const { return !varies(o); }
    [[nodiscard]] bool uniform(value_id v) const { return !varies_[v]; }

private:
    [[nodiscard]] bool varies(const operand& o) const {
        return (o.kind == from::special) || (o.is_value() && varies_[o.bits]);
    }
    bool mark(value_id v, bool does) {
        if (!does || varies_[v]) return false;
        varies_[v] = true;
        return true;
    }
    [[nodiscard]] bool instruction_varies(const instruction& i) const {
        bool any = i.kind == made_by::atomic || i.is_private || (i.kind == made_by::collective && i.access == machine::memory_op::shuffle);
        for_each_operand(i, [&](const operand& o) { any = any || varies(o); });
        return any;
    }
    /// Lanes in a loop have gone round it equally often; where other ways join, they chose by the branch above.
    [[nodiscard]] bool phi_varies(block_id b, value_id v) const {
        for (const operand& o : f_.inputs(v))
            if (varies(o)) return true;
        const bool header = g_.loop_of[b] != nowhere && g_.loops[g_.loop_of[b]].header == b;
        if (header) return false;
        const terminator& above = f_.blocks[g_.dominator[b]].end;
        return above.branches() && varies(above.cond);
    }

    const function& f_;
    const graph& g_;
    std::vector<bool> varies_;
};

/// Tokens of a word of this value: 1 where it fits 12 bits with its sign, 2 where not, between where nobody knows.
inline double tokens_of_word(const function& f, value_id v) {
    constexpr double unknown = 1.5, index = 1.1, address = 2;
    if (upper_bound(f, value(v)) < 2048) return 1;
    const instruction& i = f.at(v);
    if (i.kind != made_by::alu) return unknown;
    if (i.op == alu_op::rcp || i.op == alu_op::brev || (i.op == alu_op::mul && (i.mod & machine::mod::mul_high))) return address;
    if (i.op == alu_op::add && i.a.kind == from::parameter) return i.mod == 0 ? unknown : address;
    if (i.op == alu_op::add || i.op == alu_op::mul) return index;
    return unknown;
}

}  // namespace qwengpu::ptx::ir
