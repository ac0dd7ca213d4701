// SPDX-License-Identifier: MIT
// An observer that writes down a launch, an event a line, in the words of docs/machine.md: "hdr 0 2 f" is a record of warp 0,
// block 2, lanes 0-3.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <qwengpu/machine/observer.hpp>

namespace qwengpu::test {

struct event_log final : machine::observer {
    std::vector<std::string> lines{};

    void launch() override { add("launch"); }
    void cta(const machine::extent& c) override { add("cta " + str(c[0]) + " " + str(c[1]) + " " + str(c[2])); }
    void start(int warp, machine::lane_mask mask) override { add("start " + str(warp) + " " + hex(mask)); }
    void fair(int lane) override { add("fair " + str(lane)); }
    void mask(int warp, machine::lane_mask mask) override { add("mask " + str(warp) + " " + hex(mask)); }
    void release(int barrier, int phase) override { add("release " + str(barrier) + " " + str(phase)); }
    void record(int warp, int block, machine::lane_mask mask) override {
        add("hdr " + str(warp) + " " + str(block) + " " + hex(mask));
    }
    void all() override { add("all"); }
    void branch(int lane, bool taken) override { add("br " + str(lane) + (taken ? " taken" : " not")); }
    void store(int lane, int window, int word, std::uint32_t value) override {
        add("store " + str(lane) + " " + str(window) + ":" + str(word) + " = " + str(value));
    }
    void skip(int lane) override { add("skip " + str(lane)); }
    void write(int lane, int stage, int reg, std::uint32_t value) override {
        add("w" + str(stage) + " " + str(lane) + " R" + str(reg) + " = " + str(value));
    }
    void trap(const machine::trap& t) override { add("trap " + std::string(name_of(t.kind)) + ", lane " + str(t.lane)); }
    void end() override { add("end"); }

    /// The lines that begin with a word.
    [[nodiscard]] std::vector<std::string> of(const std::string& word) const {
        std::vector<std::string> found;
        for (const std::string& line : lines)
            if (line.starts_with(word + " ") || line == word) found.push_back(line);
        return found;
    }

private:
    void add(std::string line) { lines.push_back(std::move(line)); }
    template <class N>
    static std::string str(N n) { return std::to_string(n); }
    static std::string hex(machine::lane_mask mask) { return {"0123456789abcdef"[mask & 15]}; }
};

}  // namespace qwengpu::test
