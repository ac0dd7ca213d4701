// SPDX-License-Identifier: MIT
// Counts what launches have met: of the blocks that ran, their instructions, sources, slots and special registers; of their
// records, lanes, warps and divergence; of their tokens, the classes. What can occur and has not is named.
#pragma once

#include <qwengpu/machine/dependencies.hpp>
#include <qwengpu/machine/disassembly.hpp>
#include <qwengpu/machine/emulator.hpp>
#include <qwengpu/text/prompt.hpp>
#include <qwengpu/text/transcribe.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace qwengpu::test {

/// Counts by kind ("op", "source", ...) and name. What can occur is there with a count of zero.
class launch_coverage {
public:
    launch_coverage() {
        expect_blocks();
        for (const auto& row : text::token_classes<>) expect("token", std::string(row.name));
        for (int m = 1; m < 1 << machine::mission.lanes; ++m) expect("lanes", lanes(m));
        for (int w = 0; w < machine::mission.warps; ++w) expect("warp", std::to_string(w));
        for (const char* name : {"finished", "out of bounds by load", "out of bounds by store", "misaligned by load", "misaligned by store", "illegal block", "deadlock"})
            expect("ending", name);
        for (const char* name : {"all at once", "all later", "load done", "load not done", "store skipped", "taken", "not taken", "lanes part", "lanes meet", "other lanes", "store to a buffer", "store to shared memory",
                                 "store to local memory", "evaluated anew"})
            expect("event", name);
        for (const char* what : {"grid", "thread block"})
            for (int d = 0; d <= 3; ++d) expect(what, std::to_string(d) + " dimensions");
    }

    void count(const std::string& kind, const std::string& name, std::uint64_t times = 1) { counts_[kind][name] += times; }

    launch_coverage& operator+=(const launch_coverage& other) {
        for (const auto& [kind, names] : other.counts_)
            for (const auto& [name, n] : names) count(kind, name, n);
        return *this;
    }

    /// What has not occurred.
    [[nodiscard]] std::vector<std::string> missing() const {
        std::vector<std::string> found;
        for (const auto& [kind, names] : counts_)
            for (const auto& [name, n] : names)
                if (n == 0) found.push_back(kind + " " + name);
        return found;
    }

