// SPDX-License-Identifier: MIT
// How a launch ended and what it left: memory, registers, and how often every block ran.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include <qwengpu/machine/block.hpp>
#include <qwengpu/machine/launch_image.hpp>
#include <qwengpu/machine/program.hpp>
#include <qwengpu/machine/state.hpp>
#include <qwengpu/machine/trap.hpp>

namespace qwengpu::machine {

/// How a launch ended. The step limit is the host's, not the machine's.
enum class ending : std::uint8_t { finished, trapped, step_limit };

constexpr std::string_view name_of(ending e) {
    switch (e) {
        case ending::finished: return "finished";
        case ending::trapped: return "trapped";
        case ending::step_limit: return "step limit";
    }
    return "unknown ending";
}

/// How often a block ran: records, and lanes in them; how many lanes took its branch and did its store.
struct block_statistics {
    std::uint64_t records = 0, lanes = 0, taken = 0, stored = 0;
};

/// The outcome of a launch. `blocks` runs parallel to the program's.
template <sizes M = mission>
struct outcome {
    ending ended = ending::finished;
    std::optional<machine::trap> trap{};
    std::uint64_t records = 0;
    launch_state<M> state;
    std::vector<block_statistics> blocks{};
    std::vector<machine_block> stored{};  ///< what the program store holds
};

/// The words of a buffer after the launch.
template <sizes M>
std::vector<std::uint32_t> words_of(const outcome<M>& o, const buffer_place& buffer) {
    std::vector<std::uint32_t> words;
    for (int i = 0; i < buffer.words; ++i)
        words.push_back(o.state.memory[static_cast<std::size_t>(buffer.first_word + i)].value);
    return words;
}

/// PTX instructions of the input times lanes that executed them.
template <sizes M>
std::uint64_t ptx_lane_instructions(const program& p, const outcome<M>& o) {
    std::uint64_t sum = 0;
    for (std::size_t i = 0; i < p.notes.size() && i < o.blocks.size(); ++i)
        sum += o.blocks[i].lanes * static_cast<std::uint64_t>(p.notes[i].ptx_instructions) +
               o.blocks[i].stored * static_cast<std::uint64_t>(p.notes[i].ptx_if_stored) +
               o.blocks[i].taken * static_cast<std::uint64_t>(p.notes[i].ptx_if_taken);
    return sum;
}

}  // namespace qwengpu::machine
