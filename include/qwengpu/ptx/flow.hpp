// SPDX-License-Identifier: MIT
// A kernel's control flow before its instructions are lowered: PTX instructions in blocks, device functions copied in at
// their calls (each copy is a frame with registers of its own). Block 0 is the entry; nothing jumps to it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <qwengpu/machine/sizes.hpp>
#include <qwengpu/ptx/ast.hpp>
#include <qwengpu/ptx/diagnostics.hpp>
#include <qwengpu/ptx/ir.hpp>
#include <qwengpu/ptx/missing_function.hpp>
#include <qwengpu/ptx/opcode_row.hpp>

namespace qwengpu::ptx {

/// A copy of a function: the kernel itself (frame 0), or one call of a device function.
struct frame {
    const function* code = nullptr;
    std::uint32_t caller = 0;         ///< frame of the call; of the kernel: itself
    const instruction* call = nullptr;
    std::uint32_t first_register = 0; ///< its registers are numbered from here
};

/// What a step does. A bar.red is three: its threads clear a counter, count in it, and read it, with barriers between; an
/// atomic that is no instruction of the machine is a first try, more of them, and its result, which may be one of its operands; one
/// of 64 bits is one under a lock: draw a ticket, make it a number that names the section, wait for it, look for the section, do it.
enum class step_kind : std::uint8_t {
    plain, enter_call, leave_call, red_wait, red_clear, red_count, red_read, first_try, next_try, tried, draw_ticket, make_number, wait_turn, find_section, locked
};

/// The barrier that an instruction waits at, and for how many threads, as the machine has them (units of 4 threads); -1: as
/// its operands say.
struct barrier_choice {
    int id = -1, count = -1;
};

struct flow_step {
    step_kind kind = step_kind::plain;
    std::uint32_t frame = 0;          ///< of the instruction; of a call: the callee's
    const instruction* code = nullptr;
    bool unguarded = false;           ///< the guard chose the way here
    barrier_choice waits{};
    std::uint32_t section = 0;        ///< of an atomic under the lock: which of the kernel's it is

    /// Whether it is a part of a call, whose instruction is the caller's.
    [[nodiscard]] bool calls() const { return kind == step_kind::enter_call || kind == step_kind::leave_call; }
};

/// How a block ends: it goes on to `next`; or to `taken`: by a guard, by index == `index`, because a try failed, because bit
/// `index` of an operand is set, or because an operand is no number (or no count) of a barrier.
enum class flow_end : std::uint8_t { go, guard, index, failed_try, bit, no_barrier, no_count };

struct flow_block {
    std::vector<flow_step> steps{};
    flow_end end = flow_end::go;
    std::uint32_t frame = 0;
    const instruction* by = nullptr;  ///< of the guard, index or operand
    std::uint32_t index = 0;
    std::size_t operand = 0;          ///< which of the instruction's
    ir::block_id taken = ir::exit_target, next = ir::exit_target;
    int ptx_instructions = 0;
    ir::lock_part part = ir::lock_part::none;
};

struct flow {
    const parsed_module* module = nullptr;
    std::vector<frame> frames;
    std::vector<flow_block> blocks;
    std::uint32_t sections = 0;   ///< atomics under the lock
    bool wants_lock = false;      ///< one of its atomics cannot do without
};

namespace detail {

/// Copies beyond this many PTX instructions cannot fit any program memory.
inline constexpr std::size_t most_copied_instructions = 200'000;

class flow_builder {
public:
    flow_builder(const parsed_module& m, diagnostics& wrong, bool locked) : module_(m), wrong_(wrong), locked_(locked) { out_.module = &m; }

