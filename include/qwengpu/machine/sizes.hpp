// SPDX-License-Identifier: MIT
// The sizes of a machine. Every room takes them as a template parameter; the defaults are the mission's.
#pragma once

#include <array>
#include <cstddef>

namespace qwengpu::machine {

/// Sizes of a machine (docs/machine.md). All but `local_words` are powers of two; `blocks - 1` is the id of `exit`.
struct sizes {
    int lanes = 4;        ///< lanes of a warp, 1..4
    int warps = 8;        ///< warps of a thread block, 1..8
    int registers = 16;   ///< register slots of a lane, slot 0 is the constant zero
    int words = 128;      ///< physical words of global memory, and of shared memory; the first and last belong to nobody
    int local_words = 48; ///< words of local memory of each thread
    int constants = 128;  ///< words of constants
    int blocks = 1024;    ///< block ids, the last of which is `exit`
    int barriers = 8;     ///< barriers of a thread block, 1..8

    [[nodiscard]] constexpr int exit_block() const { return blocks - 1; }
    /// The first of the meeting blocks, which run when all lanes of a warp that can run have come to such blocks.
    [[nodiscard]] constexpr int meeting_block() const { return blocks - blocks / 8; }
    [[nodiscard]] constexpr int threads() const { return lanes * warps; }

    friend constexpr bool operator==(const sizes&, const sizes&) = default;
};

/// The machine that is put in front of Qwen3.5-2B.
inline constexpr sizes mission{};

/// An array with one entry for each of N things of a machine, N being one of its sizes.
template <class T, int N>
using one_per = std::array<T, static_cast<std::size_t>(N)>;

/// Smallest k with 2^k >= n.
constexpr int bits_for(int n) {
    int k = 0;
    while ((1 << k) < n) ++k;
    return k;
}

}  // namespace qwengpu::machine
