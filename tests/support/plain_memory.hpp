// SPDX-License-Identifier: MIT
// Global, shared and local memory as a test would write them down, and addresses that mostly mean something in them.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <random>
#include <set>

namespace qwengpu::test {

struct plain_memory {
    std::array<std::uint32_t, 128> global{}, owner{}, shared{};
    std::set<std::uint32_t> declared{};
    std::map<std::array<std::uint32_t, 3>, std::uint32_t> local{};  ///< by warp, lane, word

    /// A word of a buffer's or, in window 29, of shared memory.
    void declare(std::uint32_t window, std::uint32_t word, std::uint32_t value) {
        if (window == 29) shared[word] = value, declared.insert(word);
        else global[word] = value, owner[word] = window;
    }
    [[nodiscard]] bool outside(std::uint32_t address, bool is_private) const {
        const std::uint32_t window = address >> 27, word = address >> 2 & 127;
        if ((address >> 9 & 0x3ffff) != 0) return true;
        if (window == 28) return !is_private || word >= 48;
        if (window == 29) return declared.count(word) == 0;
        return window == 0 || owner[word] != window;
    }
    std::uint32_t& at(std::uint32_t warp, std::uint32_t lane, std::uint32_t address) {
        const std::uint32_t window = address >> 27, word = address >> 2 & 127;
        if (window == 28) return local[{warp, lane, word}];
        return window == 29 ? shared[word] : global[word];
    }
};

/// Random choices about such a memory, for benches that tell the layers the same.
class memory_choices {
public:
    explicit memory_choices(unsigned seed) : choose_(seed) {}

    std::uint32_t below(std::uint32_t n) { return static_cast<std::uint32_t>(choose_() % n); }
    std::uint32_t any_word() { return below(2) == 0 ? below(4096) - 2048 : static_cast<std::uint32_t>(choose_()); }

    /// Every other word or so is a buffer's, every other one of shared memory is declared.
    template <class Bench>
    void declare_some(Bench& bench, plain_memory& memory) {
        for (std::uint32_t word = 1; word < 127; word += 1 + below(2)) declare(bench, memory, 1 + below(27), word);
        for (std::uint32_t word = 1; word < 127; word += 1 + below(2)) declare(bench, memory, 29, word);
    }

    /// An address that is often one of a word that may be accessed, sometimes just beside, seldom anything.
    std::uint32_t any_address(const plain_memory& memory) {
        const std::uint32_t word = below(128), low = below(4) == 0 ? below(4) : 0;
        if (below(20) == 0) return static_cast<std::uint32_t>(choose_());
        const std::uint32_t windows[] = {28, 28, 29, memory.owner[word], below(32)};
        const std::uint32_t window = windows[below(5)];
        const std::uint32_t beyond = below(20) == 0 ? 1U << (9 + below(18)) : 0;
        return window << 27 | beyond | (window == 28 ? word % 56 : word) << 2 | low;
    }

private:
    template <class Bench>
    void declare(Bench& bench, plain_memory& memory, std::uint32_t window, std::uint32_t word) {
        const std::uint32_t value = any_word();
        bench.declare(word, window, value);
        memory.declare(window, word, value);
    }

    std::mt19937 choose_;
};

}  // namespace qwengpu::test
