// SPDX-License-Identifier: MIT
// An interpreter of PTX for the tests: walks the syntax tree of a module, thread by thread, and shares nothing with the compiler
// behind it. Threads of a warp that stand at the same instruction run it together, lane 0 first; warps take turns.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <qwengpu/ptx/ast.hpp>

#include "support/interpreter/call.hpp"
#include "support/interpreter/collective.hpp"
#include "support/interpreter/execute.hpp"
#include "support/interpreter/thread.hpp"

namespace qwengpu::test::interpreter {

enum class ending : std::uint8_t { finished, fault, deadlock, limit };

/// An argument: the bytes of a buffer, or of a value; or a struct of arguments, laid out as in C.
struct given {
    bool is_buffer = false;
    bytes content;
    std::vector<given> members{};
};

struct result {
    ending ended = ending::finished;
    std::string message;
    std::vector<bytes> buffers;  ///< after the launch, in the order of the arguments
    std::uint64_t steps = 0;
};

/// One thread block after another.
class launch {
public:
    launch(const ptx::parsed_module& module, const ptx::function& kernel, extent grid, extent block) : kernel_(kernel) {
        context_.module = &module;
        context_.global = &global_;
        context_.grid = grid;
        context_.block = block;
        for (std::size_t id = 0; id < module.variables.size(); ++id) place(static_cast<u32>(id), module.variables[id]);
        for (const ptx::function& f : module.functions)
            for (std::size_t id = 0; id < f.variables.size(); ++id)
                if (f.variables[id].space == ptx::state_space::shared) context_.shared_addresses[{&f, static_cast<u32>(id)}] = place_shared(f.variables[id]);
        initialise(module);
    }

    result run(const std::vector<given>& arguments, std::uint64_t dynamic_shared, std::uint64_t limit) {
        result r;
        std::vector<buffer_place> places;
        for (const given& a : arguments) parameters_.push_back(argument_bytes(a, places));
        context_.dynamic_bytes = dynamic_shared;
        context_.shared_bytes += dynamic_shared;
        limit_ = limit;
        try {
            r.ended = run_grid();
        } catch (const fault& f) {
            r.ended = ending::fault;
            r.message = f.what();
        }
        for (const auto& [address, size] : places) {
            r.buffers.push_back(global_.region(address));
            r.buffers.back().resize(size);
        }
        r.steps = steps_;
        return r;
    }

private:
    struct buffer_place {
        u64 address = 0;
        std::size_t size = 0;
    };

    /// The bytes of an argument's parameter; buffers get a place in memory on the way.
    bytes argument_bytes(const given& a, std::vector<buffer_place>& places) {
        if (!a.members.empty()) return struct_bytes(a, places);
        if (!a.is_buffer) return a.content;
        bytes content = a.content;
        content.resize((content.size() + 3) / 4 * 4);
        places.push_back({global_.append(std::move(content)), a.content.size()});
        bytes pointer(8);
        store_bytes(pointer, 0, 8, places.back().address);
        return pointer;
    }

    bytes struct_bytes(const given& a, std::vector<buffer_place>& places) {
        bytes all;
        std::size_t widest = 1;
        for (const given& m : a.members) {
            const bytes b = argument_bytes(m, places);
            widest = std::max(widest, b.size());
            all.resize((all.size() + b.size() - 1) / b.size() * b.size());
            all.insert(all.end(), b.begin(), b.end());
        }
        all.resize((all.size() + widest - 1) / widest * widest);
        return all;
    }

    u64 place_shared(const ptx::variable& v) {
        const u64 align = std::max<u64>({v.alignment, static_cast<u64>(ptx::bytes_of(v.type) * v.vector), 4});
        context_.shared_bytes = (context_.shared_bytes + align - 1) / align * align;
        const u64 at = context_.shared_bytes;
        context_.shared_bytes += v.bytes();  // an open array takes what is left
        return at;
    }

    void place(u32 id, const ptx::variable& v) {
        if (v.space == ptx::state_space::shared) context_.module_addresses[id] = place_shared(v);
        else context_.module_addresses[id] = global_.append(bytes((v.bytes() + 3) / 4 * 4));
    }

