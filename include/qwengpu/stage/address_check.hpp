// SPDX-License-Identifier: MIT
// May a word be accessed? Its alignment, and whether its window owns it: the owner is a row per word of global memory,
// "declared" one per word of shared memory; local memory is open to blocks marked `private`.
#pragma once

#include <qwengpu/circuit/bit_counts.hpp>
#include <qwengpu/stage/signals.hpp>
#include <qwengpu/stage/windows.hpp>

#include <bit>
#include <string>

namespace qwengpu::stage {

/// An access that may be made.
struct access {
    word address;
    linear asked;        ///< 1: somebody wants to know
    linear whole, half;  ///< a word or a half word must be aligned
    linear is_private;
};

/// What is wrong with it.
struct address_check {
    signal misaligned;
    signal strangers;   ///< what speaks against an access of global memory
    signal own_memory;  ///< it is local or shared memory that is meant
    signal refusals;    ///< what speaks against any access or one of those

    /// 1 or more: out of bounds; up to 54.
    [[nodiscard]] linear outside() const { return linear(strangers) - 8.0 * linear(own_memory) + 16.0 * linear(refusals); }
};

namespace detail {

// The windows that own words of global memory, a row per word.
template <machine::sizes M>
word read_owner(network& net, const nn::shape& shape, int layer, const std::string& name, const access& a, const signals& s) {
    memory head(name + ".owner", shape.key_dim, shape.value_dim);
    const word owner = net.make_word(name + ".owner", text::window_bits);
    index_rows(head, M.words, s.write.owner, s.token.field(0, machine::bits_for(M.words)), a.asked, word_bits<M>(a.address));
    hold_bits(head, s.token.field(7, text::window_bits), owner);
    head.place(net, layer);
    return owner;
}

// Whether a word of shared memory was declared, a row per word.
template <machine::sizes M>
signal read_declared(network& net, const nn::shape& shape, int layer, const std::string& name, const access& a, const signals& s) {
    memory head(name + ".declared", shape.key_dim, shape.value_dim);
    const signal declared = net.make(name + ".declared");
    const linear declares = all({s.token.is(token_class::addr), equals(s.token.field(7, text::window_bits), shared_window)});
    const linear reads = all({a.asked, in_window(a.address, shared_window)});
    index_rows(head, M.words, declares, s.token.field(0, machine::bits_for(M.words)), reads, word_bits<M>(a.address));
    head.bit(linear(1.0), 0, declared);
    head.place(net, layer);
    return declared;
}

// 1 if a word's number is `local_words` or more; only the bits above the zeros that this number ends with can tell.
template <machine::sizes M>
void count_beyond_local(network& net, int layer, const word& address, const linear& local, signal refusals) {
    if constexpr (M.local_words < M.words) {
        constexpr auto zeros = M.local_words == 0 ? std::size_t{0} : static_cast<std::size_t>(std::countr_zero(static_cast<unsigned>(M.local_words)));
        const word bits = word_bits<M>(address);
        const linear digits = circuit::number(bits, zeros, bits.size() - zeros);
        net.step(layer, digits + 128.0 * (local - linear(1.0)), M.local_words >> zeros, {{refusals, 1.0F}});
    }
}

}  // namespace detail

/// Reads the tables in the mixer of `layer` and decides in its MLP.
template <machine::sizes M>
address_check check_address(network& net, const nn::shape& shape, int layer, const std::string& name, const access& a, const signals& s) {
    const word owner = detail::read_owner<M>(net, shape, layer, name, a, s);
    const signal declared = detail::read_declared<M>(net, shape, layer, name, a, s);
    const word window = window_of(a.address);
    const address_check check{net.make(name + ".misaligned"), net.make(name + ".strangers"), net.all_of(layer, name + ".own_memory", {is_own_memory(window)}),
                              net.make(name + ".refusals")};
    net.step(layer, circuit::enabled(linear(a.address[0]) + linear(a.address[1]), a.whole), 1, {{check.misaligned, 1.0F}});
    net.gate(layer, all({a.half, a.address[0]}), {{check.misaligned, 1.0F}});

    circuit::count_differences(net, layer, window, owner, check.strangers);
    net.gate(layer, no(circuit::sum(window)), {{check.strangers, 1.0F}});
    const linear local = in_window(a.address, local_window), shared = in_window(a.address, shared_window);
    linear between;
    for (std::size_t i = static_cast<std::size_t>(2 + machine::bits_for(M.words)); i < 27; ++i) between += a.address[i];
    net.step(layer, between, 1, {{check.refusals, 1.0F}});
    net.gate(layer, all({local, no(a.is_private)}), {{check.refusals, 1.0F}});
    detail::count_beyond_local<M>(net, layer, a.address, local, check.refusals);
    net.gate(layer, all({shared, no(declared)}), {{check.refusals, 1.0F}});
    return check;
}

}  // namespace qwengpu::stage
