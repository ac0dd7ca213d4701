// SPDX-License-Identifier: MIT
// The reference emulator: runs a launch block by block and tells observers everything the model would write. A record's
// lanes are all evaluated from the state before it; then its slots are written one after another (docs/machine.md). A lane
// that loads and stores is evaluated anew when its turn to store comes.
#pragma once

#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include <qwengpu/machine/evaluation.hpp>
#include <qwengpu/machine/launch_image.hpp>
#include <qwengpu/machine/observer.hpp>
#include <qwengpu/machine/open_record.hpp>
#include <qwengpu/machine/outcome.hpp>
#include <qwengpu/machine/scheduler.hpp>
#include <qwengpu/machine/state.hpp>
#include <qwengpu/machine/trap.hpp>

namespace qwengpu::machine {

/// Records after which a launch is stopped if nothing else is asked for.
inline constexpr std::uint64_t default_step_limit = 10'000'000;

namespace detail {

template <sizes M, std::derived_from<observer> Observer>
class emulator {
public:
    /// `image.program` is all that the program store holds, what an earlier launch left in it included.
    emulator(const launch_image<M>& image, launch_state<M> state, Observer& watch, std::uint64_t limit)
        : image_(image), watch_(watch), limit_(limit), out_{.state = std::move(state)} {
        for (const machine_block& b : image.program.blocks) plans_.emplace_back(b);
        out_.blocks.resize(image.program.blocks.size());
    }

    outcome<M> run() {
        watch_.launch();
        if (thread_blocks()) watch_.end();
        out_.stored = image_.program.blocks;
        return std::move(out_);
    }

private:
    launch_state<M>& state() { return out_.state; }

    /// Runs the thread blocks in order; false if the step limit cut the launch off.
    bool thread_blocks() {
        const extent& grid = image_.grid;
        for (std::uint32_t z = 0; z < grid[2]; ++z)
            for (std::uint32_t y = 0; y < grid[1]; ++y)
                for (std::uint32_t x = 0; x < grid[0]; ++x) {
                    begin({x, y, z});
                    out_.ended = records();
                    if (out_.ended != ending::finished) return out_.ended == ending::trapped;
                }
        return true;
    }

    void begin(const extent& ctaid) {
        for (std::size_t i = 0; i < ctaid.size(); ++i) state().constants[i] = {ctaid[i], true};
        state().records_since_fair = 0;
        state().fair_due = false;
        watch_.cta(ctaid);
        for (int w = 0; w < image_.warps(); ++w) start(w, static_cast<lane_mask>(image_.lanes_of_warp(w)));
    }

    void start(int w, lane_mask mask) {
        warp_state<M>& warp = state().warp(w);
        for (auto& lane : warp.lanes) lane.next = static_cast<std::uint16_t>(M.exit_block()), lane.waits_at = lane.nowhere;
        for_each_lane(mask, [&](int lane) { warp.lanes[static_cast<std::size_t>(lane)].next = 0; });
        warp.mask = mask;
        state().favoured.reset();
        watch_.start(w, mask);
    }

    /// The records of one thread block.
    ending records() {
        int context = image_.warps() - 1;
        for (;;) {
            const step s = next_step(state(), context);
            if (s.kind == step_kind::done) return ending::finished;
            if (s.kind == step_kind::fair) favour(s.lane, s.warp);
            if (s.kind == step_kind::mask) announce(s.warp, s.mask);
            if (s.kind == step_kind::release) release(s.barrier);
            if (s.kind == step_kind::deadlock) return deadlock();
            if (s.kind != step_kind::record) continue;
            if (out_.records == limit_) return ending::step_limit;
            context = s.warp;
            if (!record(s)) return ending::trapped;
        }
    }

    void favour(int lane, int w) {
        note_fair(state(), lane, w);
        watch_.fair(lane);
    }

    void announce(int w, lane_mask mask) {
        state().warp(w).mask = mask;
        watch_.mask(w, mask);
    }

    void release(int b) {
        barrier_state& barrier = state().barriers[static_cast<std::size_t>(b)];
        barrier.phase ^= 1;
        for (auto& warp : state().warps)
            for (auto& lane : warp.lanes)
                if (lane.waits_at == b) lane.waits_at = lane.nowhere;
        watch_.release(b, barrier.phase);
    }

