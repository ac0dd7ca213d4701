// SPDX-License-Identifier: MIT
// The channels of an embedding row: the constants, the token's class (one-hot), and its payload on two rails per
// bit. The next token is written into the same channels, so embedding and head are one tied matrix.
#pragma once

#include <qwengpu/circuit/assemble.hpp>
#include <qwengpu/circuit/network.hpp>
#include <qwengpu/nn/shape.hpp>
#include <qwengpu/text/vocabulary.hpp>

#include <array>
#include <string>
#include <vector>

namespace qwengpu::stage {

using circuit::linear;
using circuit::network;
using circuit::signal;
using circuit::word;
using text::token_class;

/// Places of the embedding's channels for a shape.
struct code_channels {
    circuit::constant_channels constants;
    int first_class, low, low_zero, high, high_zero, end;

    explicit code_channels(const nn::shape& shape)
        : constants(shape), first_class(constants.count()),
          low(first_class + text::token_class_count), low_zero(low + 16), high(low + 32), high_zero(low + 48), end(low + 64) {}
};

/// The signals of the token that is being read.
struct inputs {
    std::array<signal, text::token_class_count> classes;
    word low, low_zero, high, high_zero;  ///< 16 bits each: a bit is 1; a bit is known to be 0

    inputs(network& net, const nn::shape& shape) {
        const code_channels at(shape);
        for (int c = 0; c < text::token_class_count; ++c)
            classes[static_cast<std::size_t>(c)] = net.input("token." + std::string(text::token_classes<>[static_cast<std::size_t>(c)].name), at.first_class + c);
        auto rails = [&](const char* name, int first) {
            word bits;
            for (int i = 0; i < 16; ++i) bits.push_back(net.input(name + ("[" + std::to_string(i) + "]"), first + i));
            return bits;
        };
        low = rails("token.low", at.low);
        low_zero = rails("token.low.zero", at.low_zero);
        high = rails("token.high", at.high);
        high_zero = rails("token.high.zero", at.high_zero);
    }

    [[nodiscard]] signal is(token_class c) const { return classes[static_cast<std::size_t>(c)]; }
    /// 1 if the token is of one of these classes.
    [[nodiscard]] linear is_any(const std::vector<token_class>& some) const {
        linear total;
        for (const auto c : some) total += is(c);
        return total;
    }
    /// Payload bits [first, first + count).
    [[nodiscard]] word field(int first, int count) const { return {low.begin() + first, low.begin() + first + count}; }
    /// The token completes a word.
    [[nodiscard]] linear completes_word() const { return is_any({token_class::short_word, token_class::hi}); }
};

}  // namespace qwengpu::stage
