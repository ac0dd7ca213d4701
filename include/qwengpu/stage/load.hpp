// SPDX-License-Identifier: MIT
// Stage 2, layers 11-13: the address and its guard, the word of global, shared or local memory, the part of it that was
// asked for, and whether the access may be made. Collectives are in stage/collectives.hpp.
#pragma once

#include <qwengpu/circuit/adder.hpp>
#include <qwengpu/stage/address_check.hpp>
#include <qwengpu/stage/collectives.hpp>
#include <qwengpu/stage/memories.hpp>
#include <qwengpu/stage/memory_fields.hpp>
#include <qwengpu/stage/plan.hpp>
#include <qwengpu/stage/signals.hpp>

#include <vector>

namespace qwengpu::stage {

namespace detail {

/// What is loaded, decoded in layer 10.
struct load_kind {
    signal any;                               ///< a load, no collective
    signal word, byte, half;                  ///< what t2 takes of the word
    signal signed_byte, signed_half;
    signal aligned_to_word, aligned_to_half;  ///< what must be
};

inline load_kind decode_load(network& net, int layer, const memory_fields& f) {
    using machine::memory_op;
    auto one_of = [&](const char* name, const std::vector<memory_op>& ops) {
        std::vector<linear> terms;
        for (const auto op : ops) terms.push_back(f.is(op));
        return net.one_of(layer, name, terms);
    };
    load_kind k;
    k.any = net.threshold(layer, "load.is", linear(f.op[0]) + linear(f.op[1]) + linear(f.op[2]) - 8.0 * linear(f.op[3]), 1);
    k.word = one_of("load.whole", {memory_op::load, memory_op::load_byte_word, memory_op::load_half_word});
    k.byte = one_of("load.byte", {memory_op::load_u8, memory_op::load_s8});
    k.half = one_of("load.half", {memory_op::load_u16, memory_op::load_s16});
    k.signed_byte = one_of("load.signed_byte", {memory_op::load_s8});
    k.signed_half = one_of("load.signed_half", {memory_op::load_s16});
    k.aligned_to_word = one_of("load.aligned_to_word", {memory_op::load});
    k.aligned_to_half = one_of("load.aligned_to_half", {memory_op::load_u16, memory_op::load_s16, memory_op::load_half_word});
    return k;
}

// Layer 13: the word, or the byte or half word that the address names, zero- or sign-extended.
inline void extract(network& net, int layer, const load_kind& k, signal does, const word& address, const word& loaded, const word& out) {
    auto part = [&](signal kind, signal is_signed, const linear& here, std::size_t first, std::size_t size) {
        for (std::size_t i = 0; i < size; ++i) net.gate(layer, all({does, kind, here, loaded[first + i]}), {{out[i], 1.0F}});
        circuit::outputs above;
        for (std::size_t i = size; i < 32; ++i) above.emplace_back(out[i], 1.0F);
        net.gate(layer, all({does, is_signed, here, loaded[first + size - 1]}), above);
    };
    for (std::size_t i = 0; i < 32; ++i) net.gate(layer, all({does, k.word, loaded[i]}), {{out[i], 1.0F}});
    for (unsigned b = 0; b < 4; ++b) part(k.byte, k.signed_byte, equals({address[0], address[1]}, b), 8 * b, 8);
    for (unsigned h = 0; h < 2; ++h) part(k.half, k.signed_half, equals({address[1]}, h), 16 * h, 16);
}

}  // namespace detail

template <machine::sizes M>
void build_load(network& net, const nn::shape& shape, signals& s) {
    using machine::source;
    const memory_fields f(s.program.memory);
    auto sources = common_sources(s);
    sources.push_back(detail::from(source::t1, s.data.t1));
    const int decode = plan::load - 1, pick = plan::load, read = plan::load + 1, finish = plan::load + 2;
    const auto kind = detail::decode_load(net, decode, f);

    const word address = net.make_word("load.address", 32), instead = net.make_word("load.else", 32), guard = net.make_word("load.guard", 1);
    pick_source(net, pick, decode_sources(net, decode, "load.address", f.load_address, sources), sources, address);
    pick_source(net, pick, decode_sources(net, decode, "load.else", f.load_else, sources), sources, instead);
    pick_source(net, pick, decode_sources(net, decode, "load.guard", f.load_guard, sources), sources, guard);

    const word loaded = read_memories<M>(net, shape, read, address, kind.any, s);
    const auto check = check_address<M>(net, shape, read, "load", {address, kind.any, kind.aligned_to_word, kind.aligned_to_half, f.is_private}, s);
    const signal does = net.one_of(read, "load.does", {all({kind.any, guard[0], f.load_sense}), all({kind.any, no(guard[0]), no(f.load_sense)})});

    s.data.t2 = net.make_word("t2", 32);
    detail::extract(net, finish, kind, does, address, loaded, s.data.t2);
    for (std::size_t i = 0; i < 32; ++i) net.gate(finish, all({kind.any, no(does), instead[i]}), {{s.data.t2[i], 1.0F}});
    build_collectives<M>(net, decode, read, f, address, s, s.data.t2);
    s.data.load_misaligned = net.all_of(finish, "load.trap.misaligned", {does, check.misaligned});
    s.data.load_outside = net.threshold(finish, "load.trap.outside", circuit::enabled(check.outside(), all({does, no(check.misaligned)})), 1);
}

}  // namespace qwengpu::stage
