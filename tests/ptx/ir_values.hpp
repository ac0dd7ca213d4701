// SPDX-License-Identifier: MIT
// For tests of the compiler's own form: makes small functions by hand, and works out values with given words for the loads.
#pragma once

#include <cstdint>
#include <map>

#include <qwengpu/machine/instruction_table.hpp>
#include <qwengpu/ptx/ir.hpp>

namespace qwengpu::test {

namespace ir = ptx::ir;

/// A function of one block whose unknowns are loads from different addresses.
class ir_maker {
public:
    ir_maker() { f.blocks.resize(1), f.sources.resize(1), f.pointers = {true}; }

    ir::operand unknown() {
        ir::instruction i;
        i.kind = ir::made_by::load;
        i.a = ir::parameter_word(0, 0);
        return put(i);
    }
    ir::operand make(ir::alu_op op, ir::operand a, ir::operand b = {}, ir::operand c = {}, unsigned mod = 0) {
        ir::instruction i;
        i.op = op;
        i.mod = static_cast<std::uint8_t>(mod);
        i.a = a;
        i.b = b;
        i.c = c;
        return put(i);
    }
    ir::operand put(const ir::instruction& i) {
        f.blocks[0].body.push_back(f.add(i));
        return ir::value(f.blocks[0].body.back());
    }
    /// Makes `o` the data of a store, so that it is needed.
    void use(ir::operand o) {
        ir::instruction i;
        i.kind = ir::made_by::store;
        i.a = ir::parameter_word(0, 0);
        i.b = o;
        put(i);
    }

    ir::function f;
};

/// What an operand is, by the machine's table, where loads read these words.
inline std::uint32_t value_of(const ir::function& f, const ir::operand& o, const std::map<ir::value_id, std::uint32_t>& loads) {
    if (!o.is_value()) return o.bits;
    const ir::instruction& i = f.at(o.bits);
    if (i.kind == ir::made_by::load) return loads.at(o.bits);
    return machine::evaluate(i.op, value_of(f, i.a, loads), value_of(f, i.b, loads), value_of(f, i.c, loads), i.mod);
}

}  // namespace qwengpu::test
