// SPDX-License-Identifier: MIT
// Reads tokens of the test's choice into the whole compiled model, and compares what it would write next with what it should.
#pragma once

#include <qwengpu/text/vocabulary.hpp>

#include "support/forced_model.hpp"

#include <cstdint>
#include <string>

namespace qwengpu::test {

template <class R>
class token_bench : public forced_model<R> {
public:
    using V = text::vocabulary<>;

    int compared = 0;
    std::string first_wrong{};

    /// The token that comes next must be this one; it is read in any case.
    void expect(text::token t) {
        ++compared;
        const text::token next = this->answer();
        if (next != t && first_wrong.empty()) first_wrong = "token number " + std::to_string(compared) + " is " + spelled(next) + ", not " + spelled(t);
        this->read(t);
    }
    void expect(text::token_class c, std::uint32_t first = 0, std::uint32_t second = 0) { expect(V::encode(c, first, second)); }
    void expect_word(std::uint32_t value) {
        for (const auto t : tokens_of_word(value)) expect(t);
    }

private:
    static std::string spelled(text::token t) {
        const auto d = V::decode(t);
        return std::string(V::row(d.id).name) + " " + std::to_string(d.first) + " " + std::to_string(d.second);
    }
};

}  // namespace qwengpu::test
