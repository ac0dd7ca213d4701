// SPDX-License-Identifier: MIT
// Random legal blocks. A block grows stage by stage, reading registers, constants, special registers and the values made
// before; whatever would make it illegal is taken out in the end.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include <qwengpu/machine/block.hpp>
#include <qwengpu/machine/instruction_table.hpp>
#include <qwengpu/machine/legality.hpp>
#include <qwengpu/machine/sizes.hpp>

#include "support/choices.hpp"

namespace qwengpu::test {

/// What random blocks may name.
struct random_names {
    std::vector<int> readable{0};    ///< registers to read
    std::vector<int> writable{};     ///< registers to write
    std::vector<int> constants{0};   ///< rows to read
    int special_percent = 20;        ///< how often a source is the special register
    bool mix_ports = false;          ///< ports in any order, with gaps; else in the order of their first use
    bool floats = true;              ///< whether float instructions are among them
};

template <machine::sizes M>
class random_block {
public:
    random_block(choices& choose, const random_names& names) : choose_(choose), names_(names) {}

    machine::machine_block block{};

    /// The source for a register: its port, a free one, or zero if all ports are taken.
    machine::source read(int reg) {
        for (std::size_t i = 0; i < ports_; ++i)
            if (block.ports[i] == reg) return port(i);
        if (ports_ == block.ports.size()) return machine::source::zero;
        block.ports[ports_] = static_cast<std::uint8_t>(reg);
        return port(ports_++);
    }

    machine::source read(machine::special_register which) {
        if (block.special != machine::special_register::none && block.special != which) return machine::source::zero;
        block.special = which;
        return machine::source::special;
    }

    /// Any source that the memory stage, or an instruction of `stage`, may read. 5 is after stage 4.
    machine::source any_source(int stage, bool alu) {
        if (choose_.percent(names_.special_percent)) return any_special();
        const int kind = choose_.below(alu ? 12 : 8);
        if (kind < 1) return machine::source::zero;
        if (kind < 4 && made(stage)) return made_value(stage);
        if (kind < 8) return any_register();
        return kind < 10 ? machine::source::imm : machine::source::constant;
    }

    /// A random instruction for stage 1, 3 or 4; `stage3` allows those that only stage 3 has.
    machine::alu_instruction any_instruction(int stage) {
        const machine::instruction_row& row = any_row(stage == 3);
        machine::alu_instruction i{row.op};
        i.mod = any_mod(row);
        const std::uint8_t used = machine::operands_of(i);
        if (used & machine::operand_a) i.a = any_source(stage, true);
        if (used & machine::operand_b) i.b = any_source(stage, true);
        if (used & machine::operand_c) i.c = any_source(stage, true);
        i.imm = immediate(i);
        return i;
    }

    /// Fills what is still empty, gives values registers, and takes out what is not legal.
    machine::machine_block finish() {
        if (block.s1.op == machine::alu_op::none && choose_.percent(60)) block.s1 = any_instruction(1);
        if (block.s3.op == machine::alu_op::none && choose_.percent(70)) block.s3 = any_instruction(3);
        if (block.s4.op == machine::alu_op::none && choose_.percent(60)) block.s4 = any_instruction(4);
        destinations();
        tidy();
        if (names_.mix_ports) mix_ports();
        return block;
    }

private:
    static machine::source port(std::size_t i) {
        return static_cast<machine::source>(static_cast<std::size_t>(machine::source::r0) + i);
    }

    template <class T>
    const T& any_of(const std::vector<T>& from) {
        return from[static_cast<std::size_t>(choose_.below(static_cast<int>(from.size())))];
    }

    machine::source any_register() {
        if (ports_ > 0 && choose_.percent(40)) return port(static_cast<std::size_t>(choose_.below(static_cast<int>(ports_))));
        return read(any_of(names_.readable));
    }

    machine::source any_special() {
        if (block.special == machine::special_register::none)
            block.special = static_cast<machine::special_register>(choose_.between(1, 6));
        return machine::source::special;
    }

    /// Whether anything is made before `stage`, and one of those values.
    bool made(int stage) const { return !values_before(stage).empty(); }

    std::vector<machine::source> values_before(int stage) const {
        const std::array<bool, 4> there{block.s1.op != machine::alu_op::none, block.mem.op != machine::memory_op::none,
                                        block.s3.op != machine::alu_op::none, block.s4.op != machine::alu_op::none};
        std::vector<machine::source> values;
        for (int i = 0; i < 4 && i + 1 < stage; ++i)
            if (there[static_cast<std::size_t>(i)])
                values.push_back(static_cast<machine::source>(static_cast<int>(machine::source::t1) + i));
        return values;
    }

