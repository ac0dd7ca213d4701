// SPDX-License-Identifier: MIT
// Renders a launch as text while it goes by: thread blocks, warps, and for every record its instructions with what they
// wrote, lanes side by side, and the source line they came from. An observer, so emulator and transcripts look alike.
//     record 3   warp 0  lanes 0123  block 1   vecadd.cu:4  c[i] = a[i] + b[i];
//         t1 = add.shl2 c[13], R1
//         t2 = load [t1]
//         t4 = add t2, c[16] -> R2            R2 = 1001 | 1002 | 1003 | 1004
#pragma once

#include <qwengpu/machine/dependencies.hpp>
#include <qwengpu/machine/disassembly.hpp>
#include <qwengpu/machine/observer.hpp>
#include <qwengpu/machine/program.hpp>
#include <qwengpu/view/names.hpp>

#include <algorithm>
#include <array>
#include <cstdint>
#include <fmt/format.h>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace qwengpu::view {

/// Prints line by line to `out`. The program must outlive it.
template <machine::sizes M = machine::mission>
class terminal : public machine::observer {
public:
    using line_sink = std::function<void(const std::string&)>;

    terminal(const machine::program& program, std::vector<named_buffer> buffers, line_sink out, source_text text = {})
        : program_(program), buffers_(std::move(buffers)), out_(std::move(out)), text_(std::move(text)) {}

    void cta(const machine::extent& at) override {
        flush();
        out_(fmt::format("thread block ({}, {}, {})", at[0], at[1], at[2]));
    }
    void start(int warp, machine::lane_mask mask) override { out_(fmt::format("  warp {} starts, lanes {}", warp, lanes_text(mask))); }
    void fair(int lane) override {
        flush();
        out_(fmt::format("  lane {} of the next warp goes first, for fairness", lane));
    }
    void mask(int warp, machine::lane_mask lanes) override {
        flush();
        out_(fmt::format("  warp {} goes on with lanes {}", warp, lanes_text(lanes)));
    }
    void release(int barrier, int) override {
        flush();
        out_(fmt::format("  barrier {} is complete, its lanes go on", barrier));
    }
    void record(int warp, int block, machine::lane_mask mask) override {
        flush();
        open_ = {++records_, warp, block, mask, false, {}};
    }
    void all() override { open_.uniform = true; }
    void branch(int lane, bool taken) override { cell(machine::slot::branch, lane, taken ? block_text(current().taken) : "on"); }
    void store(int lane, int window, int word, std::uint32_t value) override {
        cell(machine::slot::store, lane, fmt::format("{} = {}", name_of_word(buffers_, window, word), value_text(value)));
    }
    void skip(int lane) override { cell(machine::slot::store, lane, "not stored"); }
    void write(int lane, int stage, int, std::uint32_t value) override {
        cell(machine::slot_of(stage), lane, value_text(value));
    }
    void trap(const machine::trap& what) override {
        flush();
        out_("TRAP: " + machine::to_string(what));
    }
    void end() override {
        flush();
        out_("end of the launch");
    }

private:
    static constexpr std::size_t instruction_width = 40;
    using cells = std::array<std::string, 8>;

    struct open_record {
        std::uint64_t number = 0;
        int warp = 0, block = 0;
        machine::lane_mask mask = 0;
        bool uniform = false;
        std::array<cells, machine::slot_count> values{};
    };

    [[nodiscard]] bool is_legal() const { return machine::find_block(program_, open_.block) != nullptr; }
    [[nodiscard]] const machine::machine_block& current() const { return program_.blocks[static_cast<std::size_t>(open_.block)]; }
    static std::string block_text(int id) { return id == M.exit_block() ? "exit" : fmt::format("block {}", id); }

    static std::string lanes_text(machine::lane_mask mask) {
        std::string text;
        machine::for_each_lane(mask, [&](int lane) { text += static_cast<char>('0' + lane); });
        return text.empty() ? "none" : text;
    }

    /// What a slot wrote for a lane, or for all lanes of the record.
    void cell(machine::slot s, int lane, std::string text) {
        auto& row = open_.values[static_cast<std::size_t>(s)];
        if (open_.uniform) text = "all: " + text;
        row[static_cast<std::size_t>(lane)] = std::move(text);
    }

    void flush() {
        if (open_.number == 0) return;
        const auto from = describe(program_, machine::line_of(program_, open_.block), text_);
        out_(fmt::format("record {:<5} warp {}  lanes {:<4}  block {:<4} {}", open_.number, open_.warp, lanes_text(open_.mask), open_.block, from));
        if (is_legal()) instructions();
        open_ = {};
    }

    void instructions() {
        const auto& b = current();
        for (int stage = 1; stage <= 4; ++stage)
            line(machine::stage_line(b, stage), machine::slot_of(stage), b.dest[static_cast<std::size_t>(stage - 1)]);
        line(machine::store_line(b), machine::slot::store, 0);
        line(machine::branch_line(b, M.exit_block()), machine::slot::branch, 0);
        line(machine::barrier_line(b), machine::slot::branch, -1);
        if (b.next != open_.block + 1) line(machine::next_line(b, M.exit_block()), machine::slot::branch, -1);
    }

    /// An instruction and beside it what its slot wrote; `reg` names the register, 0 none, -1 nothing is beside it.
    void line(const std::string& instruction, machine::slot s, int reg) {
        if (instruction.empty()) return;
        const auto values = reg < 0 ? std::string{} : row_text(open_.values[static_cast<std::size_t>(s)]);
        if (values.empty()) return out_("    " + instruction);
        out_(fmt::format("    {:<{}} {}{}", instruction, instruction_width, reg > 0 ? fmt::format("R{} = ", reg) : "", values));
    }

    static std::string row_text(const cells& row) {
        std::size_t width = 0;
        for (const auto& text : row) width = std::max(width, text.size());
        std::string all;
        for (const auto& text : row)
            if (!text.empty()) all += (all.empty() ? "" : " | ") + fmt::format("{:>{}}", text, width);
        return all;
    }

    const machine::program& program_;
    std::vector<named_buffer> buffers_;
    line_sink out_;
    source_text text_;
    std::uint64_t records_ = 0;
    open_record open_;
};

}  // namespace qwengpu::view
