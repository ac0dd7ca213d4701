// SPDX-License-Identifier: MIT
// When fairness is due, and for whom (docs/machine.md, rule 6; docs/decisions/0011): after enough records, once the warp that it
// went to last has had its turn, so that it goes round all warps whose lanes stand apart; after a round, to the next lane.
#pragma once

#include <qwengpu/machine/sizes.hpp>
#include <qwengpu/stage/context.hpp>
#include <qwengpu/stage/counters.hpp>
#include <qwengpu/stage/plan.hpp>
#include <qwengpu/stage/signals.hpp>
#include <qwengpu/stage/words.hpp>

#include <string>
#include <vector>

namespace qwengpu::stage {

/// After so many records fairness may be due; after so many more, one for each other warp, it is.
inline constexpr int fairness_period = 61;

// Layer 0: records since the last `fair` or `cta`.
template <machine::sizes M>
void build_fairness_counter(network& net, const nn::shape& shape, signals& s) {
    const detail::ratio_counter counter(1.4142135);
    const linear reset = s.token.is_any({token_class::fair, token_class::cta});
    const signal ratio = counter.place(net, shape, plan::context, "records", reset, 132.0 * linear(s.token.is(token_class::hdr)));
    s.context.fair_near = counter.at_least(net, plan::context, "context.fair_near", ratio, fairness_period);
    s.context.fair_over = counter.at_least(net, plan::context, "context.fair_over", ratio, fairness_period - 1 + M.warps);
}

namespace detail {

// Layer 11: the warp whose turn it was at the last `fair`, one-hot; none since a prompt.
template <machine::sizes M>
word latch_fair_warp(network& net, const nn::shape& shape, const signals& s) {
    const word warp = net.make_word("fair.warp", M.warps);
    auto head = latch(shape, "fair.warp", s.token.is(token_class::fair));
    for (std::size_t w = 0; w < warp.size(); ++w) head.bit(s.schedule.next_warp[w], 0, warp[w]);
    head.place(net, plan::scheduler + 3);
    return warp;
}

}  // namespace detail

// Layers 11-13, when the next warp is known.
template <machine::sizes M>
void build_fairness(network& net, const nn::shape& shape, signals& s) {
    const int layer = plan::scheduler + 3;
    const word last = detail::latch_fair_warp<M>(net, shape, s);
    std::vector<linear> its_turn{no(circuit::sum(last))}, later{linear(0.0)};  // with one warp there is no later one
    for (std::size_t w = 0; w < last.size(); ++w) {
        its_turn.push_back(all({last[w], equals(s.context.warp, static_cast<unsigned>(w))}));
        for (std::size_t before = 0; before < w; ++before) later.push_back(all({last[before], s.schedule.next_warp[w]}));
    }
    const signal turn = net.one_of(layer, "fair.turn", its_turn);
    s.schedule.same_lane = net.one_of(layer, "fair.same_lane", later);
    const linear record = s.token.is(token_class::hdr);
    const signal passes = net.one_of(layer + 1, "fair.passes", {all({record, turn, s.context.fair_near}), all({record, no(turn), s.context.fair_over})});
    const detail::ratio_counter counter(1.4142135);
    const linear reset = s.token.is_any({token_class::fair, token_class::cta});
    const signal ratio = counter.place(net, shape, layer + 2, "turns", reset, 132.0 * linear(passes));
    s.schedule.fair_due = counter.at_least(net, layer + 2, "fair.due", ratio, 1);
}

}  // namespace qwengpu::stage
