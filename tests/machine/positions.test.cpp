// SPDX-License-Identifier: MIT
// The contract's other reading: one position after another, each computed anew from the state as it then is, as the layers
// do. A writer that follows "What the model writes" that way must write what the emulator does, on random launches.
#include <qwengpu/machine/emulator.hpp>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
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
        const int threads = static_cast<int>(state_.constant(constant_row::shape) >> 10) + 1;
        for (int w = 0; w * M.lanes < threads; ++w) start(w, std::min(M.lanes, threads - w * M.lanes));
        while (!over_ && another_record()) {}
    }

    void start(int w, int count) {
        for (int lane = 0; lane < M.lanes; ++lane) next(w, lane) = static_cast<std::uint16_t>(lane < count ? 0 : M.exit_block());
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
                if (next(w, lane) != M.exit_block()) blocks.push_back(next(w, lane));
        }
        if (blocks.empty()) return false;
        std::sort(blocks.begin(), blocks.end());
        int block = blocks.front();
        if (blocks.front() != blocks.back() && since_ >= 61) {
            fair_ = (fair_ + 1) % M.lanes;
            since_ = 0;
            log_.fair(fair_);
            if (next(w, fair_) != M.exit_block()) block = next(w, fair_);
        }
        unsigned mask = 0;
        for (int lane = 0; lane < M.lanes; ++lane) mask |= next(w, lane) == block ? 1u << lane : 0u;
        if (mask != state_.warp(w).mask) log_.mask(w, static_cast<lane_mask>(mask));
        state_.warp(w).mask = static_cast<lane_mask>(mask);
        record(w, block);
        return true;
    }

    void record(int w, int block) {
        context_ = w;
        ++since_;
        mask_ = state_.warp(w).mask;
        log_.record(w, block, mask_);
        const bool there = block < static_cast<int>(image_.program.blocks.size());
        if (!there) return trapped(trap_kind::illegal_block, first_lane());
        const machine_block& b = image_.program.blocks[static_cast<std::size_t>(block)];
        for (int lane = 0; lane < M.lanes; ++lane)
            if (mask_ >> lane & 1) next(w, lane) = b.next;
        once_ = false;
        bool first_slot = true;
        for (std::size_t i = 0; i < all_slots.size() && !over_; ++i) {
            if (!present(b, all_slots[i])) continue;
            for (int lane = 0; lane < M.lanes && !over_; ++lane)
                if (mask_ >> lane & 1 && (!once_ || lane == first_lane())) position(b, w, i, lane, first_slot);
            first_slot = false;
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
            if (now.stores) state_.memory[static_cast<std::size_t>(address::word(now.store_address))].value = now.store_data;
        } else {
            state_.warp(w).lanes[static_cast<std::size_t>(lane)].registers[static_cast<std::size_t>(register_of(b, s))] =
                now.t[static_cast<std::size_t>(stage_of(s) - 1)];
        }
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
    lane_mask mask_ = 0;
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
