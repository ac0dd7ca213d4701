// SPDX-License-Identifier: MIT
// A stand-in for the layers: it is read a prompt like them, and answers with the emulator's tokens and signals, so that
// everything around a model can be tested without one. A token or signal can be spoilt on purpose.
#pragma once

#include <qwengpu/machine/emulator.hpp>
#include <qwengpu/text/prompt_reader.hpp>
#include <qwengpu/text/transcribe.hpp>

#include "support/state_keeper.hpp"

#include <functional>
#include <memory>
#include <vector>

namespace qwengpu::test {

template <machine::sizes M = machine::mission>
struct oracle_model {
    std::function<void(std::size_t pass, text::token& next)> spoil_token = [](std::size_t, text::token&) {};
    std::function<void(std::size_t pass, diff::pass_signals&)> spoil_signals = [](std::size_t, diff::pass_signals&) {};
    std::uint64_t records = 100000;

    /// A launch under way.
    struct running {
        machine::launch_image<M> image;
        state_keeper<M> keeper;
        text::transcript_reader<M> reader;
        std::vector<text::token> tokens;
        std::size_t passes = 0;

        explicit running(const std::vector<text::token>& prompt)
            : image(text::read_prompt<M>(prompt)), keeper(image), reader(image.program, keeper) {}
    };
    struct state {
        std::vector<text::token> prompt;
        std::shared_ptr<running> run;
    };

    [[nodiscard]] state fresh() const { return {}; }
    void read(state& s, text::token t) const { s.prompt.push_back(t); }

    [[nodiscard]] text::token next(state& s, text::token last, diff::pass_signals& seen) const {
        if (s.run == nullptr) begin(s, last);
        auto& r = *s.run;
        if (r.passes > 0) r.reader.read(r.tokens[r.passes - 1]);
        seen = pass_at(r.image.program, r.keeper, r.reader.place());
        spoil_signals(r.passes, seen);
        auto made = r.passes < r.tokens.size() ? r.tokens[r.passes] : text::vocabulary<M>::encode(text::token_class::hdr);
        spoil_token(r.passes++, made);
        return made;
    }
    [[nodiscard]] text::token next(state& s, text::token last) const {
        diff::pass_signals unseen;
        return next(s, last, unseen);
    }
    [[nodiscard]] diff::signal_layers signal_layers() const { return {6, 6, 6, 6, 6, 10, 13, 36, 40}; }

private:
    void begin(state& s, text::token last) const {
        read(s, last);
        s.run = std::make_shared<running>(s.prompt);
        text::transcriber<M> writer;
        machine::emulate(s.run->image, writer, records);
        s.run->tokens = writer.tokens();
    }
};

}  // namespace qwengpu::test
