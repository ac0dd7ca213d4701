// SPDX-License-Identifier: MIT
// How a launch ended, in words: for a trap the access, its thread and line; for a launch that was stopped where it was.
#pragma once

#include <qwengpu/launch/argument.hpp>
#include <qwengpu/launch/request.hpp>
#include <qwengpu/launch/result.hpp>
#include <qwengpu/machine/access_finding.hpp>
#include <qwengpu/machine/launch_image.hpp>
#include <qwengpu/machine/program.hpp>
#include <qwengpu/machine/trap.hpp>

#include <cstdint>
#include <fmt/format.h>
#include <string>
#include <string_view>

namespace qwengpu {

constexpr std::string_view name_of(launch_ending e) {
    switch (e) {
        case launch_ending::finished: return "finished";
        case launch_ending::trapped: return "trapped";
        case launch_ending::step_limit: return "step limit";
        case launch_ending::broken: return "broken";
        case launch_ending::stopped: return "stopped";
    }
    return "unknown";
}

namespace detail {

/// "PTX line 31, vecadd.cu line 4", or "" where nothing is known.
inline std::string line_text(const machine::program& p, const machine::source_line& line) {
    std::string text = line.ptx_line > 0 ? fmt::format("PTX line {}", line.ptx_line) : "";
    if (line.cuda_line == 0) return text;
    const auto file = static_cast<std::size_t>(line.cuda_file);
    const auto name = file < p.cuda_files.size() ? p.cuda_files[file] : std::string("CUDA");
    return fmt::format("{}{}{} line {}", text, text.empty() ? "" : ", ", name.substr(name.find_last_of('/') + 1), line.cuda_line);
}

inline std::string access_text(const machine::trap& t) {
    if (t.kind != machine::trap_kind::out_of_bounds && t.kind != machine::trap_kind::misaligned) return std::string(machine::name_of(t.kind));
    const auto at = t.address != 0 ? fmt::format(" at address 0x{:08x}", t.address) : "";
    return fmt::format("{} {}{}", t.by_store ? "store" : "load", machine::name_of(t.kind), at);
}

/// What a kernel did that ends in an illegal block of the machine; "" if it is not known.
constexpr std::string_view deed_of(machine::trap_cause cause) {
    switch (cause) {
        case machine::trap_cause::asked: return "trapped itself (__trap or trap)";
        case machine::trap_cause::assertion: return "trapped itself (an assert failed)";
        case machine::trap_cause::barrier: return "waits at a barrier with a number that no barrier has, or for a count of threads that none can take";
        case machine::trap_cause::callee: return "calls through a pointer that is none of the functions it could call";
        case machine::trap_cause::unknown: break;
    }
    return "";
}

/// "store out of bounds at address 0x08000014 in kernel k", "kernel k trapped itself (an assert failed)".
inline std::string event_text(const machine::program& p, const machine::trap& t) {
    const bool illegal = t.kind == machine::trap_kind::illegal_block;
    const auto deed = deed_of(illegal ? machine::cause_of(p, t.block) : machine::trap_cause::unknown);
    return deed.empty() ? fmt::format("{} in kernel {}", access_text(t), p.name) : fmt::format("kernel {} {}", p.name, deed);
}

/// "store out of bounds at address 0x08000014 in kernel k: thread block (0, 0, 0), thread (2, 0, 0), ...".
inline std::string trap_text(const machine::program& p, const launch_request& request, const machine::trap& t, int lanes) {
    const auto thread = std::int64_t{t.warp} * lanes + t.lane;
    const auto x = request.block[0], y = request.block[1];
    const auto line = line_text(p, t.line);
    return fmt::format("{}: thread block ({}, {}, {}), thread ({}, {}, {}), warp {}, lane {}, machine block {}{}{}", event_text(p, t),
                       t.ctaid[0], t.ctaid[1], t.ctaid[2], thread % x, thread / x % y, thread / x / y, t.warp, t.lane, t.block, line.empty() ? "" : ", ", line);
}

inline std::string limit_text(const machine::program& p, const side_result& r) {
    const auto line = line_text(p, machine::line_of(p, r.last_block));
    return fmt::format("kernel {} was stopped after {} records, in warp {} at machine block {}{}{}; the limit can be raised", p.name, r.records, r.last_warp,
                       r.last_block, line.empty() ? "" : ", ", line);
}

}  // namespace detail

/// How a side ended. A trap is told with the address if a side knows it: a transcript does not hold it.
inline std::string describe_ending(const launch_result& result, const side_result& side, const launch_request& request, int lanes) {
    if (side.ended == launch_ending::trapped) {
        const auto& known = result.emulator && result.emulator->trap && result.emulator->trap->kind == side.trap->kind ? *result.emulator->trap : *side.trap;
        return detail::trap_text(result.program, request, known, lanes);
    }
    if (side.ended == launch_ending::step_limit) return detail::limit_text(result.program, side);
    if (side.ended == launch_ending::broken) return "the model wrote what is no launch: " + side.message;
    return std::string(name_of(side.ended));
}

/// A finding of the emulator with the name of the buffer it is in.
inline std::string describe_finding(const launch_result& result, const launch_request& request, const machine::finding& f) {
    const auto buffers = buffers_of(request.args);
    for (std::size_t i = 0; i < buffers.size() && i < result.places.size(); ++i)
        if (result.places[i].window == machine::address::window(f.address))
            return machine::to_string(f, result.program, buffers[i]->name, result.places[i].first_word);
    return machine::to_string(f, result.program);
}

}  // namespace qwengpu
