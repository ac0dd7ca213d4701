// SPDX-License-Identifier: MIT
// Where buffers lie: windows in the order of the arguments, words by first fit, the most aligned first, so that
// alignment wastes as little as possible of a memory this small.
#pragma once

#include <qwengpu/error.hpp>
#include <qwengpu/launch/argument.hpp>
#include <qwengpu/machine/launch_image.hpp>

#include <algorithm>
#include <cstdint>
#include <fmt/format.h>
#include <numeric>
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

inline error does_not_fit(const std::vector<const buffer*>& buffers, int there) {
    std::int64_t words = 0;
    for (const auto* b : buffers) words += b->words();
    const auto reason = words > there ? "launch with smaller buffers" : "their alignment leaves gaps that are too small; reorder or shrink them";
    return {"launch.memory", fmt::format("{} words of buffers are asked for, {} words of global memory are there; {}", words, there, reason)};
}

}  // namespace detail

/// Places of the buffers, in their order. A buffer without elements owns no word, but has a window and a pointer.
/// Errors: "launch.memory" (words needed and there, or too many buffers), "launch.buffer" (a name twice).
template <machine::sizes M = machine::mission>
std::vector<machine::buffer_place> place_buffers(const std::vector<const buffer*>& buffers) {
    detail::check_names(buffers);
    if (buffers.size() > machine::address::last_buffer_window)
        throw error("launch.memory", fmt::format("{} buffers are passed, {} are possible", buffers.size(), machine::address::last_buffer_window));
    std::vector<std::size_t> order(buffers.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(), [&](auto a, auto b) { return detail::align_words(*buffers[a]) > detail::align_words(*buffers[b]); });
    std::vector<bool> taken(static_cast<std::size_t>(M.words));
    std::vector<machine::buffer_place> places(buffers.size());
    for (const auto i : order) {
        const int words = buffers[i]->words();
        const int first = words > M.words ? 0 : detail::first_fit(taken, words, detail::align_words(*buffers[i]));
        if (first == 0 && words > 0) throw detail::does_not_fit(buffers, M.words - 2);
        std::fill_n(taken.begin() + first, words, true);
        places[i] = {static_cast<int>(i) + 1, std::max(first, 1), words};
    }
    return places;
}

}  // namespace qwengpu