    /// A line for each kind; of kinds with very many names only the rarest is named.
    [[nodiscard]] std::string to_string() const {
        std::string text;
        for (const auto& [kind, names] : counts_) {
            text += kind + ":";
            const auto rarest = std::min_element(names.begin(), names.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
            if (names.size() > 80) text += "  " + std::to_string(names.size()) + " kinds, the rarest is " + rarest->first + " with " + std::to_string(rarest->second);
            else
                for (const auto& [name, n] : names) text += "  " + name + " " + std::to_string(n);
            text += "\n";
        }
        return text;
    }

    static std::string at_stage(const std::string& name, int stage) { return name + (stage == 5 ? "@end" : "@" + std::to_string(stage)); }
    static std::string form(const machine::instruction_row& row, std::uint8_t mod) { return std::string(row.name) + ":" + std::to_string(mod); }
    static std::string name_of(machine::source s) {
        constexpr std::array names{"zero", "r0", "r1", "r2", "r3", "imm", "constant", "special", "t1", "t2", "t3", "t4"};
        return names[static_cast<std::size_t>(s)];
    }
    static std::string lanes(int mask) {
        std::string text;
        for (int lane = 0; lane < machine::mission.lanes; ++lane)
            if ((mask >> lane & 1) != 0) text += static_cast<char>('0' + lane);
        return text;
    }

private:
    void expect(const std::string& kind, const std::string& name) { count(kind, name, 0); }

    void expect_blocks() {
        for (const int stage : {1, 3, 4})
            for (const auto& row : machine::instruction_table)
                if (stage == 3 || !row.only_stage3) expect("op", at_stage(std::string(row.name), stage));
        for (int stage = 1; stage <= 5; ++stage)
            for (auto s = machine::source::zero; s <= machine::source::t4; s = static_cast<machine::source>(static_cast<int>(s) + 1))
                if (can_read(s, stage)) expect("source", at_stage(name_of(s), stage));
        for (const auto& form : forms()) expect("form", form);
        for (int table = 0; table < 256; ++table) expect("lop", std::to_string(table));
        for (const auto name : machine::memory_op_names) expect("memory", std::string(name));
        for (const char* name : {"lane-major", "load and store", "private", "barrier", "barrier with count", "byte store", "half store", "meeting block"})
            expect("block", name);
        for (const char* slot : {"branch", "store", "w4", "w3", "w2", "w1"}) expect("slot", slot);
        for (std::size_t s = 1; s < machine::special_names.size(); ++s) expect("special", std::string(machine::special_names[s]));
    }

    /// Every instruction with everything its `mod` can say, but for the tables of `lop`. Difference and shift exclude each other,
    /// and only what combines inverts operand c.
    static std::vector<std::string> forms() {
        std::vector<std::string> found;
        for (const auto& row : machine::instruction_table)
            for (unsigned m = 0; m <= row.mod_bits && row.op != machine::alu_op::lop; ++m) {
                const bool both = row.op == machine::alu_op::add && (m & 4u) != 0 && (m & 3u) != 0;
                const bool compares = machine::compares(row.op);
                const bool inverts_nothing = compares && (m & 0x70u) == 0x40u;
                const bool no_high_word = row.op == machine::alu_op::f2i && (m & 0xc0u) == 0x80u;
                if ((m & ~unsigned{row.mod_bits}) == 0 && !both && !inverts_nothing && !no_high_word) found.push_back(form(row, static_cast<std::uint8_t>(m)));
            }
        return found;
    }

    /// docs/machine.md, "Operand sources": memory (2) and what follows stage 4 (5) have no immediate; a value is read after its stage.
    static bool can_read(machine::source s, int stage) {
        if (s == machine::source::imm || s == machine::source::constant) return stage != 2 && stage != 5;
        return s < machine::source::t1 || static_cast<int>(s) - static_cast<int>(machine::source::t1) + 1 < stage;
    }

    std::map<std::string, std::map<std::string, std::uint64_t>> counts_;
};

namespace detail {

/// Counts the parts of a block, each as often as the block ran.
class block_coverage {
public:
    block_coverage(launch_coverage& to, const machine::machine_block& b, std::uint64_t records) : to_(to), b_(b), records_(records) {}

    void count_as(bool is, const char* what) {
        if (is) to_.count("block", what, records_);
    }

    void count() {
        constexpr std::array slots{"branch", "store", "w4", "w3", "w2", "w1"};
        for (const auto s : machine::all_slots)
            if (machine::present(b_, s)) to_.count("slot", slots[static_cast<std::size_t>(s)], records_);
        if (b_.special != machine::special_register::none)
            to_.count("special", std::string(machine::special_names[static_cast<std::size_t>(b_.special)]), records_);
        alu(b_.s1, 1);
        alu(b_.s3, 3);
        alu(b_.s4, 4);
        memory();
    }

private:
    void source(machine::source s, int stage) { to_.count("source", launch_coverage::at_stage(launch_coverage::name_of(s), stage), records_); }

    void alu(const machine::alu_instruction& i, int stage) {
        to_.count("op", launch_coverage::at_stage(std::string(machine::find_instruction(i.op)->name), stage), records_);
        if (i.op == machine::alu_op::lop)
            to_.count("lop", std::to_string(i.mod), records_);
        else
            to_.count("form", launch_coverage::form(*machine::find_instruction(i.op), i.mod), records_);
        const auto used = machine::operands_of(i);
        if ((used & machine::operand_a) != 0) source(i.a, stage);
        if ((used & machine::operand_b) != 0) source(i.b, stage);
        if ((used & machine::operand_c) != 0) source(i.c, stage);
    }

    void memory() {
        const auto& m = b_.mem;
        to_.count("memory", machine::detail::memory_op_name(m.op), records_);
        count_as(b_.lane_major, "lane-major");
        count_as(machine::is_load(m.op) && b_.has_store, "load and store");
        count_as(m.is_private, "private");
        count_as(m.barrier && m.barrier_count == 0, "barrier");
        count_as(m.barrier && m.barrier_count != 0, "barrier with count");
        count_as(m.store_size == machine::access_size::byte, "byte store");
        count_as(m.store_size == machine::access_size::half, "half store");
        if (m.op == machine::memory_op::shuffle) source(m.load_address, 2);
        if (machine::is_load(m.op))
            for (const auto s : {m.load_address, m.load_guard, m.load_else}) source(s, 2);
        if (b_.has_store)
            for (const auto s : {m.store_address, m.store_data}) source(s, 5);
        if (b_.has_branch || m.store_guarded) source(m.cond, 5);
    }

