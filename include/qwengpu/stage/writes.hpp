// SPDX-License-Identifier: MIT
// Front, layers 3-6: what the token completes, that is what the memories of this pass write before they read: a
// register, a constant, a word of one of the memories, where lanes go next.
#pragma once

#include <qwengpu/machine/block.hpp>
#include <qwengpu/stage/plan.hpp>
#include <qwengpu/stage/signals.hpp>
#include <qwengpu/stage/windows.hpp>
#include <qwengpu/stage/words.hpp>

#include <string>

namespace qwengpu::stage {

namespace detail {

// The lanes that a completed position of a record concerns: its own, or after `all` every lane of the mask.
inline void for_lanes(network& net, int layer, const signals& s, std::size_t lane, const linear& event, signal out) {
    net.gate(layer, all({event, no(s.context.all), s.position.current_lane[lane]}), {{out, 1.0F}});
    net.gate(layer, all({event, s.context.all, s.context.mask[lane]}), {{out, 1.0F}});
}

template <machine::sizes M>
void build_register_write(network& net, signals& s) {
    const auto& p = s.position;
    const int layer = plan::fetch_early;
    linear register_slot;
    for (std::size_t slot = 2; slot < machine::slot_count; ++slot) register_slot += p.current_slot[slot];
    s.write.lane = net.make_word("write.lane", M.lanes);
    const linear event = all({s.token.completes_word(), s.context.hdr, register_slot});
    for (std::size_t l = 0; l < s.write.lane.size(); ++l) for_lanes(net, layer, s, l, event, s.write.lane[l]);
    const int bits = machine::bits_for(M.registers);
    s.write.dest = net.make_word("write.dest", bits);
    for (int stage = 0; stage < 4; ++stage) {
        const auto slot = static_cast<std::size_t>(5 - stage);
        for (int b = 0; b < bits; ++b)
            net.gate(layer, all({p.current_slot[slot], s.program.dest(stage)[static_cast<std::size_t>(b)]}), {{s.write.dest[static_cast<std::size_t>(b)], 1.0F}});
    }
}

// After `const` (prompt) the row is in the token; in a `cta` record words 0, 1, 2 are rows 0, 1, 2.
template <machine::sizes M>
void build_constant_write(network& net, signals& s) {
    const int layer = plan::position;
    const linear in_cta = all({s.token.completes_word(), s.context.cta});
    s.write.constant = net.one_of(layer, "write.constant", {s.context.prompt_constant, in_cta});
    s.write.constant_row = net.make_word("write.constant_row", machine::bits_for(M.constants));
    for (std::size_t b = 0; b < s.write.constant_row.size(); ++b) {
        net.gate(layer, all({s.context.prompt_constant, s.context.constant[b]}), {{s.write.constant_row[b], 1.0F}});
        if (b > 1) continue;
        const std::size_t words = 2 + b;
        net.step(layer, all({in_cta, s.position.at_least[words], no(s.position.at_least[words + 1])}), 1, {{s.write.constant_row[b], 1.0F}});
    }
}

// `addr` gives a word of global memory an owner; the word after it goes to the memory of its window, in local memory to the
// thread whose position this is.
inline void build_memory_write(network& net, signals& s) {
    const int layer = plan::fetch_early;
    const word named = s.token.field(7, text::window_bits);
    const word window(s.context.address.begin() + 7, s.context.address.end());
    s.write.owner = net.threshold(layer, "write.owner", unless_own_memory(s.token.is(token_class::addr), named), 1);
    s.write.global_word = net.threshold(layer, "write.global", unless_own_memory(s.context.memory_write, window), 1);
    s.write.shared_word = net.all_of(layer, "write.shared", {s.context.memory_write, equals(window, shared_window)});
    for (std::size_t l = 0; l < s.position.current_lane.size(); ++l)
        s.write.local_word.push_back(net.all_of(layer, "write.local.lane" + std::to_string(l),
                                                {s.context.memory_write, s.context.hdr, equals(window, local_window), s.position.current_lane[l]}));
}

// `hdr` sends its lanes to the block's `next`, `br` with its bit set to `taken`; `start` sends lanes to block 0 or exit.
template <machine::sizes M>
void build_next_write(network& net, signals& s) {
    const int layer = plan::fetch_early;
    const auto hdr = s.token.is(token_class::hdr), start = s.token.is(token_class::start);
    const linear taken = all({s.token.is(token_class::br), s.token.low[0]});
    s.write.next_lane = net.make_word("write.next.lane", M.lanes);
    s.write.next_exit = net.make_word("write.next.exit", M.lanes);
    for (std::size_t l = 0; l < s.write.next_lane.size(); ++l) {
        for_lanes(net, layer, s, l, taken, s.write.next_lane[l]);
        net.gate(layer, all({hdr, s.context.mask[l]}), {{s.write.next_lane[l], 1.0F}});
        net.gate(layer, start, {{s.write.next_lane[l], 1.0F}});
        net.gate(layer, all({start, no(s.token.low[l])}), {{s.write.next_exit[l], 1.0F}});
    }
    const int bits = machine::bits_for(M.blocks);
    s.write.next_block = net.make_word("write.next.block", bits);
    for (std::size_t b = 0; b < s.write.next_block.size(); ++b) {
        net.gate(layer, all({hdr, s.program.next()[b]}), {{s.write.next_block[b], 1.0F}});
        net.gate(layer, all({taken, s.program.taken()[b]}), {{s.write.next_block[b], 1.0F}});
    }
    s.write.next_block_is_exit = net.all_of(layer + 1, "write.next.is_exit", {s.write.next_block.begin(), s.write.next_block.end()});
}

}  // namespace detail

template <machine::sizes M>
void build_writes(network& net, signals& s) {
    detail::build_register_write<M>(net, s);
    detail::build_constant_write<M>(net, s);
    detail::build_memory_write(net, s);
    detail::build_next_write<M>(net, s);
}

}  // namespace qwengpu::stage
