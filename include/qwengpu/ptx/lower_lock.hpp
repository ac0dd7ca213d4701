// SPDX-License-Identifier: MIT
// Atomics on 64 bits, which are two words: done under a lock of the thread block. Lanes draw tickets, in the order in which they
// come, and are let in by number, so nobody waits for ever. The lock is two hidden words of shared memory (memory_map.hpp).
#pragma once

#include <bit>
#include <cstdint>

#include <qwengpu/ptx/lower_atomic.hpp>

namespace qwengpu::ptx::lower {

/// The variable that holds a lane's number: its ticket, and in the low bits which section it waits for.
inline constexpr std::uint32_t number = 0x7ffffff3U;

namespace detail {

/// The distance of two tickets; below it is room for the number of a section.
inline std::uint32_t ticket_step(const lowering& l) { return std::bit_ceil(l.sections()); }

inline ir::operand add_to_lock(lowering& l, ir::operand word) {
    ir::instruction i;
    i.kind = ir::made_by::atomic;
    i.op = lowering::op::add;
    i.a = word;
    i.b = ir::literal(ticket_step(l));
    i.where = ir::region::shared;
    i.settled = true;
    return l.emit(i);
}

inline ir::operand load_pinned(lowering& l, ir::operand address, ir::region where) {
    ir::instruction i;
    i.kind = ir::made_by::load;
    i.a = address;
    i.where = where;
    i.pinned = true;
    return l.emit(i);
}

inline void store_if(lowering& l, ir::operand condition, ir::operand address, ir::operand word) {
    ir::instruction i;
    i.kind = ir::made_by::store;
    i.a = address;
    i.b = word;
    i.c = condition;
    i.sense = true;
    i.where = region_of(l.now());
    i.pinned = true;
    l.emit(i);
}

}  // namespace detail

inline void draw_ticket(lowering& l) {
    l.fence();
    l.write_variable(number, detail::add_to_lock(l, l.map().next_ticket()));
}

inline void make_number(lowering& l, std::uint32_t section) {
    const ir::operand ticket = l.read_variable(number), named = l.add(ticket, ir::literal(section));
    l.settle(named);
    l.write_variable(number, named);
}

inline void wait_turn(lowering& l) {
    namespace m = machine::mod;
    const ir::operand called = detail::load_pinned(l, l.map().called_number(), ir::region::shared), mine = l.read_variable(number);
    if (l.sections() == 1) return l.write_variable(failed, l.compare(m::cmp_lt | m::cmp_gt, called, mine));
    const ir::operand apart = l.logic(ir::table::xor_ab, called, mine);
    l.write_variable(failed, l.compare(m::cmp_gt | m::cmp_eq, apart, ir::literal(detail::ticket_step(l))));
}

inline void find_section(lowering& l, std::uint32_t section) {
    const ir::operand wanted = l.both(l.read_variable(number), ir::literal(detail::ticket_step(l) - 1));
    l.write_variable(failed, l.compare(machine::mod::cmp_lt | machine::mod::cmp_gt, wanted, ir::literal(section)));
}

namespace detail {

/// min, max and cas: both words are stored if the new number wins over what is there, or if that is the one expected.
inline wide replace_wide(lowering& l, ir::operand low, ir::operand high) {
    const std::size_t at = first_of_atomic(l) + 1;
    const bool swaps = l.now().has("cas");
    const wide x = l.read_wide(l.now().operands[at]), next = swaps ? l.read_wide(l.now().operands[at + 1]) : x;
    const ir::operand was_low = load_pinned(l, low, region_of(l.now())), was_high = load_pinned(l, high, region_of(l.now()));
    const unsigned order = swaps ? m::cmp_eq : l.now().has("min") ? m::cmp_lt : m::cmp_gt;
    const unsigned sign = is_signed(l.now().type()) ? unsigned{m::is_signed} : 0U;
    const ir::operand wins = compare(l, order | sign, x, {was_low, was_high});
    store_if(l, wins, low, next.lo);
    store_if(l, wins, high, next.hi);
    return {was_low, was_high};
}

}  // namespace detail

/// What the lane does in its section, and the call of the next number.
inline void locked_atomic(lowering& l) {
    using namespace detail;
    l.fence();
    const ir::operand high = atomic_address(l, 4), low = atomic_address(l);
    const atomic_row* r = row_of_atomic(l.now());
    const bool in_one_step = r != nullptr && r->op != lowering::op::min && r->op != lowering::op::max;
    const wide was = in_one_step ? exchange_wide(l, *r, low, high, false) : replace_wide(l, low, high);
    l.fence();
    add_to_lock(l, l.map().called_number());
    if (is_read(l)) l.result(was);
    l.fence();
}

}  // namespace qwengpu::ptx::lower
