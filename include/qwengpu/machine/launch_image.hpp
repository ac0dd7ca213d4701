// SPDX-License-Identifier: MIT
// A launch before it begins: program, geometry, constants and memory (docs/machine.md, "State of a launch"). It is all that
// a prompt says, and all that the emulator starts from. Buffers get windows 1, 2, ... and words from 1 up, in their order.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <qwengpu/error.hpp>
#include <qwengpu/machine/legality.hpp>
#include <qwengpu/machine/program.hpp>
#include <qwengpu/machine/sizes.hpp>

namespace qwengpu::machine {

/// Three numbers x, y, z.
using extent = std::array<std::uint32_t, 3>;

/// Rows of the constants that hold the geometry; x, y, z follow each other.
namespace constant_row {
inline constexpr int ctaid = 0, last_ctaid = 3, nctaid = 6, ntid = 9, shape = 12;
}  // namespace constant_row

/// A byte address: window in bits 31-27, word in bits 8-2, byte in bits 1-0.
namespace address {
inline constexpr int window_shift = 27, word_shift = 2;
inline constexpr int last_buffer_window = 27, local_window = 28, shared_window = 29;
inline constexpr std::uint32_t byte_mask = 3, word_mask = 0x7f, between_mask = 0x07fffe00;

constexpr std::uint32_t make(int window, int word) {
    return static_cast<std::uint32_t>(window) << window_shift | static_cast<std::uint32_t>(word) << word_shift;
}
constexpr int window(std::uint32_t a) { return static_cast<int>(a >> window_shift); }
constexpr int word(std::uint32_t a) { return static_cast<int>((a >> word_shift) & word_mask); }
}  // namespace address

/// A word of memory and the window that owns it, 0 for nobody's.
struct memory_word {
    std::uint32_t value = 0;
    std::uint8_t window = 0;

    friend bool operator==(const memory_word&, const memory_word&) = default;
};

/// A word of the constants; only those used are in the prompt.
struct constant_word {
    std::uint32_t value = 0;
    bool used = false;

    friend bool operator==(const constant_word&, const constant_word&) = default;
};

/// Where a buffer lies.
struct buffer_place {
    int window = 0;
    int first_word = 0;
    int words = 0;

    [[nodiscard]] constexpr std::uint32_t pointer() const { return address::make(window, first_word); }
};

/// The state a launch begins with. Registers are zero and every lane is at exit, so they are not here.
template <sizes M = mission>
struct launch_image {
    machine::program program;
    extent grid{1, 1, 1}, block{1, 1, 1};
    one_per<constant_word, M.constants> constants{};
    one_per<memory_word, M.words> memory{};
    one_per<memory_word, M.words> shared{};  ///< its window where a word is declared, else 0
    std::vector<buffer_place> buffers{};     ///< of the arguments, then of the module's variables

