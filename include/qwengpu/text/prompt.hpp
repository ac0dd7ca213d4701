// SPDX-License-Identifier: MIT
// A launch as a prompt (docs/machine.md, "The prompt"): every warp at exit, the barriers, the constants, the program, the
// memory, and `launch`. From there on the model writes; after its `end` another prompt may follow.
#pragma once

#include <qwengpu/machine/encoding.hpp>
#include <qwengpu/machine/launch_image.hpp>
#include <qwengpu/text/vocabulary.hpp>
#include <qwengpu/text/words.hpp>

#include <cstdint>
#include <vector>

namespace qwengpu::text {

/// Whether a prompt is the first of its sequence. A later one writes all groups of its blocks, for the program store may
/// hold another program's; of the memory it writes what its image has.
enum class prompt_place : std::uint8_t { first, later };

namespace detail {

template <machine::sizes M>
void put_idle_warps(std::vector<token>& out) {
    using V = vocabulary<M>;
    for (int w = 0; w < M.warps; ++w) out.push_back(V::encode(token_class::start, 0, static_cast<std::uint32_t>(w)));
    out.push_back(V::encode(token_class::fair, static_cast<std::uint32_t>(M.lanes - 1)));
}

template <machine::sizes M>
void put_barriers(std::vector<token>& out, const machine::program& program) {
    if (!machine::has_barrier(program)) return;
    for (int b = 0; b < M.barriers; ++b) out.push_back(vocabulary<M>::encode(token_class::release, static_cast<std::uint32_t>(b)));
}

template <machine::sizes M>
void put_constants(std::vector<token>& out, const machine::launch_image<M>& image) {
    for (std::size_t row = 0; row < image.constants.size(); ++row) {
        if (!image.constants[row].used) continue;
        out.push_back(vocabulary<M>::encode(token_class::constant, static_cast<std::uint32_t>(row)));
        put_word<M>(out, image.constants[row].value);
    }
}

/// Group H always, the others if they are not all zero, or `all` are wanted.
template <machine::sizes M>
void put_block(std::vector<token>& out, std::size_t id, const machine::machine_block& block, bool all) {
    using V = vocabulary<M>;
    const auto groups = machine::encode(block);
    for (std::size_t g = 0; g < groups.size(); ++g) {
        if (g != 0 && groups[g] == 0 && !all) continue;
        out.push_back(V::encode(token_class::prog, static_cast<std::uint32_t>(id), static_cast<std::uint32_t>(g)));
        for (int part = 0; part < 3; ++part)
            out.push_back(V::encode(token_class::lo, static_cast<std::uint32_t>(groups[g] >> 16 * part & 0xffff)));
    }
}

template <machine::sizes M>
void put_memory(std::vector<token>& out, const machine::one_per<machine::memory_word, M.words>& memory) {
    for (std::size_t word = 0; word < memory.size(); ++word) {
        const auto& m = memory[word];
        if (m.window == 0) continue;
        out.push_back(vocabulary<M>::encode(token_class::addr, static_cast<std::uint32_t>(word), m.window));
        put_word<M>(out, m.value);
    }
}

}  // namespace detail

/// The prompt of a launch.
template <machine::sizes M>
std::vector<token> prompt_of(const machine::launch_image<M>& image, prompt_place place = prompt_place::first) {
    std::vector<token> out;
    detail::put_idle_warps<M>(out);
    detail::put_barriers<M>(out, image.program);
    detail::put_constants(out, image);
    for (std::size_t id = 0; id < image.program.blocks.size(); ++id)
        if (image.program.blocks[id].valid) detail::put_block<M>(out, id, image.program.blocks[id], place == prompt_place::later);
    detail::put_memory<M>(out, image.memory);
    detail::put_memory<M>(out, image.shared);
    out.push_back(vocabulary<M>::encode(token_class::launch));
    return out;
}

}  // namespace qwengpu::text
