// SPDX-License-Identifier: MIT
// A request becomes the image of a launch: shape checked, buffers placed, arguments put into the kernel's parameters.
#pragma once

#include <qwengpu/error.hpp>
#include <qwengpu/launch/layout.hpp>
#include <qwengpu/launch/placement.hpp>
#include <qwengpu/launch/request.hpp>
#include <qwengpu/machine/launch_image.hpp>
#include <qwengpu/machine/program.hpp>

#include <array>
#include <cstdint>
#include <fmt/format.h>
#include <utility>
#include <vector>

namespace qwengpu {

/// Most thread blocks in one dimension of a grid.
inline constexpr std::int64_t most_thread_blocks = 65535;

namespace detail {

inline machine::extent extent_of(const std::array<std::int64_t, 3>& e) {
    return {static_cast<std::uint32_t>(e[0]), static_cast<std::uint32_t>(e[1]), static_cast<std::uint32_t>(e[2])};
}

inline void check_grid(const std::array<std::int64_t, 3>& grid) {
    for (const auto n : grid)
        if (n < 1 || n > most_thread_blocks)
            throw error("launch.grid", fmt::format("the grid is {} x {} x {} thread blocks; every dimension must be from 1 to {}", grid[0], grid[1],
                                                   grid[2], most_thread_blocks));
}

template <machine::sizes M>
void check_block(const std::array<std::int64_t, 3>& block) {
    std::int64_t threads = 1;
    for (const auto n : block) {
        if (n < 1) throw error("launch.block", fmt::format("the thread block is {} x {} x {} threads; every dimension must be at least 1", block[0], block[1], block[2]));
        threads = n > most_thread_blocks * 4096 / threads ? most_thread_blocks * 4096 : threads * n;
    }
    if (threads > M.threads())
        throw error("launch.block", fmt::format("{} threads in a block ({} x {} x {}); at most {} ({} warps of {}) are possible, launch more and smaller blocks",
                                                threads, block[0], block[1], block[2], M.threads(), M.warps, M.lanes));
}

inline std::string plural(std::size_t n, const char* what) { return fmt::format("{} {}{}", n, what, n == 1 ? "" : "s"); }

inline void check_count(const machine::program& p, std::size_t given) {
    if (p.parameters.size() != given)
        throw error("launch.argument", fmt::format("kernel {} takes {}, {} given", p.name, plural(p.parameters.size(), "argument"), given));
}

inline void check_size(const machine::program& p, std::size_t index, std::size_t given) {
    const auto& parameter = p.parameters[index];
    if (static_cast<std::size_t>(parameter.bytes) != given)
        throw error("launch.argument", fmt::format("argument {} of kernel {} ({}) has {}, {} given; pass a value of the parameter's type", index + 1, p.name,
                                                   parameter.name, plural(static_cast<std::size_t>(parameter.bytes), "byte"), given));
}

/// Variables of the module begin with their values, and the program knows their addresses.
template <machine::sizes M>
void fill_variables(machine::launch_image<M>& image, std::size_t first, const std::vector<typename memory_table<M>::entry>& entries) {
    const auto& variables = image.program.variables;
    for (std::size_t k = 0; k < variables.size(); ++k) {
        const auto& place = image.buffers[first + k];
        if (variables[k].row != 0) machine::set_constant(image, variables[k].row, place.pointer());
        if (!entries[first + k].is_new) continue;
        auto words = variables[k].words;
        for (const auto& link : variables[k].links)
            machine::put_address(words, link, image.buffers[first + static_cast<std::size_t>(link.variable)].pointer());
        machine::put_words<M>(image, place, words);
    }
}

/// Declares the shared memory of the program, and behind it what the launch asks for.
template <machine::sizes M>
void declare_shared_memory(machine::launch_image<M>& image, std::int64_t dynamic_bytes) {
    const auto& p = image.program;
    if (dynamic_bytes < 0) throw error("launch.shared", fmt::format("{} bytes of shared memory are asked for; give 0 or more", dynamic_bytes));
    const std::int64_t before = p.dynamic_shared_word > 0 ? p.dynamic_shared_word - 1 : p.shared_words;
    const std::int64_t dynamic_words = dynamic_bytes / 4 + (dynamic_bytes % 4 != 0 ? 1 : 0), there = M.words - 2;
    if (before + dynamic_words > there)
        throw error("launch.shared", fmt::format("needs {} of {} words of shared memory: {} of the kernel and {} bytes of dynamic ones; ask for fewer bytes",
                                                 before + dynamic_words, there, before, dynamic_bytes));
    if (p.dynamic_bytes_row != 0) machine::set_constant(image, p.dynamic_bytes_row, static_cast<std::uint32_t>(dynamic_bytes));
    if (p.shared_bytes_row != 0) machine::set_constant(image, p.shared_bytes_row, static_cast<std::uint32_t>(4 * (before + dynamic_words)));
    machine::declare_shared(image, static_cast<int>(before + dynamic_words));
}

template <machine::sizes M>
void pass_arguments(machine::launch_image<M>& image, const std::vector<argument>& args) {
    check_count(image.program, args.size());
    std::size_t next = 0;
    const auto next_pointer = [&] { return image.buffers[next++].pointer(); };
    for (std::size_t i = 0; i < args.size(); ++i) {
        const bool narrow = image.program.parameters[i].is_pointer && image.program.parameters[i].bytes == 4;
        std::vector<std::uint8_t> bytes;
        put_argument(bytes, args[i], narrow ? 4 : 8, next_pointer);
        check_size(image.program, i, bytes.size());
        auto words = words_of(bytes);
        machine::set_parameter(image, i, std::span<const std::uint32_t>(words));
    }
}

}  // namespace detail

/// The image of a launch of `program` beside what `memory` holds already, which it joins. `buffers` of the image are in the
/// order of buffers_of(request.args), then the module's variables. Only what is new or given anew is in its memory.
/// Errors: "launch.grid", "launch.block", "launch.memory", "launch.buffer", "launch.argument", "launch.constant", "launch.shared", "launch.session".
template <machine::sizes M = machine::mission>
machine::launch_image<M> prepare(machine::program program, const launch_request& request, memory_table<M>& memory) {
    detail::check_grid(request.grid);
    detail::check_block<M>(request.block);
    const auto buffers = buffers_of(request.args);
    const auto kept = kept_of(request.args);
    detail::check_count(program, request.args.size());
    auto image = machine::make_launch<M>(std::move(program), detail::extent_of(request.grid), detail::extent_of(request.block));
    const auto entries = memory.place(buffers, kept, image.program.variables);
    for (const auto& e : entries) image.buffers.push_back(e.place);
    for (std::size_t i = 0; i < buffers.size(); ++i)
        if (!kept[i]) machine::put_words<M>(image, image.buffers[i], detail::words_of(buffers[i]->bytes));
    detail::fill_variables<M>(image, buffers.size(), entries);
    detail::declare_shared_memory(image, request.dynamic_shared_bytes);
    detail::pass_arguments(image, request.args);
    return image;
}

/// The image of a launch by itself.
template <machine::sizes M = machine::mission>
machine::launch_image<M> prepare(machine::program program, const launch_request& request) {
    memory_table<M> memory;
    return prepare<M>(std::move(program), request, memory);
}

}  // namespace qwengpu
