// SPDX-License-Identifier: MIT
// Local variables. What is only loaded and stored at places known when compiling becomes values; the rest gets words of local
// memory, frames behind their callers' and over each other where they are not alive at once. Accesses learn what they are of.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include <qwengpu/machine/launch_image.hpp>
#include <qwengpu/ptx/ir.hpp>
#include <qwengpu/ptx/ir_graph.hpp>
#include <qwengpu/ptx/ir_optimise.hpp>
#include <qwengpu/ptx/ir_simplify.hpp>
#include <qwengpu/ptx/ssa.hpp>

namespace qwengpu::ptx::ir {

namespace detail {

/// The place in local memory that an address is for sure, or false.
inline bool local_place_of(const function& f, operand o, std::uint32_t& byte) {
    byte = 0;
    for (int depth = 0; depth < 64; ++depth) {
        if (o.kind == from::local) return byte += o.bits, true;
        if (!o.is_value() || !f.at(o.bits).is_alu(alu_op::add) || !f.at(o.bits).b.is_literal()) return false;
        const instruction& i = f.at(o.bits);
        if ((i.mod & ~unsigned{machine::mod::add_subtract}) != 0) return false;
        byte += (i.mod & machine::mod::add_subtract) ? 0U - i.b.bits : i.b.bits;
        o = i.a;
    }
    return false;
}

/// The variable whose bytes, or a little beside them, hold `byte`.
inline std::size_t variable_at(const function& f, std::uint32_t byte) {
    constexpr std::uint32_t beside = 1U << 13;
    for (std::size_t k = 0; k < f.locals.size(); ++k)
        if (byte + beside >= f.locals[k].first_byte && byte < f.locals[k].first_byte + f.locals[k].bytes + beside) return k;
    return f.locals.size();
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
    [[nodiscard]] bool promotable(std::uint32_t byte) const {
        const std::size_t k = variable_at(f_, byte);
        return k < f_.locals.size() && !escaped_[k] && byte >= f_.locals[k].first_byte && byte < f_.locals[k].first_byte + f_.locals[k].bytes;
    }

private:
    void instruction_of(value_id v) {
        const instruction& i = f_.at(v);
        std::uint32_t byte = 0;
        const bool sum = i.is_alu(alu_op::add) && local_place_of(f_, value(v), byte);
        if (sum) return;  // what is added up is followed to where it is used
        const bool simple = (i.kind == made_by::load || i.kind == made_by::store) && local_place_of(f_, i.a, byte) && !i.pinned && byte % i.bytes() == 0;
        for_each_operand(i, [&](const operand& o) { if (!simple || &o != &i.a) use(o); });
    }
    void use(const operand& o) {
        std::uint32_t byte = 0;
        if (local_place_of(f_, o, byte)) escaped_[variable_at(f_, byte)] = true;
    }

    const function& f_;
    std::vector<bool> escaped_;
};

/// Puts variables of SSA form in the place of local words.
class promoter {
public:
    explicit promoter(function& f) : f_(f), escapes_(f), ssa_(f), by_(f.values.size()), done_(f.blocks.size(), 0) {}

    void run() {
        const graph g = graph_of(f_);
        seal_ready(0);
        for (block_id b : g.order) {
            one_block(b);
            done_[b] = 1;
            for (block_id s : successors(f_.blocks[b])) seal_ready(s);
        }
        for_each_place(f_, [&](operand& o) { o = by_.of(o); });
    }

private:
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
            const bool is_access = i.kind == made_by::load || i.kind == made_by::store;
            if (!is_access || !local_place_of(f_, i.a, byte) || !escapes_.promotable(byte)) f_.blocks[b].body.push_back(v);
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
    escapes escapes_;
    ssa_builder ssa_;
    replacements by_;
    std::vector<std::uint8_t> done_;
};

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

/// Local words become values where nothing but loads and stores knows their addresses.
inline void promote_locals(function& f) {
    if (!f.locals.empty()) detail::promoter(f).run();
}

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
    f.local_words = static_cast<int>(most / 4);
}

}  // namespace qwengpu::ptx::ir