    /// The launch is over: lanes wait at barriers, and none is complete. Names the first of them.
    ending deadlock() {
        for (int w = M.warps; w-- > 0;)
            for (int lane = M.lanes; lane-- > 0;)
                if (const int block = came_from_[static_cast<std::size_t>(w)][static_cast<std::size_t>(lane)];
                    state().warp(w).lanes[static_cast<std::size_t>(lane)].waits_at != lane_state<M>::nowhere)
                    out_.trap = trap{trap_kind::deadlock, w, lane, block, state().ctaid(), false, 0, line_of_barrier(image_.program, block)};
        watch_.trap(*out_.trap);
        return ending::trapped;
    }

    /// Runs one record; false if it trapped.
    bool record(const step& s) {
        ++out_.records;
        note_record(state(), s.warp);
        watch_.record(s.warp, s.block, s.mask);
        const machine_block* block = find_block(image_.program, s.block);
        if (block == nullptr) return trapped(s, std::countr_zero(s.mask), nullptr);
        open_record<M> r{*block, state().warp(s.warp), s.mask};
        enter(s, r);
        if (block->lane_major) return write_by_lanes(s, r);
        for (std::size_t i = 0; i < plans_[static_cast<std::size_t>(s.block)].count; ++i)
            if (!write_slot(s, r, i)) return false;
        return true;
    }

    void enter(const step& s, open_record<M>& r) {
        block_statistics& count = out_.blocks[static_cast<std::size_t>(s.block)];
        ++count.records;
        for_each_lane(s.mask, [&](int lane) {
            lane_evaluation& made = r.made[static_cast<std::size_t>(lane)];
            made = evaluate_lane(r.block, state(), s.warp, lane);
            ++count.lanes;
            watch_.stages(lane, made);
        });
        for_each_lane(s.mask, [&](int lane) { r.warp.lanes[static_cast<std::size_t>(lane)].next = r.block.next; });
        if (r.block.mem.barrier) wait(s, r);
    }

    void wait(const step& s, open_record<M>& r) {
        const memory_instruction& m = r.block.mem;
        state().barriers[m.barrier_id].count = m.barrier_count;
        for_each_lane(s.mask, [&](int lane) {
            r.warp.lanes[static_cast<std::size_t>(lane)].waits_at = static_cast<std::int8_t>(m.barrier_id);
            came_from_[static_cast<std::size_t>(s.warp)][static_cast<std::size_t>(lane)] = s.block;
        });
    }

    /// Evaluates a lane from the state as it is now.
    void again(const step& s, open_record<M>& r, int lane) {
        lane_evaluation& made = r.made[static_cast<std::size_t>(lane)];
        made = evaluate_lane(r.block, state(), s.warp, lane);
        watch_.stages(lane, made);
    }

    /// All that a lane writes, lane by lane; false if one trapped.
    bool write_by_lanes(const step& s, open_record<M>& r) {
        const slot_plan& plan = plans_[static_cast<std::size_t>(s.block)];
        for (int lane = r.first_lane(); lane < M.lanes; ++lane) {
            if (((s.mask >> lane) & 1) == 0) continue;
            again(s, r, lane);
            if (r.of(lane).fault) return trapped(s, lane, &r.of(lane));
            for (std::size_t i = 0; i < plan.count; ++i) write(s, r, plan.slots[i], lane);
        }
        return true;
    }

    /// Writes the `at`-th present slot for its lanes; false if a lane trapped.
    bool write_slot(const step& s, open_record<M>& r, std::size_t at) {
        const slot_plan& plan = plans_[static_cast<std::size_t>(s.block)];
        for (int lane = r.first_lane(); lane < M.lanes; ++lane) {
            if (((s.mask >> lane) & 1) == 0) continue;
            if (plan.slots[at] == slot::store && loads_and_stores(r.block)) again(s, r, lane);
            if (at == 0 && r.of(lane).fault) return trapped(s, lane, &r.of(lane));
            if (lane == r.first_lane() && !r.uniform && r.agrees(plan.rest[at])) {
                r.uniform = true;
                watch_.all();
            }
            write(s, r, plan.slots[at], lane);
            if (r.uniform) break;
        }
        return true;
    }

