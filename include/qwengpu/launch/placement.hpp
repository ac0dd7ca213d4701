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
#include <iterator>
#include <map>
#include <numeric>
#include <optional>
#include <string>
#include <utility>
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

/// What is in memory: buffers and variables by their names, with their places. Those of a launch join it; in a session the
/// next launch finds them there.
template <machine::sizes M = machine::mission>
class memory_table {
public:
    struct entry {
        machine::buffer_place place;
        bool is_new = false;
    };

    /// Places of the buffers, in their order, then of the module's variables; windows in the order of coming. A buffer without
    /// elements owns no word, but has a window and a pointer. Those that are there already must be of the same size.
    /// Errors: "launch.memory" (words needed and there, or too many buffers), "launch.buffer" (a name twice), "launch.session".
    std::vector<entry> place(const std::vector<const buffer*>& buffers, const std::vector<bool>& kept, const std::vector<machine::module_variable>& variables) {
        detail::check_names(buffers);
        std::vector<wish> wanted;
        for (std::size_t i = 0; i < buffers.size(); ++i)
            wanted.push_back({buffers[i]->name, false, i < kept.size() && kept[i], {buffers[i]->words(), detail::align_words(*buffers[i])}});
        for (const auto& v : variables) wanted.push_back({v.name, true, false, {static_cast<int>(v.words.size()), v.align / 4}});
        check_count(wanted);
        place_new(wanted);
        std::vector<entry> found;
        for (const auto& w : wanted) found.push_back({known_.at({w.is_variable, w.name}), w.is_new});
        return found;
    }

private:
    struct wish {
        std::string name;
        bool is_variable = false, keeps = false;
        detail::demand size;
        bool is_new = false;
    };

    void check_count(std::vector<wish>& wanted) {
        std::size_t buffers = 0, variables = 0;
        for (auto& w : wanted) {
            const auto at = known_.find({w.is_variable, w.name});
            w.is_new = at == known_.end();
            if (!w.is_new && at->second.words != w.size.words)
                throw error("launch.session", fmt::format("buffer {} has {} words from an earlier launch, {} are passed now; keep its size or give it another name", w.name,
                                                          at->second.words, w.size.words));
            if (w.is_new && w.keeps) throw error("launch.session", fmt::format("buffer {} is to stay as it is, but no earlier launch of the session has it", w.name));
            if (w.is_new) ++(w.is_variable ? variables : buffers);
        }
        if (known_.size() + buffers + variables <= machine::address::last_buffer_window) return;
        throw error("launch.memory", fmt::format("{} buffers are passed{}{}, {} are possible", buffers,
                                                 variables == 0 ? "" : fmt::format(" and {} variables of the module are used", variables),
                                                 known_.empty() ? "" : fmt::format(", {} are there already", known_.size()), machine::address::last_buffer_window));
    }

    /// Variables may lie unaligned if there is no place else.
    void place_new(const std::vector<wish>& wanted) {
        std::vector<wish> coming;
        std::copy_if(wanted.begin(), wanted.end(), std::back_inserter(coming), [](const wish& w) { return w.is_new; });
        std::vector<detail::demand> sizes;
        std::vector<bool> taken(static_cast<std::size_t>(M.words));
        std::int64_t of_buffers = 0, of_variables = 0;
        for (const auto& [key, p] : known_) {
            std::fill_n(taken.begin() + p.first_word, p.words, true);
            (key.first ? of_variables : of_buffers) += p.words;
        }
        for (const auto& w : coming) {
            sizes.push_back(w.size);
            (w.is_variable ? of_variables : of_buffers) += w.size.words;
        }
        auto found = detail::find_places(sizes, taken);
        if (!found) {
            for (std::size_t i = 0; i < coming.size(); ++i)
                if (coming[i].is_variable) sizes[i].align_words = 1;
            found = detail::find_places(sizes, taken);
        }
        if (!found) throw detail::does_not_fit(of_buffers, of_variables, M.words - 2);
        for (std::size_t i = 0; i < coming.size(); ++i) {
            const machine::buffer_place p{static_cast<int>(known_.size()) + 1, (*found)[i], coming[i].size.words};
            known_.emplace(std::pair(coming[i].is_variable, coming[i].name), p);
        }
    }

    std::map<std::pair<bool, std::string>, machine::buffer_place> known_;
};

/// Places of the buffers of a launch by itself, then of the module's variables. Errors: as above.
template <machine::sizes M = machine::mission>
std::vector<machine::buffer_place> place_buffers(const std::vector<const buffer*>& buffers, const std::vector<machine::module_variable>& variables = {}) {
    std::vector<machine::buffer_place> places;
    for (const auto& e : memory_table<M>().place(buffers, {}, variables)) places.push_back(e.place);
    return places;
}

}  // namespace qwengpu
