// SPDX-License-Identifier: MIT
// Instructions of several threads: barriers, votes, matches, shuffles and reductions of a warp. A warp has 4 lanes here: lanes
// beyond them count as out of range, and a mask of members is only looked at in its low 4 bits.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include <qwengpu/ptx/lower_arrive.hpp>
#include <qwengpu/ptx/lower_collective.hpp>

namespace qwengpu::ptx::lower {

namespace detail {

/// Operand n as a mask of members; all lanes where the instruction has none.
inline ir::operand members(lowering& l, std::size_t n) {
    return n < l.now().operands.size() ? l.both(l.raw_word(n), ir::literal(all_lanes)) : ir::literal(all_lanes);
}

/// Those of the members that are in the set.
inline ir::operand among(lowering& l, ir::operand set, ir::operand these) { return these.is(all_lanes) ? set : l.both(set, these); }

inline ir::operand is_none(lowering& l, ir::operand set) { return l.compare(machine::mod::cmp_eq, set, ir::zero); }

}  // namespace detail

/// vote.{all, any, uni, ballot}.
inline void vote(lowering& l) {
    using namespace detail;
    const ir::operand p = l.predicate(l.now().operands[1]), who = members(l, 2);
    const auto with = [&](bool value) { return among(l, ballot(l, p, !value), who); };
    if (l.now().has("ballot")) return l.result(with(true));
    if (l.now().has("all")) return l.result(is_none(l, with(false)));
    if (l.now().has("any")) return l.result(l.compare(machine::mod::cmp_lt | machine::mod::cmp_gt, with(true), ir::zero));
    const ir::operand all = is_none(l, with(false));
    l.result(l.either(is_none(l, with(true)), all));
}

namespace detail {

/// Writes the word, and the predicate beside it where the instruction has a place for one.
inline void result_with(lowering& l, ir::operand word, ir::operand predicate) {
    const operand& d = l.now().operands[0];
    if (d.kind != operand_kind::pair) return l.result(word);
    l.write(d.items[0], word);
    l.write(d.items[1], predicate);
}

}  // namespace detail

inline void activemask(lowering& l) { l.result(detail::lanes_here(l)); }

/// match.any: the members whose value is this lane's; match.all: all of them if they agree, and whether they do.
inline void match(lowering& l) {
    using namespace detail;
    const wide x = l.pair(1);
    const ir::operand who = members(l, 2);
    ir::operand same = collective(l, machine::memory_op::match, x.lo);
    if (bits_of(l.now().type()) == 64) same = l.both(same, collective(l, machine::memory_op::match, x.hi));
    same = among(l, same, who);
    if (l.now().has("any")) return l.result(same);
    const ir::operand here = among(l, lanes_here(l), who), agree = l.compare(machine::mod::cmp_eq, same, here);
    result_with(l, l.select(agree, same, ir::zero), agree);
}

namespace detail {

/// Where a shuffle reads: the lane, and whether it is in range.
struct shuffle_source {
    ir::operand lane{}, in_range{};
};

/// As the PTX manual has it, with c = segment mask << 8 | clamp; lanes that the warp does not have are out of range.
inline shuffle_source source_of_shuffle(lowering& l) {
    namespace m = machine::mod;
    const auto low_five = [&](ir::operand x) { return l.both(x, ir::literal(31)); };
    const ir::operand b = low_five(l.raw_word(2)), c = l.raw_word(3);
    const ir::operand clamp = low_five(c), segment = low_five(l.shift_right(c, ir::literal(8)));
    const ir::operand first = l.both(lane_id(), segment), rest = l.logic(0x0a, segment, ir::zero, clamp);
    const ir::operand last = l.either(first, rest);
    if (l.now().has("up")) {
        const ir::operand lane = l.sub(lane_id(), b);
        return {lane, l.compare(m::cmp_gt | m::cmp_eq | m::is_signed, lane, last)};
    }
    ir::operand lane;
    if (l.now().has("down")) lane = l.add(lane_id(), b);
    else if (l.now().has("bfly")) lane = l.logic(ir::table::xor_ab, lane_id(), b);
    else lane = l.either(first, l.logic(0x0a, segment, ir::zero, b));
    const ir::operand most = l.emit(lowering::op::min, last, ir::literal(lanes - 1));
    return {lane, l.compare(m::cmp_lt | m::cmp_eq, lane, most)};
}

/// Whether a lane out of range is out of the warp, so that the machine keeps the lane's own value by itself.
inline bool machine_knows_range(lowering& l) {
    const ir::operand c = l.raw_word(3);
    if (!c.is_literal()) return false;
    const bool whole = ((c.bits >> 8) & (lanes - 1)) == 0;
    return whole && (c.bits & (lanes - 1)) == (l.now().has("up") ? 0U : lanes - 1);
}

}  // namespace detail

inline void shuffle(lowering& l) {
    using namespace detail;
    const shuffle_source from = source_of_shuffle(l);
    const ir::operand lane = machine_knows_range(l) ? from.lane : l.select(from.in_range, from.lane, ir::literal(lanes));
    result_with(l, collective(l, machine::memory_op::shuffle, l.raw_word(1), lane), from.in_range);
}

namespace detail {

struct redux_row {
    std::string_view name;
    lowering::op op;
    unsigned mod;
    std::uint32_t neutral, neutral_signed;
};

inline constexpr redux_row redux_rows[] = {
    {"add", lowering::op::add, 0, 0, 0}, {"min", lowering::op::min, 0, 0xffffffffU, 0x7fffffffU}, {"max", lowering::op::max, 0, 0, 0x80000000U},
    {"and", lowering::op::lop, ir::table::and_ab, 0xffffffffU, 0}, {"or", lowering::op::lop, ir::table::or_ab, 0, 0}, {"xor", lowering::op::lop, ir::table::xor_ab, 0, 0}};

}  // namespace detail

/// redux.sync: the words of all members that are here, one after another.
inline void redux(lowering& l) {
    using namespace detail;
    if (is_float(l.now().type())) return l.refuse("redux of floats is not supported; use shuffles");
    const ir::operand x = l.raw_word(1), named = members(l, 2), who = among(l, lanes_here(l), named);
    const bool with_sign = is_signed(l.now().type());
    for (const redux_row& r : redux_rows) {
        if (!l.now().has(r.name)) continue;
        const bool orders = r.op == lowering::op::min || r.op == lowering::op::max;
        const std::uint32_t neutral = orders && with_sign ? r.neutral_signed : r.neutral;
        ir::operand sum = ir::literal(neutral);
        for (std::uint32_t lane = 0; lane < lanes; ++lane) {
            const ir::operand word = collective(l, machine::memory_op::shuffle, x, ir::literal(lane));
            const ir::operand one = l.select(l.shift_right(who, ir::literal(lane)), word, ir::literal(neutral));
            sum = l.emit(r.op, sum, one, {}, orders && with_sign ? unsigned{machine::mod::is_signed} : r.mod);
        }
        return l.result(sum);
    }
    l.refuse("this redux is not supported; use shuffles");
}

/// elect.sync: the lowest member that is here, and whether it is this lane.
inline void elect(lowering& l) {
    using namespace detail;
    const operand& d = l.now().operands[0];
    const ir::operand named = members(l, 1), who = among(l, lanes_here(l), named);
    const ir::operand first = l.emit(lowering::op::clz, l.emit(lowering::op::brev, who));
    if (d.kind != operand_kind::pair) return l.result(first);
    l.write(d.items[0], first);
    l.write(d.items[1], l.compare(machine::mod::cmp_eq, first, lane_id()));
}

namespace detail {

/// The barrier that operand n names and its count as operand n + 1, or what was chosen by them, as the machine has them.
inline void wait_at(lowering& l, std::size_t n, bool has_count) {
    constexpr std::uint32_t most = 15;
    const barrier_choice& chosen = l.waits();
    const ir::operand count = !has_count ? ir::zero : chosen.count >= 0 ? ir::literal(lanes * static_cast<std::uint32_t>(chosen.count)) : l.raw_word(n + 1);
    if (chosen.id < 0)
        return l.refuse("there are " + std::to_string(machine::mission.barriers) + " barriers, with the numbers 0 to " + std::to_string(machine::mission.barriers - 1) + "; use one of them");
    if (!count.is_literal() || count.bits % lanes != 0)
        return l.refuse("the number of threads of a barrier must be a multiple of the warp size, " + std::to_string(lanes) + "; use one");
    l.end().source = l.source();
    l.end().barrier = machine_barrier(l, chosen.id);
    l.end().barrier_count = static_cast<int>(std::min(count.bits / lanes, most));
}

inline void access_counter(lowering& l, ir::made_by kind, ir::operand word) {
    ir::instruction i;
    i.kind = kind;
    i.a = l.map().counter(l.waits());
    i.b = word;
    i.where = ir::region::shared;
    if (kind == ir::made_by::atomic) i.op = lowering::op::add;
    else i.strength = machine::access_strength::relaxed;
    l.emit(i);
}

}  // namespace detail

/// Whether a word names no barrier, or is no number of threads that a barrier can take.
inline ir::operand is_no_barrier(lowering& l, ir::operand x) {
    return l.compare(machine::mod::cmp_gt, x, ir::literal(static_cast<std::uint32_t>(machine::mission.barriers) - 1));
}
inline ir::operand is_no_count(lowering& l, ir::operand x) {
    const ir::operand too_many = l.compare(machine::mod::cmp_gt, x, ir::literal(static_cast<std::uint32_t>(machine::mission.threads())));
    const ir::operand part = l.compare(machine::mod::cmp_gt, l.both(x, ir::literal(detail::lanes - 1)), ir::zero);
    return l.either(too_many, part);
}

/// bar.sync, barrier.sync, bar.warp.sync; all end their block.
inline void barrier(lowering& l) {
    if (l.now().has("warp")) {
        l.end().source = l.source();
        l.end().meets_warp = true;
        return;
    }
    if (l.now().has("cluster")) return l.refuse("clusters of thread blocks are not supported; use bar.sync");
    detail::wait_at(l, 0, l.now().operands.size() > 1);
}

/// bar.red: all clear a word, count in it what is true (for .and: what is false), and read it, waiting in between.
inline void part_of_red(lowering& l, step_kind part) {
    const auto& o = l.now().operands;
    const ir::operand p = l.predicate(o.back()), one = ir::literal(1);
    if (part == step_kind::red_clear) detail::access_counter(l, ir::made_by::store, ir::zero);
    if (part == step_kind::red_count) detail::access_counter(l, ir::made_by::atomic, l.now().has("and") ? l.logic(ir::table::xor_ab, p, one) : p);
    if (part != step_kind::red_read) return detail::wait_at(l, 1, o.size() > 3);
    const ir::operand n = detail::load_pinned(l, l.map().counter(l.waits()), ir::region::shared);
    if (l.now().has("popc")) return l.result(n);
    const unsigned order = l.now().has("and") ? machine::mod::cmp_eq : machine::mod::cmp_lt | machine::mod::cmp_gt;
    l.result(l.compare(order, n, ir::zero));
}

/// A part of an instruction that takes several blocks.
inline void part_of(lowering& l, step_kind part, std::uint32_t section) {
    switch (part) {
        case step_kind::first_try: return first_try(l);
        case step_kind::next_try: return next_try(l);
        case step_kind::tried: return tried(l);
        case step_kind::draw_ticket: return draw_ticket(l);
        case step_kind::make_number: return make_number(l, section);
        case step_kind::wait_turn: return wait_turn(l);
        case step_kind::find_section: return find_section(l, section);
        case step_kind::locked: return locked_atomic(l);
        case step_kind::reset_arrivals: return reset_arrivals(l);
        case step_kind::arrive: return arrive(l);
        case step_kind::look_for_phase: return look_for_phase(l);
        case step_kind::look_for_progress: return look_for_progress(l);
        case step_kind::sleep: return sleep(l);
        case step_kind::give_up: return give_up(l);
        default: return part_of_red(l, part);
    }
}

namespace detail {

inline ir::operand window_of(lowering& l, ir::operand address) { return l.shift_right(address, ir::literal(machine::address::window_shift)); }

/// Whether an address is of a .const variable: each of them has a window of its own.
inline ir::operand is_constant(lowering& l, ir::operand window) {
    ir::operand any = ir::zero;
    for (const std::uint32_t id : l.map().module_variables()) {
        if (l.module().variables[id].space != state_space::constant) continue;
        const ir::operand its = window_of(l, l.map().address({symbol_kind::module_variable, id}, 0));
        any = l.either(any, l.compare(m::cmp_eq, window, its));
    }
    return any;
}

/// Whether an address is of a parameter of the kernel whose address was taken: it has a copy in local memory.
inline ir::operand is_parameter(lowering& l, ir::operand address) {
    ir::operand any = ir::zero;
    const function& kernel = *l.frame_of(0).code;
    for (const parameter& p : kernel.parameters) {
        const ir::operand first = p.in_register ? ir::operand{} : l.map().address({symbol_kind::function_variable, p.id}, 0);
        if (!first.present()) continue;
        const auto bytes = static_cast<std::uint32_t>(kernel.variables[p.id].bytes());
        any = l.either(any, l.compare(m::cmp_lt, l.sub(address, first), ir::literal(bytes)));
    }
    return any;
}

}  // namespace detail

/// isspacep: the window says what an address is of.
inline void isspacep(lowering& l) {
    using namespace detail;
    const ir::operand address = l.raw_word(1), window = window_of(l, address);
    const auto is = [&](int n) { return l.compare(m::cmp_eq, window, ir::literal(static_cast<std::uint32_t>(n))); };
    const auto without = [&](ir::operand these, ir::operand those) { return l.logic(0x30, these, those); };
    switch (l.now().space) {
        case state_space::shared: return l.result(is(shared_window));
        case state_space::constant: return l.result(is_constant(l, window));
        case state_space::param: return l.result(is_parameter(l, address));
        case state_space::local: {
            const ir::operand copied = is_parameter(l, address);
            return l.result(without(is(local_window), copied));
        }
        default: {
            const ir::operand fixed = is_constant(l, window);
            return l.result(without(l.compare(m::cmp_lt, window, ir::literal(local_window)), fixed));
        }
    }
}

/// A cluster is one thread block: its rank is 0, and an address in its shared memory is what it is.
inline void rank_in_cluster(lowering& l) { l.result(ir::zero); }
inline void map_to_block(lowering& l) { l.result(l.pair(1)); }

/// createpolicy: nothing here looks at a policy of caches.
inline void no_policy(lowering& l) { l.result(wide{ir::zero, ir::zero}); }

inline void order_memory(lowering& l) { l.fence(); }

}  // namespace qwengpu::ptx::lower
