// SPDX-License-Identifier: MIT
// Beside the stages, layers 8-16: the next record. Which warp: the first that can run, in cyclic order (all warps' lanes
// are read as one row). Which block and lanes: the lowest block of its runnable lanes, or that of the lane fairness favours.
#pragma once

#include <qwengpu/circuit/adder.hpp>
#include <qwengpu/stage/barriers.hpp>
#include <qwengpu/stage/fairness.hpp>
#include <qwengpu/stage/plan.hpp>
#include <qwengpu/stage/signals.hpp>
#include <qwengpu/stage/words.hpp>

#include <string>
#include <vector>

namespace qwengpu::stage {

namespace detail {

// Layer 9: which warps can run.
template <machine::sizes M>
word runnable_warps(network& net, const lane_census& c) {
    word can_run;
    for (std::size_t w = 0; w < static_cast<std::size_t>(M.warps); ++w) {
        linear lanes;
        for (std::size_t t = w * static_cast<std::size_t>(M.lanes); t < (w + 1) * static_cast<std::size_t>(M.lanes); ++t) lanes += linear(c.alive[t]) - linear(c.stalled[t]);
        can_run.push_back(net.threshold(plan::scheduler + 1, "can_run.warp" + std::to_string(w), lanes, 1));
    }
    return can_run;
}

// Layer 10: the first warp that can run after the record's, the record's own last.
template <machine::sizes M>
void choose_warp(network& net, const word& can_run, signals& s) {
    const int layer = plan::scheduler + 2;
    const auto warps = static_cast<std::size_t>(M.warps);
    s.schedule.next_warp = net.make_word("next.warp", M.warps);
    for (std::size_t now = 0; now < warps; ++now) {
        std::vector<linear> chain{equals(s.context.warp, static_cast<unsigned>(now))};
        for (std::size_t step = 1; step <= warps; ++step) {
            const std::size_t w = (now + step) % warps;
            auto chosen = chain;
            chosen.emplace_back(can_run[w]);
            net.gate(layer, all(chosen), {{s.schedule.next_warp[w], 1.0F}});
            chain.push_back(no(can_run[w]));
        }
    }
    s.schedule.none = net.threshold(layer, "next.none", no(circuit::sum(can_run)), 1);
}

struct warp_state {
    std::vector<word> next;  ///< per lane: the block it stands at
    word runs;               ///< lanes that are alive and do not wait
    word mask;               ///< lanes last announced
};

// Layer 11: where the lanes of that warp stand, and which of them can run.
template <machine::sizes M>
warp_state read_warp(network& net, const nn::shape& shape, const lane_census& c, const signals& s) {
    const int layer = plan::scheduler + 3;
    warp_state state;
    state.runs = net.make_word("next.runs", M.lanes);
    const auto& chosen = s.schedule.next_warp;
    for (std::size_t l = 0; l < static_cast<std::size_t>(M.lanes); ++l) {
        memory head("next.lane" + std::to_string(l), shape.key_dim, shape.value_dim);
        state.next.push_back(net.make_word("next.lane" + std::to_string(l), machine::bits_for(M.blocks)));
        for (int w = 0; w < M.warps; ++w) {
            head.write(w, all({s.write.next_lane[l], equals(s.context.warp, static_cast<unsigned>(w))}));
            head.read(w, chosen[static_cast<std::size_t>(w)]);
        }
        for (std::size_t b = 0; b < state.next[l].size(); ++b) head.bit(linear(s.write.next_block[b]) + linear(s.write.next_exit[l]), 0, state.next[l][b]);
        head.place(net, layer);
        for (std::size_t w = 0; w < chosen.size(); ++w) {
            const std::size_t t = w * state.runs.size() + l;
            net.gate(layer, all({chosen[w], c.alive[t], no(c.stalled[t])}), {{state.runs[l], 1.0F}});
        }
    }
    memory head("mask.of_next", shape.key_dim, shape.value_dim);
    state.mask = net.make_word("next.warp.mask", M.lanes);
    const word announced = s.token.field(10, machine::bits_for(M.warps));
    for (int w = 0; w < M.warps; ++w) {
        head.write(w, all({s.token.is_any({token_class::start, token_class::mask}), equals(announced, static_cast<unsigned>(w))}));
        head.read(w, chosen[static_cast<std::size_t>(w)]);
    }
    hold_bits(head, s.token.field(0, M.lanes), state.mask);
    head.place(net, layer);
    return state;
}

// Layers 11-12: order of two lanes' blocks, by halves of five bits. A lane that cannot run comes after all that can.
struct order {
    linear less, equal, greater;
};

inline order compare_lanes(network& net, int layer, const std::string& name, const warp_state& state, std::size_t i, std::size_t j) {
    const word &a = state.next[i], &b = state.next[j];
    const std::size_t half = a.size() / 2;
    auto digit = [&](const std::string& label, std::size_t first, std::size_t count) {
        const linear d = number(b, first, count) - number(a, first, count);
        const signal less = net.make(label + ".less"), equal = net.make(label + ".equal");
        net.step(layer, d, 1, {{less, 1.0F}, {equal, -1.0F}});
        net.step(layer, d, 0, {{equal, 1.0F}});
        return std::pair{less, equal};
    };
    const auto [low_less, low_equal] = digit(name + ".low", 0, half);
    const auto [high_less, high_equal] = digit(name + ".high", half, a.size() - half);
    const linear both = all({state.runs[i], state.runs[j]});
    const signal less = net.one_of(layer + 1, name + ".less", {all({both, high_less}), all({both, high_equal, low_less}), all({state.runs[i], no(state.runs[j])})});
    const signal equal = net.one_of(layer + 1, name + ".equal", {all({both, high_equal, low_equal}), all({no(state.runs[i]), no(state.runs[j])})});
    return {less, equal, linear(1.0) - linear(less) - linear(equal)};
}

// orders[i * lanes + j]: lane i against lane j.
template <machine::sizes M>
std::vector<order> order_lanes(network& net, const warp_state& state) {
    const auto lanes = static_cast<std::size_t>(M.lanes);
    std::vector<order> orders(lanes * lanes);
    for (std::size_t i = 0; i < lanes; ++i) {
        for (std::size_t j = i + 1; j < lanes; ++j) {
            const auto o = compare_lanes(net, plan::scheduler + 3, "next.lanes" + std::to_string(i) + std::to_string(j), state, i, j);
            orders[i * lanes + j] = o;
            orders[j * lanes + i] = {o.greater, o.equal, o.less};
        }
    }
    return orders;
}

// 1 if a block is a meeting block: of the last eighth, whose numbers have the three top bits set.
template <machine::sizes M>
linear is_meeting(const word& block) {
    if (M.meeting_block() == M.blocks) return linear(0.0);
    return all({block.end()[-1], block.end()[-2], block.end()[-3]});
}

// Layers 13-14: the lane whose block runs, and whether a turn for fairness is due.
template <machine::sizes M>
word choose_lane(network& net, const warp_state& state, const std::vector<order>& orders, signals& s) {
    const int layer = plan::scheduler + 5;
    const auto lanes = static_cast<std::size_t>(M.lanes);
    const word lowest = net.make_word("next.lowest", M.lanes), favoured = net.make_word("next.favoured", M.lanes);
    const signal apart = net.make("next.apart");
    for (std::size_t i = 0; i < lanes; ++i) {
        std::vector<linear> first;
        for (std::size_t j = 0; j < lanes; ++j) {
            if (i != j) first.push_back(j < i ? orders[i * lanes + j].less : no(orders[i * lanes + j].greater));
        }
        net.gate(layer, first.empty() ? linear(1.0) : all(first), {{lowest[i], 1.0F}});
        const linear turn = all({s.context.fair, equals(s.context.fair_lane, static_cast<unsigned>(i)), state.runs[i]});
        net.gate(layer, turn, {{favoured[i], 1.0F}});
        net.gate(layer, all({turn, is_meeting<M>(state.next[i])}), {{favoured[i], -1.0F}});
        for (std::size_t j = i + 1; j < lanes; ++j) net.gate(layer, all({state.runs[i], state.runs[j], no(orders[i * lanes + j].equal)}), {{apart, 1.0F}});
    }
    const word picked = net.make_word("next.picked", M.lanes);
    for (std::size_t i = 0; i < lanes; ++i) {
        net.gate(layer + 1, favoured[i], {{picked[i], 1.0F}});
        net.gate(layer + 1, all({lowest[i], no(circuit::sum(favoured))}), {{picked[i], 1.0F}});
    }
    // One lane is never apart. What a counter says has small errors, so it counts no more than all pairs of lanes together.
    constexpr double pairs = M.lanes * (M.lanes - 1) / 2;
    const linear due = M.lanes > 1 ? linear(apart) + pairs * (linear(s.schedule.fair_due) - linear(1.0)) : linear(0.0);
    s.schedule.fair = net.threshold(layer + 1, "next.fair", due, 1);
    return picked;
}

// Layers 15-16: its block, the lanes that stand there, and whether they have to be announced.
template <machine::sizes M>
void choose_block(network& net, const warp_state& state, const std::vector<order>& orders, const word& picked, signals& s) {
    const int layer = plan::scheduler + 7;
    const auto lanes = static_cast<std::size_t>(M.lanes);
    s.schedule.block = net.make_word("next.block", machine::bits_for(M.blocks));
    s.schedule.mask = net.make_word("next.mask", M.lanes);
    s.schedule.mask_changes = net.make("next.mask.changes");
    for (std::size_t i = 0; i < lanes; ++i) {
        for (std::size_t b = 0; b < s.schedule.block.size(); ++b) net.gate(layer, all({picked[i], state.next[i][b]}), {{s.schedule.block[b], 1.0F}});
        for (std::size_t j = 0; j < lanes; ++j)
            net.gate(layer, i == j ? linear(picked[i]) : all({picked[i], orders[i * lanes + j].equal}), {{s.schedule.mask[j], 1.0F}});
        net.gate(layer + 1, all({s.schedule.mask[i], no(state.mask[i])}), {{s.schedule.mask_changes, 1.0F}});
        net.gate(layer + 1, all({no(s.schedule.mask[i]), state.mask[i]}), {{s.schedule.mask_changes, 1.0F}});
    }
}

}  // namespace detail

template <machine::sizes M>
void build_scheduler(network& net, const nn::shape& shape, signals& s) {
    build_arrival<M>(net, shape, s);
    const auto census = build_census<M>(net, shape, s);
    choose_release<M>(net, census, s);
    detail::choose_warp<M>(net, detail::runnable_warps<M>(net, census), s);
    build_fairness<M>(net, shape, s);
    const auto state = detail::read_warp<M>(net, shape, census, s);
    const auto orders = detail::order_lanes<M>(net, state);
    const word picked = detail::choose_lane<M>(net, state, orders, s);
    detail::choose_block<M>(net, state, orders, picked, s);
}

}  // namespace qwengpu::stage
