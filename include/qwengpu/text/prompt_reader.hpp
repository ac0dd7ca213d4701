// SPDX-License-Identifier: MIT
// A prompt read back into the launch it describes: the program, constants, memory with its owners, shared words, the shape.
#pragma once

#include <qwengpu/error.hpp>
#include <qwengpu/machine/encoding.hpp>
#include <qwengpu/machine/launch_image.hpp>
#include <qwengpu/text/spelling.hpp>
#include <qwengpu/text/vocabulary.hpp>
#include <qwengpu/text/words.hpp>

#include <fmt/format.h>
#include <map>
#include <span>

namespace qwengpu::text {

namespace detail {

/// Reads a prompt from its first token to `launch`.
template <machine::sizes M>
class prompt_reader {
    using V = vocabulary<M>;

public:
    explicit prompt_reader(std::span<const token> tokens) : tokens_(tokens) {}

    machine::launch_image<M> read() {
        for (auto t = take(); t.id != token_class::launch; t = take()) item(t);
        for (const auto& [id, groups] : groups_) add_block(id, groups);
        shape();
        return std::move(image_);
    }

private:
    [[nodiscard]] error complaint(std::string_view wanted) const {
        const auto found = at_ == 0 ? std::string("nothing") : spell<M>(tokens_[at_ - 1]);
        return {"text.prompt", fmt::format("token {} of the prompt is {}, where {} is wanted", at_, found, wanted)};
    }

    decoded_token take() {
        if (at_ == tokens_.size())
            throw error("text.prompt", fmt::format("the prompt ends after {} tokens, before `launch`", at_));
        const token id = tokens_[at_++];
        if (id >= V::size) throw error("text.prompt", fmt::format("token {} of the prompt, {}, is no token of this machine", at_, id));
        return V::decode(id);
    }

    std::uint32_t word() {
        word_reader<M> reader;
        for (;;) {
            const auto t = take();
            if (!reader.takes(t.id)) throw complaint("a word");
            if (const auto value = reader.take(t)) return *value;
        }
    }

    void item(const decoded_token& t) {
        if (t.id == token_class::constant) return machine::set_constant(image_, static_cast<int>(t.first), word());
        if (t.id == token_class::addr) return memory(t);
        if (t.id == token_class::prog) return group(t);
        if (t.id != token_class::start && t.id != token_class::fair && t.id != token_class::release) throw complaint("a constant, a group of the program, a word of memory or `launch`");
    }

    void memory(const decoded_token& t) {
        const auto window = static_cast<std::uint8_t>(t.second);
        if (window == machine::address::shared_window) return void(image_.shared[t.first] = {word(), window});
        if (window == 0 || window > machine::address::last_buffer_window) throw complaint("a word of a buffer (windows 1-27) or of shared memory (29)");
        image_.memory[t.first] = {word(), window};
        if (image_.buffers.size() < window) image_.buffers.resize(window);
        auto& place = image_.buffers[window - std::size_t{1}];
        if (place.words++ == 0) place = {window, static_cast<int>(t.first), 1};
    }

    void group(const decoded_token& t) {
        if (t.second >= machine::group_count) throw complaint("one of the six groups");
        std::uint64_t bits = 0;
        for (int part = 0; part < 3; ++part) {
            const auto lo = take();
            if (lo.id != token_class::lo) throw complaint("`lo`, 16 bits of a group");
            bits |= std::uint64_t{lo.first} << 16 * part;
        }
        groups_[t.first][t.second] = bits;
    }

    void add_block(std::uint32_t id, const machine::encoded_block& groups) {
        image_.program.blocks.resize(id, machine::no_block);
        image_.program.blocks.push_back(machine::decode<M>(groups));
    }

    void shape() {
        for (std::size_t i = 0; i < 3; ++i) {
            image_.grid[i] = image_.constants[machine::constant_row::nctaid + i].value;
            image_.block[i] = image_.constants[machine::constant_row::ntid + i].value;
        }
    }

    std::span<const token> tokens_;
    std::size_t at_ = 0;
    std::map<std::uint32_t, machine::encoded_block> groups_;
    machine::launch_image<M> image_;
};

}  // namespace detail

/// The launch of a prompt, without names and source lines. Error "text.prompt" names the token that does not fit.
template <machine::sizes M = machine::mission>
machine::launch_image<M> read_prompt(std::span<const token> prompt) {
    return detail::prompt_reader<M>(prompt).read();
}

}  // namespace qwengpu::text
