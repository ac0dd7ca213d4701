// SPDX-License-Identifier: MIT
// What is ordered before what in a launch, by vector clocks: each thread counts its own time, and knows how far it is behind the
// others'. Barriers and atomics on one word tell threads of each other's past; thread blocks know nothing of each other.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace qwengpu::machine::detail {

/// By thread of the launch, the time up to which its accesses are known.
using clock_vector = std::vector<std::uint32_t>;

inline void learn(clock_vector& to, const clock_vector& from) {
    if (to.size() < from.size()) to.resize(from.size());
    for (std::size_t i = 0; i < from.size(); ++i) to[i] = std::max(to[i], from[i]);
}

/// The clocks of the threads of a thread block. Threads are numbered through the launch: `first` is this block's first.
class access_clocks {
public:
    explicit access_clocks(std::size_t threads) : threads_(threads), known_(threads) {}

    /// A thread block begins, the `number`-th.
    void begin(std::size_t number) {
        first_ = number * threads_;
        for (std::size_t t = 0; t < threads_; ++t) {
            known_[t].assign(first_ + threads_, 0);
            known_[t][first_ + t] = 1;
        }
    }

    [[nodiscard]] std::size_t number_of(int thread) const { return first_ + static_cast<std::size_t>(thread); }
    [[nodiscard]] std::uint32_t now(int thread) const { return known_[static_cast<std::size_t>(thread)][number_of(thread)]; }

    /// Whether what thread `other` of the launch did at `time` is ordered before what `thread` does now.
    [[nodiscard]] bool knows(int thread, std::size_t other, std::uint32_t time) const {
        const clock_vector& known = known_[static_cast<std::size_t>(thread)];
        return other < known.size() && known[other] >= time;
    }

    /// These threads meet: each knows all that any of them knew.
    void meet(const std::vector<int>& threads) {
        clock_vector all;
        for (const int t : threads) learn(all, known_[static_cast<std::size_t>(t)]);
        for (const int t : threads) {
            known_[static_cast<std::size_t>(t)] = all;
            ++known_[static_cast<std::size_t>(t)][number_of(t)];
        }
    }

    /// An atomic on a word: the thread learns what those before it knew, and leaves what it knows, the atomic included. What comes
    /// after is another time (`go_on`).
    void pass_through(int thread, clock_vector& word) {
        clock_vector& known = known_[static_cast<std::size_t>(thread)];
        learn(known, word);
        learn(word, known);
    }
    void go_on(int thread) { ++known_[static_cast<std::size_t>(thread)][number_of(thread)]; }

private:
    std::size_t threads_, first_ = 0;
    std::vector<clock_vector> known_;
};

}  // namespace qwengpu::machine::detail
