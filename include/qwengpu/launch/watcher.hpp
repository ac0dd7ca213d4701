// SPDX-License-Identifier: MIT
// An observer that keeps, from the events of a transcript alone, what an emulated launch would leave: memory, how it
// ended, how often every block ran. So a model's launch is judged by its tokens only.
#pragma once

#include <qwengpu/machine/evaluation.hpp>
#include <qwengpu/machine/observer.hpp>
#include <qwengpu/machine/outcome.hpp>

#include <bit>
#include <cstdint>
#include <utility>

namespace qwengpu::detail {

template <machine::sizes M>
class watcher : public machine::observer {
public:
    explicit watcher(const machine::launch_image<M>& image) : watcher(image, machine::launch_state<M>(image)) {}
    /// Begins with a state that earlier launches left.
    watcher(const machine::launch_image<M>& image, machine::launch_state<M> before) : seen_{.state = std::move(before)} {
        seen_.ended = machine::ending::step_limit;
        seen_.blocks.resize(image.program.blocks.size());
    }

    /// What is known so far; the ending is `step_limit` until a trap or the end is seen.
    [[nodiscard]] const machine::outcome<M>& outcome() const { return seen_; }
    [[nodiscard]] int last_block() const { return block_; }
    [[nodiscard]] int last_warp() const { return warp_; }

    void record(int warp, int block, machine::lane_mask mask) override {
        warp_ = warp;
        block_ = block;
        mask_ = mask;
        uniform_ = false;
        ++seen_.records;
        if (auto* b = counted()) ++b->records, b->lanes += lanes(mask);
    }
    void all() override { uniform_ = true; }
    void branch(int, bool taken) override {
        if (auto* b = counted()) b->taken += taken ? lanes_of_position() : 0;
    }
    void store(int lane, int window, int word, std::uint32_t value) override {
        machine::word_at(seen_.state, warp_, lane, window, word) = value;
        if (auto* b = counted()) b->stored += lanes_of_position();
    }
    void trap(const machine::trap& what) override {
        seen_.trap = what;
        seen_.ended = machine::ending::trapped;
    }
    void end() override {
        if (!seen_.trap) seen_.ended = machine::ending::finished;
    }

private:
    static std::uint64_t lanes(machine::lane_mask mask) { return static_cast<std::uint64_t>(std::popcount(mask)); }
    [[nodiscard]] std::uint64_t lanes_of_position() const { return uniform_ ? lanes(mask_) : 1; }
    machine::block_statistics* counted() {
        const auto at = static_cast<std::size_t>(block_);
        return at < seen_.blocks.size() ? &seen_.blocks[at] : nullptr;
    }

    machine::outcome<M> seen_;
    int warp_ = 0, block_ = 0;
    machine::lane_mask mask_ = 0;
    bool uniform_ = false;
};

}  // namespace qwengpu::detail
