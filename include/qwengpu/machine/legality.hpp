// SPDX-License-Identifier: MIT
// Which blocks are legal (docs/machine.md, "Legal blocks"): every violation in plain words. What a block does not use must
// be zero in it, so that a block has one form only and decoding can tell damage.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include <qwengpu/error.hpp>
#include <qwengpu/machine/block.hpp>
#include <qwengpu/machine/dependencies.hpp>
#include <qwengpu/machine/instruction_table.hpp>
#include <qwengpu/machine/program.hpp>
#include <qwengpu/machine/sizes.hpp>

namespace qwengpu::machine {

namespace detail {

/// The bit of a source in a set of sources.
constexpr unsigned bit_of(source s) { return 1u << (static_cast<unsigned>(s) & 31u); }

/// Gathers the violations of one block. `read` is the set of sources that something legal reads.
template <sizes M>
class legality_check {
public:
    explicit legality_check(const machine_block& block) : b_(block) {}

    std::vector<std::string> run() {
        if (!b_.valid) return b_ == no_block ? found_ : std::vector<std::string>{"a block that is not valid says something"};
        alu("stage 1", b_.s1, false, sources_from_stage(1));
        load();
        alu("stage 3", b_.s3, true, sources_from_stage(3));
        alu("stage 4", b_.s4, false, sources_from_stage(4));
        store_and_branch();
        barrier();
        lane_major();
        ports();
        destinations();
        targets();
        if (found_.empty()) order();
        return found_;
    }

private:
    void say(std::string what) { found_.push_back(std::move(what)); }

    /// Sources of the memory stage's fields and of the ALU stages that exist when stage `stage` runs.
    static constexpr unsigned sources_from_stage(int stage) {
        unsigned set = bit_of(source::zero) | bit_of(source::r0) | bit_of(source::r1) | bit_of(source::r2) |
                       bit_of(source::r3) | bit_of(source::special);
        for (int made = 1; made < stage; ++made)
            set |= bit_of(source::t1) << (made - 1);
        return set;
    }

    void operand(const std::string& who, source s, bool used, unsigned allowed) {
        if (!used && s != source::zero) return say(who + " is not used and must be zero");
        if (s > source::t4) return say(who + " names no source (" + std::to_string(static_cast<int>(s)) + ")");
        if (((allowed >> static_cast<unsigned>(s)) & 1u) == 0) return say(who + " is not available in that stage");
        read_ |= bit_of(s);
    }

    void alu(const std::string& stage, const alu_instruction& i, bool third, unsigned made) {
        const instruction_row* row = find_instruction(i.op);
        if (row == nullptr) return say(stage + ": no instruction has op " + std::to_string(static_cast<int>(i.op)));
        const std::string who = stage + ": " + std::string(row->name);
        if (row->only_stage3 && !third) say(who + " works in stage 3 only");
        const unsigned allowed = made | bit_of(source::imm) | bit_of(source::constant);
        const std::uint8_t used = operands_of(i);
        operand(who + ": operand a", i.a, used & operand_a, allowed);
        operand(who + ": operand b", i.b, used & operand_b, allowed);
        operand(who + ": operand c", i.c, used & operand_c, allowed);
        modifiers(who, i, *row);
        immediate(who, i);
    }

    void modifiers(const std::string& who, const alu_instruction& i, const instruction_row& row) {
        if ((i.mod & ~row.mod_bits) != 0) say(who + ": mod has bits that mean nothing");
        if (i.op == alu_op::add && (i.mod & mod::add_subtract) && (i.mod & mod::add_shift))
            say(who + ": a difference has no shift");
        if (compares(i.op) && (i.mod & mod::cmp_combine) == 0 && (i.mod & mod::cmp_not_c))
            say(who + ": inverts operand c but does not combine with it");
        if (i.op == alu_op::f2i && (i.mod & mod::high_word) && !(i.mod & mod::wide)) say(who + ": 32 bits have no high word");
    }

    void immediate(const std::string& who, const alu_instruction& i) {
        const auto names = [&i](source s) { return i.a == s || i.b == s || i.c == s; };
        if (i.imm != 0 && !names(source::imm) && !names(source::constant)) say(who + ": imm is not used and must be 0");
        if (names(source::constant) && (i.imm & 0x7f) >= M.constants) say(who + ": there is no such row of constants");
    }

