// SPDX-License-Identifier: MIT
// A kernel's control flow before its instructions are lowered: PTX instructions in blocks, device functions copied in at
// their calls (each copy is a frame with registers of its own). Block 0 is the entry; nothing jumps to it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <qwengpu/ptx/ast.hpp>
#include <qwengpu/ptx/diagnostics.hpp>
#include <qwengpu/ptx/flow_barrier.hpp>
#include <qwengpu/ptx/function_pointer.hpp>
#include <qwengpu/ptx/missing_function.hpp>
#include <qwengpu/ptx/opcode_row.hpp>

namespace qwengpu::ptx {

namespace detail {

/// Copies beyond this many PTX instructions cannot fit any program memory.
inline constexpr std::size_t most_copied_instructions = 200'000;
/// Copies of functions because pointers may mean them: pointers that turn out to be known leave one of many.
inline constexpr std::size_t most_pointed_copies = 2000;

class flow_builder : private barrier_flow {
public:
    flow_builder(const parsed_module& m, diagnostics& wrong, bool locked, std::uint32_t arrivals) : barrier_flow(arrivals), module_(m), pointed_(m), wrong_(wrong), locked_(locked) { out_.module = &m; }

    flow run(const function& kernel) {
        out_.blocks.emplace_back();
        const ir::block_id first = copy({&kernel, 0, nullptr, 0}, ir::exit_target);
        out_.blocks[0].next = behind_reset(first);
        return std::move(out_);
    }

private:
    /// Copies a function whose `ret` goes to `back`; returns its first block.
    ir::block_id copy(const frame& fr, ir::block_id back) {
        const auto id = static_cast<std::uint32_t>(out_.frames.size());
        out_.frames.push_back(fr);
        next_register_ += static_cast<std::uint32_t>(fr.code->registers.size());
        copied_ += fr.code->code.size();
        const std::vector<instruction>& code = fr.code->code;
        const std::vector<ir::block_id> block_at = find_blocks(*fr.code);
        out_.blocks[block_at.back()].next = back;
        for (std::size_t k = 0; k < code.size(); ++k) place(code[k], k, id, back, block_at);
        return block_at[0];
    }

    /// The block that holds each position; position code.size() is a block of its own that returns.
    std::vector<ir::block_id> find_blocks(const function& f) {
        std::vector<std::uint8_t> leads(f.code.size() + 1, 0);
        leads.front() = leads.back() = 1;
        for (const label_entry& l : f.labels) leads[l.position] = 1;
        for (std::size_t k = 0; k < f.code.size(); ++k)
            if (ends_block(f.code[k])) leads[k + 1] = 1;
        std::vector<ir::block_id> block_at(f.code.size() + 1);
        for (std::size_t k = 0; k <= f.code.size(); ++k) {
            if (leads[k]) out_.blocks.emplace_back();
            block_at[k] = static_cast<ir::block_id>(out_.blocks.size() - 1);
        }
        return block_at;
    }

    [[nodiscard]] bool ends_block(const instruction& i) const {
        return i.opcode == "bra" || i.opcode == "brx" || i.opcode == "ret" || i.opcode == "exit" || traps(i) || i.opcode == "call" || is_apart(i);
    }
    static bool traps(const instruction& i) { return i.opcode == "trap" || i.opcode == "brkpt"; }

    /// What assert() calls where it does not hold.
    static bool fails_assertion(const function& f) { return !f.has_body && f.name == "__assertfail"; }

    static bool is_atomic(const instruction& i) { return i.opcode == "atom" || i.opcode == "red"; }
    /// An atomic that is no operation between the machine's load and store.
    static bool tries_again(const instruction& i) { return is_atomic(i) && (i.has("inc") || i.has("dec") || (i.has("cas") && bits_of(i.type()) == 16)); }
    /// An atomic on 64 bits, which is two words here.
    static bool is_long(const instruction& i) { return is_atomic(i) && i.vector == 1 && bits_of(i.type()) == 64 && !is_float(i.type()); }
    /// One whose words cannot be done one after the other.
    static bool wants_lock(const instruction& i) { return is_long(i) && (i.has("exch") || i.has("cas") || i.has("min") || i.has("max")); }
    /// Instructions of several lanes carry no guard: it becomes a branch. Those that wait or try again end a block in any case.
    [[nodiscard]] bool is_apart(const instruction& i) const {
        if (waits(i) || tries_again(i) || (locked_ && is_long(i))) return true;
        return i.predicate && names("atom red shfl vote match redux elect activemask", i.opcode);
    }

