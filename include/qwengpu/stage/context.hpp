// SPDX-License-Identifier: MIT
// Front, layers 0-1: decodes the token and latches what later tokens of the record must know: kind, warp and block of
// the record, `all`, fairness, the last address; mask of the warp and shape of the thread block.
#pragma once

#include <qwengpu/stage/plan.hpp>
#include <qwengpu/stage/signals.hpp>
#include <qwengpu/stage/words.hpp>

#include <cmath>
#include <string>

namespace qwengpu::stage {

namespace detail {

inline memory latch(const nn::shape& shape, const std::string& name, const linear& when) {
    memory head(name, shape.key_dim, shape.value_dim);
    head.write(0, when).read(0, linear(1.0));
    return head;
}

template <machine::sizes M>
void latch_record(network& net, const nn::shape& shape, const inputs& token, context_signals& c) {
    auto head = latch(shape, "context", token.is_any({token_class::launch, token_class::cta, token_class::start, token_class::hdr}));
    c.launch = net.make("context.launch");
    c.cta = net.make("context.cta");
    c.start = net.make("context.start");
    c.hdr = net.make("context.hdr");
    c.block = net.make_word("context.block", machine::bits_for(M.blocks));
    c.warp = net.make_word("context.warp", machine::bits_for(M.warps));
    head.bit(token.is(token_class::launch), 0, c.launch).bit(token.is(token_class::cta), 0, c.cta);
    head.bit(token.is(token_class::start), 0, c.start).bit(token.is(token_class::hdr), 0, c.hdr);
    hold_bits(head, token.field(0, machine::bits_for(M.blocks)), c.block);
    hold_bits(head, token.field(10, machine::bits_for(M.warps)), c.warp);
    head.place(net, plan::context);
}

template <machine::sizes M>
void latch_fairness(network& net, const nn::shape& shape, const inputs& token, context_signals& c) {
    c.all = net.make("context.all");
    auto all_written = latch(shape, "all", token.is_any({token_class::all, token_class::hdr}));
    all_written.bit(token.is(token_class::all), 0, c.all).place(net, plan::context);
    c.fair = net.make("context.fair");
    auto pick = latch(shape, "fair", token.is_any({token_class::fair, token_class::hdr, token_class::start}));
    pick.bit(token.is(token_class::fair), 0, c.fair).place(net, plan::context);
    c.fair_lane = net.make_word("context.fair_lane", machine::bits_for(M.lanes));
    auto lane = latch(shape, "fair.lane", token.is(token_class::fair));
    hold_bits(lane, token.field(0, machine::bits_for(M.lanes)), c.fair_lane);
    lane.place(net, plan::context);
}

// A word's destination stands right before it: one token ago for `short`, two for `lo` `hi`.
template <machine::sizes M>
void latch_destinations(network& net, const nn::shape& shape, const inputs& token, context_signals& c) {
    c.address = net.make_word("context.address", 7 + text::window_bits);
    auto address = latch(shape, "address", token.is(token_class::addr));
    hold_bits(address, token.field(0, 7 + text::window_bits), c.address);
    address.place(net, plan::context);
    c.constant = net.make_word("context.constant", machine::bits_for(M.constants));
    auto constant = latch(shape, "constant", token.is(token_class::constant));
    hold_bits(constant, token.field(0, machine::bits_for(M.constants)), c.constant);
    constant.place(net, plan::context);

    auto before = latch(shape, "before", linear(1.0));
    auto was = [&](token_class kind, const char* name) {
        const signal one = net.make(std::string("before.") + name + "1");
        const signal two = net.make(std::string("before.") + name + "2");
        before.bit(token.is(kind), 1, one).bit(token.is(kind), 2, two);
        return net.one_of(plan::context, std::string("completes.") + name,
                          {all({token.is(token_class::short_word), one}), all({token.is(token_class::hi), two})});
    };
    c.memory_write = was(token_class::addr, "memory");
    c.prompt_constant = was(token_class::constant, "constant");
    before.place(net, plan::context);
}

template <machine::sizes M>
void latch_warp(network& net, const nn::shape& shape, const inputs& token, context_signals& c) {
    c.mask = net.make_word("context.mask", M.lanes);
    memory head("mask", shape.key_dim, shape.value_dim);
    const word announced = token.field(10, machine::bits_for(M.warps));
    index_rows(head, M.warps, token.is_any({token_class::start, token_class::mask}), announced, linear(1.0), c.warp);
    hold_bits(head, token.field(0, M.lanes), c.mask);
    head.place(net, plan::fetch_header);
}

}  // namespace detail

/// Row of the constants that holds the thread block's shape.
inline constexpr unsigned shape_row = 12;

template <machine::sizes M>
void build_context(network& net, const nn::shape& shape, signals& s) {
    detail::latch_record<M>(net, shape, s.token, s.context);
    detail::latch_fairness<M>(net, shape, s.token, s.context);
    detail::latch_destinations<M>(net, shape, s.token, s.context);
    detail::latch_warp<M>(net, shape, s.token, s.context);
    s.context.shape = net.make_word("context.shape", 15);
    auto head = detail::latch(shape, "shape", all({s.context.prompt_constant, equals(s.context.constant, shape_row)}));
    hold_word(head, s.token, s.context.shape);
    head.place(net, plan::fetch_header);
}

}  // namespace qwengpu::stage
