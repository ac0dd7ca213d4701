// SPDX-License-Identifier: MIT
// Stage 2's collectives, layers 12-13: what the lanes of a warp say to one another. All of them look at port R0, which the
// register file reads in all lanes.
#pragma once

#include <qwengpu/circuit/adder.hpp>
#include <qwengpu/stage/memory_fields.hpp>
#include <qwengpu/stage/signals.hpp>

#include <string>

namespace qwengpu::stage {

namespace detail {

// out += R0 of the lane that `selector` numbers, or of the position's own lane if there is no such lane.
template <machine::sizes M>
void build_shuffle(network& net, int layer, const linear& on, const word& selector, const signals& s, const word& out) {
    const auto bits = static_cast<std::ptrdiff_t>(machine::bits_for(M.lanes));
    const word number_of_lane(selector.begin(), selector.begin() + bits), above(selector.begin() + bits, selector.end());
    for (unsigned l = 0; l < static_cast<unsigned>(M.lanes); ++l) {
        const signal from = net.make("shuffle.from" + std::to_string(l));
        net.step(layer, all({on, equals(number_of_lane, l)}) - circuit::sum(above), 1, {{from, 1.0F}});
        net.step(layer, circuit::enabled(circuit::sum(above), all({on, s.position.next_lane[l]})), 1, {{from, 1.0F}});
        for (std::size_t i = 0; i < 32; ++i) net.gate(layer + 1, all({from, s.data.registers[l][i]}), {{out[i], 1.0F}});
    }
}

// Bit l of out: lane l of the mask has a bit 0 that is not `sense`.
template <machine::sizes M>
void build_ballot(network& net, int layer, signal on, signal sense, const signals& s, const word& out) {
    for (std::size_t l = 0; l < static_cast<std::size_t>(M.lanes); ++l) {
        const linear lane = all({on, s.context.mask[l]});
        const signal bit = s.data.registers[l][0];
        net.gate(layer, all({lane, bit, no(sense)}), {{out[l], 1.0F}});
        net.gate(layer, all({lane, no(bit), sense}), {{out[l], 1.0F}});
    }
}

// Bit l of out: lane l of the mask holds in R0 what the position's own lane holds.
template <machine::sizes M>
void build_match(network& net, int layer, signal on, const signals& s, const word& out) {
    const auto lanes = static_cast<std::size_t>(M.lanes);
    for (std::size_t own = 0; own < lanes; ++own) {
        for (std::size_t l = 0; l < lanes; ++l) {
            std::vector<linear> bits{on, s.position.next_lane[own], s.context.mask[l]};
            if (l != own) bits.push_back(no(s.data.r0_differs[l < own ? l * lanes + own : own * lanes + l]));
            net.gate(layer, all(bits), {{out[l], 1.0F}});
        }
    }
}

}  // namespace detail

/// out += what a collective makes. `selector` is the word of `load_address`, made before `layer`; done in `layer` + 1.
template <machine::sizes M>
void build_collectives(network& net, int decode, int layer, const memory_fields& f, const word& selector, const signals& s, const word& out) {
    using machine::memory_op;
    auto on = [&](const char* name, memory_op op) { return net.all_of(decode, name, {f.is(op)}); };
    detail::build_shuffle<M>(net, layer, on("shuffle.on", memory_op::shuffle), selector, s, out);
    detail::build_ballot<M>(net, layer + 1, on("ballot.on", memory_op::ballot), f.load_sense, s, out);
    detail::build_match<M>(net, layer + 1, on("match.on", memory_op::match), s, out);
}

}  // namespace qwengpu::stage
