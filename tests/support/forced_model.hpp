// SPDX-License-Identifier: MIT
// The compiled layers under tokens of the test's choice: whatever the model would write, the test decides what it reads, and
// sees what it would write next.
#pragma once

#include <qwengpu/launch/machine_model.hpp>
#include <qwengpu/text/vocabulary.hpp>

#include "support/compiled_machine.hpp"
#include "support/token_reader.hpp"

#include <cstdint>

namespace qwengpu::test {

template <nn::rounding R>
class forced_model : public token_reader<forced_model<R>> {
public:
    using token_reader<forced_model<R>>::read;

    void read(text::token t) { answer_ = sparse_machine<R>().next(state_, t); }
    void read_constant(std::uint32_t row, std::uint32_t value) {
        read(text::token_class::constant, row);
        this->read_word(value);
    }
    /// Groups H (valid, with its next block and more bits if wanted) and U of a block.
    void read_block(std::uint32_t block, std::uint32_t next, std::uint64_t uniformity = 0) {
        this->read_group(block, machine::group::header, std::uint64_t{1} << 45 | std::uint64_t{next} << 32);
        if (uniformity != 0) this->read_group(block, machine::group::uniformity, uniformity);
    }
    /// What the model writes after the last token that was read.
    [[nodiscard]] text::token answer() const { return answer_; }

private:
    typename machine_model<machine::mission, R>::state state_ = sparse_machine<R>().fresh();
    text::token answer_ = 0;
};

}  // namespace qwengpu::test