    void load() {
        const memory_instruction& m = b_.mem;
        const bool here = is_load(m.op);
        if (static_cast<int>(m.op) >= memory_op_count) say("load: no memory operation has that number");
        const unsigned made = sources_from_stage(2);
        operand("load: address", m.load_address, here || m.op == memory_op::shuffle, made);
        operand("load: guard", m.load_guard, here, made);
        operand("load: else", m.load_else, here, made);
        if (!here && m.op != memory_op::ballot && m.load_sense) say("load: sense is not used and must be 0");
        if (is_collective(m.op)) read_ |= bit_of(source::r0);
        if (is_collective(m.op) && b_.ports[0] != 0)
            for (std::size_t i = 0; i < b_.dest.size(); ++i)
                if (b_.dest[i] == b_.ports[0]) say("D" + std::to_string(i + 1) + " writes the register that the collective reads");
    }

    void store_and_branch() {
        const memory_instruction& m = b_.mem;
        const unsigned made = sources_from_stage(5);
        operand("store: address", m.store_address, b_.has_store, made);
        operand("store: data", m.store_data, b_.has_store, made);
        if (m.store_guarded && !b_.has_store) say("store: guarded, but there is no store");
        const bool condition = b_.has_branch || m.store_guarded;
        operand("condition", m.cond, condition, made);
        if (!condition && m.sense) say("condition: sense is not used and must be 0");
        if (m.store_size > access_size::byte) say("store: there is no such size");
        if (!b_.has_store && m.store_size != access_size::word) say("store: size is not used and must be 0");
        if (m.is_private && !b_.has_store && !is_load(m.op)) say("private, but there is no load and no store");
    }

    void barrier() {
        const memory_instruction& m = b_.mem;
        if (!m.barrier && (m.barrier_id != 0 || m.barrier_count != 0)) say("barrier: id and count are not used and must be 0");
        if (!m.barrier) return;
        if (m.barrier_id >= M.barriers) say("barrier: there is no barrier " + std::to_string(m.barrier_id));
        if (m.barrier_count > 15) say("barrier: a count has 4 bits");
        if (b_.has_branch) say("a block with a barrier has no branch");
        if (b_.next == M.exit_block()) say("a block with a barrier does not go to exit; let it go to an empty block that does");
    }

    void lane_major() {
        if (!b_.lane_major) return;
        const memory_instruction& m = b_.mem;
        if (!loads_and_stores(b_) || m.load_address != m.store_address)
            say("lane-major, but it does not load and store one word");
        if (b_.has_branch) say("a lane-major block has no branch");
        const auto written = std::count_if(b_.dest.begin(), b_.dest.end(), [](std::uint8_t d) { return d != 0; });
        if (written > 1) say("a lane-major block writes one register at most");
    }

    bool reads(source s) const { return (read_ & bit_of(s)) != 0; }

    void ports() {
        for (std::size_t i = 0; i < b_.ports.size(); ++i) {
            const std::string who = "port R" + std::to_string(i);
            if (b_.ports[i] >= M.registers) say(who + ": there is no register " + std::to_string(b_.ports[i]));
            if (b_.ports[i] != 0 && !reads(static_cast<source>(static_cast<std::size_t>(source::r0) + i)))
                say(who + " is not used and must name register 0");
        }
        if (b_.special > special_register::thread) say("special: there is no such special register");
        if ((b_.special != special_register::none) != reads(source::special))
            say(reads(source::special) ? "special is read but none is named" : "special is not used and must be none");
        if (reads(source::t1) && b_.s1.op == alu_op::none) say("t1 is read but stage 1 has no instruction");
        if (reads(source::t2) && b_.mem.op == memory_op::none) say("t2 is read but stage 2 does nothing");
        if (reads(source::t3) && b_.s3.op == alu_op::none) say("t3 is read but stage 3 has no instruction");
        if (reads(source::t4) && b_.s4.op == alu_op::none) say("t4 is read but stage 4 has no instruction");
    }

