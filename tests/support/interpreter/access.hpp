// SPDX-License-Identifier: MIT
// ld, st, atom, red, cvta, isspacep of the tests' PTX interpreter.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string_view>

#include <qwengpu/ptx/ast.hpp>

#include "support/interpreter/real.hpp"
#include "support/interpreter/thread.hpp"

namespace qwengpu::test::interpreter {

/// A place in one of the memories.
struct location {
    ptx::state_space space = ptx::state_space::global;
    u64 address = 0;
};

namespace detail {

inline ptx::state_space window_of(u64 generic) {
    if (generic >= first_global) return ptx::state_space::global;
    if (generic >= param_window) return ptx::state_space::param;
    if (generic >= local_window) return ptx::state_space::local;
    return generic >= shared_window ? ptx::state_space::shared : ptx::state_space::global;
}

inline u64 base_of(ptx::state_space s) { return s == ptx::state_space::shared ? shared_window : s == ptx::state_space::local ? local_window : 0; }

}  // namespace detail

/// What an address operand means in the space of its instruction.
inline location locate(const block_context& c, const thread& t, const ptx::operand& o, ptx::state_space space) {
    u64 address = static_cast<u64>(o.value);
    bool generic = space == ptx::state_space::none;
    if (!o.items.empty() && o.items[0].kind == ptx::operand_kind::reg) {
        const ptx::operand& base = o.items[0];
        address += t.top().registers[base.id][static_cast<std::size_t>(part_of(base))];
        if (ptx::bits_of(t.top().code->registers[base.id].type) == 32 && !generic) address &= mask_of(32);
    } else if (!o.items.empty()) {
        const ptx::symbol& s = o.items[0].sym;
        address += address_of(c, t, s);
        if (generic) return {c.module->variable_of(s, *t.top().code).space, address};  // a variable by name is in its own space
    }
    if (!generic) return {space, address};
    const ptx::state_space window = detail::window_of(address);
    return {window, address - detail::base_of(window)};
}

inline u64 load(const block_context& c, const thread& t, location at, int width) {
    switch (at.space) {
        case ptx::state_space::shared: return c.shared.load(at.address, width);
        case ptx::state_space::local: return t.local.load(at.address, width);
        case ptx::state_space::param: {
            const u64 offset = at.address - param_window;
            return load_bytes(t.top().params.at(static_cast<u32>(offset >> 16)), offset & 0xffff, width);
        }
        default: return c.global->load(at.address, width);
    }
}

inline void store(block_context& c, thread& t, location at, int width, u64 value) {
    switch (at.space) {
        case ptx::state_space::shared: return c.shared.store(at.address, width, value);
        case ptx::state_space::local: return t.local.store(at.address, width, value);
        case ptx::state_space::param: {
            const u64 offset = at.address - param_window;
            return store_bytes(t.top().params.at(static_cast<u32>(offset >> 16)), offset & 0xffff, width, value);
        }
        default: return c.global->store(at.address, width, value);
    }
}

inline void execute_load(const block_context& c, thread& t, const ptx::instruction& i) {
    const scalar_type type = i.type();
    const int width = ptx::bytes_of(type);
    const location at = locate(c, t, i.operands[1], i.space);
    const ptx::operand& d = i.operands[0];
    if (at.address % (static_cast<u64>(width) * static_cast<u64>(i.vector)) != 0) throw fault("misaligned vector");
    for (int k = 0; k < i.vector; ++k) {
        const u64 value = load(c, t, {at.space, at.address + static_cast<u64>(k * width)}, width);
        const ptx::operand& to = i.vector == 1 ? d : d.items[static_cast<std::size_t>(k)];
        if (to.kind == ptx::operand_kind::reg) write(t, to, scalar_type::none, extended(value, type));
    }
}

inline void execute_store(block_context& c, thread& t, const ptx::instruction& i) {
    const scalar_type type = i.type();
    const int width = ptx::bytes_of(type);
    const location at = locate(c, t, i.operands[0], i.space);
    if (at.address % (static_cast<u64>(width) * static_cast<u64>(i.vector)) != 0) throw fault("misaligned vector");
    for (int k = 0; k < i.vector; ++k) {
        const ptx::operand& from = i.vector == 1 ? i.operands[1] : i.operands[1].items[static_cast<std::size_t>(k)];
        store(c, t, {at.space, at.address + static_cast<u64>(k * width)}, width, read(c, t, from, type));
    }
}

namespace detail {

inline u64 updated(const ptx::instruction& i, u64 old, u64 b, u64 swap, scalar_type t) {
    const s128 x = number_of(old, t), y = number_of(b, t);
    if (i.has("add")) return ptx::is_float(t) ? u64{bits_of_real(real_of(old) + real_of(b))} : old + b;
    if (i.has("min")) return static_cast<u64>(std::min(x, y));
    if (i.has("max")) return static_cast<u64>(std::max(x, y));
    if (i.has("inc")) return x >= y ? 0 : old + 1;
    if (i.has("dec")) return x == 0 || x > y ? b : old - 1;
    if (i.has("and")) return old & b;
    if (i.has("or")) return old | b;
    if (i.has("xor")) return old ^ b;
    if (i.has("exch")) return b;
    return old == b ? swap : old;  // cas
}

}  // namespace detail

/// atom (with a result) and red (without).
inline void execute_atomic(block_context& c, thread& t, const ptx::instruction& i) {
    const scalar_type type = i.type();
    const std::size_t first = i.opcode == "atom" ? 1 : 0;
    const location at = locate(c, t, i.operands[first], i.space);
    const int width = ptx::bytes_of(type);
    const u64 old = load(c, t, at, width), b = read(c, t, i.operands[first + 1], type);
    const u64 swap = i.has("cas") ? read(c, t, i.operands[first + 2], type) : 0;
    store(c, t, at, width, cut(detail::updated(i, old, b, swap, type), type));
    if (first == 1) write(t, i.operands[0], type, old);
}

/// cvta: between an address of a space and the generic one.
inline void execute_cvta(const block_context& c, thread& t, const ptx::instruction& i) {
    const u64 given = read(c, t, i.operands[1], i.type()), base = detail::base_of(i.space);
    write(t, i.operands[0], i.type(), i.has("to") ? given - base : given + base);
}

inline void execute_isspacep(const block_context& c, thread& t, const ptx::instruction& i) {
    const ptx::state_space asked = i.has("shared") || i.has("shared::cta") ? ptx::state_space::shared : i.has("local") ? ptx::state_space::local : ptx::state_space::global;
    write(t, i.operands[0], scalar_type::pred, detail::window_of(read(c, t, i.operands[1], scalar_type::b64)) == asked ? 1 : 0);
}

}  // namespace qwengpu::test::interpreter
