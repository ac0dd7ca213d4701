// SPDX-License-Identifier: MIT
// An observer of the emulator that finds data races and reads of what nobody wrote, byte by byte. Ordered are: accesses of one
// thread; before and after a barrier; before and after a meeting block of one warp (bar.warp.sync and the collectives); and
// through atomics on one word, as if fences stood beside them. Thread blocks count as concurrent.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <tuple>
#include <vector>

#include <qwengpu/machine/access_clocks.hpp>
#include <qwengpu/machine/access_finding.hpp>
#include <qwengpu/machine/launch_image.hpp>
#include <qwengpu/machine/observer.hpp>
#include <qwengpu/machine/program.hpp>

namespace qwengpu::machine {

/// What is looked for. Two plain writes of one value are no race.
struct access_checks {
    bool races = false, uninitialised = false;

    [[nodiscard]] bool any() const { return races || uninitialised; }
};

/// Watches one launch. The image must outlive it.
template <sizes M = mission>
class access_checker final : public observer {
public:
    access_checker(const launch_image<M>& image, access_checks wanted)
        : program_(image.program), wanted_(wanted), clocks_(static_cast<std::size_t>(M.threads())),
          own_written_(static_cast<std::size_t>(M.threads() * M.local_words * 4)) {}

    /// What was found, in the order in which it was first seen; the same two instructions once.
    [[nodiscard]] const std::vector<finding>& findings() const { return findings_; }

    void cta(const extent& at) override {
        clocks_.begin(ctas_.size());
        ctas_.push_back(at);
        waiting_.fill(nowhere);
        shared_ = {};
        for (auto& byte : global_.bytes) forget_old_reads(byte);
    }
    void release(int barrier, int) override {
        std::vector<int> threads;
        for (std::size_t t = 0; t < waiting_.size(); ++t)
            if (waiting_[t] == barrier) threads.push_back(static_cast<int>(t)), waiting_[t] = nowhere;
        clocks_.meet(threads);
    }
    void record(int warp, int block, lane_mask mask) override {
        warp_ = warp, id_ = block, mask_ = mask;
        uniform_ = false;
        evaluated_ = 0;
        block_ = find_block(program_, block);
        if (block_ == nullptr) return;
        if (block >= M.meeting_block()) clocks_.meet(threads_of(mask));
        if (block_->mem.barrier)
            for (const int t : threads_of(mask)) waiting_[static_cast<std::size_t>(t)] = block_->mem.barrier_id;
    }
    void stages(int lane, const lane_evaluation& made) override {
        made_[static_cast<std::size_t>(lane)] = made;
        const bool anew = (evaluated_ >> lane & 1) != 0;
        evaluated_ = static_cast<lane_mask>(evaluated_ | 1 << lane);
        if (!made.loads || made.fault || block_ == nullptr || is_part_of_store() || anew != block_->lane_major) return;
        access(lane, made.load_address, size_of(block_->mem.op), block_->lane_major ? access_kind::atomic : access_kind::read, 0);
    }
    void all() override { uniform_ = true; }
    void store(int lane, int, int, std::uint32_t value) override {
        if (block_->lane_major) return mark_written(lane);
        for_each_lane(uniform_ ? mask_ : static_cast<lane_mask>(1 << lane), [&](int l) {
            access(l, made_[static_cast<std::size_t>(l)].store_address, block_->mem.store_size, access_kind::write, value);
        });
    }

private:
    static constexpr int nowhere = -1;

    struct past_access {
        std::size_t thread = 0;  ///< of the launch
        std::uint32_t time = 0;  ///< 0: there was none
        int block = 0;
        access_kind kind = access_kind::read;
        std::uint8_t value = 0;
    };

    /// The last plain write of a byte, reads and atomics since, and who wrote it last (thread block number + 1).
    struct byte_history {
        past_access write{};
        std::vector<past_access> others{};
        std::size_t written_in = 0;
    };
    struct memory_history {
        std::array<byte_history, static_cast<std::size_t>(M.words) * 4> bytes{};
        std::map<int, detail::clock_vector> atomics{};  ///< by word
    };

    [[nodiscard]] int thread(int lane) const { return warp_ * M.lanes + lane; }
    [[nodiscard]] std::vector<int> threads_of(lane_mask mask) const {
        std::vector<int> threads;
        for_each_lane(mask, [&](int lane) { threads.push_back(thread(lane)); });
        return threads;
    }

    /// Whether the block loads a word only to put a part into it.
    [[nodiscard]] bool is_part_of_store() const {
        const memory_op op = block_->mem.op;
        return block_->has_store && !block_->lane_major && (op == memory_op::load_byte_word || op == memory_op::load_half_word);
    }

    /// Of what thread blocks before this one read, one access of each byte is kept.
    static void forget_old_reads(byte_history& byte) {
        if (byte.others.size() > 1) byte.others.erase(byte.others.begin(), byte.others.end() - 1);
    }

