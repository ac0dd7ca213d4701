// SPDX-License-Identifier: MIT
// A model in which one thing goes wrong: a token of the prompt is read as another one, an entry of the state changes before a
// pass, or a token that is written is another one.
#pragma once

#include <qwengpu/launch/machine_model.hpp>

#include <cstddef>
#include <functional>
#include <limits>

namespace qwengpu::test {

template <class Model = machine_model<>>
struct faulty_model {
    using model_state = typename Model::state;
    static constexpr std::size_t never = std::numeric_limits<std::size_t>::max();

    const Model& model;
    std::size_t pass = never;      ///< counted from the one that answers `launch`
    std::size_t read_pass = never;  ///< counted from the first token of the prompt
    std::function<void(model_state&)> spoil_state = [](model_state&) {};
    std::function<text::token(text::token)> spoil_token = [](text::token t) { return t; };  ///< written in `pass`, or read in `read_pass`

    struct state {
        model_state inner;
        std::size_t passes = 0, reads = 0;
    };
    [[nodiscard]] state fresh() const { return {model.fresh()}; }
    void read(state& s, text::token t) const { model.read(s.inner, s.reads++ == read_pass ? spoil_token(t) : t); }
    [[nodiscard]] text::token next(state& s, text::token t, diff::pass_signals& seen) const {
        const bool now = s.passes++ == pass;
        if (now) spoil_state(s.inner);
        const auto said = model.next(s.inner, t, seen);
        return now ? spoil_token(said) : said;
    }
    [[nodiscard]] text::token next(state& s, text::token t) const {
        diff::pass_signals unseen;
        return next(s, t, unseen);
    }
    [[nodiscard]] diff::signal_layers signal_layers() const { return model.signal_layers(); }
};

}  // namespace qwengpu::test