    /// Threads in a block, warps in it, and the mask of lanes of warp `w` that have a thread.
    [[nodiscard]] int threads() const { return static_cast<int>(block[0] * block[1] * block[2]); }
    [[nodiscard]] int warps() const { return (threads() + M.lanes - 1) / M.lanes; }
    [[nodiscard]] unsigned lanes_of_warp(int w) const {
        const int rest = threads() - w * M.lanes;
        return rest <= 0 ? 0u : (1u << (rest < M.lanes ? rest : M.lanes)) - 1u;
    }
};

/// Sets a row of the constants. @throws error "launch.constant" if the machine has no such row.
template <sizes M>
void set_constant(launch_image<M>& image, int row, std::uint32_t value) {
    if (row < 0 || row >= M.constants)
        throw error("launch.constant", "the machine has " + std::to_string(M.constants) + " rows of constants, row " +
                                           std::to_string(row) + " is wanted; use fewer parameters and literals");
    image.constants[static_cast<std::size_t>(row)] = {value, true};
}

namespace detail {

template <sizes M>
void check_geometry(const extent& grid, const extent& block) {
    const std::uint64_t threads = std::uint64_t{block[0]} * block[1] * block[2];
    for (const extent* e : {&grid, &block})
        for (const std::uint32_t n : *e)
            if (n == 0) throw error("launch.geometry", "no dimension of grid or block may be 0");
    for (const std::uint32_t n : block)
        if (n > static_cast<std::uint32_t>(M.threads()) || threads > static_cast<std::uint64_t>(M.threads()))
            throw error("launch.geometry", "a block may have " + std::to_string(M.threads()) + " threads, this one is " +
                                               std::to_string(block[0]) + " x " + std::to_string(block[1]) + " x " +
                                               std::to_string(block[2]) + "; launch more and smaller blocks");
}

constexpr std::uint32_t shape_word(const extent& block) {
    return (block[0] - 1) | (block[1] - 1) << 5 | (block[0] * block[1] * block[2] - 1) << 10;
}

}  // namespace detail

/// Image of a launch without memory: geometry in rows 0-12 of the constants, the program's literals in theirs. Rows 0-2 begin
/// as the last block's, so that the first block follows from them like any other.
/// @throws error "launch.geometry", "launch.constant", "machine.illegal"
template <sizes M = mission>
launch_image<M> make_launch(program p, const extent& grid, const extent& block) {
    detail::check_geometry<M>(grid, block);
    require_legal<M>(p);
    launch_image<M> image{std::move(p), grid, block};
    for (std::size_t i = 0; i < 3; ++i) {
        const int at = static_cast<int>(i);
        set_constant(image, constant_row::ctaid + at, grid[i] - 1);
        set_constant(image, constant_row::last_ctaid + at, grid[i] - 1);
        set_constant(image, constant_row::nctaid + at, grid[i]);
        set_constant(image, constant_row::ntid + at, block[i]);
    }
    set_constant(image, constant_row::shape, detail::shape_word(block));
    for (const constant_literal& literal : image.program.literals) set_constant(image, literal.row, literal.value);
    return image;
}

/// Puts words at the beginning of a buffer, as its own.
template <sizes M>
void put_words(launch_image<M>& image, const buffer_place& place, std::span<const std::uint32_t> words) {
    for (std::size_t i = 0; i < words.size(); ++i)
        image.memory[static_cast<std::size_t>(place.first_word) + i] = {words[i], static_cast<std::uint8_t>(place.window)};
}

/// Adds a buffer with these words and gives its place; `align_words` is a power of two. An empty buffer owns no word, but
/// its pointer is its own. @throws error "launch.memory" if words or windows run out.
template <sizes M>
buffer_place add_buffer(launch_image<M>& image, std::span<const std::uint32_t> words, int align_words = 1) {
    const int window = static_cast<int>(image.buffers.size()) + 1;
    const int free = image.buffers.empty() ? 1 : image.buffers.back().first_word + image.buffers.back().words;
    const int first = (free + align_words - 1) & ~(align_words - 1);
    const auto size = static_cast<int>(words.size());
    if (window > address::last_buffer_window)
        throw error("launch.memory", "a launch has at most 27 buffers and variables; pass fewer pointers");
    if (first + size > M.words - 1)
        throw error("launch.memory", "memory has " + std::to_string(M.words - 2) + " words; buffer " +
                                         std::to_string(window) + " of " + std::to_string(size) +
                                         " words does not fit behind the others, which end at word " +
                                         std::to_string(free) + "; launch with smaller buffers");
    const buffer_place place{window, first, size};
    put_words(image, place, words);
    return image.buffers.emplace_back(place);
}

/// Declares the first `words` words of shared memory, as zeros, and gives their place. @throws error "launch.memory" if
/// there are not as many.
template <sizes M>
buffer_place declare_shared(launch_image<M>& image, int words) {
    if (words > M.words - 2)
        throw error("launch.memory", "a thread block has " + std::to_string(M.words - 2) + " words of shared memory, " +
                                         std::to_string(words) + " are wanted; use smaller arrays");
    constexpr auto window = static_cast<std::uint8_t>(address::shared_window);
    for (int i = 1; i <= words; ++i) image.shared[static_cast<std::size_t>(i)] = {0, window};
    return {address::shared_window, 1, words};
}

/// Gives a parameter its value: as many of its words as the program wants, lowest first.
/// @throws error "launch.parameter" if the kernel has no such parameter, or too few words are given.
template <sizes M>
void set_parameter(launch_image<M>& image, std::size_t index, std::span<const std::uint32_t> words) {
    if (index >= image.program.parameters.size())
        throw error("launch.parameter", "kernel " + image.program.name + " has " +
                                            std::to_string(image.program.parameters.size()) + " parameters, not " +
                                            std::to_string(index + 1));
    const kernel_parameter& p = image.program.parameters[index];
    if (p.rows > static_cast<int>(words.size()))
        throw error("launch.parameter", "parameter " + p.name + " has " + std::to_string(p.bytes) + " bytes; " +
                                            std::to_string(words.size()) + " words are too few for it");
    for (int i = 0; i < p.rows; ++i)
        set_constant(image, p.first_row + i, words[static_cast<std::size_t>(i)]);
}

}  // namespace qwengpu::machine