    void place(const instruction& i, std::size_t k, std::uint32_t fr, ir::block_id back, const std::vector<ir::block_id>& block_at) {
        const ir::block_id here = block_at[k], after = block_at[k + 1];
        ++out_.blocks[here].ptx_instructions;
        if (here != after) out_.blocks[here].next = after;
        out_.wants_lock = out_.wants_lock || wants_lock(i);
        if (i.opcode == "bra") return go(i, here, fr, after, label(fr, i.operands[0].id, block_at));
        if (i.opcode == "ret") return go(i, here, fr, after, back);
        if (i.opcode == "exit") return go(i, here, fr, after, ir::exit_target);
        if (traps(i)) return trap(i, behind_guard(i, here, fr, after), fr);
        if (i.opcode == "brx") return indexed(i, behind_guard(i, here, fr, after), fr, block_at);
        if (is_apart(i)) return apart(i, behind_guard(i, here, fr, after), fr, after);
        if (i.opcode == "call") return call(i, here, fr, after);
        out_.blocks[here].steps.push_back({step_kind::plain, fr, &i, false});
    }

    ir::block_id label(std::uint32_t fr, std::uint32_t id, const std::vector<ir::block_id>& block_at) const {
        return block_at[out_.frames[fr].code->labels[id].position];
    }

    void go(const instruction& i, ir::block_id here, std::uint32_t fr, ir::block_id after, ir::block_id target) {
        flow_block& b = out_.blocks[here];
        b.next = i.predicate ? after : target;
        if (!i.predicate || after == target) return;
        b.end = flow_end::guard;
        b.by = &i;
        b.frame = fr;
        b.taken = target;
    }

    /// A jump by index becomes a chain of comparisons; an index beyond the table is undefined and takes the last way.
    void indexed(const instruction& i, ir::block_id here, std::uint32_t fr, const std::vector<ir::block_id>& block_at) {
        const std::vector<std::uint32_t>& labels = out_.frames[fr].code->branch_tables[i.operands[1].id].labels;
        if (labels.empty()) return;
        for (std::size_t k = 0; k + 1 < labels.size(); ++k) {
            const ir::block_id more = k + 2 < labels.size() ? fresh() : label(fr, labels[k + 1], block_at);
            branch(flow_end::index, i, 0, static_cast<std::uint32_t>(k), here, fr, label(fr, labels[k], block_at), more);
            here = more;
        }
        if (labels.size() == 1) out_.blocks[here].next = label(fr, labels[0], block_at);
    }

    /// The block itself, or for a guarded instruction a new one that the guard leads to.
    ir::block_id behind_guard(const instruction& i, ir::block_id here, std::uint32_t fr, ir::block_id after) {
        if (!i.predicate) return here;
        const ir::block_id from = fresh();
        go(i, here, fr, after, from);
        return from;
    }

    void apart(const instruction& i, ir::block_id at, std::uint32_t fr, ir::block_id after) {
        if (has_number(i)) return number(i, at, fr, after);
        if (tries_again(i)) {
            const ir::block_id again = fresh(), done = fresh();
            out_.blocks[at].steps.push_back({step_kind::first_try, fr, &i, true});
            out_.blocks[at].next = again;
            out_.blocks[again].steps.push_back({step_kind::next_try, fr, &i, true});
            branch(flow_end::failed_try, i, 0, 0, again, fr, again, done);
            at = done;
            out_.blocks[at].steps.push_back({step_kind::tried, fr, &i, true});
        } else if (locked_ && is_long(i)) {
            at = under_lock(i, at, fr);
        } else {
            out_.blocks[at].steps.push_back({step_kind::plain, fr, &i, true});
        }
        out_.blocks[at].next = after;
    }

    /// The blocks of an atomic under the lock, behind `at`; returns the last, its section.
    ir::block_id under_lock(const instruction& i, ir::block_id at, std::uint32_t fr) {
        const std::uint32_t section = out_.sections++;
        const auto then = [&](ir::lock_part part, step_kind does) {
            const ir::block_id b = fresh();
            out_.blocks[at].next = b;
            out_.blocks[b].part = part;
            out_.blocks[b].steps.push_back({does, fr, &i, true, {}, section});
            return at = b;
        };
        then(ir::lock_part::ticket, step_kind::draw_ticket);
        then(ir::lock_part::number, step_kind::make_number);
        const ir::block_id wait = then(ir::lock_part::wait, step_kind::wait_turn);
        const ir::block_id turn = then(ir::lock_part::turn, step_kind::find_section);
        const ir::block_id last = then(ir::lock_part::section, step_kind::locked);
        branch(flow_end::failed_try, i, 0, 0, wait, fr, wait, turn);
        branch(flow_end::failed_try, i, 0, 0, turn, fr, ir::trap_target, last);
        return last;
    }

