// SPDX-License-Identifier: MIT
// Stage 2, layers 11-13: the address and its guard, the word of global memory, and whether the access may be made.
#pragma once

#include <qwengpu/circuit/adder.hpp>
#include <qwengpu/stage/memory_fields.hpp>
#include <qwengpu/stage/plan.hpp>
#include <qwengpu/stage/signals.hpp>

#include <vector>

namespace qwengpu::stage {

namespace detail {

// The words of memory as one head; written when `addr` and a word are complete.
template <machine::sizes M>
word read_memory(network& net, const nn::shape& shape, int layer, const word& address, const linear& door, const signals& s) {
    const int index_bits = machine::bits_for(M.words);
    const word out = net.make_word("load.word", 32);
    const word written = {s.context.address.begin(), s.context.address.begin() + index_bits};
    memory head("memory", shape.key_dim, shape.value_dim);
    for (int row = 0; row < M.words; ++row) {
        const auto index = static_cast<unsigned>(row);
        head.write(row, all({s.context.memory_write, equals(written, index)}));
        head.read(row, all({door, equals(low_bits(address, index_bits), index)}));
    }
    hold_word(head, s.token, out);
    head.place(net, layer);
    return out;
}

}  // namespace detail

template <machine::sizes M>
void build_load(network& net, const nn::shape& shape, signals& s) {
    using machine::source;
    const memory_fields f(s.program.memory);
    auto sources = common_sources(s);
    sources.push_back(detail::from(source::t1, s.data.t1));
    const int decode = plan::load - 1, pick = plan::load, read = plan::load + 1, finish = plan::load + 2;
    const linear loads = equals(f.op, static_cast<unsigned>(machine::memory_op::load));
    const signal is_load = net.all_of(decode, "load.is", {loads});

    const word address = net.make_word("load.address", 32), instead = net.make_word("load.else", 32), guard = net.make_word("load.guard", 1);
    pick_source(net, pick, decode_sources(net, decode, "load.address", f.load_address, sources, loads), sources, address);
    pick_source(net, pick, decode_sources(net, decode, "load.else", f.load_else, sources, loads), sources, instead);
    pick_source(net, pick, decode_sources(net, decode, "load.guard", f.load_guard, sources, loads), sources, guard);

    const word loaded = detail::read_memory<M>(net, shape, read, address, is_load, s);
    const auto check = check_address<M>(net, shape, read, "load", address, is_load, s);
    const signal does = net.one_of(read, "load.does", {all({is_load, guard[0], f.load_sense}), all({is_load, no(guard[0]), no(f.load_sense)})});

    s.data.t2 = net.make_word("t2", 32);
    for (std::size_t i = 0; i < 32; ++i) {
        net.gate(finish, all({does, loaded[i]}), {{s.data.t2[i], 1.0F}});
        net.gate(finish, all({is_load, no(does), instead[i]}), {{s.data.t2[i], 1.0F}});
    }
    s.data.load_misaligned = net.all_of(finish, "load.trap.misaligned", {does, check.misaligned});
    s.data.load_outside = net.threshold(finish, "load.trap.outside", circuit::enabled(check.faults, all({does, no(check.misaligned)})), 1);
}

}  // namespace qwengpu::stage
