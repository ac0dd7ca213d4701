// SPDX-License-Identifier: MIT
// Beside the stages, layers 7-10: barriers. Per lane and warp, whether it is alive, whether it waits, at which barrier, in which
// phase; per barrier, its phase now and its count. A lane waits as long as the barrier is in the phase in which the lane came.
#pragma once

#include <qwengpu/circuit/adder.hpp>
#include <qwengpu/stage/plan.hpp>
#include <qwengpu/stage/signals.hpp>
#include <qwengpu/stage/words.hpp>

#include <string>
#include <vector>

namespace qwengpu::stage {

/// Lanes of all warps by [warp * lanes + lane], and what barriers make of them.
struct lane_census {
    word alive;                     ///< not at exit
    word stalled;                   ///< waits at a barrier (then it is alive)
    word phases;                    ///< per barrier
    std::vector<word> counts;       ///< per barrier, four bits
    word waiting;                   ///< per barrier, how many lanes wait
    word no_count;                  ///< per barrier: its count is 0
};

namespace detail {

inline constexpr std::size_t count_bits = 4;

/// Payload of `release`: the barrier from bit 0 on, its new phase in bit 3.
template <machine::sizes M>
linear releases(const signals& s, int barrier) {
    return all({s.token.is(token_class::release), equals(s.token.field(0, machine::bits_for(M.barriers)), static_cast<unsigned>(barrier))});
}
inline signal released_phase(const signals& s) { return s.token.low[3]; }

template <machine::sizes M>
word barrier_of_block(const signals& s) {
    const word id = s.program.barrier_id();
    return {id.begin(), id.begin() + machine::bits_for(M.barriers)};
}

// Energy beside the rails of a row, in channels that are written along with it.
inline void fill_row(memory& head, const linear& written, int energy) {
    for (int i = 0; i < energy / 4; ++i) head.values().push_back({written, 2.0F, 0, {}});
    for (int i = 0; i < energy % 4; ++i) head.values().push_back({written, 1.0F, 0, {}});
}

// Layer 8: the rows of all warps side by side, so that one query reads them all.
template <machine::sizes M>
void read_lanes(network& net, const nn::shape& shape, const signals& s, lane_census& c, std::vector<word>& barrier, word& waits, word& phase) {
    constexpr int id_bits = machine::bits_for(M.barriers), energy = 128 / M.warps;
    const word id = barrier_of_block<M>(s);
    for (std::size_t l = 0; l < static_cast<std::size_t>(M.lanes); ++l) {
        memory head("standing.lane" + std::to_string(l), shape.key_dim, shape.value_dim);
        const linear exits = linear(s.write.next_block_is_exit) + linear(s.write.next_exit[l]);
        for (int w = 0; w < M.warps; ++w) {
            const auto at = static_cast<std::size_t>(w * M.lanes) + l;
            const linear warp = equals(s.context.warp, static_cast<unsigned>(w));
            head.write(w, all({s.write.next_lane[l], warp})).read(w, linear(1.0));
            head.rails(all({warp, no(exits)}), all({warp, exits}), 0, c.alive[at]);
            head.rails(all({warp, s.write.waits}), all({warp, no(s.write.waits)}), 0, waits[at]);
            head.rails(all({warp, s.write.phase}), all({warp, no(s.write.phase)}), 0, phase[at]);
            for (std::size_t i = 0; i < id.size(); ++i) head.rails(all({warp, id[i]}), all({warp, no(id[i])}), 0, barrier[at][i]);
            fill_row(head, warp, energy - 3 - id_bits);
        }
        head.holds(energy).place(net, plan::scheduler, M.warps);
    }
}

// Layer 8: the phases, written by `release`; the counts, written where a block with a barrier begins (and, so that no row is ever
// missing, by `release`).
template <machine::sizes M>
void read_barriers(network& net, const nn::shape& shape, const signals& s, lane_census& c) {
    constexpr int energy = 32 / M.barriers;
    memory phases("barrier.phases", shape.key_dim, shape.value_dim), counts("barrier.counts", shape.key_dim, shape.value_dim);
    for (int b = 0; b < M.barriers; ++b) {
        const auto i = static_cast<std::size_t>(b);
        const linear released = releases<M>(s, b);
        const signal phase = released_phase(s);
        phases.write(b, released).read(b, linear(1.0));
        phases.rails(all({released, phase}), all({released, no(phase)}), 0, c.phases[i]);
        fill_row(phases, released, energy - 1);
        counts.write(b, s.write.count_row[i]).read(b, linear(1.0));
        for (std::size_t bit = 0; bit < count_bits; ++bit)
            counts.rails(all({s.write.count_row[i], s.write.count[bit]}), all({s.write.count_row[i], no(s.write.count[bit])}), 0, c.counts[i][bit]);
        fill_row(counts, s.write.count_row[i], energy - static_cast<int>(count_bits));
    }
    phases.holds(energy).place(net, plan::scheduler, M.barriers);
    counts.holds(energy).place(net, plan::scheduler, M.barriers);
}

}  // namespace detail

/// Layer 7: what a block with a barrier writes: its lanes wait (unless they are at exit) in the barrier's present phase, and its count.
template <machine::sizes M>
void build_arrival(network& net, const nn::shape& shape, signals& s) {
    const int layer = plan::address;
    const word id = detail::barrier_of_block<M>(s);
    memory head("barrier.phase", shape.key_dim, shape.value_dim);
    s.write.phase = net.make("write.phase");
    for (int b = 0; b < M.barriers; ++b) head.write(b, detail::releases<M>(s, b)).read(b, equals(id, static_cast<unsigned>(b)));
    head.bit(detail::released_phase(s), 0, s.write.phase).place(net, layer);

    const linear comes = all({s.token.is(token_class::hdr), s.program.barrier()});
    s.write.waits = net.all_of(layer, "write.waits", {comes, no(s.write.next_block_is_exit)});
    for (int b = 0; b < M.barriers; ++b)
        s.write.count_row.push_back(net.one_of(layer, "write.count_row" + std::to_string(b), {detail::releases<M>(s, b), all({comes, equals(id, static_cast<unsigned>(b))})}));
    for (const signal bit : s.program.barrier_count()) s.write.count.push_back(net.one_of(layer, "write.count", {all({comes, bit})}));
}

/// Layer 8: who is alive, who waits where.
template <machine::sizes M>
lane_census build_census(network& net, const nn::shape& shape, const signals& s) {
    constexpr int threads = M.lanes * M.warps;
    lane_census c{net.make_word("alive", threads), net.make_word("stalled", threads), net.make_word("barrier.phase.now", M.barriers), {}, net.make_word("barrier.waiting", M.barriers), {}};
    std::vector<word> barrier;
    for (int t = 0; t < threads; ++t) barrier.push_back(net.make_word("waits_at" + std::to_string(t), machine::bits_for(M.barriers)));
    for (int b = 0; b < M.barriers; ++b) c.counts.push_back(net.make_word("barrier.count" + std::to_string(b), static_cast<int>(detail::count_bits)));
    word waits = net.make_word("waits", threads), phase = net.make_word("waits.phase", threads);
    detail::read_lanes<M>(net, shape, s, c, barrier, waits, phase);
    detail::read_barriers<M>(net, shape, s, c);
    for (std::size_t b = 0; b < c.phases.size(); ++b) {
        c.no_count.push_back(net.threshold(plan::scheduler, "barrier.no_count" + std::to_string(b), no(circuit::sum(c.counts[b])), 1));
        for (std::size_t t = 0; t < waits.size(); ++t) {
            const linear here = all({waits[t], equals(barrier[t], static_cast<unsigned>(b))});
            const circuit::outputs to{{c.stalled[t], 1.0F}, {c.waiting[b], 1.0F}};
            net.gate(plan::scheduler, all({here, phase[t], c.phases[b]}), to);
            net.gate(plan::scheduler, all({here, no(phase[t]), no(c.phases[b])}), to);
        }
    }
    return c;
}

/// Layers 9-10: the lowest complete barrier and its other phase. (Nobody needs to wait for a barrier without a count that all of no
/// lanes wait at; without a lane alive the thread block is over.)
template <machine::sizes M>
void choose_release(network& net, const lane_census& c, signals& s) {
    const int layer = plan::scheduler + 1;
    s.schedule.some_alive = net.threshold(layer, "next.some_alive", circuit::sum(c.alive), 1);
    s.schedule.release_phase = net.make("next.release.phase");
    std::vector<linear> chain;
    for (std::size_t b = 0; b < c.phases.size(); ++b) {
        const auto label = std::to_string(b);
        const signal complete = net.make("barrier.complete" + label);
        net.step(layer, circuit::enabled(linear(c.waiting[b]) - circuit::sum(c.alive), c.no_count[b]), 0, {{complete, 1.0F}});
        net.step(layer, circuit::enabled(linear(c.waiting[b]) - 4.0 * number(c.counts[b], 0, detail::count_bits), no(c.no_count[b])), 0, {{complete, 1.0F}});
        auto lowest = chain;
        lowest.emplace_back(complete);
        s.schedule.release.push_back(net.one_of(layer + 1, "next.release" + label, {all(lowest)}));
        lowest.emplace_back(no(c.phases[b]));
        net.gate(layer + 1, all(lowest), {{s.schedule.release_phase, 1.0F}});
        chain.push_back(no(complete));
    }
}

}  // namespace qwengpu::stage
