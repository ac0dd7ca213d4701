// SPDX-License-Identifier: MIT
// Beside the stages, layers 7-11: the thread block's coordinates. Is this the last one? What is the next coordinate to
// write? x' = x == last ? 0 : x + 1; y moves when x' is 0, z when both are. And which warp starts next, with which lanes.
#pragma once

#include <qwengpu/circuit/adder.hpp>
#include <qwengpu/stage/plan.hpp>
#include <qwengpu/stage/signals.hpp>
#include <qwengpu/stage/words.hpp>

#include <array>
#include <string>
#include <utility>
#include <vector>

namespace qwengpu::stage {

namespace detail {

inline constexpr int coordinate_bits = 16;

struct coordinate {
    word value, last, incremented;
    signal at_last, zero;
};

inline word read_row(network& net, const nn::shape& shape, const signals& s, unsigned row, const std::string& name) {
    const word out = net.make_word(name, coordinate_bits);
    memory head(name, shape.key_dim, shape.value_dim);
    head.write(0, all({s.write.constant, equals(s.write.constant_row, row)})).read(0, linear(1.0));
    hold_word(head, s.token, out);
    head.place(net, plan::scheduler);
    return out;
}

inline coordinate build_coordinate(network& net, const nn::shape& shape, const signals& s, unsigned axis) {
    const std::string name(1, static_cast<char>('x' + axis));
    coordinate c;
    c.value = read_row(net, shape, s, axis, "ctaid." + name);
    c.last = read_row(net, shape, s, 3 + axis, "ctaid.last." + name);
    const int layer = plan::scheduler;
    c.incremented = net.make_word("ctaid." + name + ".incremented", coordinate_bits);
    const signal differs = net.make("ctaid." + name + ".differs");
    std::vector<linear> below;
    for (std::size_t i = 0; i < c.value.size(); ++i) {
        net.gate(layer, c.value[i], {{c.incremented[i], 1.0F}});
        net.gate(layer, all(below), {{c.incremented[i], 1.0F}});
        below.emplace_back(c.value[i]);
        net.gate(layer, all(below), {{c.incremented[i], -2.0F}});
        net.gate(layer, all({c.value[i], no(c.last[i])}), {{differs, 1.0F}});
        net.gate(layer, all({no(c.value[i]), c.last[i]}), {{differs, 1.0F}});
    }
    c.zero = net.threshold(layer, "ctaid." + name + ".zero", no(circuit::sum(c.value)), 1);
    c.at_last = net.threshold(layer + 1, "ctaid." + name + ".at_last", no(differs), 1);
    return c;
}

inline word next_coordinate(network& net, const signals& s, const std::array<coordinate, 3>& c) {
    const int layer = plan::scheduler + 2;
    const auto& least = s.position.at_least;
    const linear word0 = all({s.context.cta, no(least[1])}), word1 = all({s.context.cta, least[1], no(least[2])}),
                 word2 = all({s.context.cta, least[2], no(least[3])});
    const word out = net.make_word("ctaid.next", coordinate_bits);
    for (std::size_t i = 0; i < out.size(); ++i) {
        net.gate(layer, all({word0, no(c[0].at_last), c[0].incremented[i]}), {{out[i], 1.0F}});
        net.gate(layer, all({word1, c[0].zero, no(c[1].at_last), c[1].incremented[i]}), {{out[i], 1.0F}});
        net.gate(layer, all({word1, no(c[0].zero), c[1].value[i]}), {{out[i], 1.0F}});
        net.gate(layer, all({word2, c[0].zero, c[1].zero, no(c[2].at_last), c[2].incremented[i]}), {{out[i], 1.0F}});
        net.gate(layer, all({word2, c[2].value[i]}), {{out[i], 1.0F}});
        net.gate(layer, all({word2, c[0].zero, c[1].zero, c[2].value[i]}), {{out[i], -1.0F}});
    }
    return out;
}

// The first warp starts when the three words are there, the others one after another.
template <machine::sizes M>
void build_warp_starts(network& net, signals& s) {
    const int lane_bits = machine::bits_for(M.lanes), warp_bits = machine::bits_for(M.warps);
    const word last_lane(s.context.shape.begin() + 10, s.context.shape.begin() + 10 + lane_bits);
    const word last_warp(s.context.shape.begin() + 10 + lane_bits, s.context.shape.begin() + 10 + lane_bits + warp_bits);
    const auto bits = static_cast<std::size_t>(warp_bits);
    const linear left = number(last_warp, 0, bits) - number(s.context.warp, 0, bits);
    const int layer = plan::address;
    const linear first = all({s.context.cta, s.position.at_least[3]});
    const signal is_first = net.all_of(layer, "start.first", {first});
    const signal more = net.threshold(layer, "start.more", circuit::enabled(left, s.context.start), 1);
    const signal last = net.make("start.last");
    net.step(layer, circuit::enabled(left, s.context.start), 1, {{last, 1.0F}});
    net.step(layer, circuit::enabled(left, s.context.start), 2, {{last, -1.0F}});
    net.gate(layer, first - circuit::sum(last_warp), {{last, 1.0F}});

    auto& plan_next = s.schedule;
    plan_next.start = net.one_of(layer + 1, "start", {is_first, more});
    plan_next.start_warp = net.make_word("start.warp", warp_bits);
    for (unsigned w = 0; w + 1 < static_cast<unsigned>(M.warps); ++w) {
        std::vector<std::pair<signal, float>> to;
        for (std::size_t b = 0; b < bits; ++b) {
            if ((((w + 1) >> b) & 1U) != 0) to.emplace_back(plan_next.start_warp[b], 1.0F);
        }
        net.gate(layer + 1, all({more, equals(s.context.warp, w)}), to);
    }
    plan_next.start_mask = net.make_word("start.mask", M.lanes);
    for (int l = 0; l < M.lanes; ++l) {
        const signal lane = plan_next.start_mask[static_cast<std::size_t>(l)];
        net.step(layer + 1, all({linear(is_first) + linear(more), no(last)}), 1, {{lane, 1.0F}});
        net.step(layer + 1, circuit::enabled(number(last_lane, 0, static_cast<std::size_t>(lane_bits)), last), l, {{lane, 1.0F}});
    }
}

}  // namespace detail

template <machine::sizes M>
void build_grid(network& net, const nn::shape& shape, signals& s) {
    const std::array<detail::coordinate, 3> c{detail::build_coordinate(net, shape, s, 0), detail::build_coordinate(net, shape, s, 1),
                                              detail::build_coordinate(net, shape, s, 2)};
    s.schedule.cta_value = detail::next_coordinate(net, s, c);
    s.schedule.cta_last = net.all_of(plan::scheduler + 2, "ctaid.is_last", {c[0].at_last, c[1].at_last, c[2].at_last});
    detail::build_warp_starts<M>(net, s);
}

}  // namespace qwengpu::stage
