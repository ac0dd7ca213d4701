// SPDX-License-Identifier: MIT
// An observer of the emulator that finds data races and reads of what nobody wrote, byte by byte. Ordered are: accesses of one
// thread; before and after a barrier; before and after a meeting block of one warp (bar.warp.sync and the collectives); and
// through strong accesses of one word (atomics, .relaxed and more, volatile), as if fences stood beside them. Thread blocks count
// as concurrent. Volatile is plain in shared memory: there, old code has it in place of barriers between the lanes of a warp. A
// plain read beside other threads' atomics is forgiven where a thread then does an atomic on the word: a loop around cas begins so.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <utility>
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

    /// What was found when the launch is over, in the order in which it was first certain; the same two instructions once.
    [[nodiscard]] const std::vector<finding>& findings() {
        for (const auto& [block, found] : std::exchange(doubtful_, {}))
            if (!guesses_.contains(block))
                for (const finding& f : found.all()) findings_.add(f);
        return findings_.all();
    }

    void cta(const extent& at) override {
        clocks_.begin(ctas_.size());
        ctas_.push_back(at);
        waiting_.fill(nowhere);
        for (auto& byte : shared_.bytes) byte = {.written_in = byte.written_in};
        shared_.passed_on.clear();
        for (int w = program_.own_shared_word; w > 0 && w <= program_.shared_words; ++w)
            for (int byte = 0; byte < 4; ++byte) shared_.bytes[static_cast<std::size_t>(4 * w + byte)].written_in = ctas_.size();
        for (auto& byte : global_.bytes) forget_old_accesses(byte);
    }
    /// Of a barrier of all threads, those that do not wait have exited before.
    void release(int barrier, int) override {
        std::vector<int> threads;
        for (std::size_t t = 0; t < waiting_.size(); ++t) {
            if (waiting_[t] != barrier && !takes_all_[static_cast<std::size_t>(barrier)]) continue;
            threads.push_back(static_cast<int>(t));
            if (waiting_[t] == barrier) waiting_[t] = nowhere;
        }
        clocks_.meet(threads);
    }
    void record(int warp, int block, lane_mask mask) override {
        warp_ = warp, id_ = block, mask_ = mask;
        uniform_ = false;
        evaluated_ = 0;
        block_ = find_block(program_, block);
        if (block_ == nullptr) return;
        if (block >= M.meeting_block()) clocks_.meet(threads_of(mask));
        if (!block_->mem.barrier) return;
        takes_all_[block_->mem.barrier_id] = block_->mem.barrier_count == 0;
        for (const int t : threads_of(mask)) waiting_[static_cast<std::size_t>(t)] = block_->mem.barrier_id;
    }
    void stages(int lane, const lane_evaluation& made) override {
        made_[static_cast<std::size_t>(lane)] = made;
        const bool anew = (evaluated_ >> lane & 1) != 0;
        evaluated_ = static_cast<lane_mask>(evaluated_ | 1 << lane);
        if (!made.loads || made.fault || block_ == nullptr || is_part_of_store() || anew != block_->lane_major) return;
        if (block_->lane_major) access(lane, made.load_address, size_of(block_->mem.op), {access_kind::atomic, access_strength::relaxed}, 0);
        else access(lane, made.load_address, size_of(block_->mem.op), {access_kind::read, notes_of(id_).load_strength}, 0);
    }
    void all() override { uniform_ = true; }
    void store(int lane, int, int, std::uint32_t value) override {
        if (block_->lane_major) return mark_written(lane);
        const access_strength strength = notes_of(id_).store_strength;
        const access_mode mode = strength == access_strength::exchange ? access_mode{access_kind::atomic, access_strength::relaxed} : access_mode{access_kind::write, strength};
        for_each_lane(uniform_ ? mask_ : static_cast<lane_mask>(1 << lane), [&](int l) {
            mark_written(l);
            access(l, made_[static_cast<std::size_t>(l)].store_address, block_->mem.store_size, mode, value);
        });
    }

