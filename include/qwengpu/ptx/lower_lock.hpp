// SPDX-License-Identifier: MIT
// Atomics on 64 bits, which are two words: done under a lock of the thread block, two hidden words of shared memory
// (memory_map.hpp). Lanes that come together draw one ticket and go through their section together, since every atomic in it
// serves them in their order; only those of a cas go one by one. Tickets are called in the order in which they were drawn.
#pragma once

#include <bit>
#include <cstdint>

#include <qwengpu/ptx/lower_atomic.hpp>
#include <qwengpu/ptx/lower_collective.hpp>

namespace qwengpu::ptx::lower {

/// Variables of a lane: its number, which is its ticket with the section it waits for in the low bits; and whether it is the one
/// of those with this number that drew the ticket and calls the next.
inline constexpr std::uint32_t number = 0x7ffffff3U, leads = 0x7ffffff4U;

namespace detail {

/// Two tickets are 1 << this apart; below is room for the number of a section.
inline std::uint32_t ticket_shift(const lowering& l) { return static_cast<std::uint32_t>(std::bit_width(l.sections() - 1)); }

/// Adds a ticket to a word of the lock, in lanes that lead.
inline ir::operand add_ticket(lowering& l, ir::operand word, ir::operand leading) {
    constexpr std::uint32_t most = machine::mod::add_shift;
    const std::uint32_t shift = ticket_shift(l);
    const bool in_place = !leading.is_literal() && shift <= most;
    const ir::operand ticket = in_place ? leading : l.shift_left(leading, ir::literal(shift));
    ir::instruction i;
    i.kind = ir::made_by::atomic;
    i.op = lowering::op::add;
    i.mod = static_cast<std::uint8_t>(in_place ? shift : 0);
    i.a = word;
    i.b = ticket;
    i.where = ir::region::shared;
    i.settled = true;
    return l.emit(i);
}

/// The last of the lanes that are here leads: all of them see the ticket that it draws, for they come before it.
inline ir::operand is_last_here(lowering& l) {
    const ir::operand here = lanes_here(l), behind = l.add(lane_id(), ir::literal(1));
    const ir::operand is_last = l.compare(m::cmp_eq, l.shift_right(here, behind), ir::zero);
    l.settle(is_last);
    return is_last;
}

}  // namespace detail

inline void draw_ticket(lowering& l) {
    l.fence();
    l.write_variable(leads, l.now().has("cas") ? ir::literal(1) : detail::is_last_here(l));
    l.write_variable(number, detail::add_ticket(l, l.map().next_ticket(), l.read_variable(leads)));
}

inline void make_number(lowering& l, std::uint32_t section) {
    const ir::operand ticket = l.read_variable(number), named = l.add(ticket, ir::literal(section));
    l.settle(named);
    l.write_variable(number, named);
}

inline void wait_turn(lowering& l) {
    const ir::operand called = detail::load_pinned(l, l.map().called_number(), ir::region::shared), mine = l.read_variable(number);
    if (l.sections() == 1) return l.write_variable(failed, l.compare(detail::m::cmp_lt | detail::m::cmp_gt, called, mine));
    const ir::operand apart = l.logic(ir::table::xor_ab, called, mine);
    l.write_variable(failed, l.compare(detail::m::cmp_gt | detail::m::cmp_eq, apart, ir::literal(1U << detail::ticket_shift(l))));
}

inline void find_section(lowering& l, std::uint32_t section) {
    const ir::operand wanted = l.both(l.read_variable(number), ir::literal((1U << detail::ticket_shift(l)) - 1));
    l.write_variable(failed, l.compare(detail::m::cmp_lt | detail::m::cmp_gt, wanted, ir::literal(section)));
}

namespace detail {

inline void store_if(lowering& l, ir::operand condition, ir::operand address, ir::operand word) {
    ir::instruction i;
    i.kind = ir::made_by::store;
    i.a = address;
    i.b = word;
    i.c = condition;
    i.sense = true;
    i.where = region_of(l.now());
    i.strength = machine::access_strength::relaxed;
    l.emit(i);
}

inline wide swap_if_equal(lowering& l, ir::operand low, ir::operand high) {
    const std::size_t at = first_of_atomic(l) + 1;
    const wide expected = l.read_wide(l.now().operands[at]), next = l.read_wide(l.now().operands[at + 1]);
    const ir::operand was_low = load_pinned(l, low, region_of(l.now())), was_high = load_pinned(l, high, region_of(l.now()));
    const ir::operand is_equal = compare(l, m::cmp_eq, expected, {was_low, was_high});
    store_if(l, is_equal, low, next.lo);
    store_if(l, is_equal, high, next.hi);
    return {was_low, was_high};
}

/// min and max. When the high words are served, every lane sees whether its number wins by it, loses, or whether the low words
/// decide. So what it does to the low word, in the same order of lanes, is to put its own in the place of any, to change nothing, or min
/// or max: all three are min or max of the word with all its bits set (max: cleared) or left, and of its own or one that never wins.
inline wide keep_extreme(lowering& l, ir::operand low, ir::operand high) {
    const bool smallest = l.now().has("min");
    const wide x = l.read_wide(l.now().operands[first_of_atomic(l) + 1]);
    const auto op = smallest ? lowering::op::min : lowering::op::max;
    const unsigned sign = is_signed(l.now().type()) ? unsigned{m::is_signed} : 0U, better = smallest ? m::cmp_lt : m::cmp_gt;
    const ir::operand was_high = exchange(l, high, op, sign, x.hi);
    const ir::operand wins = l.compare(better | sign, x.hi, was_high), stays = l.compare((better ^ m::cmp_lt ^ m::cmp_gt) | sign, x.hi, was_high);
    const ir::operand never = smallest ? ir::literal(0xffffffffU) : ir::zero;
    ir::instruction i;
    i.kind = ir::made_by::atomic;
    i.op = op;
    i.masked = true;
    i.a = low;
    i.b = l.select(stays, never, x.lo);
    i.c = smallest ? l.sub(ir::zero, wins) : l.sub(wins, ir::literal(1));
    i.where = region_of(l.now());
    return {l.emit(i), was_high};
}

inline wide locked_result(lowering& l) {
    const ir::operand high = atomic_address(l, 4), low = atomic_address(l);
    if (l.now().has("cas")) return swap_if_equal(l, low, high);
    if (l.now().has("min") || l.now().has("max")) return keep_extreme(l, low, high);
    return exchange_wide(l, *row_of_atomic(l.now()), low, high, false);
}

}  // namespace detail

/// What the lanes do in their section, and the call of the next number.
inline void locked_atomic(lowering& l) {
    l.fence();
    const wide was = detail::locked_result(l);
    l.fence();
    detail::add_ticket(l, l.map().called_number(), l.read_variable(leads));
    if (detail::is_read(l)) l.result(was);
    l.fence();
}

}  // namespace qwengpu::ptx::lower
