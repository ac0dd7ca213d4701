// SPDX-License-Identifier: MIT
// Lowers a kernel of the syntax tree to the compiler's own form: blocks in reverse post-order, so that variables are known
// when they are read. All that cannot be lowered is gathered; nothing is half done.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <qwengpu/machine/sizes.hpp>
#include <qwengpu/ptx/flow.hpp>
#include <qwengpu/ptx/ir_clean.hpp>
#include <qwengpu/ptx/ir_graph.hpp>
#include <qwengpu/ptx/lower_table.hpp>

namespace qwengpu::ptx {

namespace detail {

class function_lowering {
public:
    function_lowering(const flow& fl, const memory_map& map, ir::function& f, diagnostics& wrong)
        : flow_(fl), f_(f), l_(make_blocks(fl, f), map, f, wrong) {}

    void run() {
        ir::graph g;
        ir::detail::find_order(f_, g);
        std::vector<std::uint8_t> done(f_.blocks.size(), 0);
        drop_unreachable_edges(g);
        seal_ready(0, done);
        for (ir::block_id b : g.order) {
            one_block(b);
            done[b] = 1;
            for (ir::block_id s : ir::successors(f_.blocks[b])) seal_ready(s, done);
        }
        ir::detail::drop_unreachable(f_);
    }

private:
    /// Blocks, ways and predecessors; conditions are put in when the code is there.
    static const flow& make_blocks(const flow& fl, ir::function& f) {
        f.blocks.resize(fl.blocks.size());
        for (std::size_t k = 0; k < fl.blocks.size(); ++k) {
            const flow_block& from = fl.blocks[k];
            ir::block& to = f.blocks[k];
            to.ptx_instructions = from.ptx_instructions;
            to.part = from.part;
            to.end.next = from.next;
            if (from.end == flow_end::go || from.taken == from.next) continue;
            to.end.taken = from.taken;
            to.end.cond = ir::literal(1);
        }
        return fl;
    }

    void drop_unreachable_edges(const ir::graph& g) {
        for (ir::block_id b : g.order)
            for (ir::block_id s : ir::successors(f_.blocks[b])) f_.blocks[s].predecessors.push_back(b);
    }

    void seal_ready(ir::block_id b, const std::vector<std::uint8_t>& done) {
        if (l_.ssa().sealed(b)) return;
        for (ir::block_id p : f_.blocks[b].predecessors)
            if (!done[p]) return;
        l_.ssa().seal(b);
    }

    void one_block(ir::block_id b) {
        const flow_block& from = flow_.blocks[b];
        for (const flow_step& s : from.steps) step(b, s);
        if (from.by != nullptr) l_.begin(b, from.frame, *from.by), f_.blocks[b].end.source = l_.source();
        if (!f_.blocks[b].end.branches()) return;
        ir::terminator& end = f_.blocks[b].end;
        const ir::operand cond = condition(from);
        f_.blocks[b].end.cond = cond;
        end.sense = from.end != flow_end::guard || l_.guard_sense();
        end.source = l_.source();
    }

    /// What a block's branch looks at.
    ir::operand condition(const flow_block& from) {
        switch (from.end) {
            case flow_end::guard: return l_.guard();
            case flow_end::index: case flow_end::callee: return l_.compare(machine::mod::cmp_eq, l_.raw_word(from.operand), ir::literal(from.index));
            case flow_end::bit: return l_.shift_right(l_.raw_word(from.operand), ir::literal(from.index));
            case flow_end::no_barrier: return lower::is_no_barrier(l_, l_.raw_word(from.operand));
            case flow_end::no_count: return lower::is_no_count(l_, l_.raw_word(from.operand));
            default: return l_.read_variable(lower::failed);
        }
    }

    void step(ir::block_id b, const flow_step& s) {
        const std::uint32_t caller = flow_.frames[s.frame].caller;
        l_.begin(b, s.calls() ? caller : s.frame, *s.code, s.unguarded, s.waits);
        if (s.kind == step_kind::plain) return lower_instruction(l_);
        if (!s.calls()) return lower::part_of(l_, s.kind, s.section);
        const function& callee = *flow_.frames[s.frame].code;
        const bool entering = s.kind == step_kind::enter_call;
        const std::vector<operand>& outside = s.code->operands[entering ? 2 : 0].items;
        const std::vector<parameter>& inside = entering ? callee.parameters : callee.results;
        if (outside.size() != inside.size())
            return l_.refuse("the call does not fit the parameters and results of " + callee.name + "; check its declaration");
        for (std::size_t k = 0; k < outside.size(); ++k)
            if (entering) pass(outside[k], s.frame, inside[k]);
            else take_back(outside[k], s.frame, inside[k]);
    }

