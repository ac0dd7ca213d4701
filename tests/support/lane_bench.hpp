// SPDX-License-Identifier: MIT
// Puts blocks, registers and words of memory into the compiled layers by reading tokens of the test's choice, so that single loads,
// stores and collectives can be tried, in blocks without barriers. Registers are written by records of blocks of its own, from block
// `first_setter` on.
#pragma once

#include <qwengpu/machine/encoding.hpp>
#include <qwengpu/text/vocabulary.hpp>

#include "support/prompt_start.hpp"

#include <array>
#include <cstdint>

namespace qwengpu::test {

inline constexpr int first_setter = 100;

/// Four values, one per lane.
using lane_words = std::array<std::uint32_t, 4>;

/// @tparam Reader  has read(token_class, first, second), read_word(value) and read_group(block, group, bits)
template <class Reader>
class lane_bench {
public:
    explicit lane_bench(Reader& reader) : reader_(reader) {
        read_idle_warps(reader_);
        for (int reg = 1; reg < 16; ++reg) {
            machine::machine_block b;
            b.s1 = {machine::alu_op::add};
            b.dest[0] = static_cast<std::uint8_t>(reg);
            put(first_setter + reg, b);
        }
    }

    void put(int id, const machine::machine_block& b) {
        const auto groups = machine::encode(b);
        for (std::size_t g = 0; g < groups.size(); ++g) reader_.read_group(static_cast<std::uint32_t>(id), static_cast<machine::group>(g), groups[g]);
    }
    /// A word of a buffer's or of shared memory.
    void declare(std::uint32_t word, std::uint32_t window, std::uint32_t value) {
        reader_.read(text::token_class::addr, word, window);
        reader_.read_word(value);
    }
    void begin(int id, std::uint32_t warp, std::uint32_t mask = 15) {
        reader_.read(text::token_class::mask, mask, warp);
        reader_.read(text::token_class::hdr, static_cast<std::uint32_t>(id), warp);
    }
    /// A register of all four lanes of a warp.
    void set(std::uint32_t warp, int reg, const lane_words& values) {
        begin(first_setter + reg, warp);
        for (const auto v : values) reader_.read_word(v);
    }

private:
    Reader& reader_;
};

}  // namespace qwengpu::test
