// SPDX-License-Identifier: MIT
// Random choices from a seed, the same with every standard library: programs made from a printed seed can be made again.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <random>

namespace qwengpu::test {

class choices {
public:
    explicit choices(std::uint64_t seed) : engine_(seed) {}

    /// A number in 0..n-1, n > 0.
    int below(int n) { return static_cast<int>((engine_() >> 16) % static_cast<std::uint64_t>(n)); }

    /// A number in first..last.
    int between(int first, int last) { return first + below(last - first + 1); }

    bool percent(int p) { return below(100) < p; }

    std::uint32_t word() { return static_cast<std::uint32_t>(engine_() >> 13); }

    /// A word as programs meet them: corners, small numbers of both signs, powers of two and their neighbours, anything.
    std::uint32_t interesting_word() {
        constexpr std::array<std::uint32_t, 9> corners{0,          1,          0xffffffff, 0x80000000, 0x7fffffff,
                                                       0x0000ffff, 0x00010000, 0x55555555, 0xaaaaaaaa};
        switch (below(5)) {
            case 0: return corners[static_cast<std::size_t>(below(static_cast<int>(corners.size())))];
            case 1: return static_cast<std::uint32_t>(below(40) - 20);
            case 2: return (1u << below(32)) + static_cast<std::uint32_t>(below(3) - 1);
            case 3: return word() >> below(32);
            default: return word();
        }
    }

private:
    std::mt19937_64 engine_;
};

}  // namespace qwengpu::test