    void pass(const operand& given, std::uint32_t callee, const parameter& wanted) {
        if (given.kind == operand_kind::symbol_value && !wanted.in_register)
            return copy_places(l_.frame_id(), given.sym.id, callee, wanted.id);
        const wide x = l_.read_wide(given);
        if (wanted.in_register) {
            l_.write_unguarded(l_.variable_of(callee, wanted.id), x.lo);
            l_.write_unguarded(l_.variable_of(callee, wanted.id) + 1, x.hi);
        } else {
            l_.write_unguarded(l_.parameter_variable(callee, wanted.id, 0), x.lo);
            l_.write_unguarded(l_.parameter_variable(callee, wanted.id, 4), x.hi);
        }
    }

    void take_back(const operand& into, std::uint32_t callee, const parameter& made) {
        if (into.kind == operand_kind::sink) return;
        if (into.kind == operand_kind::symbol_value && !made.in_register)
            return copy_places(callee, made.id, l_.frame_id(), into.sym.id);
        const auto at = [&](std::uint32_t k) {
            return made.in_register ? l_.variable_of(callee, made.id) + k : l_.parameter_variable(callee, made.id, 4 * k);
        };
        l_.write_unguarded(l_.register_variable(into.id), l_.read_variable(at(0)));
        if (l_.is_wide(into)) l_.write_unguarded(l_.register_variable(into.id) + 1, l_.read_variable(at(1)));
    }

    void copy_places(std::uint32_t from, std::uint32_t from_id, std::uint32_t to, std::uint32_t to_id) {
        for (const auto& [offset, variable] : l_.places_of(from, from_id)) {
            const ir::operand x = l_.read_variable(variable);
            l_.write_unguarded(l_.parameter_variable(to, to_id, offset), x);
        }
    }

    const flow& flow_;
    ir::function& f_;
    lowering l_;
};

/// Conditional branches beyond which no kernel fits, whatever becomes of them; it bounds the depth of recursions too.
inline constexpr std::ptrdiff_t most_branches = 4096;

inline void check_branches(const flow& fl, const function& kernel, diagnostics& wrong) {
    const auto n = std::count_if(fl.blocks.begin(), fl.blocks.end(), [](const flow_block& b) { return b.end != flow_end::go; });
    if (n <= most_branches) return;
    wrong.add("ptx.resources", kernel.where, "kernel " + kernel.name + " has " + std::to_string(n) + " conditional branches with all calls copied in; the program memory holds " +
                                                 std::to_string(machine::mission.exit_block()) + " machine blocks; split the kernel or roll its loops up");
    wrong.throw_if_any();
}

}  // namespace detail

/// Lowers a kernel. Throws diagnostic_error with all that is not supported ("ptx.unsupported"), or at once if it is hopelessly
/// large ("ptx.resources"). `locked`: its 64-bit atomics are under a lock in any case.
inline ir::function lower_kernel(const parsed_module& m, const function& kernel, bool locked = false) {
    diagnostics wrong(m.file);
    const flow fl = flow_of(m, kernel, wrong, locked);
    detail::check_branches(fl, kernel, wrong);
    ir::function f;
    f.name = kernel.name;
    f.sources.emplace_back();
    f.causes.emplace_back();
    for (const parameter& p : kernel.parameters) f.pointers.push_back(!p.in_register && kernel.variables[p.id].is_pointer);
    for (const parameter& p : kernel.parameters) f.structures.push_back(!p.in_register && kernel.variables[p.id].elements() > 1);
    const memory_map map(fl, kernel);
    f.structures.resize(f.structures.size() + map.module_variables().size(), false);
    f.module_variables = map.module_variables();
    f.pointers.resize(f.pointers.size() + f.module_variables.size(), true);
    f.structures.resize(f.structures.size() + ir::shared_sizes, true);
    f.pointers.resize(f.pointers.size() + ir::shared_sizes, false);
    f.shared_words = map.shared_words();
    f.dynamic_word = map.dynamic_word();
    f.own_shared_word = map.own_shared_word();
    f.lock_word = map.lock_word();
    detail::function_lowering(fl, map, f, wrong).run();
    wrong.throw_if_any();
    f.locals = map.locals();
    for (const frame& fr : fl.frames) f.caller_of_frame.push_back(fr.caller);
    return f;
}

}  // namespace qwengpu::ptx
