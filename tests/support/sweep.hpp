// SPDX-License-Identifier: MIT
// Many cases through a circuit, many at a time: every case sets the input words, and its output is compared with what
// the test says. Corners, and random words, that cases are made of.
#pragma once

#include "support/choices.hpp"
#include "support/circuit_runner.hpp"

#include <cstddef>
#include <cstdint>
#include <sstream>
#include <string>
#include <vector>

namespace qwengpu::test {

/// One value per input word.
using case_values = std::vector<std::uint64_t>;

/// What a sweep found. `first_wrong` is empty if nothing was wrong.
struct sweep_result {
    std::size_t cases = 0, wrong = 0;
    std::string first_wrong;
};

/// Columns that sweep well: enough to keep a layer's weights at hand.
inline constexpr int sweep_columns = 32;

namespace detail {

inline std::string describe(const case_values& values, std::uint64_t is, std::uint64_t should) {
    std::ostringstream text;
    text << std::hex;
    for (const auto v : values) text << "0x" << v << ' ';
    text << "gives 0x" << is << ", not 0x" << should;
    return text.str();
}

}  // namespace detail

/// Cases 0 .. count-1 on a circuit_runner or batch_runner: `make(i)` gives one value for each of `inputs`, `expected(values)` what `output` should hold.
template <class Runner, class Make, class Expected>
sweep_result sweep(Runner& runner, const std::vector<circuit::word>& inputs, const circuit::word& output, std::size_t count, Make&& make,
                   const Expected& expected) {
    sweep_result found;
    const auto columns = static_cast<std::size_t>(runner.columns());
    for (std::size_t first = 0; first < count; first += columns) {
        std::vector<case_values> batch;
        runner.clear();
        for (std::size_t i = first; i < count && i < first + columns; ++i) {
            batch.push_back(make(i));
            for (std::size_t k = 0; k < inputs.size(); ++k) runner.set(inputs[k], batch.back()[k], static_cast<int>(i - first));
        }
        runner.run();
        for (std::size_t i = 0; i < batch.size(); ++i) {
            const std::uint64_t is = runner.get(output, static_cast<int>(i)), should = expected(batch[i]);
            ++found.cases;
            if (is == should) continue;
            if (found.wrong++ == 0) found.first_wrong = detail::describe(batch[i], is, should);
        }
    }
    return found;
}

/// Words of 32 bits at the ends of what arithmetic does: small ones of both signs, powers of two and their neighbours, patterns.
inline const std::vector<std::uint32_t>& corner_words() {
    static const std::vector<std::uint32_t> words{
        0,          1,          2,          3,          4,          5,          7,          8,          15,         16,
        31,         32,         33,         0xff,       0x100,      0xfff,      0x7fff,     0x8000,     0xffff,     0x10000,
        0x00ffffff, 0x01000000, 0x3fffffff, 0x40000000, 0x55555555, 0x7ffffffe, 0x7fffffff, 0x80000000, 0x80000001, 0xaaaaaaaa,
        0xc0000000, 0xffff0000, 0xffff8000, 0xffffff00, 0xfffffff8, 0xfffffffd, 0xfffffffe, 0xffffffff, 0x0f0f0f0f, 0x12345678,
    };
    return words;
}

/// Pair number i of all corners against each other, and how many there are.
inline case_values corner_pair(std::size_t i) {
    const auto& words = corner_words();
    return {words[i / words.size() % words.size()], words[i % words.size()]};
}
inline std::size_t corner_pairs() { return corner_words().size() * corner_words().size(); }

}  // namespace qwengpu::test
