// SPDX-License-Identifier: MIT
// Results as JSON, for tools: what `qwengpu run --json` and `check --json` print. Keys are stable.
#pragma once

#include <qwengpu/io/element_json.hpp>
#include <qwengpu/launch/describe.hpp>
#include <qwengpu/launch/launch_case.hpp>
#include <qwengpu/launch/result.hpp>
#include <qwengpu/launch/verdict.hpp>
#include <qwengpu/text/spelling.hpp>

#include <string>
#include <vector>

namespace qwengpu::io {

/// Tokens as an array of spellings.
template <machine::sizes M = machine::mission>
json tokens_json(const std::vector<text::token>& tokens) {
    auto spelled = json::array();
    for (const auto t : tokens) spelled.push_back(t < text::vocabulary<M>::size ? text::spell<M>(t) : std::to_string(t));
    return spelled;
}

/// Counts and ending of one side.
template <machine::sizes M = machine::mission>
json side_json(const launch_case& c, const launch_result& r, const side_result& side) {
    return {{"ended", name_of(side.ended)},
            {"message", side.ended == launch_ending::finished ? json() : json(describe_ending(r, side, c.request, M.lanes))},
            {"tokens", side.transcript.size()},
            {"records", side.records},
            {"ptx_lane_instructions", side.lane_instructions},
            {"tokens_per_lane_instruction", side.tokens_per_lane_instruction()},
            {"seconds", side.seconds},
            {"tokens_per_second", side.tokens_per_second()}};
}

/// Contents of the buffers by name.
inline json memory_json(const std::vector<buffer>& memory) {
    auto all = json::object();
    for (const auto& b : memory) all[b.name] = buffer_json(b);
    return all;
}

/// A launch that ran, with the verdict over it.
template <machine::sizes M = machine::mission>
json result_json(const launch_case& c, const launch_result& r, const verdict& v) {
    json j{{"name", c.name}, {"source", c.source}, {"kernel", r.program.name}, {"passed", v.passed}, {"reason", v.reason}, {"prompt_tokens", r.prompt_tokens},
           {"memory", memory_json(r.best().memory)}, {"differences", r.difference ? 1 : 0}};
    if (r.model) j["model"] = side_json<M>(c, r, *r.model);
    if (r.emulator) j["emulator"] = side_json<M>(c, r, *r.emulator);
    if (r.model && r.emulator) j["compared"] = {{"tokens", r.compared_tokens}, {"passes", r.compared_passes}};
    if (r.emulator && !r.emulator->findings.empty()) {
        j["findings"] = json::array();
        for (const auto& f : r.emulator->findings) j["findings"].push_back(describe_finding(r, c.request, f));
    }
    if (r.difference) j["difference"] = to_string(*r.difference);
    return j;
}

/// A launch that was refused.
inline json refused_json(const launch_case& c, const error& e, const verdict& v) {
    return {{"name", c.name}, {"source", c.source}, {"kernel", c.kernel}, {"passed", v.passed}, {"reason", v.reason}, {"stage", stage_of(e)}, {"error", e.what()}};
}

}  // namespace qwengpu::io
