// SPDX-License-Identifier: MIT
// Barriers to which threads come without waiting (bar.arrive): a word of shared memory counts who came in its low half, and
// phases in its high half. Who waits looks at it, and sleeps at a barrier of the machine that lets go when nobody else can run.
#pragma once

#include <cstdint>
#include <string>

#include <qwengpu/ptx/lower_lock.hpp>

namespace qwengpu::ptx::lower {

/// Variables of a lane that waits: the phase it came in, the sum of all arrivals when it last looked, and how often that was the same.
inline constexpr std::uint32_t phase = 0x7ffffff5U, arrived = 0x7ffffff6U, quiet = 0x7ffffff7U;

namespace detail {

/// Where threads sleep.
inline constexpr int sleeping_barrier = machine::mission.barriers - 1;

/// The machine's barrier for one of PTX: the same, but the last is for sleeping, if somebody may, and gives way to one that is free.
inline int machine_barrier(lowering& l, int id) {
    if (l.whole().arrivals == 0 || id != sleeping_barrier) return id;
    for (int free = 0; free < sleeping_barrier; ++free)
        if ((l.whole().waits >> free & 1U) == 0) return free;
    l.refuse("with bar.arrive only " + std::to_string(sleeping_barrier) + " barriers at which all threads wait are left; use fewer");
    return id;
}

inline ir::operand add_arrivals(lowering& l, ir::operand n) {
    ir::instruction i;
    i.kind = ir::made_by::atomic;
    i.op = lowering::op::add;
    i.a = l.map().arrivals(l.waits().id);
    i.b = n;
    i.where = ir::region::shared;
    return l.emit(i);
}

/// Goes to sleep for `warps`: 1 wakes when nobody can run, 15 never does.
inline void sleep_until(lowering& l, int warps) {
    l.end().source = l.source();
    l.end().barrier = sleeping_barrier;
    l.end().barrier_count = warps;
}

}  // namespace detail

/// The first block of a kernel: no arrivals yet, for any thread.
inline void reset_arrivals(lowering& l) {
    for (int id = 0; id < machine::mission.barriers; ++id) {
        if ((l.whole().arrivals >> id & 1U) == 0) continue;
        ir::instruction i;
        i.kind = ir::made_by::store;
        i.a = l.map().arrivals(id);
        i.b = ir::zero;
        i.where = ir::region::shared;
        i.strength = machine::access_strength::relaxed;
        l.emit(i);
    }
    detail::sleep_until(l, 0);
}

/// One more has come. The last ends the phase; who comes before it has done so belongs to the next one.
inline void arrive(lowering& l) {
    constexpr std::uint32_t next_phase = 0x10000;
    constexpr auto warp = static_cast<std::uint32_t>(machine::mission.lanes);
    if (l.now().has("red")) return l.refuse("bar.red at a barrier to which threads come by bar.arrive is not supported; use another barrier");
    const ir::operand n = l.raw_word(1);
    if (n.is_literal() && (n.bits == 0 || n.bits % warp != 0))
        return l.refuse("the number of threads of a barrier must be a multiple of the warp size, " + std::to_string(machine::mission.lanes) + "; use one");
    l.fence();
    const ir::operand was = detail::add_arrivals(l, ir::literal(1)), before = l.both(was, ir::literal(next_phase - 1));
    const ir::operand early = l.compare(detail::m::cmp_gt | detail::m::cmp_eq, before, n), rest = l.sub(before, n);
    const ir::operand place = l.select(early, rest, before), last = l.compare(detail::m::cmp_eq, place, l.sub(n, ir::literal(1)));
    const ir::operand end_of_phase = l.sub(ir::literal(next_phase), n);
    detail::add_arrivals(l, l.select(last, end_of_phase, ir::zero));
    const ir::operand phases = l.add(l.shift_right(was, ir::literal(16)), early);
    l.write_variable(phase, l.both(phases, ir::literal(next_phase - 1)));
    l.write_variable(arrived, ir::zero);
    l.write_variable(quiet, ir::zero);
    l.fence();
}

/// Whether the phase is over.
inline void look_for_phase(lowering& l) {
    const ir::operand now = l.shift_right(detail::load_pinned(l, l.map().arrivals(l.waits().id), ir::region::shared), ir::literal(16));
    l.write_variable(failed, l.compare(detail::m::cmp_lt | detail::m::cmp_gt, now, l.read_variable(phase)));
    l.fence();
}

/// Whether there is no hope: nobody has come to any barrier since this thread last woke and the time before. In between all who
/// slept have looked, and gone as far as they could.
inline void look_for_progress(lowering& l) {
    ir::operand sum = ir::zero;
    for (int id = 0; id < machine::mission.barriers; ++id)
        if ((l.whole().arrivals >> id & 1U) != 0) sum = l.add(sum, detail::load_pinned(l, l.map().arrivals(id), ir::region::shared));
    const ir::operand same = l.compare(detail::m::cmp_eq, sum, l.read_variable(arrived)), more = l.add(l.read_variable(quiet), ir::literal(1));
    const ir::operand times = l.select(same, more, ir::zero);
    l.write_variable(arrived, sum);
    l.write_variable(quiet, times);
    l.write_variable(failed, l.compare(detail::m::cmp_gt, times, ir::literal(1)));
}

inline void sleep(lowering& l) { detail::sleep_until(l, 1); }

/// A deadlock: the machine says so of a barrier that nobody can complete.
inline void give_up(lowering& l) { detail::sleep_until(l, 15); }

}  // namespace qwengpu::ptx::lower
