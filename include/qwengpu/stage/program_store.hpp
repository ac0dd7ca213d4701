// SPDX-License-Identifier: MIT
// The program in DeltaNet state: a group of 48 bits is one row; block b is row b mod 128 of head b / 128. It is written
// at the third `lo` after `prog(block, group)`, whose payload the convolution still sees.
#pragma once

#include <qwengpu/machine/block.hpp>
#include <qwengpu/stage/plan.hpp>
#include <qwengpu/stage/signals.hpp>
#include <qwengpu/stage/words.hpp>

#include <string>

namespace qwengpu::stage {

namespace detail {

inline void hold_group(memory& head, const inputs& token, const word& out) {
    for (int part = 0; part < 3; ++part) {
        for (int i = 0; i < 16; ++i) {
            const auto bit = static_cast<std::size_t>(i);
            head.rails(all({token.is(token_class::lo), token.low[bit]}), all({token.is(token_class::lo), token.low_zero[bit]}), 2 - part,
                       out[static_cast<std::size_t>(16 * part + i)]);
        }
    }
    head.holds(machine::group_bits);
}

}  // namespace detail

/// The group of the record's block, fetched in the mixer of `layer`.
template <machine::sizes M>
word fetch_group(network& net, const nn::shape& shape, int layer, const std::string& name, machine::group group, const signals& s) {
    const word out = net.make_word(name, machine::group_bits);
    const word written = s.token.field(0, machine::bits_for(M.blocks));
    const word group_field = s.token.field(10, 3);
    const int rows = shape.key_dim < M.blocks ? shape.key_dim : M.blocks;
    for (int first = 0; first < M.blocks; first += rows) {
        memory head("program." + name + "[" + std::to_string(first) + "...]", shape.key_dim, shape.value_dim);
        for (int row = 0; row < rows; ++row) {
            const auto block = static_cast<unsigned>(first + row);
            head.write(row, all({s.token.is(token_class::prog), equals(group_field, static_cast<unsigned>(group)), equals(written, block)}), 3);
            head.read(row, all({s.context.hdr, equals(s.context.block, block)}));
        }
        detail::hold_group(head, s.token, out);
        head.place(net, layer);
    }
    return out;
}

}  // namespace qwengpu::stage