    launch_coverage& to_;
    const machine::machine_block& b_;
    std::uint64_t records_;
};

/// Counts the events of a launch.
class event_coverage final : public machine::observer {
public:
    event_coverage(launch_coverage& to, const machine::program& p) : to_(to), program_(p) {}

    void mask(int warp, machine::lane_mask to) override {
        const auto from = masks_[static_cast<std::size_t>(warp)];
        to_.count("event", (from & to) == to ? "lanes part" : (from & to) == from ? "lanes meet" : "other lanes");
        masks_[static_cast<std::size_t>(warp)] = to;
    }
    void start(int warp, machine::lane_mask to) override { masks_[static_cast<std::size_t>(warp)] = to; }
    void record(int warp, int block, machine::lane_mask mask) override {
        to_.count("lanes", launch_coverage::lanes(mask));
        to_.count("warp", std::to_string(warp));
        first_ = true;
        const auto* b = machine::find_block(program_, block);
        loads_ = b != nullptr && machine::is_load(b->mem.op);
        evaluations_ = 0;
        lanes_ = std::popcount(mask);
        if (block >= machine::mission.meeting_block()) to_.count("block", "meeting block");
    }
    void stages(int, const machine::lane_evaluation& made) override {
        if (++evaluations_ > lanes_) return to_.count("event", "evaluated anew");
        if (loads_) to_.count("event", made.loads ? "load done" : "load not done");
    }
    void all() override { to_.count("event", first_ ? "all at once" : "all later"); }
    void branch(int, bool taken) override { seen(taken ? "taken" : "not taken"); }
    void skip(int) override { seen("store skipped"); }
    void store(int, int window, int, std::uint32_t) override {
        using namespace machine::address;
        seen(window == local_window ? "store to local memory" : window == shared_window ? "store to shared memory" : "store to a buffer");
    }
    void write(int, int, int, std::uint32_t) override { first_ = false; }
    void trap(const machine::trap& t) override {
        const bool access = t.kind == machine::trap_kind::out_of_bounds || t.kind == machine::trap_kind::misaligned;
        to_.count("ending", std::string(machine::name_of(t.kind)) + (!access ? "" : t.by_store ? " by store" : " by load"));
    }

private:
    void seen(const char* event) {
        to_.count("event", event);
        first_ = false;
    }

    launch_coverage& to_;
    const machine::program& program_;
    machine::one_per<machine::lane_mask, machine::mission.warps> masks_{};
    bool first_ = true, loads_ = false;
    int evaluations_ = 0, lanes_ = 0;
};

}  // namespace detail

/// Counts what an emulated run of the launch meets.
inline void cover(launch_coverage& to, const machine::launch_image<>& image, std::uint64_t max_records) {
    detail::event_coverage events(to, image.program);
    text::transcriber<> writer;
    machine::observer_list both({events, writer});
    const auto end = machine::emulate(image, both, max_records);
    for (std::size_t id = 0; id < end.blocks.size(); ++id)
        if (end.blocks[id].records > 0) detail::block_coverage(to, image.program.blocks[id], end.blocks[id].records).count();
    if (end.ended == machine::ending::finished) to.count("ending", "finished");
    std::array<std::uint64_t, text::token_class_count> classes{};
    const auto prompt = text::prompt_of(image);
    for (const auto* tokens : {&prompt, &writer.tokens()})
        for (const auto t : *tokens) ++classes[static_cast<std::size_t>(text::vocabulary<>::class_of(t))];
    for (std::size_t c = 0; c < classes.size(); ++c) to.count("token", std::string(text::token_classes<>[c].name), classes[c]);
    const auto dimensions = [](const machine::extent& e) { return std::to_string(std::count_if(e.begin(), e.end(), [](auto n) { return n > 1; })) + " dimensions"; };
    to.count("grid", dimensions(image.grid));
    to.count("thread block", dimensions(image.block));
}

}  // namespace qwengpu::test
