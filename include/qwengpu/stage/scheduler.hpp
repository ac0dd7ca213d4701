// SPDX-License-Identifier: MIT
// Beside the stages, layers 8-15: the next record. Which warp: the first that can run, in cyclic order (all warps' lanes
// are read as one row). Which block and lanes: the lowest block of its lanes, or that of the lane fairness favours.
#pragma once

#include <qwengpu/circuit/adder.hpp>
#include <qwengpu/stage/plan.hpp>
#include <qwengpu/stage/signals.hpp>
#include <qwengpu/stage/words.hpp>

#include <string>
#include <vector>

namespace qwengpu::stage {

namespace detail {

// Layer 8: which lanes of which warps are not at exit. A row per warp, each in a segment of its own of the value
// channels, so that one query over all rows reads them side by side. Then, per warp, whether it can run.
template <machine::sizes M>
word runnable_warps(network& net, const nn::shape& shape, const signals& s) {
    constexpr int energy = 32 / M.warps;
    std::vector<linear> lanes_alive(static_cast<std::size_t>(M.warps));
    for (std::size_t l = 0; l < static_cast<std::size_t>(M.lanes); ++l) {
        memory head("alive.lane" + std::to_string(l), shape.key_dim, shape.value_dim);
        const linear exits = linear(s.write.next_block_is_exit) + linear(s.write.next_exit[l]);
        for (int w = 0; w < M.warps; ++w) {
            const linear warp = equals(s.context.warp, static_cast<unsigned>(w));
            head.write(w, all({s.write.next_lane[l], warp})).read(w, linear(1.0));
            const signal alive = net.make("alive.warp" + std::to_string(w) + ".lane" + std::to_string(l));
            head.rails(all({warp, no(exits)}), all({warp, exits}), 0, alive);
            for (int i = 1; i < energy; ++i) head.values().push_back({warp, 1.0F, 0, {}});
            lanes_alive[static_cast<std::size_t>(w)] += alive;
        }
        head.holds(energy).place(net, plan::scheduler, M.warps);
    }
    word can_run;
    for (int w = 0; w < M.warps; ++w) can_run.push_back(net.threshold(plan::scheduler, "can_run.warp" + std::to_string(w), lanes_alive[static_cast<std::size_t>(w)], 1));
    return can_run;
}

// Layer 9: the first warp that can run after the record's, the record's own last.
template <machine::sizes M>
void choose_warp(network& net, const word& can_run, signals& s) {
    const int layer = plan::scheduler + 1;
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
    word mask;               ///< lanes last announced
};

// Layer 10: where the lanes of that warp stand.
template <machine::sizes M>
warp_state read_warp(network& net, const nn::shape& shape, const signals& s) {
    const int layer = plan::scheduler + 2;
    warp_state state;
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

// Layers 10-11: order of two lanes' blocks, by halves of five bits.
struct order {
    linear less, equal, greater;
};

inline order compare_blocks(network& net, int layer, const std::string& name, const word& a, const word& b) {
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
    const signal less = net.one_of(layer + 1, name + ".less", {high_less, all({high_equal, low_less})});
    const signal equal = net.one_of(layer + 1, name + ".equal", {all({high_equal, low_equal})});
    return {less, equal, linear(1.0) - linear(less) - linear(equal)};
}

// orders[i * lanes + j]: lane i against lane j.
template <machine::sizes M>
std::vector<order> compare_lanes(network& net, const warp_state& state) {
    const auto lanes = static_cast<std::size_t>(M.lanes);
    std::vector<order> orders(lanes * lanes);
    for (std::size_t i = 0; i < lanes; ++i) {
        for (std::size_t j = i + 1; j < lanes; ++j) {
            const auto o = compare_blocks(net, plan::scheduler + 2, "next.lanes" + std::to_string(i) + std::to_string(j), state.next[i], state.next[j]);
            orders[i * lanes + j] = o;
            orders[j * lanes + i] = {o.greater, o.equal, o.less};
        }
    }
    return orders;
}

// Layers 12-13: the lane whose block runs, and whether a turn for fairness is due.
template <machine::sizes M>
word choose_lane(network& net, const warp_state& state, const std::vector<order>& orders, signals& s) {
    const int layer = plan::scheduler + 4;
    const auto lanes = static_cast<std::size_t>(M.lanes);
    const word lowest = net.make_word("next.lowest", M.lanes), favoured = net.make_word("next.favoured", M.lanes);
    const word alive = net.make_word("next.alive", M.lanes);
    const signal apart = net.make("next.apart");
    for (std::size_t i = 0; i < lanes; ++i) {
        std::vector<linear> first;
        for (std::size_t j = 0; j < lanes; ++j) {
            if (i != j) first.push_back(j < i ? orders[i * lanes + j].less : no(orders[i * lanes + j].greater));
        }
        net.gate(layer, first.empty() ? linear(1.0) : all(first), {{lowest[i], 1.0F}});
        const auto bits = static_cast<double>(state.next[i].size());
        net.step(plan::scheduler + 3, linear(bits) - circuit::sum(state.next[i]), 1, {{alive[i], 1.0F}});
        net.gate(layer, all({s.context.fair, equals(s.context.fair_lane, static_cast<unsigned>(i)), alive[i]}), {{favoured[i], 1.0F}});
        for (std::size_t j = i + 1; j < lanes; ++j) net.gate(layer, all({alive[i], alive[j], no(orders[i * lanes + j].equal)}), {{apart, 1.0F}});
    }
    const word picked = net.make_word("next.picked", M.lanes);
    for (std::size_t i = 0; i < lanes; ++i) {
        net.gate(layer + 1, favoured[i], {{picked[i], 1.0F}});
        net.gate(layer + 1, all({lowest[i], no(circuit::sum(favoured))}), {{picked[i], 1.0F}});
    }
    const linear due = M.lanes > 1 ? circuit::enabled(apart, s.context.fair_due) : linear(0.0);  // one lane is never apart
    s.schedule.fair = net.threshold(layer + 1, "next.fair", due, 1);
    return picked;
}

// Layers 14-15: its block, the lanes that stand there, and whether they have to be announced.
template <machine::sizes M>
void choose_block(network& net, const warp_state& state, const std::vector<order>& orders, const word& picked, signals& s) {
    const int layer = plan::scheduler + 6;
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
    const word can_run = detail::runnable_warps<M>(net, shape, s);
    detail::choose_warp<M>(net, can_run, s);
    const auto state = detail::read_warp<M>(net, shape, s);
    const auto orders = detail::compare_lanes<M>(net, state);
    const word picked = detail::choose_lane<M>(net, state, orders, s);
    detail::choose_block<M>(net, state, orders, picked, s);
}

}  // namespace qwengpu::stage
