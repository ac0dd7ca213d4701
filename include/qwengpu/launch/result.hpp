// SPDX-License-Identifier: MIT
// What a launch left: for each side that ran it its memory, tokens and counts; and where the two sides part, if they do.
#pragma once

#include <qwengpu/diff/divergence.hpp>
#include <qwengpu/launch/argument.hpp>
#include <qwengpu/launch/request.hpp>
#include <qwengpu/machine/access_finding.hpp>
#include <qwengpu/machine/outcome.hpp>
#include <qwengpu/machine/trap.hpp>
#include <qwengpu/text/vocabulary.hpp>

#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <vector>

namespace qwengpu {

/// How a side's launch ended. `broken`: the model wrote what no launch is. `stopped`: it had parted from the emulator.
enum class launch_ending : std::uint8_t { finished, trapped, step_limit, broken, stopped };

/// One side's launch.
struct side_result {
    launch_ending ended = launch_ending::finished;
    std::optional<machine::trap> trap;
    std::string message;          ///< broken: what is wrong with the transcript
    std::vector<buffer> memory;   ///< every buffer afterwards, in the order of the arguments
    std::vector<text::token> transcript;
    std::uint64_t records = 0, lane_instructions = 0;
    std::uint64_t passes = 0;  ///< tokens that went through the model, the prompt's too; of the emulator those of its transcript
    double seconds = 0;        ///< for all of them
    int last_warp = 0, last_block = 0;  ///< of the last record
    std::vector<machine::finding> findings;  ///< of the emulator, if it was asked for races or uninitialised reads

    [[nodiscard]] double tokens_per_lane_instruction() const {
        return lane_instructions == 0 ? 0 : static_cast<double>(transcript.size()) / static_cast<double>(lane_instructions);
    }
    [[nodiscard]] double tokens_per_second() const { return seconds > 0 ? static_cast<double>(passes) / seconds : 0; }
};

/// A launch on one side or both.
struct launch_result {
    machine::program program;
    std::vector<machine::buffer_place> places;  ///< of the buffers, in the order of the arguments
    std::size_t prompt_tokens = 0;
    std::optional<side_result> emulator, model;
    std::optional<diff::divergence> difference;
    std::uint64_t compared_tokens = 0, compared_passes = 0;  ///< that agreed

    /// The side whose memory is the result: the model's if it ran.
    [[nodiscard]] const side_result& best() const { return model ? *model : *emulator; }
};

namespace detail {

/// The buffers of a request with what is in memory now.
template <machine::sizes M>
std::vector<buffer> buffers_after(const launch_request& request, const machine::launch_image<M>& image, const machine::outcome<M>& o) {
    std::vector<buffer> after;
    const auto before = buffers_of(request.args);
    for (std::size_t i = 0; i < before.size(); ++i) {
        after.push_back(*before[i]);
        const auto words = machine::words_of(o, image.buffers[i]);
        if (!words.empty()) std::memcpy(after.back().bytes.data(), words.data(), after.back().bytes.size());
    }
    return after;
}

inline launch_ending ending_of(machine::ending e) {
    if (e == machine::ending::finished) return launch_ending::finished;
    return e == machine::ending::trapped ? launch_ending::trapped : launch_ending::step_limit;
}

template <machine::sizes M>
side_result result_of(const launch_request& request, const machine::launch_image<M>& image, const machine::outcome<M>& o) {
    side_result r;
    r.ended = ending_of(o.ended);
    r.trap = o.trap;
    r.memory = buffers_after(request, image, o);
    r.records = o.records;
    r.lane_instructions = machine::ptx_lane_instructions(image.program, o);
    return r;
}

}  // namespace detail

}  // namespace qwengpu
