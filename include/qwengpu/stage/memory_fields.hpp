// SPDX-License-Identifier: MIT
// The fields of the memory group, operands picked by them, and the check of an address against the owner of its word.
#pragma once

#include <qwengpu/stage/operands.hpp>
#include <qwengpu/stage/signals.hpp>
#include <qwengpu/stage/words.hpp>

#include <string>
#include <vector>

namespace qwengpu::stage {

/// Fields of group M (docs/machine.md, "Encoding").
struct memory_fields {
    word op, load_address, load_guard, load_else, store_address, store_data, cond;
    signal load_sense, store_guarded, sense;

    explicit memory_fields(const word& group)
        : op(cut(group, 0, 4)), load_address(cut(group, 4, 4)), load_guard(cut(group, 8, 4)), load_else(cut(group, 13, 4)),
          store_address(cut(group, 17, 4)), store_data(cut(group, 21, 4)), cond(cut(group, 26, 4)), load_sense(group[12]),
          store_guarded(group[25]), sense(group[30]) {}

    static word cut(const word& bits, std::ptrdiff_t first, std::ptrdiff_t count) { return {bits.begin() + first, bits.begin() + first + count}; }
};

/// One signal per source: the field names it, and `door` is 1 (level `layer`).
inline word decode_sources(network& net, int layer, const std::string& name, const word& field, const std::vector<operand_source>& sources, const linear& door) {
    word picks;
    for (const auto& source : sources) picks.push_back(net.all_of(layer, name + ".pick" + std::to_string(source.code), {equals(field, source.code), door}));
    return picks;
}

/// out += the picked source, its low `out.size()` bits (level `layer`).
inline void pick_source(network& net, int layer, const word& picks, const std::vector<operand_source>& sources, const word& out) {
    for (std::size_t k = 0; k < picks.size(); ++k) {
        for (std::size_t i = 0; i < out.size() && i < sources[k].bits.size(); ++i) net.gate(layer, all({picks[k], sources[k].bits[i]}), {{out[i], 1.0F}});
    }
}

/// What is wrong with an address, if anybody asks.
struct address_check {
    signal misaligned;
    signal faults;  ///< 1 or more: outside of every word that its window owns
};

namespace detail {

inline word low_bits(const word& address, int count) { return {address.begin() + 2, address.begin() + 2 + count}; }

}  // namespace detail

/// Reads the owner of the addressed word in the mixer of `layer` (a row per word, written by `addr`), and compares it with
/// the address's window in its MLP. The address is looked at only where `door` is 1.
template <machine::sizes M>
address_check check_address(network& net, const nn::shape& shape, int layer, const std::string& name, const word& address, const linear& door, const signals& s) {
    const int index_bits = machine::bits_for(M.words);
    memory head(name + ".owner", shape.key_dim, shape.value_dim);
    const word owner = net.make_word(name + ".owner", text::window_bits);
    for (int row = 0; row < M.words; ++row) {
        const auto index = static_cast<unsigned>(row);
        head.write(row, all({s.token.is(token_class::addr), equals(s.token.field(0, index_bits), index)}));
        head.read(row, all({door, equals(detail::low_bits(address, index_bits), index)}));
    }
    hold_bits(head, s.token.field(7, text::window_bits), owner);
    head.place(net, layer);

    address_check check{net.threshold(layer, name + ".misaligned", linear(address[0]) + linear(address[1]), 1), net.make(name + ".faults")};
    linear between, window;
    for (std::size_t i = static_cast<std::size_t>(2 + index_bits); i < 27; ++i) between += address[i];
    for (std::size_t i = 0; i < owner.size(); ++i) {
        window += address[27 + i];
        net.gate(layer, all({address[27 + i], no(owner[i])}), {{check.faults, 1.0F}});
        net.gate(layer, all({no(address[27 + i]), owner[i]}), {{check.faults, 1.0F}});
    }
    net.step(layer, between, 1, {{check.faults, 1.0F}});
    net.gate(layer, no(window), {{check.faults, 1.0F}});
    return check;
}

}  // namespace qwengpu::stage
