// SPDX-License-Identifier: MIT
// An observer that writes every event a transcript has as a line, so that two sequences of events can be compared.
#pragma once

#include <qwengpu/machine/observer.hpp>

#include <fmt/format.h>
#include <string>
#include <vector>

namespace qwengpu::test {

class event_log : public machine::observer {
public:
    std::vector<std::string> lines;

    void launch() override { lines.emplace_back("launch"); }
    void cta(const machine::extent& at) override { put("cta {} {} {}", at[0], at[1], at[2]); }
    void start(int warp, machine::lane_mask mask) override { put("start {} {}", warp, mask); }
    void fair(int lane) override { put("fair {}", lane); }
    void mask(int warp, machine::lane_mask mask) override { put("mask {} {}", warp, mask); }
    void record(int warp, int block, machine::lane_mask mask) override { put("record {} {} {}", warp, block, mask); }
    void all() override { lines.emplace_back("all"); }
    void branch(int lane, bool taken) override { put("branch {} {}", lane, taken); }
    void store(int lane, int window, int word, std::uint32_t value) override {
        put("store {} {} {} {}", lane, window, word, value);
    }
    void skip(int lane) override { put("skip {}", lane); }
    void write(int lane, int stage, int reg, std::uint32_t value) override { put("write {} {} {} {}", lane, stage, reg, value); }
    void trap(const machine::trap& t) override {
        put("trap {} {} {} {} {}", static_cast<int>(t.kind), t.warp, t.lane, t.block, t.ctaid[0]);
    }
    void end() override { lines.emplace_back("end"); }

private:
    template <class... Args>
    void put(fmt::format_string<Args...> text, Args&&... args) {
        lines.push_back(fmt::format(text, std::forward<Args>(args)...));
    }
};

}  // namespace qwengpu::test
