// SPDX-License-Identifier: MIT
// Layers 17-18: what kind of token comes next, as far as it does not depend on what the stages compute (the rules of
// docs/machine.md, "What the model writes", as signals of which at most one is 1).
#pragma once

#include <qwengpu/stage/plan.hpp>
#include <qwengpu/stage/signals.hpp>
#include <qwengpu/stage/words.hpp>

namespace qwengpu::stage {

/// At most one of these is 1.
struct intents {
    signal end, cta, start, fair, mask, hdr, release, deadlock, illegal;
    signal hi;      ///< the second half of the word under way
    signal word;    ///< a word from its beginning
    signal all, branch, store;
    signal checks;  ///< (besides one of the others) this is where a bad address traps
};

namespace detail {

struct progress {
    signal fresh;     ///< a position of the record begins
    signal finished;  ///< nothing is left of the record
};

inline progress build_progress(network& net, int layer, const signals& s) {
    const auto& c = s.context;
    const linear in_record = all({c.hdr, s.program.valid(), no(s.position.done)});
    return {net.all_of(layer, "fresh", {in_record, no(s.token.is_any({token_class::lo, token_class::addr, token_class::trap}))}),
            net.one_of(layer, "finished",
                       {all({c.hdr, s.program.valid(), s.position.done, no(s.token.is(token_class::lo)), no(s.token.is(token_class::trap))}),
                        all({c.start, no(s.schedule.start)})})};
}

inline void build_launch_intents(network& net, int layer, const signals& s, const progress& p, intents& i) {
    const auto& next = s.schedule;
    const linear record_over = all({p.finished, no(next.none)}), nobody = all({p.finished, next.none});
    const linear block_over = all({nobody, no(next.some_alive)}), stuck = all({nobody, next.some_alive});
    i.end = net.one_of(layer, "intent.end", {s.token.is(token_class::trap), all({block_over, next.cta_last})});
    i.cta = net.one_of(layer, "intent.cta", {s.context.launch, all({block_over, no(next.cta_last)})});
    i.start = net.one_of(layer, "intent.start", {next.start});
    i.fair = net.all_of(layer, "intent.fair", {record_over, next.fair});
    const linear settled = 8.0 * (all({record_over, no(next.fair)}) - linear(1.0));
    i.mask = net.threshold(layer, "intent.mask", settled + next.mask_changes, 1);
    i.hdr = net.all_of(layer, "intent.hdr", {record_over, no(next.fair), no(next.mask_changes)});
    i.release = net.all_of(layer, "intent.release", {stuck, circuit::sum(next.release)});
    i.deadlock = net.all_of(layer, "intent.deadlock", {stuck, no(circuit::sum(next.release))});
    i.illegal = net.all_of(layer, "intent.illegal", {s.context.hdr, no(s.program.valid()), no(s.token.is(token_class::trap))});
}

inline void build_record_intents(network& net, int layer, const signals& s, const progress& p, intents& i) {
    const auto& slots = s.position.next_slot;
    const signal lo = s.token.is(token_class::lo);
    const linear separate = all({p.fresh, no(s.data.want_all)});
    i.all = net.all_of(layer, "intent.all", {p.fresh, s.data.want_all});
    i.branch = net.all_of(layer, "intent.branch", {separate, slots[0]});
    i.store = net.all_of(layer, "intent.store", {separate, slots[1]});
    i.hi = net.one_of(layer, "intent.hi", {all({lo, s.context.cta}), all({lo, s.context.hdr})});
    i.word = net.one_of(layer, "intent.word",
                        {all({separate, linear(slots[2]) + linear(slots[3]) + linear(slots[4]) + linear(slots[5])}),
                         all({s.token.is(token_class::addr), s.context.hdr}), all({s.context.cta, no(s.position.at_least[3]), no(lo)})});
    i.checks = net.all_of(layer, "intent.checks", {p.fresh, s.position.next_first});
}

}  // namespace detail

inline intents build_intents(network& net, const signals& s) {
    const int layer = plan::intent;
    const auto p = detail::build_progress(net, layer, s);
    intents i;
    detail::build_launch_intents(net, layer + 1, s, p, i);
    detail::build_record_intents(net, layer + 1, s, p, i);
    return i;
}

}  // namespace qwengpu::stage