    void write(const step& s, open_record<M>& r, slot what, int lane) {
        block_statistics& count = out_.blocks[static_cast<std::size_t>(s.block)];
        const lane_mask lanes = r.lanes_of(lane);
        if (what == slot::branch) {
            branch(r, lane, lanes);
            if (r.of(lane).taken) count.taken += static_cast<std::uint64_t>(std::popcount(lanes));
        } else if (what == slot::store) {
            store(s.warp, r.of(lane), lane);
            if (r.of(lane).stores) count.stored += static_cast<std::uint64_t>(std::popcount(lanes));
        } else {
            register_value(r, lane, lanes, stage_of(what));
        }
    }

    void branch(open_record<M>& r, int lane, lane_mask lanes) {
        const bool taken = r.of(lane).taken;
        if (taken)
            for_each_lane(lanes, [&](int l) { r.warp.lanes[static_cast<std::size_t>(l)].next = r.block.taken; });
        watch_.branch(lane, taken);
    }

    void store(int warp, const lane_evaluation& made, int lane) {
        if (!made.stores) return watch_.skip(lane);
        const int window = address::window(made.store_address), word = address::word(made.store_address);
        word_at(state(), warp, lane, window, word) = made.store_data;
        watch_.store(lane, window, word, made.store_data);
    }

    void register_value(open_record<M>& r, int lane, lane_mask lanes, int stage) {
        const auto at = static_cast<std::size_t>(stage - 1);
        const std::size_t reg = r.block.dest[at];
        const std::uint32_t value = r.of(lane).t[at];
        for_each_lane(lanes, [&](int l) { r.warp.lanes[static_cast<std::size_t>(l)].registers[reg] = value; });
        watch_.write(lane, stage, static_cast<int>(reg), value);
    }

    /// Ends the launch; `made` is the lane's evaluation where an access faulted.
    bool trapped(const step& s, int lane, const lane_evaluation* made) {
        trap t{trap_kind::illegal_block, s.warp, lane, s.block, state().ctaid(), false, 0, line_of(image_.program, s.block)};
        if (made != nullptr) {
            t.kind = *made->fault;
            t.by_store = made->fault_of_store;
            t.address = t.by_store ? made->store_address : made->load_address;
            t.line = line_of_access(s.block, t.by_store, t.line);
        }
        watch_.trap(t);
        out_.trap = t;
        return false;
    }

    source_line line_of_access(int id, bool by_store, const source_line& otherwise) const {
        const auto at = static_cast<std::size_t>(id);
        if (at >= image_.program.notes.size()) return otherwise;
        const block_notes& n = image_.program.notes[at];
        const source_line line = by_store ? n.store : n.stages[1];
        return line.ptx_line != 0 ? line : otherwise;
    }

    const launch_image<M>& image_;
    Observer& watch_;
    std::uint64_t limit_;
    std::vector<slot_plan> plans_{};
    one_per<one_per<int, M.lanes>, M.warps> came_from_{};  ///< the block in which a lane came to the barrier it waits at
    outcome<M> out_;
};

}  // namespace detail

/// Runs a launch under the eyes of an observer, for at most `limit` records: a launch that wants one more is stopped
/// where that record would begin.
template <sizes M, std::derived_from<observer> Observer>
outcome<M> emulate(const launch_image<M>& image, Observer& watch, std::uint64_t limit = default_step_limit) {
    return detail::emulator<M, Observer>(image, launch_state<M>(image), watch, limit).run();
}

/// Runs a launch that comes after another in one sequence: what its image does not say is as `before` left it, blocks of the
/// program included.
template <sizes M, std::derived_from<observer> Observer>
outcome<M> emulate_after(const outcome<M>& before, const launch_image<M>& image, Observer& watch,
                         std::uint64_t limit = default_step_limit) {
    launch_image<M> all = image;
    for (std::size_t id = 0; id < before.stored.size(); ++id) {
        if (id >= all.program.blocks.size()) all.program.blocks.push_back(before.stored[id]);
        else if (!all.program.blocks[id].valid) all.program.blocks[id] = before.stored[id];
    }
    return detail::emulator<M, Observer>(all, before.state.followed_by(image), watch, limit).run();
}

/// Runs a launch unobserved.
template <sizes M>
outcome<M> emulate(const launch_image<M>& image, std::uint64_t limit = default_step_limit) {
    struct unobserved final : observer {} nobody;
    return emulate(image, nobody, limit);
}

}  // namespace qwengpu::machine
