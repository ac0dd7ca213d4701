// SPDX-License-Identifier: MIT
// How the heads take a word out of the tokens: `short` holds it whole; of `lo`, `hi` the convolution brings the low
// half from one token ago. Exactly 32 (or `low_bits`) rails are 1 at a token that completes a word.
#pragma once

#include <qwengpu/circuit/memory.hpp>
#include <qwengpu/stage/inputs.hpp>

#include <array>

namespace qwengpu::stage {

using circuit::all;
using circuit::equals;
using circuit::memory;
using circuit::no;

/// Adds rails for the low `out.size()` bits of the word that this token completes, read into `out`.
inline void hold_word(memory& head, const inputs& token, const word& out) {
    for (std::size_t i = 0; i < out.size() && i < 16; ++i) {
        for (const auto& [c, age] : {std::pair{token_class::lo, 1}, std::pair{token_class::short_word, 0}})
            head.rails(all({token.is(c), token.low[i]}), all({token.is(c), token.low_zero[i]}), age, out[i]);
    }
    for (std::size_t i = 16; i < out.size(); ++i) head.rails(token.high[i - 16], token.high_zero[i - 16], 0, out[i]);
    head.holds(static_cast<int>(out.size()));
}

/// Adds rows [0, count): where `writes` is 1 the one that `written` numbers is written, where `reads` is, that of `asked` read.
inline void index_rows(memory& head, int count, const linear& writes, const word& written, const linear& reads, const word& asked) {
    for (int row = 0; row < count; ++row) {
        const auto index = static_cast<unsigned>(row);
        head.write(row, all({writes, equals(written, index)}));
        head.read(row, all({reads, equals(asked, index)}));
    }
}

/// Adds a dual-rail bit for each of `bits`, read into `out`.
inline void hold_bits(memory& head, const word& bits, const word& out) {
    for (std::size_t i = 0; i < bits.size(); ++i) head.bit(bits[i], 0, out[i]);
}

}  // namespace qwengpu::stage
