// SPDX-License-Identifier: MIT
// The contract's other reading: one position after another, each computed anew from the state as it then is, as the layers
// do. A writer that follows "What the model writes" that way must write what the emulator does, on random launches.
#include <qwengpu/machine/emulator.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "support/catch.hpp"
#include "support/event_log.hpp"
#include "support/random_program.hpp"
#include "support/shrink_program.hpp"

namespace {

using namespace qwengpu::machine;
namespace test = qwengpu::test;

template <sizes M>
class position_writer {
public:
    explicit position_writer(const launch_image<M>& image) : image_(image), state_(image) {}

    std::vector<std::string> run() {
        log_.launch();
        while (!over_) cta_or_end();
        log_.end();
        return log_.lines;
    }

private:
    std::uint16_t& next(int w, int lane) { return state_.warp(w).lanes[static_cast<std::size_t>(lane)].next; }
    bool alive(int w, int lane) { return next(w, lane) != M.exit_block(); }

    /// A lane waits while the barrier it came to is in the phase in which it came.
    bool waits(int w, int lane) {
        const auto& came = came_[static_cast<std::size_t>(w * M.lanes + lane)];
        return came && phase_[static_cast<std::size_t>(came->first)] == came->second;
    }
    bool runnable(int w, int lane) { return alive(w, lane) && !waits(w, lane); }

    /// Rules 2-4, by counting on from the ctaid in the constants.
    void cta_or_end() {
        bool carry = true;
        extent id{};
        for (std::size_t i = 0; i < 3; ++i) {
            const bool at_last = state_.constants[i].value == state_.constants[i + 3].value;
            id[i] = !carry ? state_.constants[i].value : at_last ? 0 : state_.constants[i].value + 1;
            carry = carry && at_last;
        }
        if (carry && started_) { over_ = true; return; }
        started_ = true;
        for (std::size_t i = 0; i < 3; ++i) state_.constants[i].value = id[i];
        log_.cta(id);
        since_ = 0;
        due_ = false;
        const int threads = static_cast<int>(state_.constant(constant_row::shape) >> 10) + 1;
        for (int w = 0; w * M.lanes < threads; ++w) start(w, std::min(M.lanes, threads - w * M.lanes));
        while (!over_ && (another_record() || another_phase())) {}
    }

    void start(int w, int count) {
        for (int lane = 0; lane < M.lanes; ++lane) {
            next(w, lane) = static_cast<std::uint16_t>(lane < count ? 0 : M.exit_block());
            came_[static_cast<std::size_t>(w * M.lanes + lane)].reset();
        }
        state_.warp(w).mask = static_cast<lane_mask>((1 << count) - 1);
        log_.start(w, state_.warp(w).mask);
        context_ = w;
    }

    /// Rule 6; false if no warp is runnable.
    bool another_record() {
        std::vector<int> blocks;
        int w = context_;
        for (int turn = 0; turn < M.warps && blocks.empty(); ++turn) {
            w = (w + 1) % M.warps;
            for (int lane = 0; lane < M.lanes; ++lane)
                if (runnable(w, lane)) blocks.push_back(next(w, lane));
        }
        if (blocks.empty()) return false;
        std::sort(blocks.begin(), blocks.end());
        int block = blocks.front();
        if (blocks.front() != blocks.back() && due_) {
            if (!(fair_warp_ && *fair_warp_ < w)) fair_ = (fair_ + 1) % M.lanes;
            fair_warp_ = w;
            since_ = 0;
            due_ = false;
            log_.fair(fair_);
            if (runnable(w, fair_) && next(w, fair_) < M.blocks / 8 * 7) block = next(w, fair_);
        }
        unsigned mask = 0;
        for (int lane = 0; lane < M.lanes; ++lane) mask |= runnable(w, lane) && next(w, lane) == block ? 1u << lane : 0u;
        if (mask != state_.warp(w).mask) log_.mask(w, static_cast<lane_mask>(mask));
        state_.warp(w).mask = static_cast<lane_mask>(mask);
        record(w, block);
        return true;
    }

