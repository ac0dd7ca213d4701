// SPDX-License-Identifier: MIT
// What a kernel's control flow is made of before its instructions are lowered: PTX instructions in blocks, and what each of them
// does there; and how blocks are joined.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include <qwengpu/machine/sizes.hpp>
#include <qwengpu/ptx/ast.hpp>
#include <qwengpu/ptx/ir.hpp>

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
    plain, enter_call, leave_call, red_wait, red_clear, red_count, red_read, first_try, next_try, tried, draw_ticket, make_number, wait_turn, find_section, locked,
    reset_arrivals, arrive, look_for_phase, look_for_progress, sleep, give_up
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
/// `index` of an operand is set, because a pointer is the address `index` of a function, or because an operand is no number (or no
/// count) of a barrier.
enum class flow_end : std::uint8_t { go, guard, index, failed_try, bit, callee, no_barrier, no_count };

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
    std::uint32_t arrivals = 0;   ///< barriers to which threads come without waiting, a bit for each
    std::uint32_t waits = 0;      ///< and those of the machine that threads wait at
};

namespace detail {

/// Blocks that are being joined.
class flow_blocks {
protected:
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

    flow out_;
};

}  // namespace detail

}  // namespace qwengpu::ptx