    void call(const instruction& i, ir::block_id here, std::uint32_t fr, ir::block_id after) {
        const operand& target = i.operands[1];
        if (target.kind != operand_kind::symbol_value || target.sym.kind != symbol_kind::function) return call_pointer(i, here, fr, after);
        const function& f = module_.functions[target.sym.id];
        const ir::block_id from = behind_guard(i, here, fr, after);
        if (fails_assertion(f)) return trap(i, from, fr);
        if (!f.has_body) return refuse(i, why_missing(f.name));
        if (is_active(f, fr)) return refuse(i, "recursive call: " + chain(f, fr) + ", and there is no stack; write it as a loop");
        copy_in(i, f, from, fr, after);
    }

    void copy_in(const instruction& i, const function& f, ir::block_id from, std::uint32_t fr, ir::block_id after) {
        if (copied_ + f.code.size() > most_copied_instructions)
            return refuse(i, "with all calls copied in, the kernel has more than " + std::to_string(most_copied_instructions) + " PTX instructions");
        const auto inner = static_cast<std::uint32_t>(out_.frames.size());
        out_.blocks[from].steps.push_back({step_kind::enter_call, inner, &i, false});
        const ir::block_id back = fresh();
        out_.blocks[back].steps.push_back({step_kind::leave_call, inner, &i, false});
        out_.blocks[back].next = after;
        const ir::block_id first = copy({&f, fr, &i, next_register_}, back);
        out_.blocks[from].next = first;
    }

    /// A call through a pointer becomes a chain of comparisons with the functions that it may mean, each copied in. What is none of
    /// them traps; so does one that is active already, if others are there.
    void call_pointer(const instruction& i, ir::block_id here, std::uint32_t fr, ir::block_id after) {
        std::vector<std::uint32_t> meant = pointed_.meant_by(i, *out_.frames[fr].code);
        if (meant.empty()) return refuse(i, "no function of the file can be meant: none whose address is taken has these parameters and results");
        std::erase_if(meant, [&](std::uint32_t id) { return is_active(module_.functions[id], fr); });
        if (meant.empty()) return refuse(i, "recursive call: the pointer can only mean functions that are running already, and there is no stack; write it as a loop");
        pointed_copies_ += meant.size();
        if (pointed_copies_ > most_pointed_copies)
            return refuse(i, "the functions that pointers may mean are copied in more than " + std::to_string(most_pointed_copies) +
                                 " times; take fewer addresses of functions with the same parameters, or call by name");
        ir::block_id at = behind_guard(i, here, fr, after);
        for (const std::uint32_t id : meant) {
            const ir::block_id body = fresh(), more = fresh();
            branch(flow_end::callee, i, 1, function_pointers::address_of(id), at, fr, body, more);
            copy_in(i, module_.functions[id], body, fr, after);
            at = more;
        }
        trap(i, at, fr);
    }

    /// Whether the function is one of those that have called this frame.
    [[nodiscard]] bool is_active(const function& f, std::uint32_t fr) const {
        for (std::uint32_t up = fr;; up = out_.frames[up].caller) {
            if (out_.frames[up].code == &f) return true;
            if (up == 0) return false;
        }
    }

    /// "f calls g calls f", for a call of f in a frame that f itself has called.
    [[nodiscard]] std::string chain(const function& f, std::uint32_t fr) const {
        if (out_.frames[fr].code == &f) return f.name + " calls itself";
        std::string names = f.name;
        for (; out_.frames[fr].code != &f; fr = out_.frames[fr].caller) names = out_.frames[fr].code->name + " calls " + names;
        return f.name + " calls " + names;
    }

    void refuse(const instruction& i, std::string why) { wrong_.add("ptx.unsupported", i.where, std::move(why)); }

    const parsed_module& module_;
    function_pointers pointed_;
    diagnostics& wrong_;
    bool locked_;
    std::uint32_t next_register_ = 0;
    std::size_t copied_ = 0, pointed_copies_ = 0;
};

}  // namespace detail

/// The control flow of a kernel. Calls that cannot be copied in are added to `wrong`. 64-bit atomics are under a lock if one of
/// them cannot do without, or if they shall be; `arrivals` is what is known of barriers to which threads come without waiting.
inline flow flow_of(const parsed_module& m, const function& kernel, diagnostics& wrong, bool locked, std::uint32_t arrivals = 0) {
    diagnostics found(m.file);
    flow fl = detail::flow_builder(m, found, locked, arrivals).run(kernel);
    const bool knew_all = fl.arrivals == arrivals && (locked || !fl.wants_lock);
    if (!knew_all) return flow_of(m, kernel, wrong, locked || fl.wants_lock, fl.arrivals);
    for (const diagnostic& d : found.all()) wrong.add(d.id, d.where, d.message);
    return fl;
}

}  // namespace qwengpu::ptx
