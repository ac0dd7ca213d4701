// SPDX-License-Identifier: MIT
// Blocks as people read them, one line for each instruction, store, branch and for where lanes go. The names come from
// the instruction table; assembly.hpp reads the same lines back.
//     t1 = add.shl2 c[13], %thread -> R4
//     t2 = load [t1] if !R2 else #0
//     t4 = cmp.lt.s t2, R1, and !R2
//     branch 7 if t4
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <qwengpu/machine/block.hpp>
#include <qwengpu/machine/instruction_table.hpp>
#include <qwengpu/machine/program.hpp>
#include <qwengpu/machine/sizes.hpp>

namespace qwengpu::machine {

/// Names of the special registers, in their order; `none` has none.
inline constexpr std::array<std::string_view, 7> special_names{"",        "%tid.x",  "%tid.y", "%tid.z",
                                                               "%laneid", "%warpid", "%thread"};

/// Names of the relations of `cmp`, by the bits lt, eq, gt of its mod.
inline constexpr std::array<std::string_view, 8> relation_names{"never", "lt", "eq", "le", "gt", "ne", "ge", "always"};

/// Names of the ways in which `cmp` combines with c, by mod[5:4].
inline constexpr std::array<std::string_view, 4> combination_names{"", "and", "or", "xor"};

namespace detail {

inline std::string decimal(int n) { return std::to_string(n); }

inline std::string hex_byte(unsigned n) {
    constexpr std::string_view digits = "0123456789abcdef";
    return {'0', 'x', digits[n >> 4 & 15u], digits[n & 15u]};
}

inline std::string block_name(int id, int exit) { return id == exit ? "exit" : decimal(id); }

/// Name of a source; `imm` are the 16 bits of its stage.
inline std::string source_name(const machine_block& b, source s, std::uint16_t imm = 0) {
    if (s == source::zero) return "0";
    if (s >= source::r0 && s <= source::r3)
        return "R" + decimal(b.ports[static_cast<std::size_t>(s) - static_cast<std::size_t>(source::r0)]);
    if (s == source::imm) return "#" + decimal(static_cast<std::int16_t>(imm));
    if (s == source::constant) return "c[" + decimal(imm & 0x7f) + "]";
    if (s == source::special) return std::string(special_names[static_cast<std::size_t>(b.special) % special_names.size()]);
    if (s >= source::t1 && s <= source::t4)
        return "t" + decimal(1 + static_cast<int>(s) - static_cast<int>(source::t1));
    return "?" + decimal(static_cast<int>(s));
}

/// The instruction's name with what `mod` says: "add.shl2", "cmp.lt.s", "mul.hi".
inline std::string mnemonic(const alu_instruction& i) {
    const instruction_row* row = find_instruction(i.op);
    if (row == nullptr) return "op" + decimal(static_cast<int>(i.op));
    std::string name(row->name);
    const auto when = [&](bool is, const std::string& suffix) { name += is ? "." + suffix : ""; };
    if (i.op == alu_op::add) {
        when((i.mod & mod::add_subtract) != 0, "sub");
        when((i.mod & mod::add_shift) != 0, "shl" + decimal(i.mod & mod::add_shift));
    }
    when(i.op == alu_op::lop, hex_byte(i.mod));
    when(i.op == alu_op::cmp, std::string(relation_names[i.mod & 7u]));
    when(i.op != alu_op::mul && (i.mod & row->mod_bits & mod::is_signed) != 0 && i.op != alu_op::lop, "s");
    when(i.op == alu_op::mul && (i.mod & mod::mul_high) != 0, "hi");
    when(i.op == alu_op::mul && (i.mod & mod::mul_signed) != 0, "s");
    return name;
}

inline std::string alu_text(const machine_block& b, const alu_instruction& i) {
    std::string text = mnemonic(i);
    const std::uint8_t used = operands_of(i);
    const auto operand = [&](bool is, source s, const std::string& before) {
        if (is) text += before + source_name(b, s, i.imm);
    };
    operand((used & operand_a) != 0, i.a, " ");
    operand((used & operand_b) != 0, i.b, ", ");
    const bool combines = i.op == alu_op::cmp;
    const std::string how = combines ? std::string(combination_names[i.mod >> 4 & 3u]) + " " : "";
    operand((used & operand_c) != 0, i.c, ", " + how + (combines && (i.mod & mod::cmp_not_c) ? "!" : ""));
    return text;
}

inline std::string load_text(const machine_block& b) {
    const memory_instruction& m = b.mem;
    std::string text = "load [" + source_name(b, m.load_address) + "]";
    if (m.load_guard != source::zero || m.load_sense)
        text += std::string(" if ") + (m.load_sense ? "" : "!") + source_name(b, m.load_guard);
    if (m.load_else != source::zero) text += " else " + source_name(b, m.load_else);
    return text;
}

inline std::string condition_text(const machine_block& b) {
    return std::string(" if ") + (b.mem.sense ? "" : "!") + source_name(b, b.mem.cond);
}

inline std::string stage_text(const machine_block& b, int stage) {
    if (stage == 2) return b.mem.op == memory_op::load ? load_text(b) : "none";
    return alu_text(b, stage == 1 ? b.s1 : stage == 3 ? b.s3 : b.s4);
}

}  // namespace detail

/// The line of one stage 1..4, or "" if it neither does nor writes anything.
inline std::string stage_line(const machine_block& b, int stage) {
    const std::string text = detail::stage_text(b, stage);
    const int dest = b.dest[static_cast<std::size_t>(stage - 1)];
    if (text == "none" && dest == 0) return "";
    return "t" + detail::decimal(stage) + " = " + text + (dest != 0 ? " -> R" + detail::decimal(dest) : "");
}

/// "store [t1] = t3 if t4", or "".
inline std::string store_line(const machine_block& b) {
    if (!b.has_store) return "";
    return "store [" + detail::source_name(b, b.mem.store_address) + "] = " + detail::source_name(b, b.mem.store_data) +
           (b.mem.store_guarded ? detail::condition_text(b) : "");
}

/// "branch 7 if t4", or "". `exit` is the id that is printed as "exit".
inline std::string branch_line(const machine_block& b, int exit = mission.exit_block()) {
    return b.has_branch ? "branch " + detail::block_name(b.taken, exit) + detail::condition_text(b) : "";
}

/// "next 8" or "next exit".
inline std::string next_line(const machine_block& b, int exit = mission.exit_block()) {
    return "next " + detail::block_name(b.next, exit);
}

/// All lines of a block that say something.
inline std::vector<std::string> disassemble(const machine_block& b, int exit = mission.exit_block()) {
    std::vector<std::string> lines;
    for (int stage = 1; stage <= 4; ++stage) lines.push_back(stage_line(b, stage));
    lines.push_back(store_line(b));
    lines.push_back(branch_line(b, exit));
    lines.push_back(next_line(b, exit));
    std::erase(lines, "");
    return lines;
}

/// A whole program: "block 3:" with its lines indented below, and the PTX line behind what came from one.
inline std::string disassemble(const program& p, int exit = mission.exit_block()) {
    std::string text;
    for (std::size_t id = 0; id < p.blocks.size(); ++id) {
        const block_notes notes = id < p.notes.size() ? p.notes[id] : block_notes{};
        const auto line = [&](const std::string& what, const source_line& from) {
            if (what.empty()) return;
            text += "    " + what;
            if (from.ptx_line > 0) text += "  ; PTX line " + detail::decimal(from.ptx_line);
            text += "\n";
        };
        text += "block " + std::to_string(id) + ":\n";
        for (int stage = 1; stage <= 4; ++stage)
            line(stage_line(p.blocks[id], stage), notes.stages[static_cast<std::size_t>(stage - 1)]);
        line(store_line(p.blocks[id]), notes.store);
        line(branch_line(p.blocks[id], exit), notes.branch);
        line(next_line(p.blocks[id], exit), {});
    }
    return text;
}

}  // namespace qwengpu::machine
