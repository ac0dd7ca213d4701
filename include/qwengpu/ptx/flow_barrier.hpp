// SPDX-License-Identifier: MIT
// Instructions that come to a barrier, as blocks: its number and count may be in registers, and threads may come without waiting
// (bar.arrive), whom the machine does not count.
#pragma once

#include <cstddef>
#include <cstdint>

#include <qwengpu/ptx/flow_blocks.hpp>

namespace qwengpu::ptx::detail {

class barrier_flow : protected flow_blocks {
protected:
    /// `arrivals`: the barriers to which some thread of the kernel comes without waiting, as far as that is known.
    explicit barrier_flow(std::uint32_t arrivals) : arrivals_(arrivals) {}

    static bool waits(const instruction& i) { return i.opcode == "bar" || i.opcode == "barrier"; }
    /// Whether it comes to a barrier with a number.
    static bool has_number(const instruction& i) { return waits(i) && !i.has("warp") && !i.has("cluster"); }
    static std::size_t number_operand(const instruction& i) { return i.has("red") ? 1 : 0; }

    /// The number of a barrier: known, or chosen by its bits, each with the instruction for itself. What is known only later makes
    /// ways that nobody goes, which are dropped.
    void number(const instruction& i, ir::block_id at, std::uint32_t fr, ir::block_id after) {
        constexpr int most = machine::mission.barriers;
        const std::size_t n = number_operand(i);
        if (i.operands[n].kind != operand_kind::reg) return come(i, at, fr, after, number_in(i.operands[n], most));
        at = unless(flow_end::no_barrier, i, n, at, fr);
        by_bits(i, n, machine::bits_for(most) - 1, 0, 0, at, fr, [&](ir::block_id leaf, int id) { come(i, leaf, fr, after, id); });
    }

    /// Whether the barrier's arrivals are counted by the compiler's own code: the machine counts only those that wait.
    [[nodiscard]] bool counts_arrivals(const instruction& i, int id) const {
        return id >= 0 && (i.has("arrive") || ((arrivals_ >> id & 1U) != 0 && i.operands.size() > number_operand(i) + (i.has("red") ? 2U : 1U)));
    }

    void come(const instruction& i, ir::block_id at, std::uint32_t fr, ir::block_id after, int id) {
        if (!counts_arrivals(i, id)) return count(i, at, fr, after, {id, -1});
        if (i.operands[1].kind == operand_kind::reg) at = unless(flow_end::no_count, i, 1, at, fr);
        if (first_arrival_.code == nullptr) first_arrival_ = {step_kind::reset_arrivals, fr, &i, true};
        if (i.has("arrive")) out_.arrivals |= 1U << id;
        out_.blocks[at].steps.push_back({step_kind::arrive, fr, &i, true, {id, -1}});
        out_.blocks[at].next = i.has("sync") ? until_complete(i, fr, after, id) : after;
    }

    /// The blocks of a thread that waits until all have arrived: it looks, sleeps until nobody can run, and looks again. It gives
    /// up when nobody has arrived anywhere while all slept and woke.
    ir::block_id until_complete(const instruction& i, std::uint32_t fr, ir::block_id after, int id) {
        const ir::block_id look = fresh(), rest = fresh(), sleep = fresh(), stop = fresh();
        const auto does = [&](ir::block_id b, step_kind what, ir::block_id next) {
            out_.blocks[b].steps.push_back({what, fr, &i, true, {id, -1}});
            out_.blocks[b].next = next;
        };
        does(look, step_kind::look_for_phase, rest);
        does(rest, step_kind::look_for_progress, sleep);
        does(sleep, step_kind::sleep, look);
        does(stop, step_kind::give_up, look);
        branch(flow_end::failed_try, i, 0, 0, look, fr, after, rest);
        branch(flow_end::failed_try, i, 0, 0, rest, fr, stop, sleep);
        return look;
    }

    /// At the start the words in which arrivals are counted are cleared; returns the first block.
    ir::block_id behind_reset(ir::block_id first) {
        if (arrivals_ == 0 || first_arrival_.code == nullptr) return first;
        const ir::block_id b = fresh();
        out_.blocks[b].steps.push_back(first_arrival_);
        out_.blocks[b].next = first;
        return b;
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

    void wait(const instruction& i, ir::block_id at, std::uint32_t fr, ir::block_id after, barrier_choice choice) {
        if (choice.id >= 0) out_.waits |= 1U << choice.id;
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

private:
    std::uint32_t arrivals_;
    flow_step first_arrival_{};
};

}  // namespace qwengpu::ptx::detail
