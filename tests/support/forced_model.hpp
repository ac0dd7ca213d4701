// SPDX-License-Identifier: MIT
// The compiled layers under tokens of the test's choice: whatever the model would write, the test decides what it reads, and
// sees what it would write next.
#pragma once

#include <qwengpu/launch/machine_model.hpp>
#include <qwengpu/text/prompt.hpp>
#include <qwengpu/text/vocabulary.hpp>
#include <qwengpu/text/words.hpp>

#include "support/compiled_machine.hpp"

#include <cstdint>
#include <vector>

namespace qwengpu::test {

template <nn::rounding R>
class forced_model {
public:
    using V = text::vocabulary<>;

    text::token read(text::token t) { return answer_ = sparse_machine<R>().next(state_, t); }
    text::token read(text::token_class c, std::uint32_t first = 0, std::uint32_t second = 0) { return read(V::encode(c, first, second)); }
    text::token read_word(std::uint32_t value) {
        std::vector<text::token> tokens;
        text::put_word(tokens, value);
        for (const auto t : tokens) read(t);
        return answer_;
    }
    void read_constant(std::uint32_t row, std::uint32_t value) {
        read(text::token_class::constant, row);
        read_word(value);
    }
    /// Groups H (valid, with its next block and more bits if wanted) and U of a block.
    void read_block(std::uint32_t block, std::uint32_t next, std::uint64_t uniformity = 0) {
        read_group(block, 0, std::uint64_t{1} << 45 | std::uint64_t{next} << 32);
        if (uniformity != 0) read_group(block, 1, uniformity);
    }
    /// One group of 48 bits of a block.
    void read_group(std::uint32_t block, std::uint32_t group, std::uint64_t bits) {
        read(text::token_class::prog, block, group);
        for (int part = 0; part < 3; ++part) read(text::token_class::lo, static_cast<std::uint32_t>(bits >> 16 * part & 0xffff));
    }
    /// What the model writes after the last token that was read.
    [[nodiscard]] text::token answer() const { return answer_; }

private:
    typename machine_model<machine::mission, R>::state state_ = sparse_machine<R>().fresh();
    text::token answer_ = 0;
};

}  // namespace qwengpu::test