    /// Where no lane is runnable: the lowest complete barrier lets its lanes go, or nobody ever gets on. False if none is alive.
    bool another_phase() {
        std::vector<std::pair<int, int>> living;
        for (int w = 0; w < M.warps; ++w)
            for (int lane = 0; lane < M.lanes; ++lane)
                if (alive(w, lane)) living.emplace_back(w, lane);
        for (int b = 0; b < M.barriers && !living.empty(); ++b) {
            const auto there = std::count_if(living.begin(), living.end(), [&](auto at) {
                return came_[static_cast<std::size_t>(at.first * M.lanes + at.second)]->first == b;
            });
            const auto wanted = count_[static_cast<std::size_t>(b)];
            if (there == 0 || (wanted == 0 ? there != static_cast<std::ptrdiff_t>(living.size()) : there < 4 * wanted)) continue;
            phase_[static_cast<std::size_t>(b)] = 1 - phase_[static_cast<std::size_t>(b)];
            log_.release(b, phase_[static_cast<std::size_t>(b)]);
            return true;
        }
        if (!living.empty()) trapped(trap_kind::deadlock, living.front().second);
        return !living.empty();
    }

    void record(int w, int block) {
        context_ = w;
        ++since_;
        due_ = due_ || since_ >= 60 + M.warps || (since_ >= 61 && (!fair_warp_ || *fair_warp_ == w));
        mask_ = state_.warp(w).mask;
        log_.record(w, block, mask_);
        const bool there = block < static_cast<int>(image_.program.blocks.size()) && image_.program.blocks[static_cast<std::size_t>(block)].valid;
        if (!there) return trapped(trap_kind::illegal_block, first_lane());
        const machine_block& b = image_.program.blocks[static_cast<std::size_t>(block)];
        for (int lane = 0; lane < M.lanes; ++lane)
            if (mask_ >> lane & 1) enter(b, w, lane);
        once_ = false;
        if (b.lane_major) return lane_by_lane(b, w);
        bool first_slot = true;
        for (std::size_t i = 0; i < all_slots.size() && !over_; ++i) {
            if (!present(b, all_slots[i])) continue;
            for (int lane = 0; lane < M.lanes && !over_; ++lane)
                if (mask_ >> lane & 1 && (!once_ || lane == first_lane())) position(b, w, i, lane, first_slot);
            first_slot = false;
        }
    }

    void enter(const machine_block& b, int w, int lane) {
        next(w, lane) = b.next;
        if (!b.mem.barrier) return;
        came_[static_cast<std::size_t>(w * M.lanes + lane)] = {b.mem.barrier_id, phase_[b.mem.barrier_id]};
        count_[b.mem.barrier_id] = b.mem.barrier_count;
    }

    /// Each lane writes its register, if there is one, and then stores.
    void lane_by_lane(const machine_block& b, int w) {
        for (int lane = 0; lane < M.lanes; ++lane) {
            if ((mask_ >> lane & 1) == 0) continue;
            if (const auto fault = evaluate_lane(b, state_, w, lane).fault) return trapped(*fault, lane);
            for (const slot s : {slot::w4, slot::w3, slot::w2, slot::w1, slot::store}) {
                if (!present(b, s)) continue;
                const lane_evaluation now = evaluate_lane(b, state_, w, lane);
                apply(b, w, s, lane, now);
                tell(b, s, lane, now);
            }
        }
    }

    int first_lane() const {
        int lane = 0;
        while ((mask_ >> lane & 1) == 0) ++lane;
        return lane;
    }

    /// One position, from the state as it is now.
    void position(const machine_block& b, int w, std::size_t slot_index, int lane, bool first_slot) {
        const lane_evaluation now = evaluate_lane(b, state_, w, lane);
        if (first_slot && now.fault) return trapped(*now.fault, lane);
        if (!once_ && lane == first_lane() && same(b, w, rest_of_dependencies(b)[slot_index])) {
            once_ = true;
            log_.all();
        }
        for (int other = 0; other < M.lanes; ++other)
            if (once_ ? mask_ >> other & 1 : other == lane) apply(b, w, all_slots[slot_index], other, now);
        tell(b, all_slots[slot_index], lane, now);
    }

