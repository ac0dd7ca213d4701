// SPDX-License-Identifier: MIT
// Atomics (atom, red): one machine block each, in which a lane loads and stores before the next lane does. What is not one
// operation between load and store (inc, dec, cas of 16 bits) tries with cas until no other thread came between; 64 bits without a
// result are two.
#pragma once

#include <string>
#include <string_view>

#include <qwengpu/ptx/lower_memory.hpp>

namespace qwengpu::ptx::lower {

/// Variables of a retried atomic: whether the last try failed, and what was in memory then.
inline constexpr std::uint32_t failed = 0x7ffffff1U, found = 0x7ffffff2U;

namespace detail {

/// atom has its destination in front; red has none.
inline std::size_t first_of_atomic(const lowering& l) { return l.now().opcode == "atom" ? 1 : 0; }

/// The word at the address as it is at this moment: the load is neither dropped nor merged.
inline ir::operand load_pinned(lowering& l, ir::operand address, ir::region where) {
    ir::instruction i;
    i.kind = ir::made_by::load;
    i.a = address;
    i.where = where;
    i.strength = machine::access_strength::relaxed;
    return l.emit(i);
}

/// The word at the address, where `op` of it and b is from now on.
inline ir::operand exchange(lowering& l, ir::operand address, lowering::op op, unsigned mod, ir::operand b, ir::operand c = {}, bool is_half = false) {
    ir::instruction i;
    i.kind = ir::made_by::atomic;
    i.op = op;
    i.mod = static_cast<std::uint8_t>(mod);
    i.a = address;
    i.b = b;
    i.c = c;
    i.where = region_of(l.now());
    i.is_half = is_half;
    return l.emit(i);
}

inline ir::operand compare_and_swap(lowering& l, ir::operand address, ir::operand compare, ir::operand value) {
    return exchange(l, address, lowering::op::cmp, machine::mod::cmp_eq, value, compare);
}

struct atomic_row {
    std::string_view name;
    lowering::op op;
    unsigned mod;
};

inline constexpr atomic_row atomic_rows[] = {
    {"add", lowering::op::add, 0}, {"exch", lowering::op::none, 0}, {"and", lowering::op::lop, ir::table::and_ab}, {"or", lowering::op::lop, ir::table::or_ab},
    {"xor", lowering::op::lop, ir::table::xor_ab}, {"min", lowering::op::min, 0}, {"max", lowering::op::max, 0}};

inline const atomic_row* row_of_atomic(const instruction& i) {
    for (const atomic_row& r : atomic_rows)
        if (i.has(r.name)) return &r;
    return nullptr;
}

inline bool is_read(const lowering& l) { return l.now().opcode == "atom" && l.now().operands[0].kind != operand_kind::sink; }

/// Two words: two atomics, which nobody can tell from one as long as nobody asks what was there (`is_half`), or comes between.
inline wide exchange_wide(lowering& l, const atomic_row& r, ir::operand low, ir::operand high, bool is_half) {
    const wide x = l.read_wide(l.now().operands[first_of_atomic(l) + 1]);
    const bool adds = r.op == lowering::op::add;
    const ir::operand was = exchange(l, low, r.op, r.mod, x.lo);
    const ir::operand carried = adds ? l.add(x.hi, l.compare(machine::mod::cmp_lt, l.add(was, x.lo), x.lo)) : x.hi;
    const ir::operand was_high = exchange(l, high, r.op, r.mod, carried, {}, is_half);
    return {was, was_high};
}

inline ir::operand atomic_address(lowering& l, std::uint32_t offset = 0) { return address_of(l, l.now().operands[first_of_atomic(l)], offset); }

/// Atomics that order memory come between fences.
inline void fence_if_ordering(lowering& l) {
    if (l.now().has("acquire") || l.now().has("release") || l.now().has("acq_rel") || l.now().has("sc")) l.fence();
}

}  // namespace detail

inline void atomic(lowering& l) {
    using namespace detail;
    const scalar_type t = l.now().type();
    const std::size_t at = first_of_atomic(l);
    const bool is_f32 = t == scalar_type::f32;
    if (l.now().vector != 1) return l.refuse("atomics of vectors are not supported; use one for each element");
    if (bits_of(t) != 32 && bits_of(t) != 64) return l.refuse("atomics of 128 bits are not supported; use 64-bit numbers");
    fence_if_ordering(l);
    if (l.now().has("cas")) {
        const ir::operand value = l.raw_word(at + 2), expected = l.raw_word(at + 1), was = compare_and_swap(l, atomic_address(l), expected, value);
        if (is_read(l)) l.result(was);
        return fence_if_ordering(l);
    }
    const atomic_row* r = row_of_atomic(l.now());
    if (r == nullptr || (is_f32 && r->op != lowering::op::add && r->op != lowering::op::none)) return l.refuse("this atomic is not supported; use cas in a loop");
    if (bits_of(t) == 64) {
        const ir::operand high = atomic_address(l, 4), low = atomic_address(l);
        const wide was = exchange_wide(l, *r, low, high, true);
        if (is_read(l)) l.result(was);
        return fence_if_ordering(l);
    }
    const bool orders = r->op == lowering::op::min || r->op == lowering::op::max;
    const auto op = is_f32 && r->op == lowering::op::add ? lowering::op::fadd : r->op;
    const ir::operand value = l.raw_word(at + 1);
    const ir::operand was = exchange(l, atomic_address(l), op, orders && is_signed(t) ? unsigned{machine::mod::is_signed} : r->mod, value);
    if (is_read(l)) l.result(was);
    fence_if_ordering(l);
}

namespace detail {

inline bool is_half_word(const lowering& l) { return bits_of(l.now().type()) == 16; }

/// The address of the word; of the one around a half word, misaligned if that is.
inline ir::operand address_of_try(lowering& l) {
    const ir::operand address = atomic_address(l);
    return is_half_word(l) ? l.both(address, ir::literal(~2U)) : address;
}

/// The half word at the address, of the word around it.
inline ir::operand half_of(lowering& l, ir::operand word) {
    const ir::operand place = l.both(atomic_address(l), ir::literal(2));
    return l.extend(l.shift_right(word, l.shift_left(place, ir::literal(3))), scalar_type::u16);
}

/// cas of 16 bits: the word with the new half where the old one is as expected, or as it was.
inline ir::operand with_half_swapped(lowering& l, ir::operand was) {
    const std::size_t at = first_of_atomic(l);
    const ir::operand expected = l.extend(l.raw_word(at + 1), scalar_type::u16), found_half = half_of(l, was);
    const ir::operand next = l.raw_word(at + 2), place = atomic_address(l);
    const ir::operand swapped = l.emit(lowering::op::insert, was, next, place, machine::mod::insert_half);
    return l.select(l.compare(machine::mod::cmp_eq, found_half, expected), swapped, was);
}

/// inc: was >= limit ? 0 : was + 1; dec: was == 0 or was > limit ? limit : was - 1.
inline ir::operand counted(lowering& l, ir::operand was) {
    namespace m = machine::mod;
    const ir::operand limit = l.raw_word(first_of_atomic(l) + 1), less = l.sub(was, ir::literal(1));
    const bool up = l.now().has("inc");
    const ir::operand more = up ? l.add(was, ir::literal(1)) : ir::zero;
    return up ? l.select(l.compare(m::cmp_lt, was, limit), more, ir::zero) : l.select(l.compare(m::cmp_lt, less, limit), less, limit);
}

}  // namespace detail

/// Atomics that are tried, first part: what is there now.
inline void first_try(lowering& l) {
    const ir::operand address = detail::address_of_try(l);
    l.write_variable(found, detail::load_pinned(l, address, detail::region_of(l.now())));
}

/// The new word is stored if nobody changed it since.
inline void next_try(lowering& l) {
    const ir::operand was = l.read_variable(found);
    const ir::operand next = detail::is_half_word(l) ? detail::with_half_swapped(l, was) : detail::counted(l, was);
    const ir::operand is = detail::compare_and_swap(l, detail::address_of_try(l), was, next);
    l.write_variable(failed, l.compare(machine::mod::cmp_lt | machine::mod::cmp_gt, is, was));
    l.write_variable(found, is);
}

/// Only now: a further try would read operands that the result may have taken the place of.
inline void tried(lowering& l) {
    if (!detail::is_read(l)) return;
    const ir::operand word = l.read_variable(found);
    l.result(detail::is_half_word(l) ? detail::half_of(l, word) : word);
}

}  // namespace qwengpu::ptx::lower