    void destinations() {
        for (std::size_t i = 0; i < b_.dest.size(); ++i) {
            const std::string who = "D" + std::to_string(i + 1);
            if (b_.dest[i] >= M.registers) say(who + ": there is no register " + std::to_string(b_.dest[i]));
            for (std::size_t j = 0; j < i; ++j)
                if (b_.dest[i] != 0 && b_.dest[i] == b_.dest[j])
                    say(who + " writes the same register as D" + std::to_string(j + 1));
        }
    }

    void targets() {
        if (b_.next >= M.blocks) say("next: there is no block " + std::to_string(b_.next));
        if (b_.taken >= M.blocks) say("taken: there is no block " + std::to_string(b_.taken));
        if (b_.taken != 0 && !b_.has_branch) say("taken is not used and must be 0");
    }

    /// Rules 2 and 3: no slot writes what a later slot still reads; a load reaches some slot. Where it is done again after
    /// a store, it may reach the store only.
    void order() {
        bool load_used = b_.mem.op == memory_op::none, elsewhere = false;
        const auto& slots = record_order(b_);
        for (std::size_t i = 0; i < slots.size(); ++i) {
            if (!present(b_, slots[i])) continue;
            const bool loads = depends_on_load(b_, slots[i]);
            load_used = load_used || loads;
            elsewhere = elsewhere || (loads && slots[i] != slot::store);
            for (std::size_t later = i + 1; later < slots.size(); ++later) order(slots[i], slots[later]);
        }
        if (elsewhere && loads_and_stores(b_) && !b_.lane_major)
            say("where a block loads and stores, only the store may depend on the load, unless it is lane-major");
        if (b_.has_branch && loads_and_stores(b_) && (origin_of(b_.mem.store_address) & from_load) != 0)
            say("where a block loads, stores and branches, the store's address may not depend on the load");
        if (!load_used) say(is_load(b_.mem.op) ? "the load feeds no slot" : "the collective feeds no slot");
    }

    unsigned origin_of(source s) const { return origin(origins(b_), s); }

    void order(slot first, slot later) {
        const int written = register_of(b_, first);
        if (written == 0 || !present(b_, later)) return;
        const std::string who = later == slot::store ? "the store" : "D" + std::to_string(stage_of(later));
        for (std::size_t port = 0; port < b_.ports.size(); ++port)
            if (((unsigned{dependencies(b_, later)} >> port) & 1u) && b_.ports[port] == written)
                say("D" + std::to_string(stage_of(first)) + " overwrites register " + std::to_string(written) + ", which " +
                    who + " still depends on");
    }

    const machine_block& b_;
    unsigned read_ = 0;
    std::vector<std::string> found_{};
};

}  // namespace detail

/// Everything that is wrong with a block, empty if it is legal.
template <sizes M = mission>
std::vector<std::string> violations(const machine_block& block) {
    return detail::legality_check<M>(block).run();
}

/// Everything that is wrong with a program, with the block in front: sizes, rows of literals and all blocks.
template <sizes M = mission>
std::vector<std::string> violations(const program& p) {
    std::vector<std::string> found;
    if (p.blocks.empty()) found.push_back("the program has no block");
    if (p.blocks.size() > static_cast<std::size_t>(M.exit_block()))
        found.push_back("the program has " + std::to_string(p.blocks.size()) + " blocks, the machine holds " +
                        std::to_string(M.exit_block()));
    for (std::size_t i = 0; i < p.blocks.size(); ++i)
        for (const std::string& what : violations<M>(p.blocks[i]))
            found.push_back("block " + std::to_string(i) + ": " + what);
    for (const constant_literal& literal : p.literals)
        if (literal.row < first_free_constant || literal.row >= M.constants)
            found.push_back("a literal wants row " + std::to_string(literal.row) + " of the constants");
    return found;
}

/// Throws "machine.illegal" with all violations if there are any.
template <sizes M = mission>
void require_legal(const program& p) {
    std::string all;
    for (const std::string& what : violations<M>(p)) all += "\n  " + what;
    if (!all.empty()) throw error("machine.illegal", "program " + p.name + " is not legal:" + all);
}

}  // namespace qwengpu::machine