private:
    static constexpr int nowhere = -1;

    struct access_mode {
        access_kind kind = access_kind::read;
        access_strength strength = access_strength::plain;

        [[nodiscard]] bool is_plain_write() const { return kind == access_kind::write && strength == access_strength::plain; }
        friend bool operator==(const access_mode&, const access_mode&) = default;
    };
    struct past_access {
        std::size_t thread = 0;  ///< of the launch
        std::uint32_t time = 0;  ///< 0: there was none
        int block = 0;
        access_mode mode{};
        std::uint8_t value = 0;
    };

    /// The last plain write of a byte, all other accesses since, and who wrote it last (thread block number + 1).
    struct byte_history {
        past_access write{};
        std::vector<past_access> others{};
        std::size_t written_in = 0;
    };
    struct memory_history {
        std::array<byte_history, static_cast<std::size_t>(M.words) * 4> bytes{};
        std::map<int, detail::clock_vector> passed_on{};  ///< by word: what its strong accesses knew
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

    [[nodiscard]] const block_notes& notes_of(int id) const {
        static const block_notes none{};
        const auto n = static_cast<std::size_t>(id);
        return n < program_.notes.size() ? program_.notes[n] : none;
    }

    /// Of what thread blocks before this one did, the last access of each mode is kept for each byte.
    static void forget_old_accesses(byte_history& byte) {
        std::vector<past_access> kept;
        for (auto other = byte.others.rbegin(); other != byte.others.rend(); ++other)
            if (std::none_of(kept.begin(), kept.end(), [&](const past_access& k) { return k.mode == other->mode; })) kept.push_back(*other);
        byte.others = std::move(kept);
    }

    void access(int lane, std::uint32_t a, access_size size, access_mode mode, std::uint32_t value) {
        const int window = address::window(a);
        if (is_lock(a)) return;
        const bool own = window == address::local_window;
        auto& memory = window == address::shared_window ? shared_ : global_;
        if (window == address::shared_window && mode.strength == access_strength::is_volatile) mode.strength = access_strength::plain;
        if (!own && mode.strength != access_strength::plain) clocks_.pass_through(thread(lane), memory.passed_on[address::word(a)]);
        if (!own && mode.kind == access_kind::atomic) note_guesses(memory, lane, a);
        check_written(lane, a, size, mode);
        for (const std::uint32_t end = a + bytes_of(size); a < end; ++a) {
            const auto part = static_cast<std::uint8_t>(value >> 8 * (a & address::byte_mask));
            if (!own && wanted_.races) check_race(memory.bytes[byte_of(a)], lane, a, mode, part);
        }
        if (!own && mode.strength != access_strength::plain) clocks_.go_on(thread(lane));
    }

    /// Whether the address is of the lock of 64-bit atomics, which puts accesses in an order that the kernel did not ask for.
    [[nodiscard]] bool is_lock(std::uint32_t a) const {
        const int n = address::word(a) - program_.lock_word;
        return program_.lock_word != 0 && address::window(a) == address::shared_window && n >= 0 && n < 2;
    }

    static std::size_t byte_of(std::uint32_t a) { return static_cast<std::size_t>(address::word(a)) * 4 + (a & address::byte_mask); }

    /// The number of the thread block that wrote a byte last, 0 for none; nullptr for global memory, which begins written.
    std::size_t* writer_of(int lane, std::uint32_t a) {
        if (address::window(a) == address::shared_window) return &shared_.bytes[byte_of(a)].written_in;
        if (address::window(a) != address::local_window) return nullptr;
        return &own_written_[static_cast<std::size_t>(thread(lane) * M.local_words * 4) + byte_of(a)];
    }

    /// Reads and atomics want what was written; what stores notes it before (mark_written). Structures are copied with their
    /// padding, so some written bytes will do.
    void check_written(int lane, std::uint32_t first, access_size size, access_mode mode) {
        if (const std::uint32_t end = notes_of(id_).local_end; wanted_.uninitialised && mode.kind != access_kind::write && end != 0 &&
                                                              address::window(first) == address::local_window && first >= end)
            return findings_.add({finding_kind::returned, first, {}, at(lane, mode)});
        std::size_t last_writer = 0;
        for (std::uint32_t a = first; a < first + bytes_of(size); ++a) {
            const std::size_t* const written_in = writer_of(lane, a);
            if (written_in == nullptr || !wanted_.uninitialised) return;
            last_writer = std::max(last_writer, *written_in);
        }
        if (last_writer == ctas_.size()) return;
        findings_.add({last_writer == 0 ? finding_kind::uninitialised : finding_kind::out_of_lifetime, first, {}, at(lane, mode)});
    }

    void mark_written(int lane) {
        const std::uint32_t first = made_[static_cast<std::size_t>(lane)].store_address;
        for (std::uint32_t i = 0; i < bytes_of(block_->mem.store_size); ++i)
            if (std::size_t* const written_in = writer_of(lane, first + i)) *written_in = ctas_.size();
    }

    /// All that came before a plain write is found through it, if it was not in order.
    void check_race(byte_history& byte, int lane, std::uint32_t a, access_mode mode, std::uint8_t value) {
        const past_access now{clocks_.number_of(thread(lane)), clocks_.now(thread(lane)), id_, mode, value};
        check_order(byte.write, now, lane, a);
        for (const past_access& other : byte.others) check_order(other, now, lane, a);
        if (!mode.is_plain_write()) return remember(byte.others, now);
        byte.write = now;
        byte.others.clear();
    }

    static void remember(std::vector<past_access>& others, const past_access& now) {
        for (past_access& other : others)
            if (other.thread == now.thread && other.mode == now.mode) return void(other = now);
        others.push_back(now);
    }

    /// Two accesses of which one writes, unless both are strong or both write the same.
    static bool conflict(const past_access& x, const past_access& y) {
        if (x.mode.kind == access_kind::read && y.mode.kind == access_kind::read) return false;
        if (x.mode.is_plain_write() && y.mode.is_plain_write()) return x.value != y.value;
        return x.mode.strength == access_strength::plain || y.mode.strength == access_strength::plain;
    }

    void check_order(const past_access& earlier, const past_access& now, int lane, std::uint32_t a) {
        if (earlier.time == 0 || !conflict(earlier, now) || clocks_.knows(thread(lane), earlier.thread, earlier.time)) return;
        const past_access& read = earlier.mode.kind == access_kind::read ? earlier : now;
        const bool beside_atomic = (&read == &earlier ? now : earlier).mode.kind == access_kind::atomic;
        const finding found{finding_kind::race, a, place_of(earlier), at(lane, now.mode)};
        if (beside_atomic && read.mode.kind == access_kind::read) doubtful_[read.block].add(found);
        else findings_.add(found);
    }

    /// The thread does an atomic on a word: where it read it before, there a first guess is made.
    void note_guesses(const memory_history& memory, int lane, std::uint32_t a) {
        for (const past_access& p : memory.bytes[byte_of(a)].others)
            if (p.thread == clocks_.number_of(thread(lane)) && p.mode.kind == access_kind::read) guesses_.insert(p.block);
    }

    [[nodiscard]] access_place at(int lane, access_mode mode) const {
        return {ctas_.back(), thread(lane), id_, mode.kind, line_of_access(id_, mode.kind)};
    }
    [[nodiscard]] access_place place_of(const past_access& a) const {
        const auto threads = static_cast<std::size_t>(M.threads());
        return {ctas_[a.thread / threads], static_cast<int>(a.thread % threads), a.block, a.mode.kind, line_of_access(a.block, a.mode.kind)};
    }
    [[nodiscard]] source_line line_of_access(int id, access_kind kind) const {
        const source_line line = kind == access_kind::read ? notes_of(id).stages[1] : notes_of(id).store;
        return line.ptx_line != 0 ? line : line_of(program_, id);
    }

    const machine::program& program_;
    access_checks wanted_;
    detail::access_clocks clocks_;
    memory_history global_{}, shared_{};
    std::vector<std::size_t> own_written_;
    std::vector<extent> ctas_{};
    one_per<int, M.threads()> waiting_{};
    one_per<bool, M.barriers> takes_all_{};
    one_per<lane_evaluation, M.lanes> made_{};
    const machine_block* block_ = nullptr;
    int warp_ = 0, id_ = 0;
    lane_mask mask_ = 0, evaluated_ = 0;
    bool uniform_ = false;
    detail::finding_list findings_{};
    std::map<int, detail::finding_list> doubtful_{};  ///< reads beside atomics, by the block that reads
    std::set<int> guesses_{};                         ///< blocks that read what the same thread then changes by an atomic
};

}  // namespace qwengpu::machine
