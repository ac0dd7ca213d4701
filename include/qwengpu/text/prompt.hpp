// SPDX-License-Identifier: MIT
// A launch as a prompt (docs/machine.md, "The prompt"): every warp at exit, the constants, the program, the memory, and
// `launch`. From there on the model writes.
#pragma once

#include <qwengpu/machine/encoding.hpp>
#include <qwengpu/machine/launch_image.hpp>
#include <qwengpu/text/vocabulary.hpp>
#include <qwengpu/text/words.hpp>

#include <cstdint>
#include <vector>

namespace qwengpu::text {

namespace detail {

template <machine::sizes M>
void put_idle_warps(std::vector<token>& out) {
    using V = vocabulary<M>;
    for (int w = 0; w < M.warps; ++w) out.push_back(V::encode(token_class::start, 0, static_cast<std::uint32_t>(w)));
    out.push_back(V::encode(token_class::fair, static_cast<std::uint32_t>(M.lanes - 1)));
}

template <machine::sizes M>
void put_constants(std::vector<token>& out, const machine::launch_image<M>& image) {
    for (std::size_t row = 0; row < image.constants.size(); ++row) {
        if (!image.constants[row].used) continue;
        out.push_back(vocabulary<M>::encode(token_class::constant, static_cast<std::uint32_t>(row)));
        put_word<M>(out, image.constants[row].value);
    }
}

/// Group H always, the others if they are not all zero.
template <machine::sizes M>
void put_block(std::vector<token>& out, std::size_t id, const machine::machine_block& block) {
    using V = vocabulary<M>;
    const auto groups = machine::encode(block);
    for (std::size_t g = 0; g < groups.size(); ++g) {
        if (g != 0 && groups[g] == 0) continue;
        out.push_back(V::encode(token_class::prog, static_cast<std::uint32_t>(id), static_cast<std::uint32_t>(g)));
        for (int part = 0; part < 3; ++part)
            out.push_back(V::encode(token_class::lo, static_cast<std::uint32_t>(groups[g] >> 16 * part & 0xffff)));
    }
}

template <machine::sizes M>
void put_memory(std::vector<token>& out, const machine::launch_image<M>& image) {
    for (std::size_t word = 0; word < image.memory.size(); ++word) {
        const auto& m = image.memory[word];
        if (m.window == 0) continue;
        out.push_back(vocabulary<M>::encode(token_class::addr, static_cast<std::uint32_t>(word), m.window));
        put_word<M>(out, m.value);
    }
}

}  // namespace detail

/// The prompt of a launch.
template <machine::sizes M>
std::vector<token> prompt_of(const machine::launch_image<M>& image) {
    std::vector<token> out;
    detail::put_idle_warps<M>(out);
    detail::put_constants(out, image);
    for (std::size_t id = 0; id < image.program.blocks.size(); ++id) detail::put_block<M>(out, id, image.program.blocks[id]);
    detail::put_memory(out, image);
    out.push_back(vocabulary<M>::encode(token_class::launch));
    return out;
}

}  // namespace qwengpu::text
