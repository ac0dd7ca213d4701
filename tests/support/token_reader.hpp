// SPDX-License-Identifier: MIT
// Ways to write down what a model reads, for classes that read single tokens: tokens by class and fields, words, groups of blocks.
#pragma once

#include <qwengpu/machine/block.hpp>
#include <qwengpu/text/vocabulary.hpp>
#include <qwengpu/text/words.hpp>

#include <cstdint>
#include <vector>

namespace qwengpu::test {

/// The tokens of a word.
template <machine::sizes M = machine::mission>
std::vector<text::token> tokens_of_word(std::uint32_t value) {
    std::vector<text::token> tokens;
    text::put_word<M>(tokens, value);
    return tokens;
}

/// @tparam Reader  derives from this, and has read(token)
template <class Reader, machine::sizes M = machine::mission>
class token_reader {
public:
    using V = text::vocabulary<M>;

    void read(text::token_class c, std::uint32_t first = 0, std::uint32_t second = 0) { reader().read(V::encode(c, first, second)); }
    void read_word(std::uint32_t value) {
        for (const auto t : tokens_of_word<M>(value)) reader().read(t);
    }
    /// `prog(block, group)` and its 48 bits.
    void read_group(std::uint32_t block, machine::group group, std::uint64_t bits) {
        read(text::token_class::prog, block, static_cast<std::uint32_t>(group));
        for (int part = 0; part < 3; ++part) read(text::token_class::lo, static_cast<std::uint32_t>(bits >> 16 * part & 0xffff));
    }

private:
    Reader& reader() { return static_cast<Reader&>(*this); }
};

}  // namespace qwengpu::test
