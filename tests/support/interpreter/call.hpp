// SPDX-License-Identifier: MIT
// Calls and returns of the tests' PTX interpreter: parameters go by value from .param variables or registers of the caller
// into those of the callee; results come back the same way.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include <qwengpu/ptx/ast.hpp>

#include "support/interpreter/thread.hpp"

namespace qwengpu::test::interpreter {

/// Gives a fresh frame its .param variables (zeroed) and its local variables.
inline void open_variables(thread& t, frame& f) {
    for (std::size_t id = 0; id < f.code->variables.size(); ++id) {
        const ptx::variable& v = f.code->variables[id];
        if (v.space == ptx::state_space::param) f.params[static_cast<u32>(id)] = bytes(v.bytes());
        if (v.space != ptx::state_space::local) continue;
        t.local_used += 4096;
        f.locals[static_cast<u32>(id)] = t.local.add(t.local_used, bytes(v.bytes()));
    }
}

namespace detail {

/// Bytes of a number that is held there.
inline int width_of(const bytes& b) { return static_cast<int>(std::min<std::size_t>(b.size(), 8)); }

inline bytes argument_of(const block_context& c, const thread& t, const ptx::operand& o, std::size_t size) {
    if (o.kind == ptx::operand_kind::symbol_value) return t.top().params.at(o.sym.id);
    bytes b(size);
    store_bytes(b, 0, width_of(b), read(c, t, o, scalar_type::b64));
    return b;
}

inline std::size_t size_of(const ptx::function& f, const ptx::parameter& p) {
    return p.in_register ? static_cast<std::size_t>(ptx::bytes_of(f.registers[p.id].type)) : static_cast<std::size_t>(f.variables[p.id].bytes());
}

inline u64 number_in(const bytes& b) { return load_bytes(b, 0, width_of(b)); }

inline void give(frame& f, const ptx::parameter& p, const bytes& b) {
    if (p.in_register) f.registers[p.id][0] = number_in(b);
    else f.params[p.id] = b;
}

inline bytes result_of(const frame& f, const ptx::parameter& p) {
    if (!p.in_register) return f.params.at(p.id);
    bytes b(8);
    store_bytes(b, 0, 8, f.registers[p.id][0]);
    return b;
}

/// The parts of `call (results), callee, (arguments)`, of which both lists may be missing.
struct call_parts {
    const ptx::operand* results = nullptr;
    const ptx::operand* callee = nullptr;
    const ptx::operand* arguments = nullptr;

    explicit call_parts(const ptx::instruction& i) {
        for (const ptx::operand& o : i.operands) {
            if (o.kind == ptx::operand_kind::list) (callee == nullptr ? results : arguments) = &o;
            else if (callee == nullptr) callee = &o;
        }
    }
};

/// The function whose address this is.
inline const ptx::function* function_at(const block_context& c, u64 address) {
    const u64 id = (address - function_window) / 64;
    if (address % 64 != 0 || address < function_window || id >= c.module->functions.size()) throw fault("call of what is no function");
    const ptx::function* f = &c.module->functions[id];
    if (!f->has_body) f = c.module->find_function(f->name);
    if (f == nullptr || !f->has_body) throw fault("call of a function without a body");
    return f;
}

}  // namespace detail

inline void enter(const block_context& c, thread& t, const ptx::instruction& i) {
    const detail::call_parts parts(i);
    if (t.frames.size() > 64) throw fault("calls too deep");
    const ptx::function* callee = detail::function_at(c, read(c, t, *parts.callee, scalar_type::b64));
    frame f(*callee);
    f.call = &i;
    open_variables(t, f);
    for (std::size_t k = 0; k < callee->parameters.size(); ++k)
        detail::give(f, callee->parameters[k], detail::argument_of(c, t, parts.arguments->items[k], detail::size_of(*callee, callee->parameters[k])));
    t.frames.push_back(std::move(f));
}

/// False if the thread has left its kernel.
inline bool leave(thread& t) {
    const frame done = std::move(t.frames.back());
    t.frames.pop_back();
    if (t.frames.empty()) return false;
    const detail::call_parts parts(*done.call);
    for (std::size_t k = 0; k < done.code->results.size(); ++k) {
        const bytes b = detail::result_of(done, done.code->results[k]);
        const ptx::operand& to = parts.results->items[k];
        if (to.kind == ptx::operand_kind::symbol_value) t.top().params[to.sym.id] = b;
        else write(t, to, scalar_type::none, detail::number_in(b));
    }
    return true;
}

}  // namespace qwengpu::test::interpreter