    void initialise(const ptx::parsed_module& module) {
        for (std::size_t id = 0; id < module.variables.size(); ++id) {
            const ptx::variable& v = module.variables[id];
            const int width = ptx::bytes_of(v.type);
            for (const ptx::initial_value& value : v.initial) {
                const bool function = value.sym.kind == ptx::symbol_kind::function;
                const u64 base = function ? function_window + u64{value.sym.id} * 64 : value.sym.kind == ptx::symbol_kind::none ? 0 : context_.module_addresses.at(value.sym.id);
                global_.store(context_.module_addresses[static_cast<u32>(id)] + value.index * static_cast<u64>(width), width, base + value.bits);
            }
        }
    }

    ending run_grid() {
        for (u32 z = 0; z < context_.grid.z; ++z)
            for (u32 y = 0; y < context_.grid.y; ++y)
                for (u32 x = 0; x < context_.grid.x; ++x) {
                    context_.at = {x, y, z};
                    begin_block();
                    if (const ending e = run_block(); e != ending::finished) return e;
                }
        return ending::finished;
    }

    void begin_block() {
        context_.shared.add(0, bytes(std::max<u64>(context_.shared_bytes, 4)));
        threads_.clear();
        arrivals_.clear();
        const extent& b = context_.block;
        threads_.resize(b.count());
        for (u32 n = 0; n < b.count(); ++n) {
            thread& t = threads_[n];
            t.linear = n;
            t.lane = n % 4;
            t.warp = n / 4;
            t.id = {n % b.x, n / b.x % b.y, n / (b.x * b.y)};
            frame f(kernel_);
            open_variables(t, f);
            for (std::size_t k = 0; k < kernel_.parameters.size() && k < parameters_.size(); ++k) {
                bytes& to = f.params[kernel_.parameters[k].id];
                std::copy_n(parameters_[k].begin(), std::min(parameters_[k].size(), to.size()), to.begin());
            }
            t.frames.push_back(std::move(f));
        }
    }

    ending run_block() {
        const u32 warps = (context_.block.count() + 3) / 4;
        while (true) {
            bool moved = false;
            for (u32 w = 0; w < warps; ++w) moved = step_warp(w) || moved;
            if (steps_ > limit_) return ending::limit;
            if (moved) continue;
            const bool all_left = std::all_of(threads_.begin(), threads_.end(), [](const thread& t) { return t.state == thread_state::exited; });
            return all_left ? ending::finished : ending::deadlock;
        }
    }

