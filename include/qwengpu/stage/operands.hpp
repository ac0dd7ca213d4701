// SPDX-License-Identifier: MIT
// The operand sources of a stage: ports, the stage's immediate, its word of the constants, the special register and
// what earlier stages made.
#pragma once

#include <qwengpu/circuit/alu.hpp>
#include <qwengpu/machine/block.hpp>
#include <qwengpu/stage/signals.hpp>
#include <qwengpu/stage/words.hpp>

#include <string>
#include <vector>

namespace qwengpu::stage {

using circuit::operand_source;

namespace detail {

inline operand_source from(machine::source code, word bits) { return {static_cast<unsigned>(code), std::move(bits)}; }

// 16 bits, sign-extended: the highest one stands for all above it.
inline word extended(const word& imm) {
    word bits = imm;
    bits.resize(32, imm.back());
    return bits;
}

}  // namespace detail

/// Zero (which has no bits, but can be subtracted), ports and special register: what every stage may use.
inline std::vector<operand_source> common_sources(const signals& s) {
    using machine::source;
    std::vector<operand_source> list{detail::from(source::zero, {})};
    const source ports[] = {source::r0, source::r1, source::r2, source::r3};
    for (std::size_t p = 0; p < 4; ++p) list.push_back(detail::from(ports[p], s.data.port[p]));
    list.push_back(detail::from(source::special, s.data.special));
    return list;
}

/// The constants as one head: a row per word; the row to read is in the low bits of the stage's immediate.
template <machine::sizes M>
word read_constant(network& net, const nn::shape& shape, int layer, const std::string& name, const word& group, const signals& s) {
    const word out = net.make_word(name, 32);
    const circuit::alu_fields fields(group);
    const word row_field(fields.imm.begin(), fields.imm.begin() + machine::bits_for(M.constants));
    memory head(name, shape.key_dim, shape.value_dim);
    index_rows(head, M.constants, s.write.constant, s.write.constant_row, s.context.hdr, row_field);
    hold_word(head, s.token, out);
    head.place(net, layer);
    return out;
}

/// Layers of an ALU stage: `decode` picks the controls, `pick` the operands, the results come in `pick` + 1 .. + 3.
struct alu_layers {
    int decode, constant, pick;
};

/// What an ALU stage has made of its group.
struct alu_stage {
    circuit::alu_controls controls;
    circuit::alu_operands operands;
    word result;
};

/// An ALU stage with its constant; adds the results of operations 1 to 15 to its result.
template <machine::sizes M>
alu_stage build_alu_stage(network& net, const nn::shape& shape, const alu_layers& at, const std::string& name, const word& group,
                          std::vector<operand_source> sources, const signals& s) {
    using machine::source;
    const circuit::alu_fields fields(group);
    sources.push_back(detail::from(source::imm, detail::extended(fields.imm)));
    sources.push_back(detail::from(source::constant, read_constant<M>(net, shape, at.constant, name + ".constant", group, s)));
    alu_stage stage;
    stage.controls = circuit::decode_alu(net, at.decode, name, group, sources);
    stage.operands = circuit::pick_operands(net, at.pick, name, stage.controls, sources);
    stage.result = net.make_word(name, 32);
    circuit::alu(net, at.pick + 1, name, group, stage.controls, stage.operands, stage.result);
    return stage;
}

}  // namespace qwengpu::stage
