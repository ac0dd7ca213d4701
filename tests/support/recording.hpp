// SPDX-License-Identifier: MIT
// What a model says and shows of a launch, pass by pass, without any comparison; and where two of these recordings part. So tests
// know by other means than the comparison where it must find a fault.
#pragma once

#include <qwengpu/diff/signals.hpp>
#include <qwengpu/machine/launch_image.hpp>
#include <qwengpu/text/prompt.hpp>
#include <qwengpu/text/vocabulary.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace qwengpu::test {

struct recording {
    std::vector<text::token> tokens;
    std::vector<diff::pass_signals> signals;
};

/// Records a model until it says `end`, or for at most so many passes.
template <class Model, machine::sizes M>
recording record(const Model& model, const machine::launch_image<M>& image, std::size_t most_passes) {
    recording r;
    auto state = model.fresh();
    const auto prompt = text::prompt_of(image);
    for (std::size_t i = 0; i + 1 < prompt.size(); ++i) model.read(state, prompt[i]);
    for (auto last = prompt.back(); r.tokens.size() < most_passes;) {
        r.signals.emplace_back();
        last = model.next(state, last, r.signals.back());
        r.tokens.push_back(last);
        if (text::vocabulary<M>::class_of(last) == text::token_class::end) break;
    }
    return r;
}

/// The first pass at which two recordings differ: in tokens, and in tokens or signals.
struct first_difference {
    std::optional<std::size_t> in_tokens, in_anything;
};

inline first_difference compare(const recording& good, const recording& bad) {
    first_difference d;
    for (std::size_t i = 0; i < good.tokens.size(); ++i) {
        const bool token = i >= bad.tokens.size() || bad.tokens[i] != good.tokens[i];
        const bool signal = token || bad.signals[i].lane != good.signals[i].lane || bad.signals[i].values != good.signals[i].values;
        if (signal && !d.in_anything) d.in_anything = i;
        if (token) return d.in_tokens = i, d;
    }
    return d;
}

/// The record that a pass belongs to: how many there were before it, and warp and block of the last of them.
struct record_of_pass {
    std::uint64_t records = 0;
    int warp = 0, block = 0;
};

template <machine::sizes M = machine::mission>
record_of_pass record_before(const recording& r, std::size_t pass) {
    record_of_pass last;
    for (std::size_t i = 0; i < pass; ++i) {
        const auto t = text::vocabulary<M>::decode(r.tokens[i]);
        if (t.id == text::token_class::hdr) last = {last.records + 1, static_cast<int>(t.second), static_cast<int>(t.first)};
    }
    return last;
}

}  // namespace qwengpu::test
