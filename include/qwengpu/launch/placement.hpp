// SPDX-License-Identifier: MIT
// Where buffers and the module's variables lie: windows in the order of the arguments, then of the variables; words by first
// fit, the most aligned first, so that alignment wastes as little as possible of a memory this small.
#pragma once

#include <qwengpu/error.hpp>
#include <qwengpu/launch/argument.hpp>
#include <qwengpu/machine/launch_image.hpp>
#include <qwengpu/machine/program.hpp>

#include <algorithm>
#include <cstdint>
#include <fmt/format.h>
#include <numeric>
#include <optional>
#include <vector>

namespace qwengpu {

namespace detail {

/// Alignment of a buffer in words: what it asks for, else its element's, at least one.
inline int align_words(const buffer& b) { return std::max({b.align, row(b.type).bytes, 4}) / 4; }

/// First word from 1 on at which `words` free words begin, aligned; 0 if there is none.
inline int first_fit(const std::vector<bool>& taken, int words, int align) {
    const int end = static_cast<int>(taken.size()) - 1;
    for (int first = align; first + words <= end; first += align) {
        const auto begin = taken.begin() + first;
        if (std::find(begin, begin + words, true) == begin + words) return first;
    }
    return 0;
}

inline void check_names(const std::vector<const buffer*>& buffers) {
    for (std::size_t i = 0; i < buffers.size(); ++i)
        for (std::size_t k = 0; k < i; ++k)
            if (buffers[i]->name == buffers[k]->name)
                throw error("launch.buffer", fmt::format("two buffers are named \"{}\"; give each a name of its own", buffers[i]->name));
}

/// Words that want a place, and how they must be aligned.
struct demand {
    int words = 0, align_words = 1;
};

/// Places for all, the most aligned first; an empty one if there is none. Words that are taken already stay so.
inline std::optional<std::vector<int>> find_places(const std::vector<demand>& wanted, std::vector<bool> taken) {
    std::vector<std::size_t> order(wanted.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(), [&](auto a, auto b) { return wanted[a].align_words > wanted[b].align_words; });
    std::vector<int> places(wanted.size());
    for (const auto i : order) {
        const int words = wanted[i].words;
        const int first = words > static_cast<int>(taken.size()) ? 0 : first_fit(taken, words, wanted[i].align_words);
        if (first == 0 && words > 0) return std::nullopt;
        std::fill_n(taken.begin() + first, words, true);
        places[i] = std::max(first, 1);
    }
    return places;
}

inline error does_not_fit(std::int64_t buffers, std::int64_t variables, int there) {
    const auto needed = buffers + variables;
    const auto what = variables == 0 ? fmt::format("{} words of buffers are asked for", buffers)
                                     : fmt::format("needs {} of {} words: {} of buffers and {} of the module's variables are asked for", needed, there, buffers, variables);
    const auto reason = needed > there ? "launch with smaller buffers" : "their alignment leaves gaps that are too small; reorder or shrink them";
    return {"launch.memory", fmt::format("{}, {} words of global memory are there; {}", what, there, reason)};
}

}  // namespace detail

/// Places of the buffers, in their order, then of the module's variables. A buffer without elements owns no word, but has a
/// window and a pointer. Errors: "launch.memory" (words needed and there, or too many buffers), "launch.buffer" (a name twice).
template <machine::sizes M = machine::mission>
std::vector<machine::buffer_place> place_buffers(const std::vector<const buffer*>& buffers, const std::vector<machine::module_variable>& variables = {}) {
    detail::check_names(buffers);
    const auto count = buffers.size() + variables.size();
    if (count > machine::address::last_buffer_window)
        throw error("launch.memory", fmt::format("{} buffers are passed{}, {} are possible", buffers.size(),
                                                 variables.empty() ? "" : fmt::format(" and {} variables of the module are used", variables.size()),
                                                 machine::address::last_buffer_window));
    std::vector<detail::demand> wanted;
    std::int64_t of_buffers = 0, of_variables = 0;
    for (const auto* b : buffers) wanted.push_back({b->words(), detail::align_words(*b)}), of_buffers += b->words();
    for (const auto& v : variables) wanted.push_back({static_cast<int>(v.words.size()), v.align / 4}), of_variables += wanted.back().words;
    auto found = detail::find_places(wanted, std::vector<bool>(static_cast<std::size_t>(M.words)));
    for (std::size_t i = buffers.size(); !found && i < wanted.size(); ++i) wanted[i].align_words = 1;
    if (!found) found = detail::find_places(wanted, std::vector<bool>(static_cast<std::size_t>(M.words)));
    if (!found) throw detail::does_not_fit(of_buffers, of_variables, M.words - 2);
    std::vector<machine::buffer_place> places;
    for (std::size_t i = 0; i < count; ++i) places.push_back({static_cast<int>(i) + 1, (*found)[i], wanted[i].words});
    return places;
}

}  // namespace qwengpu