    void access(int lane, std::uint32_t a, access_size size, access_kind kind, std::uint32_t value) {
        const int window = address::window(a);
        const bool own = window == address::local_window;
        auto& memory = window == address::shared_window ? shared_ : global_;
        if (!own && kind == access_kind::atomic) clocks_.pass_through(thread(lane), memory.atomics[address::word(a)]);
        for (const std::uint32_t end = a + bytes_of(size); a < end; ++a) {
            const auto part = static_cast<std::uint8_t>(value >> 8 * (a & address::byte_mask));
            if (!own && wanted_.races) check_race(memory.bytes[byte_of(a)], lane, a, kind, part);
            check_written(lane, a, kind);
        }
    }

    static std::size_t byte_of(std::uint32_t a) { return static_cast<std::size_t>(address::word(a)) * 4 + (a & address::byte_mask); }

    /// The number of the thread block that wrote a byte last, 0 for none; nullptr for global memory, which begins written.
    std::size_t* writer_of(int lane, std::uint32_t a) {
        if (address::window(a) == address::shared_window) return &shared_.bytes[byte_of(a)].written_in;
        if (address::window(a) != address::local_window) return nullptr;
        return &own_written_[static_cast<std::size_t>(thread(lane) * M.local_words * 4) + byte_of(a)];
    }

    /// Reads and atomics want what was written; writes note it. An atomic writes too, if it stores (mark_written).
    void check_written(int lane, std::uint32_t a, access_kind kind) {
        std::size_t* const written_in = writer_of(lane, a);
        if (written_in == nullptr) return;
        if (kind == access_kind::write) *written_in = ctas_.size();
        if (!wanted_.uninitialised || *written_in == ctas_.size()) return;
        report(*written_in == 0 ? finding_kind::uninitialised : finding_kind::out_of_lifetime, a, {}, at(lane, kind));
    }

    void mark_written(int lane) {
        const std::uint32_t first = made_[static_cast<std::size_t>(lane)].store_address;
        for (std::uint32_t i = 0; i < bytes_of(block_->mem.store_size); ++i)
            if (std::size_t* const written_in = writer_of(lane, first + i)) *written_in = ctas_.size();
    }

    /// A plain write conflicts with everything, all else with plain writes.
    void check_race(byte_history& byte, int lane, std::uint32_t a, access_kind kind, std::uint8_t value) {
        const bool same = kind == access_kind::write && byte.write.value == value;
        if (!same) check_order(byte.write, lane, a, kind);
        const past_access now{clocks_.number_of(thread(lane)), clocks_.now(thread(lane)), id_, kind, value};
        if (kind != access_kind::write) return remember(byte.others, now);
        for (const past_access& other : byte.others) check_order(other, lane, a, kind);
        byte.write = now;
        byte.others.clear();
    }

    static void remember(std::vector<past_access>& others, const past_access& now) {
        for (past_access& other : others)
            if (other.thread == now.thread && other.kind == now.kind) return void(other = now);
        others.push_back(now);
    }

    void check_order(const past_access& earlier, int lane, std::uint32_t a, access_kind kind) {
        if (earlier.time != 0 && !clocks_.knows(thread(lane), earlier.thread, earlier.time))
            report(finding_kind::race, a, place_of(earlier), at(lane, kind));
    }

    [[nodiscard]] access_place at(int lane, access_kind kind) const {
        return {ctas_.back(), thread(lane), id_, kind, line_of_access(id_, kind)};
    }
    [[nodiscard]] access_place place_of(const past_access& a) const {
        const auto threads = static_cast<std::size_t>(M.threads());
        return {ctas_[a.thread / threads], static_cast<int>(a.thread % threads), a.block, a.kind, line_of_access(a.block, a.kind)};
    }
    [[nodiscard]] source_line line_of_access(int id, access_kind kind) const {
        const auto n = static_cast<std::size_t>(id);
        if (n >= program_.notes.size()) return {};
        const source_line line = kind == access_kind::read ? program_.notes[n].stages[1] : program_.notes[n].store;
        return line.ptx_line != 0 ? line : line_of(program_, id);
    }

    void report(finding_kind kind, std::uint32_t a, const access_place& earlier, const access_place& later) {
        const auto [entry, is_new] = seen_.try_emplace({kind, earlier.block, earlier.kind, later.block, later.kind}, findings_.size());
        if (is_new) findings_.push_back({kind, a, earlier, later});
        else ++findings_[entry->second].times;
    }

    const machine::program& program_;
    access_checks wanted_;
    detail::access_clocks clocks_;
    memory_history global_{}, shared_{};
    std::vector<std::size_t> own_written_;
    std::vector<extent> ctas_{};
    one_per<int, M.threads()> waiting_{};
    one_per<lane_evaluation, M.lanes> made_{};
    const machine_block* block_ = nullptr;
    int warp_ = 0, id_ = 0;
    lane_mask mask_ = 0, evaluated_ = 0;
    bool uniform_ = false;
    std::vector<finding> findings_{};
    std::map<std::tuple<finding_kind, int, access_kind, int, access_kind>, std::size_t> seen_{};
};

}  // namespace qwengpu::machine
