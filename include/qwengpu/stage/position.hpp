// SPDX-License-Identifier: MIT
// Front, layers 3-4: from the number of complete positions to the slot and the lane of the position that this token
// completed (current) and of the one to write next. Slot by slot, or, in a `lane_major` block, lane by lane.
#pragma once

#include <qwengpu/circuit/adder.hpp>
#include <qwengpu/stage/counters.hpp>
#include <qwengpu/stage/plan.hpp>
#include <qwengpu/stage/signals.hpp>

#include <bit>
#include <string>
#include <vector>

namespace qwengpu::stage {

namespace detail {

inline word one_hot(network& net, const std::string& name, int count) { return net.make_word(name, count); }

// 1 if exactly n positions of a record of c lanes are complete.
template <machine::sizes M>
linear exactly(const position_signals& p, std::size_t c, std::size_t n) {
    std::vector<linear> bits{p.count_is[c - 1]};
    if (n > 0) bits.emplace_back(p.at_least[n]);
    if (n < static_cast<std::size_t>(machine::slot_count * M.lanes)) bits.push_back(no(p.at_least[n + 1]));
    return all(bits);
}

// Slot by slot: n positions of c lanes each are n / c slots and n % c lanes.
template <machine::sizes M>
void split_by_slots(network& net, const position_signals& p, const linear& lane_major) {
    for (std::size_t c = 1; c <= static_cast<std::size_t>(M.lanes); ++c) {
        for (std::size_t n = 0; n <= machine::slot_count * c; ++n) {
            circuit::outputs to{{p.next_ordinal[n / c], 1.0F}, {p.next_index[n % c], 1.0F}};
            if (n > 0) to.insert(to.end(), {{p.current_ordinal[(n - 1) / c], 1.0F}, {p.current_index[(n - 1) % c], 1.0F}});
            if (n < c) to.emplace_back(p.next_first, 1.0F);
            net.step(plan::position, all({no(lane_major), exactly<M>(p, c, n)}), 1, to);
        }
    }
}

// Lane by lane, k slots each: the store, which is the first of those present, comes last. After the last lane the
// ordinal is k, which ends the record. `has_k` is a bit in a `lane_major` block; elsewhere it may be more.
template <machine::sizes M>
void split_by_lanes(network& net, const position_signals& p, const linear& lane_major, std::size_t k, const linear& has_k) {
    for (std::size_t c = 1; c <= static_cast<std::size_t>(M.lanes); ++c) {
        for (std::size_t n = 0; n <= k * c; ++n) {
            const bool over = n == k * c;
            circuit::outputs to{{p.next_ordinal[over ? k : k - 1 - n % k], 1.0F}, {p.next_index[over ? 0 : n / k], 1.0F}};
            if (n > 0) to.insert(to.end(), {{p.current_ordinal[k - 1 - (n - 1) % k], 1.0F}, {p.current_index[(n - 1) / k], 1.0F}});
            if (!over && n % k == 0) to.emplace_back(p.next_first, 1.0F);
            net.step(plan::position, all({has_k, exactly<M>(p, c, n)}) + 8.0 * (lane_major - linear(1.0)), 1, to);
        }
    }
}

// Layer 3.
template <machine::sizes M>
void split_count(network& net, const signals& s, position_signals& p) {
    p.next_ordinal = one_hot(net, "position.next.ordinal", machine::slot_count + 1);
    p.next_index = one_hot(net, "position.next.index", M.lanes);
    p.current_ordinal = one_hot(net, "position.current.ordinal", machine::slot_count);
    p.current_index = one_hot(net, "position.current.index", M.lanes);
    p.next_first = net.make("position.next.first");
    linear register_slot;
    for (int slot = 2; slot < machine::slot_count; ++slot) register_slot += s.program.present(slot);
    const linear lane_major = s.program.lane_major();
    split_by_slots<M>(net, p, lane_major);
    split_by_lanes<M>(net, p, lane_major, 1, no(register_slot));
    split_by_lanes<M>(net, p, lane_major, 2, register_slot);
}

// Layer 4: the bit of `present` that is the k-th one, for the k that `ordinal` says.
inline word select_present(network& net, int layer, const std::string& name, const word& ordinal, const word& present) {
    const word chosen = net.make_word(name, static_cast<int>(present.size()));
    for (std::size_t i = 0; i < present.size(); ++i) {
        for (unsigned before = 0; before < (1U << i); ++before) {
            const word lower(present.begin(), present.begin() + static_cast<std::ptrdiff_t>(i));
            const auto k = static_cast<std::size_t>(std::popcount(before));
            std::vector<linear> bits{ordinal[k], present[i]};
            if (i > 0) bits.push_back(equals(lower, before));
            net.gate(layer, all(bits), {{chosen[i], 1.0F}});
        }
    }
    return chosen;
}

}  // namespace detail

template <machine::sizes M>
void build_position(network& net, signals& s) {
    auto& p = s.position;
    detail::split_count<M>(net, s, p);
    const int layer = plan::position + 1;
    word present;
    for (int i = 0; i < machine::slot_count; ++i) present.push_back(s.program.present(i));
    p.next_slot = detail::select_present(net, layer, "position.next.slot", p.next_ordinal, present);
    p.current_slot = detail::select_present(net, layer, "position.current.slot", p.current_ordinal, present);
    p.next_lane = detail::select_present(net, layer, "position.next.lane", p.next_index, s.context.mask);
    p.current_lane = detail::select_present(net, layer, "position.current.lane", p.current_index, s.context.mask);
    linear slots_done;
    for (std::size_t k = 1; k < p.next_ordinal.size(); ++k) slots_done += static_cast<double>(k) * linear(p.next_ordinal[k]);
    // `mask` comes only after the last position, and changes the number of lanes that the count was made with.
    const linear announced = 32.0 * linear(s.token.is(token_class::mask));
    p.done = net.threshold(layer, "position.done", slots_done - circuit::sum(present) + announced, 0);
}

}  // namespace qwengpu::stage
