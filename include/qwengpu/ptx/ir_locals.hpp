// SPDX-License-Identifier: MIT
// What is left of local variables after promotion gets words of local memory, frames behind their callers' and over each other
// where they are not alive at once. Accesses learn of which memory they are.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <set>
#include <vector>

#include <qwengpu/machine/launch_image.hpp>
#include <qwengpu/ptx/ir.hpp>
#include <qwengpu/ptx/ir_promote.hpp>

namespace qwengpu::ptx::ir {

namespace detail {

/// What memory an address is of: a set of region bits, empty if nothing in it says so.
class address_roots {
public:
    static constexpr unsigned global = 1, shared = 2, local = 4, unknown = 8;

    explicit address_roots(const function& f) : f_(f) {}

    unsigned of(const operand& address) {
        seen_.clear();
        return visit(address, 0);
    }

private:
    unsigned visit(const operand& o, int depth) {
        if (o.kind == from::local) return local;
        if (o.is_literal()) {  // or an offset in shared memory, in the window of nobody behind it
            const int window = machine::address::window(o.bits);
            return window == machine::address::shared_window || window == nobodys_window ? shared : 0U;
        }
        if (o.kind == from::parameter) return (o.bits & 0xffffU) == 0 ? global : 0U;
        if (!o.is_value() || !seen_.insert(o.bits).second) return 0;
        if (depth > 100) return unknown;
        const instruction& i = f_.at(o.bits);
        if (i.kind == made_by::phi) {
            unsigned all = 0;
            for (const operand& x : f_.inputs(o.bits)) all |= visit(x, depth + 1);
            return all;
        }
        if (i.kind != made_by::alu) return unknown;
        if (i.op == alu_op::mul || i.op == alu_op::shl) return 0;
        if (i.op == alu_op::add) {  // b first: what both sides come from is b's, since a value counts where it is met first
            const unsigned b = (i.mod & machine::mod::add_subtract) ? 0 : visit(i.b, depth + 1);
            return sum(visit(i.a, depth + 1), b);
        }
        if (i.op != alu_op::sel && i.op != alu_op::lop) return unknown;
        const unsigned a = visit(i.a, depth + 1);
        return a | visit(i.b, depth + 1);
    }

    /// In a sum one summand is the address: sure of its memory, or a pointer that was passed, or who knows.
    static unsigned sum(unsigned a, unsigned b) {
        for (unsigned kind : {shared | local, global})
            if (((a | b) & kind) != 0) return (a & kind) != 0 && (b & kind) != 0 ? a | b : (a & kind) != 0 ? a : b;
        return a | b;
    }

    const function& f_;
    std::set<value_id> seen_;
};

inline region region_of_roots(unsigned roots) {
    switch (roots) {
        case address_roots::global: return region::global;
        case address_roots::shared: return region::shared;
        case address_roots::local: return region::local;
        default: return region::any;
    }
}

}  // namespace detail

/// Says of every access what memory it is of, and whether it may be local memory.
inline void find_regions(function& f) {
    detail::address_roots roots(f);
    bool has_locals = false;
    for_each_place(f, [&](const operand& o) { has_locals = has_locals || o.kind == from::local; });
    for (block& b : f.blocks)
        for (value_id v : b.body) {
            instruction& i = f.at(v);
            if (!i.is_memory()) continue;
            if (i.where == region::any) i.where = detail::region_of_roots(roots.of(i.a));
            i.is_private = i.where == region::local || (i.where == region::any && has_locals);
        }
}

/// Gives the local variables that are left their words, from word 0 on, and addresses that are words.
inline void place_locals(function& f) {
    std::vector<bool> used(f.locals.size() + 1, false);
    for_each_place(f, [&](const operand& o) { if (o.kind == from::local) used[detail::variable_at(f, o.bits)] = true; });
    std::vector<std::uint32_t> end_of_frame(f.caller_of_frame.size(), 0), place(f.locals.size() + 1, 0);
    std::uint32_t most = 0;
    for (std::uint32_t fr = 0; fr < f.caller_of_frame.size(); ++fr) {
        if (fr != 0) end_of_frame[fr] = end_of_frame[f.caller_of_frame[fr]];
        for (std::size_t k = 0; k < f.locals.size(); ++k) {
            if (f.locals[k].frame != fr || !used[k]) continue;
            place[k] = end_of_frame[fr];
            end_of_frame[fr] += (f.locals[k].bytes + 3) & ~3U;
        }
        most = std::max(most, end_of_frame[fr]);
    }
    for_each_place(f, [&](operand& o) {
        if (o.kind != from::local) return;
        const std::size_t k = detail::variable_at(f, o.bits);
        const std::uint32_t inside = k < f.locals.size() ? o.bits - f.locals[k].first_byte : 0;
        o = literal(machine::address::make(machine::address::local_window, 0) + place[k] + inside);
    });
    for (const block& b : f.blocks)
        for (value_id v : b.body)
            if (f.at(v).is_memory()) f.at(v).local_end = machine::address::make(machine::address::local_window, 0) + end_of_frame[f.at(v).frame];
    f.local_words = static_cast<int>(most / 4);
}

}  // namespace qwengpu::ptx::ir
