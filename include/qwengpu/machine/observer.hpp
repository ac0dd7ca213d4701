// SPDX-License-Identifier: MIT
// What can be seen of a launch, as events. There is one event for everything a transcript has tokens for, in the
// transcript's order, and `stages` with what each stage made. Writers, renderers and comparisons are observers.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include <qwengpu/machine/lane_evaluation.hpp>
#include <qwengpu/machine/state.hpp>
#include <qwengpu/machine/trap.hpp>

namespace qwengpu::machine {

/// Base of observers: every event does nothing. After `all`, the rest of the record's events come once, with the first
/// lane of the mask, and hold for all its lanes.
class observer {
public:
    observer() = default;
    observer(const observer&) = default;
    observer& operator=(const observer&) = default;
    virtual ~observer() = default;

    virtual void launch() {}
    virtual void cta(const extent& /*ctaid*/) {}
    virtual void start(int /*warp*/, lane_mask /*mask*/) {}
    virtual void fair(int /*lane*/) {}
    virtual void mask(int /*warp*/, lane_mask /*mask*/) {}
    virtual void release(int /*barrier*/, int /*phase*/) {}
    virtual void record(int /*warp*/, int /*block*/, lane_mask /*mask*/) {}
    /// For every lane of the mask, directly after `record`: what the stages make of the state before the record. Again for
    /// a lane that is evaluated anew because an earlier lane's store may have changed what it loads, directly before its
    /// store (in a lane-major block, before all that it writes).
    virtual void stages(int /*lane*/, const lane_evaluation& /*made*/) {}
    virtual void all() {}
    virtual void branch(int /*lane*/, bool /*taken*/) {}
    virtual void store(int /*lane*/, int /*window*/, int /*word*/, std::uint32_t /*value*/) {}
    virtual void skip(int /*lane*/) {}
    /// `stage` 1..4 made the value for this register.
    virtual void write(int /*lane*/, int /*stage*/, int /*reg*/, std::uint32_t /*value*/) {}
    virtual void trap(const machine::trap& /*what*/) {}
    virtual void end() {}
};

/// Passes every event on to several observers, in their order.
class observer_list final : public observer {
public:
    explicit observer_list(std::vector<std::reference_wrapper<observer>> to) : to_(std::move(to)) {}

    void launch() override { for (observer& o : to_) o.launch(); }
    void cta(const extent& ctaid) override { for (observer& o : to_) o.cta(ctaid); }
    void start(int warp, lane_mask lanes) override { for (observer& o : to_) o.start(warp, lanes); }
    void fair(int lane) override { for (observer& o : to_) o.fair(lane); }
    void mask(int warp, lane_mask lanes) override { for (observer& o : to_) o.mask(warp, lanes); }
    void release(int barrier, int phase) override { for (observer& o : to_) o.release(barrier, phase); }
    void record(int warp, int block, lane_mask lanes) override {
        for (observer& o : to_) o.record(warp, block, lanes);
    }
    void stages(int lane, const lane_evaluation& made) override { for (observer& o : to_) o.stages(lane, made); }
    void all() override { for (observer& o : to_) o.all(); }
    void branch(int lane, bool taken) override { for (observer& o : to_) o.branch(lane, taken); }
    void store(int lane, int window, int word, std::uint32_t value) override {
        for (observer& o : to_) o.store(lane, window, word, value);
    }
    void skip(int lane) override { for (observer& o : to_) o.skip(lane); }
    void write(int lane, int stage, int reg, std::uint32_t value) override {
        for (observer& o : to_) o.write(lane, stage, reg, value);
    }
    void trap(const machine::trap& what) override { for (observer& o : to_) o.trap(what); }
    void end() override { for (observer& o : to_) o.end(); }

private:
    std::vector<std::reference_wrapper<observer>> to_;
};

}  // namespace qwengpu::machine