    bool same(const machine_block& b, int w, port_set ports) {
        if ((ports & special_port) || mask_ == (1u << first_lane())) return false;
        for (std::size_t p = 0; p < 4; ++p)
            for (int lane = 0; lane < M.lanes; ++lane)
                if (ports >> p & 1 && mask_ >> lane & 1 &&
                    state_.warp(w).lanes[static_cast<std::size_t>(lane)].registers[b.ports[p]] !=
                        state_.warp(w).lanes[static_cast<std::size_t>(first_lane())].registers[b.ports[p]])
                    return false;
        return true;
    }

    void apply(const machine_block& b, int w, slot s, int lane, const lane_evaluation& now) {
        if (s == slot::branch) {
            if (now.taken) next(w, lane) = b.taken;
        } else if (s == slot::store) {
            if (now.stores) word(w, lane, now.store_address) = now.store_data;
        } else {
            state_.warp(w).lanes[static_cast<std::size_t>(lane)].registers[static_cast<std::size_t>(register_of(b, s))] =
                now.t[static_cast<std::size_t>(stage_of(s) - 1)];
        }
    }

    std::uint32_t& word(int w, int lane, std::uint32_t a) {
        const auto at = static_cast<std::size_t>(a / 4 % 128);
        if (a >> 27 == 28) return state_.warp(w).lanes[static_cast<std::size_t>(lane)].local[at];
        return (a >> 27 == 29 ? state_.shared : state_.memory)[at].value;
    }

    void tell(const machine_block& b, slot s, int lane, const lane_evaluation& now) {
        if (s == slot::branch) return log_.branch(lane, now.taken);
        if (s == slot::store && !now.stores) return log_.skip(lane);
        if (s == slot::store)
            return log_.store(lane, address::window(now.store_address), address::word(now.store_address), now.store_data);
        log_.write(lane, stage_of(s), register_of(b, s), now.t[static_cast<std::size_t>(stage_of(s) - 1)]);
    }

    void trapped(trap_kind kind, int lane) {
        log_.trap({kind, 0, lane, 0, {}, false, 0, {}});
        over_ = true;
    }

    const launch_image<M>& image_;
    launch_state<M> state_;
    test::event_log log_{};
    bool started_ = false, over_ = false, once_ = false;
    int context_ = 0, fair_ = M.lanes - 1, since_ = 0;
    bool due_ = false;
    std::optional<int> fair_warp_{};
    lane_mask mask_ = 0;
    std::array<std::optional<std::pair<int, int>>, static_cast<std::size_t>(M.threads())> came_{};  ///< barrier and its phase
    std::array<int, static_cast<std::size_t>(M.barriers)> phase_{}, count_{};
};

template <sizes M>
bool differs(const launch_image<M>& image) {
    test::event_log log;
    const bool ends = emulate(image, log, 20'000).ended != ending::step_limit;  // a shrunk launch may not
    return ends && log.lines != position_writer<M>(image).run();
}

}  // namespace

constexpr sizes two_lanes{.lanes = 2, .warps = 2, .registers = 4, .words = 8, .constants = 16, .blocks = 16};
constexpr sizes one_lane{.lanes = 1, .warps = 4, .registers = 8, .words = 16, .constants = 32, .blocks = 32};

TEMPLATE_TEST_CASE_SIG("position by position, the same launch", "", ((sizes M), M), mission, two_lanes, one_lane) {
    for (std::uint64_t seed = 0; seed < 3000; ++seed) {
        const auto image = test::random_launch<M>(seed + 100'000);
        if (!differs(image)) continue;
        const auto small = test::shrink_launch(image, differs<M>);
        test::event_log log;
        (void)emulate(small, log);
        FAIL("seed " << seed << "\n" << test::describe(small) << Catch::rangeToString(log.lines));
    }
    SUCCEED();
}
