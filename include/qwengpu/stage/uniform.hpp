// SPDX-License-Identifier: MIT
// Layers 5-9: may the rest of the record be written once for all lanes? Only if every register that the remaining slots
// depend on is the same in all lanes of the mask, and they use no special register. Decided from the state, every time.
#pragma once

#include <qwengpu/circuit/bit_counts.hpp>
#include <qwengpu/machine/block.hpp>
#include <qwengpu/stage/plan.hpp>
#include <qwengpu/stage/registers.hpp>
#include <qwengpu/stage/signals.hpp>

#include <string>

namespace qwengpu::stage {

namespace detail {

// Number of bits in which two lanes differ in a port (layer 6), then whether two lanes of the mask differ at all (7); for
// R0, whose lanes `match` compares, also each pair.
template <machine::sizes M>
word ports_that_differ(network& net, signals& s) {
    word differ;
    s.data.r0_differs.resize(static_cast<std::size_t>(M.lanes * M.lanes));
    for (int port = 0; port < port_count; ++port) {
        differ.push_back(net.make("differ.r" + std::to_string(port)));
        for (int i = 0; i < M.lanes; ++i) {
            for (int j = i + 1; j < M.lanes; ++j) {
                const auto& a = s.data.registers[static_cast<std::size_t>(port * M.lanes + i)];
                const auto& b = s.data.registers[static_cast<std::size_t>(port * M.lanes + j)];
                const signal bits = net.make("differ.r" + std::to_string(port) + ".lanes" + std::to_string(i) + std::to_string(j));
                circuit::count_differences(net, plan::registers, a, b, bits);
                const linear both = all({s.context.mask[static_cast<std::size_t>(i)], s.context.mask[static_cast<std::size_t>(j)]});
                if (port == 0) s.data.r0_differs[static_cast<std::size_t>(i * M.lanes + j)] = net.threshold(plan::registers + 1, "r0.differs.lanes" + std::to_string(i) + std::to_string(j), bits, 1);
                net.step(plan::registers + 1, circuit::enabled(bits, both), 1, {{differ.back(), 1.0F}});
            }
        }
    }
    return differ;
}

// The rest-of-dependencies of the slot that comes next (layer 5).
inline word rest_of_dependencies(network& net, const signals& s) {
    const word rest = net.make_word("rest", 5);
    for (int slot = 0; slot < machine::slot_count; ++slot) {
        for (std::size_t i = 0; i < 5; ++i)
            net.gate(plan::fetch_early, all({s.position.next_slot[static_cast<std::size_t>(slot)], s.program.rest(slot)[i]}), {{rest[i], 1.0F}});
    }
    return rest;
}

}  // namespace detail

template <machine::sizes M>
void build_uniform(network& net, signals& s) {
    const word rest = detail::rest_of_dependencies(net, s);
    const int layer = plan::registers + 2;
    const signal against = net.make("against_all");
    if constexpr (M.lanes > 1) {
        const word differ = detail::ports_that_differ<M>(net, s);
        for (std::size_t port = 0; port < port_count; ++port)
            net.step(layer, differ[port] + 8.0 * (linear(rest[port]) - linear(1.0)), 1, {{against, 1.0F}});
    }
    net.gate(layer, rest[4], {{against, 1.0F}});
    linear several;
    for (std::size_t c = 2; c <= static_cast<std::size_t>(M.lanes); ++c) several += s.position.count_is[c - 1];
    s.data.want_all = net.threshold(layer + 1, "want_all", all({s.position.next_index[0], no(s.context.all), several}) - linear(against), 1);
}

}  // namespace qwengpu::stage