    machine::source made_value(int stage) { return any_of(values_before(stage)); }

    const machine::instruction_row& any_row(bool third) {
        for (;;) {
            const auto& row = machine::instruction_table[static_cast<std::size_t>(
                choose_.between(1, static_cast<int>(machine::instruction_table.size()) - 1))];
            const bool is_float = row.unit == machine::unit::floats || row.op == machine::alu_op::fcmp || row.op == machine::alu_op::fmin || row.op == machine::alu_op::fmax;
            if ((third || !row.only_stage3) && (names_.floats || !is_float)) return row;
        }
    }

    std::uint8_t any_mod(const machine::instruction_row& row) {
        unsigned m = choose_.word() & row.mod_bits;
        if (row.op == machine::alu_op::add && (m & machine::mod::add_subtract)) m &= ~unsigned{machine::mod::add_shift};
        const bool compares = machine::compares(row.op);
        if (compares && (m & machine::mod::cmp_combine) == 0) m &= ~unsigned{machine::mod::cmp_not_c};
        if (row.op == machine::alu_op::f2i && (m & machine::mod::wide) == 0) m &= ~unsigned{machine::mod::high_word};
        return static_cast<std::uint8_t>(m);
    }

    std::uint16_t immediate(const machine::alu_instruction& i) {
        const auto names = [&i](machine::source s) { return i.a == s || i.b == s || i.c == s; };
        if (names(machine::source::constant)) return static_cast<std::uint16_t>(any_of(names_.constants));
        if (!names(machine::source::imm)) return 0;
        return static_cast<std::uint16_t>(choose_.percent(50) ? choose_.interesting_word() : static_cast<std::uint32_t>(choose_.below(34)));
    }

    void destinations() {
        const auto first = static_cast<std::size_t>(choose_.below(4));
        for (std::size_t turn = 0; turn < 4; ++turn) {
            const std::size_t i = (first + turn) % 4;
            if (block.dest[i] != 0 || names_.writable.empty() || !choose_.percent(i == 1 ? 70 : 45)) continue;
            if (i == 1 && block.mem.op == machine::memory_op::none && choose_.percent(95)) continue;
            const auto reg = static_cast<std::uint8_t>(any_of(names_.writable));
            bool taken = false;
            for (const std::uint8_t other : block.dest) taken = taken || other == reg;
            if (!taken) block.dest[i] = reg;
        }
    }

    bool legal() const { return machine::violations<M>(block).empty(); }

    /// Names nothing that is not used; then gives up writes, the load's last, until the block is legal.
    void tidy() {
        const auto used = [this](machine::source s) { return reads(s); };
        for (std::size_t i = 0; i < 4; ++i)
            if (!used(port(i))) block.ports[i] = 0;
        if (!used(machine::source::special)) block.special = machine::special_register::none;
        for (const std::size_t i : {3u, 2u, 0u, 1u})
            if (!legal()) block.dest[i] = 0;
        if (!legal()) block = machine::machine_block{};
    }

    bool reads(machine::source s) {
        bool found = false;
        for_each_source([&](machine::source other) { found = found || other == s; });
        return found || (s == machine::source::r0 && machine::is_collective(block.mem.op));
    }

    template <class F>
    void for_each_source(F&& f) {
        machine::memory_instruction& m = block.mem;
        for (machine::alu_instruction* i : {&block.s1, &block.s3, &block.s4})
            for (machine::source* s : {&i->a, &i->b, &i->c}) f(*s);
        for (machine::source* s : {&m.load_address, &m.load_guard, &m.load_else, &m.store_address, &m.store_data, &m.cond}) f(*s);
    }

    /// The register of a collective stays R0.
    void mix_ports() {
        std::array<std::size_t, 4> to{0, 1, 2, 3};
        const std::size_t first = machine::is_collective(block.mem.op) ? 1 : 0;
        for (std::size_t i = 3; i > first; --i)
            std::swap(to[i], to[first + static_cast<std::size_t>(choose_.below(static_cast<int>(i - first) + 1))]);
        const auto ports = block.ports;
        for (std::size_t i = 0; i < 4; ++i) block.ports[to[i]] = ports[i];
        for_each_source([&](machine::source& s) {
            if (s >= machine::source::r0 && s <= machine::source::r3)
                s = port(to[static_cast<std::size_t>(s) - static_cast<std::size_t>(machine::source::r0)]);
        });
    }

    choices& choose_;
    const random_names& names_;
    std::size_t ports_ = 0;
};

}  // namespace qwengpu::test