    flow run(const function& kernel) {
        out_.blocks.emplace_back();
        out_.blocks[0].next = copy({&kernel, 0, nullptr, 0}, ir::exit_target);
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

    static bool waits(const instruction& i) { return i.opcode == "bar" || i.opcode == "barrier"; }
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
            flow_block& b = out_.blocks[here];
            b.end = flow_end::index;
            b.by = &i;
            b.frame = fr;
            b.index = static_cast<std::uint32_t>(k);
            b.taken = label(fr, labels[k], block_at);
            b.next = more;
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

    void trap(const instruction& i, ir::block_id at, std::uint32_t fr) {
        flow_block& b = out_.blocks[at];
        b.next = ir::trap_target;
        b.by = &i;
        b.frame = fr;
    }

    ir::block_id fresh() {
        out_.blocks.emplace_back();
        return static_cast<ir::block_id>(out_.blocks.size() - 1);
    }

    void apart(const instruction& i, ir::block_id at, std::uint32_t fr, ir::block_id after) {
        if (has_number(i)) return number(i, at, fr, after);
        if (tries_again(i)) {
            const ir::block_id again = fresh(), done = fresh();
            out_.blocks[at].steps.push_back({step_kind::first_try, fr, &i, true});
            out_.blocks[at].next = again;
            at = again;
            flow_block& b = out_.blocks[at];
            b.steps.push_back({step_kind::next_try, fr, &i, true});
            b.end = flow_end::failed_try;
            b.frame = fr;
            b.by = &i;
            b.taken = again;
            b.next = done;
            at = done;
            out_.blocks[at].steps.push_back({step_kind::tried, fr, &i, true});
        } else if (locked_ && is_long(i)) {
            at = under_lock(i, at, fr);
        } else {
            out_.blocks[at].steps.push_back({step_kind::plain, fr, &i, true});
        }
        out_.blocks[at].next = after;
    }

    /// Whether it waits at a barrier with a number.
    static bool has_number(const instruction& i) { return waits(i) && !i.has("warp") && !i.has("arrive") && !i.has("cluster"); }
    static std::size_t number_operand(const instruction& i) { return i.has("red") ? 1 : 0; }

    /// The number of a barrier: known, or chosen by its bits, each with the instruction for itself. What is known only later makes
    /// ways that nobody goes, which are dropped.
    void number(const instruction& i, ir::block_id at, std::uint32_t fr, ir::block_id after) {
        constexpr int most = machine::mission.barriers;
        const std::size_t n = number_operand(i);
        if (i.operands[n].kind != operand_kind::reg) return count(i, at, fr, after, {number_in(i.operands[n], most), -1});
        at = unless(flow_end::no_barrier, i, n, at, fr);
        by_bits(i, n, machine::bits_for(most) - 1, 0, 0, at, fr, [&](ir::block_id leaf, int id) { count(i, leaf, fr, after, {id, -1}); });
    }

    /// The number of its threads likewise. Up to 32 are there: 32, or a multiple of 4 below.
    void count(const instruction& i, ir::block_id at, std::uint32_t fr, ir::block_id after, barrier_choice choice) {
        constexpr int warp = machine::bits_for(machine::mission.lanes), all = machine::bits_for(machine::mission.threads());
        const std::size_t n = number_operand(i) + 1, last = i.operands.size() - (i.has("red") ? 1 : 0);
        if (n >= last || i.operands[n].kind != operand_kind::reg) return wait(i, at, fr, after, choice);
        const auto with = [&](int threads) { return barrier_choice{choice.id, threads >> warp}; };
        at = unless(flow_end::no_count, i, n, at, fr);
        const ir::block_id full = fresh(), fewer = fresh();
        on_bit(i, n, all, at, fr, full, fewer);
        wait(i, full, fr, after, with(machine::mission.threads()));
        by_bits(i, n, all - 1, warp, 0, fewer, fr, [&](ir::block_id leaf, int threads) { wait(i, leaf, fr, after, with(threads)); });
    }

    /// An operand that is a number below `most`, or -1.
    static int number_in(const operand& o, int most) {
        return o.kind == operand_kind::integer && o.value >= 0 && o.value < most ? static_cast<int>(o.value) : -1;
    }

    /// The way on from a block that ends in a trap if the operand is not good.
    ir::block_id unless(flow_end bad, const instruction& i, std::size_t operand, ir::block_id at, std::uint32_t fr) {
        const ir::block_id stop = fresh(), good = fresh();
        branch(bad, i, operand, 0, at, fr, stop, good);
        trap(i, stop, fr);
        return good;
    }

    void on_bit(const instruction& i, std::size_t operand, int bit, ir::block_id at, std::uint32_t fr, ir::block_id set, ir::block_id clear) {
        branch(flow_end::bit, i, operand, static_cast<std::uint32_t>(bit), at, fr, set, clear);
    }

    void branch(flow_end end, const instruction& i, std::size_t operand, std::uint32_t index, ir::block_id at, std::uint32_t fr, ir::block_id taken, ir::block_id next) {
        flow_block& b = out_.blocks[at];
        b.end = end;
        b.by = &i;
        b.frame = fr;
        b.index = index;
        b.operand = operand;
        b.taken = taken;
        b.next = next;
    }

    /// Calls leaf(block, value) for every value of the bits from `bit` down to `lowest` of an operand, where it has it.
    template <class Leaf>
    void by_bits(const instruction& i, std::size_t operand, int bit, int lowest, int value, ir::block_id at, std::uint32_t fr, const Leaf& leaf) {
        if (bit < lowest) return leaf(at, value);
        const ir::block_id set = fresh(), clear = fresh();
        on_bit(i, operand, bit, at, fr, set, clear);
        by_bits(i, operand, bit - 1, lowest, value, clear, fr, leaf);
        by_bits(i, operand, bit - 1, lowest, value | 1 << bit, set, fr, leaf);
    }

    void wait(const instruction& i, ir::block_id at, std::uint32_t fr, ir::block_id after, barrier_choice choice) {
        if (i.has("red"))
            for (step_kind k : {step_kind::red_wait, step_kind::red_clear, step_kind::red_count}) {
                const ir::block_id then = fresh();
                out_.blocks[at].steps.push_back({k, fr, &i, true, choice});
                out_.blocks[at].next = then;
                at = then;
            }
        out_.blocks[at].steps.push_back({i.has("red") ? step_kind::red_read : step_kind::plain, fr, &i, true, choice});
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
        const auto if_not = [&](ir::block_id b, ir::block_id elsewhere) {
            out_.blocks[b].end = flow_end::failed_try;
            out_.blocks[b].frame = fr;
            out_.blocks[b].by = &i;
            out_.blocks[b].taken = elsewhere;
        };
        then(ir::lock_part::ticket, step_kind::draw_ticket);
        then(ir::lock_part::number, step_kind::make_number);
        const ir::block_id wait = then(ir::lock_part::wait, step_kind::wait_turn);
        if_not(wait, wait);
        if_not(then(ir::lock_part::turn, step_kind::find_section), ir::trap_target);
        return then(ir::lock_part::section, step_kind::locked);
    }

    void call(const instruction& i, ir::block_id here, std::uint32_t fr, ir::block_id after) {
        const function* f = callee(i, fr);
        if (f == nullptr) return;
        const ir::block_id from = behind_guard(i, here, fr, after);
        if (fails_assertion(*f)) return trap(i, from, fr);
        const auto inner = static_cast<std::uint32_t>(out_.frames.size());
        out_.blocks[from].steps.push_back({step_kind::enter_call, inner, &i, false});
        const ir::block_id back = fresh();
        out_.blocks[back].steps.push_back({step_kind::leave_call, inner, &i, false});
        out_.blocks[back].next = after;
        const ir::block_id first = copy({f, fr, &i, next_register_}, back);
        out_.blocks[from].next = first;
    }

    /// The function that is called, or nullptr after saying why it cannot be copied in.
    const function* callee(const instruction& i, std::uint32_t fr) {
        const operand& target = i.operands[1];
        if (target.kind != operand_kind::symbol_value || target.sym.kind != symbol_kind::function)
            return refuse(i, "a call through a pointer is not supported; call the function by its name");
        const function& f = module_.functions[target.sym.id];
        if (fails_assertion(f)) return &f;
        if (!f.has_body) return refuse(i, why_missing(f.name));
        for (std::uint32_t up = fr;; up = out_.frames[up].caller) {
            if (out_.frames[up].code == &f) return refuse(i, "recursive call: " + f.name + " calls itself, and there is no stack; write it as a loop");
            if (up == 0) break;
        }
        if (copied_ + f.code.size() > most_copied_instructions)
            return refuse(i, "with all calls copied in, the kernel has more than " + std::to_string(most_copied_instructions) + " PTX instructions");
        return &f;
    }

    const function* refuse(const instruction& i, std::string why) {
        wrong_.add("ptx.unsupported", i.where, std::move(why));
        return nullptr;
    }

    const parsed_module& module_;
    diagnostics& wrong_;
    bool locked_;
    flow out_;
    std::uint32_t next_register_ = 0;
    std::size_t copied_ = 0;
};

}  // namespace detail

/// The control flow of a kernel. Calls that cannot be copied in are added to `wrong`. 64-bit atomics are under a lock if one of
/// them cannot do without, or if they shall be.
inline flow flow_of(const parsed_module& m, const function& kernel, diagnostics& wrong, bool locked) {
    diagnostics found(m.file);
    flow fl = detail::flow_builder(m, found, locked).run(kernel);
    if (fl.wants_lock && !locked) return flow_of(m, kernel, wrong, true);
    for (const diagnostic& d : found.all()) wrong.add(d.id, d.where, d.message);
    return fl;
}

}  // namespace qwengpu::ptx
