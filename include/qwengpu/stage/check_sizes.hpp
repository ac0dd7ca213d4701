// SPDX-License-Identifier: MIT
// What sizes of a machine the layers can be compiled for: those its tokens and blocks can name, checked by the compiler,
// and those that fit a model's shape, checked when the layers are built.
#pragma once

#include <qwengpu/error.hpp>
#include <qwengpu/machine/sizes.hpp>
#include <qwengpu/nn/shape.hpp>
#include <qwengpu/stage/memories.hpp>

#include <string>

namespace qwengpu::stage {

namespace detail {

constexpr bool is_power_of_two(int n, int least, int most) { return n >= least && n <= most && (n & (n - 1)) == 0; }

}  // namespace detail

/// Refuses sizes that the tokens' and blocks' fields cannot hold (docs/machine.md, "Encoding" and "Tokens").
template <machine::sizes M>
constexpr void require_possible_sizes() {
    using detail::is_power_of_two;
    static_assert(is_power_of_two(M.lanes, 1, 4), "stage.sizes: lanes must be 1, 2 or 4; a mask is four bits of a token");
    static_assert(is_power_of_two(M.warps, 1, 8), "stage.sizes: warps must be 1, 2, 4 or 8; a warp is three bits of a token");
    static_assert(is_power_of_two(M.registers, 2, 16), "stage.sizes: registers must be 2, 4, 8 or 16; a port is four bits of a block");
    static_assert(is_power_of_two(M.words, 4, 128), "stage.sizes: words must be a power of two from 4 to 128; a word is seven bits of a pointer");
    static_assert(M.local_words >= 0 && M.local_words <= M.words && M.local_words % 4 == 0,
                  "stage.sizes: local_words must be a multiple of 4, and not more than words; a word is named as global memory's are");
    static_assert(is_power_of_two(M.barriers, 1, 8), "stage.sizes: barriers must be 1, 2, 4 or 8; a barrier is three bits of a token");
    static_assert(is_power_of_two(M.constants, 16, 128), "stage.sizes: constants must be 16, 32, 64 or 128; rows 0 to 12 are the launch's geometry");
    static_assert(is_power_of_two(M.blocks, 2, 1024), "stage.sizes: blocks must be a power of two from 2 to 1024; a block is ten bits of a token");
}

/// Whether the state of a machine has room in the heads of a shape. Returns the shape.
/// @throws error "stage.sizes" naming what does not fit; "circuit.layer" and "circuit.channels" come later, from the layers.
template <machine::sizes M>
const nn::shape& require_fit(const nn::shape& s) {
    require_possible_sizes<M>();
    const auto rows = [&](const std::string& what, int needed) {
        if (needed > s.key_dim)
            throw error("stage.sizes", what + " need " + std::to_string(needed) + " rows of a head, and key_dim is " + std::to_string(s.key_dim) +
                                           "; make the machine smaller or the keys wider");
    };
    rows("warps x registers", M.warps * M.registers);
    rows("words of memory", M.words);
    rows("constants", M.constants);
    if (const int needed = 4 + M.lanes * local_heads<M>(s); needed > s.heads)
        throw error("stage.sizes", std::to_string(M.local_words) + " words of local memory for each thread need " + std::to_string(needed) + " heads in the layer of the memories, and there are " +
                                       std::to_string(s.heads) + "; take fewer words, warps or lanes, or wider keys");
    const auto require = [](bool holds, const std::string& what) {
        if (!holds) throw error("stage.sizes", "the compiled layers need " + what + "; choose another shape");
    };
    require(s.hidden % 1024 == 0 && s.hidden > 0, "a hidden size that is a multiple of 1024, not " + std::to_string(s.hidden) + " (for the ballast of the norms)");
    require(s.value_dim == 128, "a value_dim of 128, not " + std::to_string(s.value_dim) + " (a group of 48 bits on two rails, and its padding)");
    require(s.value_heads == s.heads, "as many value heads as key heads, not " + std::to_string(s.value_heads) + " and " + std::to_string(s.heads));
    require(s.conv >= 4, "a convolution of at least 4 taps, not " + std::to_string(s.conv) + " (`prog` and its three halves)");
    return s;
}

}  // namespace qwengpu::stage
