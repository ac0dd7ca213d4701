// SPDX-License-Identifier: MIT
// An observer that writes the tokens a model would write: the transcript of an emulated launch, without its prompt.
#pragma once

#include <qwengpu/machine/observer.hpp>
#include <qwengpu/text/vocabulary.hpp>
#include <qwengpu/text/words.hpp>

#include <cstdint>
#include <vector>

namespace qwengpu::text {

/// Collects the tokens of a launch; what follows `launch`, up to and including `end`.
template <machine::sizes M = machine::mission>
class transcriber : public machine::observer {
public:
    [[nodiscard]] const std::vector<token>& tokens() const { return tokens_; }

    void cta(const machine::extent& ctaid) override {
        put(token_class::cta);
        for (const auto coordinate : ctaid) put_word<M>(tokens_, coordinate);
    }
    void start(int warp, machine::lane_mask mask) override { put(token_class::start, mask, warp); }
    void fair(int lane) override { put(token_class::fair, lane); }
    void mask(int warp, machine::lane_mask mask) override { put(token_class::mask, mask, warp); }
    void release(int barrier, int phase) override { put(token_class::release, barrier, phase); }
    void record(int warp, int block, machine::lane_mask) override { put(token_class::hdr, block, warp); }
    void all() override { put(token_class::all); }
    void branch(int, bool taken) override { put(token_class::br, taken); }
    void store(int, int window, int word, std::uint32_t value) override {
        put(token_class::addr, word, window);
        put_word<M>(tokens_, value);
    }
    void skip(int) override { put(token_class::skip); }
    void write(int, int, int, std::uint32_t value) override { put_word<M>(tokens_, value); }
    void trap(const machine::trap& what) override { put(token_class::trap, static_cast<int>(what.kind)); }
    void end() override { put(token_class::end); }

private:
    void put(token_class c, int first = 0, int second = 0) {
        tokens_.push_back(vocabulary<M>::encode(c, static_cast<std::uint32_t>(first), static_cast<std::uint32_t>(second)));
    }

    std::vector<token> tokens_;
};

}  // namespace qwengpu::text
