// SPDX-License-Identifier: MIT
// Whether a launch did what is expected of it, and if not why not, in one line.
#pragma once

#include <qwengpu/error.hpp>
#include <qwengpu/launch/describe.hpp>
#include <qwengpu/launch/expect.hpp>
#include <qwengpu/launch/launch_case.hpp>
#include <qwengpu/launch/result.hpp>

#include <fmt/format.h>
#include <optional>
#include <string>
#include <string_view>

namespace qwengpu {

struct verdict {
    bool passed = false;
    std::string reason;  ///< what was found, or how it failed
};

/// The stage that refused a launch, from the id of the error: parse, type, link, unsupported, resources (of ptx), compile
/// (of cuda), launch; for all others the id itself.
inline std::string stage_of(const error& e) {
    const std::string& id = e.id();
    if (id.starts_with("ptx.")) return id.substr(4);
    if (id == "cuda.compile") return "compile";
    return id.starts_with("launch.") ? "launch" : id;
}

namespace detail {

inline std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

inline bool may_be_refused(const std::string& expected, const std::string& stage) {
    return stage == expected || (expected == "accept-or-limit" && stage == "resources");
}

inline bool may_run(const std::string& expected) { return expected.empty() || expected == "accept-or-limit" || expected == "run-or-answer"; }

inline bool may_be_stopped(const std::string& expected) { return expected == "run" || expected == "run-or-answer"; }

inline verdict judge_memory(const launch_case& c, const side_result& side) {
    if (!c.expect) return {true, "finished; no result is expected"};
    const auto wrong = mismatches(*c.expect, side.memory);
    if (wrong.empty()) return {true, "memory as expected"};
    return {false, fmt::format("{} of the elements in memory not as expected; {}", wrong.size(), to_string(wrong.front()))};
}

inline verdict judge_side(const launch_case& c, const launch_result& r, const side_result& side, int lanes) {
    if (side.ended == launch_ending::finished) {
        if (may_run(c.expect_error)) return judge_memory(c, side);
        return {false, fmt::format("the launch ran, though stage '{}' should have refused or stopped it", c.expect_error)};
    }
    const bool of_its_own = side.ended == launch_ending::trapped || side.ended == launch_ending::step_limit;
    return {of_its_own && may_be_stopped(c.expect_error), describe_ending(r, side, c.request, lanes)};
}

}  // namespace detail

/// The verdict over a launch that ran. Every side that ran is judged; a difference fails it, and so do findings.
template <machine::sizes M = machine::mission>
verdict judge(const launch_case& c, const launch_result& r) {
    if (r.difference) return {false, "the model differs from the emulator: " + to_string(*r.difference)};
    verdict last;
    for (const auto* side : {&r.emulator, &r.model}) {
        if (!side->has_value()) continue;
        last = detail::judge_side(c, r, **side, M.lanes);
        if (!last.passed) return {false, (side == &r.emulator ? "emulator: " : "model: ") + last.reason};
    }
    if (!r.emulator || r.emulator->findings.empty()) return last;
    const auto& found = r.emulator->findings;
    return {false, fmt::format("{}{}", found.size() > 1 ? fmt::format("{} findings, the first: ", found.size()) : "", describe_finding(r, c.request, found.front()))};
}

/// The verdict over a launch that was refused.
inline verdict judge(const launch_case& c, const error& e) {
    const auto stage = stage_of(e);
    if (detail::may_be_refused(c.expect_error, stage)) return {true, fmt::format("refused ({}): {}", stage, detail::first_line(e.what()))};
    return {false, e.what()};
}

}  // namespace qwengpu
