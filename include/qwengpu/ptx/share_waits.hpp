// SPDX-License-Identifier: MIT
// Lanes of a warp that wait for the lock of 64-bit atomics stand in one machine block, wherever they came from: the one whose
// number is called must not stand behind others who wait. From there it finds its section by its number, through a chain of
// branches. Nothing in these blocks writes a register, so it does not matter whose they were.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include <qwengpu/error.hpp>
#include <qwengpu/ptx/allocate.hpp>
#include <qwengpu/ptx/schedule.hpp>

namespace qwengpu::ptx {

namespace detail {

class wait_sharer {
public:
    wait_sharer(const ir::function& f, std::vector<fused_block>& blocks, const ir::webs& w, const allocation& a)
        : f_(f), blocks_(blocks), webs_(w), allocation_(a), now_(blocks.size()) {
        for (std::uint32_t k = 0; k < now_.size(); ++k) now_[k] = k;
    }

    void run() {
        const std::vector<std::uint32_t> waits = blocks_of(ir::lock_part::wait);
        if (waits.size() < 2) return;
        const std::vector<std::uint32_t> turns = blocks_of(ir::lock_part::turn);
        if (turns.size() != waits.size()) fail();
        for (std::uint32_t k : waits) require_same(k, waits.front());
        for (std::uint32_t k : turns) require_same(k, turns.front());
        blocks_[waits.front()].next = turns.front();
        for (std::size_t k = 0; k + 1 < turns.size(); ++k) blocks_[turns[k]].taken = turns[k + 1];
        now_[turns.back()] = blocks_[turns.back()].next;
        for (std::uint32_t k : waits) now_[k] = waits.front();
        drop_replaced();
    }

private:
    [[nodiscard]] std::vector<std::uint32_t> blocks_of(ir::lock_part part) const {
        std::vector<std::uint32_t> found;
        for (std::uint32_t k = 0; k < blocks_.size(); ++k)
            if (blocks_[k].part == part) found.push_back(k);
        return found;
    }

    [[noreturn]] static void fail() {
        throw error("ptx.internal", "the places where lanes wait for the lock of 64-bit atomics differ; please report this kernel");
    }

    [[nodiscard]] std::vector<std::uint8_t> registers_of(std::uint32_t k) const {
        std::vector<std::uint8_t> read;
        for_each_read(f_, blocks_[k], [&](ir::value_id v) { read.push_back(allocation_.registers.at(webs_.of(v))); });
        return read;
    }

    void require_same(std::uint32_t k, std::uint32_t first) const {
        const fused_block& b = blocks_[k];
        const bool writes = b.store != no_value || std::find(b.write.begin(), b.write.end(), true) != b.write.end();
        if (writes || !b.branch || registers_of(k) != registers_of(first)) fail();
    }

    /// Blocks that others stand for go, and targets are numbered anew.
    void drop_replaced() {
        std::vector<std::uint32_t> place(blocks_.size(), ir::exit_target);
        std::vector<fused_block> left;
        for (std::uint32_t k = 0; k < blocks_.size(); ++k) {
            if (now_[k] != k) continue;
            place[k] = static_cast<std::uint32_t>(left.size());
            left.push_back(blocks_[k]);
        }
        const auto moved = [&](std::uint32_t target) { return ir::is_block(target) ? place[now_[target]] : target; };
        for (fused_block& b : left) {
            b.next = moved(b.next);
            b.taken = moved(b.taken);
        }
        blocks_ = std::move(left);
    }

    const ir::function& f_;
    std::vector<fused_block>& blocks_;
    const ir::webs& webs_;
    const allocation& allocation_;
    std::vector<std::uint32_t> now_;  ///< the block that stands for each
};

}  // namespace detail

/// Joins the blocks in which lanes wait. Throws "ptx.internal" if they are not what they must be.
inline void share_waits(const ir::function& f, std::vector<fused_block>& blocks, const ir::webs& w, const allocation& a) {
    detail::wait_sharer(f, blocks, w, a).run();
}

}  // namespace qwengpu::ptx