    /// One instruction for the lanes of the warp that are furthest behind (now and then: for the next group).
    bool step_warp(u32 w) {
        std::vector<std::vector<std::size_t>> places;
        std::vector<lane_group> groups;
        for (u32 n = 4 * w; n < std::min<u32>(4 * w + 4, static_cast<u32>(threads_.size())); ++n) {
            if (threads_[n].state != thread_state::running) continue;
            const auto where = threads_[n].where();
            const auto known = std::find(places.begin(), places.end(), where);
            if (known == places.end()) places.push_back(where), groups.push_back({&threads_[n]});
            else groups[static_cast<std::size_t>(known - places.begin())].push_back(&threads_[n]);
        }
        if (groups.empty()) return false;
        std::vector<std::size_t> order(groups.size());
        for (std::size_t k = 0; k < order.size(); ++k) order[k] = k;
        std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return places[a] < places[b]; });
        if (groups.size() > 1 && ++turns_ % 64 == 0) std::rotate(order.begin(), order.begin() + 1, order.end());
        const auto waits = [&](std::size_t k) { return groups.size() > 1 && meets(groups[k], w); };
        const auto chosen = std::find_if(order.begin(), order.end(), [&](std::size_t k) { return !waits(k); });
        step_group(groups[chosen == order.end() ? *std::min_element(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return places[a] < places[b]; }) : *chosen]);
        return true;
    }

    /// Whether the group stands at a .sync instruction whose mask names lanes that are still on their way.
    [[nodiscard]] bool meets(const lane_group& g, u32 w) const {
        const ptx::instruction& i = g[0]->next();
        const bool sync = i.has("sync") && (is_collective(i.opcode) || (i.opcode == "bar" && i.has("warp")));
        if (!sync) return false;
        const u64 mask = read(context_, *g[0], i.operands.back(), scalar_type::b32);
        for (u32 lane = 0; lane < 4 && 4 * w + lane < threads_.size(); ++lane) {
            const thread& t = threads_[4 * w + lane];
            if ((mask >> lane & 1) != 0 && t.state == thread_state::running && std::find(g.begin(), g.end(), &t) == g.end()) return true;
        }
        return false;
    }

    void step_group(const lane_group& g) {
        steps_ += g.size();
        const frame& f = g[0]->top();
        if (f.pc >= f.code->code.size()) {
            for (thread* t : g) finish_function(*t);
            return;
        }
        const ptx::instruction& i = f.code->code[f.pc];
        lane_group active;
        for (thread* t : g) {
            const bool on = !i.predicate || ((t->top().registers[i.predicate->reg][0] & 1) != 0) != i.predicate->negated;
            if (on) active.push_back(t);
            else ++t->top().pc;
        }
        if (active.empty()) return;
        if (is_collective(i.opcode)) {
            execute_collective(context_, active, i);
            for (thread* t : active) ++t->top().pc;
            return;
        }
        for (thread* t : active) step_thread(*t, i);
        if (i.opcode == "bar" || i.opcode == "barrier" || i.opcode == "ret" || i.opcode == "exit") release_barriers();
    }

    void finish_function(thread& t) {
        if (!leave(t)) t.state = thread_state::exited;
        release_barriers();
    }

    void step_thread(thread& t, const ptx::instruction& i) {
        const std::string_view op = i.opcode;
        ++t.top().pc;
        if (op == "bra") t.top().pc = t.top().code->labels[i.operands[0].id].position;
        else if (op == "brx") jump_by_index(t, i);
        else if (op == "call") enter(context_, t, i);
        else if (op == "ret") finish_function(t);
        else if (op == "exit") t.state = thread_state::exited;
        else if (op == "trap" || op == "brkpt") throw fault("trap");
        else if ((op == "bar" && !i.has("warp")) || op == "barrier") arrive(t, i);
        else if (op == "bar") return;
        else execute(context_, t, i);
    }

    void jump_by_index(thread& t, const ptx::instruction& i) {
        const u64 index = read(context_, t, i.operands[0], scalar_type::b32);
        const auto& labels = t.top().code->branch_tables[i.operands[1].id].labels;
        if (index >= labels.size()) throw fault("brx.idx outside its table");
        t.top().pc = t.top().code->labels[labels[static_cast<std::size_t>(index)]].position;
    }

    void arrive(thread& t, const ptx::instruction& i) {
        if (i.has("arrive")) return ++arrivals_[read(context_, t, i.operands[0], scalar_type::b32)], void();
        const bool reduces = i.has("red");
        const std::size_t first = reduces ? 1 : 0, given = i.operands.size() - first - (reduces ? 1 : 0);
        t.state = thread_state::at_barrier;
        t.barrier_at = &i;
        t.barrier = read(context_, t, i.operands[first], scalar_type::b32);
        t.barrier_count = given > 1 ? read(context_, t, i.operands[first + 1], scalar_type::b32) : 0;
        if (reduces) t.barrier_value = read(context_, t, i.operands.back(), scalar_type::pred) != 0;
    }

    /// Lets through every barrier that has its threads.
    void release_barriers() {
        for (u64 id = 0; id < 16; ++id) {
            lane_group waiting;
            std::size_t alive = 0;
            for (thread& t : threads_) {
                if (t.state != thread_state::exited) ++alive;
                if (t.state == thread_state::at_barrier && t.barrier == id) waiting.push_back(&t);
            }
            if (waiting.empty()) continue;
            const u64 count = waiting.back()->barrier_count, come = waiting.size() + arrivals_[id];
            if (count != 0 ? come < count : waiting.size() != alive) continue;
            if (count != 0) arrivals_[id] = come - count;
            pass(waiting);
        }
    }

    static void pass(const lane_group& waiting) {
        const auto ones = static_cast<u64>(std::count_if(waiting.begin(), waiting.end(), [](const thread* t) { return t->barrier_value; }));
        for (thread* t : waiting) {
            const ptx::instruction& i = *t->barrier_at;
            if (i.has("popc")) write(*t, i.operands[0], scalar_type::b32, ones);
            else if (i.has("red")) write(*t, i.operands[0], scalar_type::pred, i.has("and") ? ones == waiting.size() : ones != 0);
            t->state = thread_state::running;
        }
    }

    const ptx::function& kernel_;
    memory global_;
    block_context context_;
    std::vector<bytes> parameters_;
    std::vector<thread> threads_;
    std::map<u64, u64> arrivals_;  ///< by bar.arrive at each barrier, since it last let anybody through
    std::uint64_t steps_ = 0, limit_ = 0, turns_ = 0;
};

}  // namespace qwengpu::test::interpreter
