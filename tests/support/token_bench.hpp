// SPDX-License-Identifier: MIT
// Reads tokens of the test's choice into the whole compiled model, and compares what it would write next with what it should.
#pragma once

#include <qwengpu/machine/block.hpp>
#include <qwengpu/text/vocabulary.hpp>
#include <qwengpu/text/words.hpp>

#include "support/compiled_machine.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace qwengpu::test {

template <class R>
class token_bench {
public:
    using V = text::vocabulary<>;

    int compared = 0;
    std::string first_wrong{};

    void read(text::token t) { next_ = model_.next(state_, t); }
    void read(text::token_class c, std::uint32_t first = 0, std::uint32_t second = 0) { read(V::encode(c, first, second)); }
    void read_word(std::uint32_t value) {
        for (const auto t : tokens_of(value)) read(t);
    }
    void read_group(std::uint32_t block, machine::group group, std::uint64_t bits) {
        read(text::token_class::prog, block, static_cast<std::uint32_t>(group));
        for (int part = 0; part < 3; ++part) read(text::token_class::lo, static_cast<std::uint32_t>(bits >> 16 * part & 0xffff));
    }

    /// The token that comes next must be this one; it is read in any case.
    void expect(text::token t) {
        ++compared;
        if (next_ != t && first_wrong.empty()) first_wrong = "token number " + std::to_string(compared) + " is " + spelled(next_) + ", not " + spelled(t);
        read(t);
    }
    void expect(text::token_class c, std::uint32_t first = 0, std::uint32_t second = 0) { expect(V::encode(c, first, second)); }
    void expect_word(std::uint32_t value) {
        for (const auto t : tokens_of(value)) expect(t);
    }

private:
    static std::vector<text::token> tokens_of(std::uint32_t value) {
        std::vector<text::token> tokens;
        text::put_word<machine::mission>(tokens, value);
        return tokens;
    }
    static std::string spelled(text::token t) {
        const auto d = V::decode(t);
        return std::string(V::row(d.id).name) + " " + std::to_string(d.first) + " " + std::to_string(d.second);
    }

    using model = machine_model<machine::mission, R>;
    const model& model_ = sparse_machine<R>();
    typename model::state state_ = model_.fresh();
    text::token next_ = 0;
};

}  // namespace qwengpu::test
