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

/// Names of the rounding modes, by mod[1:0]; to nearest even has none.
inline constexpr std::array<std::string_view, 4> rounding_names{"", "rz", "rm", "rp"};

/// Names of the memory operations, in their order.
inline constexpr std::array<std::string_view, memory_op_count> memory_op_names{
    "none",           "load",           "load.u8", "load.s8", "load.u16", "load.s16",
    "load.byte_word", "load.half_word", "shuffle", "ballot",  "match"};

/// Names of the alignments of a store; a word has none.
inline constexpr std::array<std::string_view, 3> access_size_names{"", "half", "byte"};

/// Bits of mod that have a name of their own, by instruction.
struct mod_name {
    alu_op op;
    std::string_view name;
    std::uint8_t bits;
};
inline constexpr std::array<mod_name, 34> mod_names{{
    {alu_op::add, "sub", mod::add_subtract}, {alu_op::add, "carry", mod::add_carry},
    {alu_op::cmp, "s", mod::is_signed}, {alu_op::min, "s", mod::is_signed}, {alu_op::max, "s", mod::is_signed},
    {alu_op::insert, "half", mod::insert_half}, {alu_op::funnel, "left", mod::funnel_left},
    {alu_op::fcmp, "nan", mod::fcmp_nan}, {alu_op::fcmp, "ftz", mod::fcmp_ftz},
    {alu_op::fmin, "nan", mod::fmin_nan}, {alu_op::fmin, "ftz", mod::ftz},
    {alu_op::fmax, "nan", mod::fmin_nan}, {alu_op::fmax, "ftz", mod::ftz},
    {alu_op::mul, "hi", mod::mul_high}, {alu_op::mul, "s", mod::mul_signed},
    {alu_op::fma, "ftz", mod::ftz}, {alu_op::fma, "sat", mod::saturate},
    {alu_op::fma, "negp", mod::negate_product}, {alu_op::fma, "negc", mod::negate_c},
    {alu_op::fadd, "ftz", mod::ftz}, {alu_op::fadd, "sat", mod::saturate},
    {alu_op::fadd, "negp", mod::negate_product}, {alu_op::fadd, "negc", mod::negate_c},
    {alu_op::fmul, "ftz", mod::ftz}, {alu_op::fmul, "sat", mod::saturate}, {alu_op::fmul, "negp", mod::negate_product},
    {alu_op::i2f, "s", mod::is_signed}, {alu_op::i2f, "wide", mod::wide},
    {alu_op::f2i, "ftz", mod::ftz}, {alu_op::f2i, "s", mod::is_signed}, {alu_op::f2i, "wide", mod::wide},
    {alu_op::f2i, "hi", mod::high_word},
    {alu_op::fround, "ftz", mod::ftz}, {alu_op::fround, "sat", mod::saturate},
}};

/// Whether mod[1:0] of the instruction says how it rounds.
constexpr bool rounds(alu_op op) { return op >= alu_op::fma && op <= alu_op::fround; }

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
    const auto suffix = [&](std::string_view what) { name += what.empty() ? "" : "." + std::string(what); };
    if (i.op == alu_op::add && (i.mod & mod::add_shift) != 0) suffix("shl" + decimal(i.mod & mod::add_shift));
    if (i.op == alu_op::lop) suffix(hex_byte(i.mod));
    if (compares(i.op)) suffix(relation_names[i.mod & 7u]);
    if (rounds(i.op)) suffix(rounding_names[i.mod & mod::rounding]);
    for (const mod_name& named : mod_names)
        if (named.op == i.op && (i.mod & named.bits) != 0) suffix(named.name);
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
    const bool combines = compares(i.op);
    const std::string how = combines ? std::string(combination_names[i.mod >> 4 & 3u]) + " " : "";
    operand((used & operand_c) != 0, i.c, ", " + how + (combines && (i.mod & mod::cmp_not_c) ? "!" : ""));
    return text;
}

inline std::string memory_op_name(memory_op op) {
    const auto at = static_cast<std::size_t>(op);
    return at < memory_op_names.size() ? std::string(memory_op_names[at]) : "memory" + decimal(static_cast<int>(op));
}

inline std::string load_text(const machine_block& b) {
    const memory_instruction& m = b.mem;
    std::string text = memory_op_name(m.op) + (m.is_private ? ".private" : "") + " [" + source_name(b, m.load_address) + "]";
    if (m.load_guard != source::zero || m.load_sense)
        text += std::string(" if ") + (m.load_sense ? "" : "!") + source_name(b, m.load_guard);
    if (m.load_else != source::zero) text += " else " + source_name(b, m.load_else);
    return text;
}

inline std::string collective_text(const machine_block& b) {
    const std::string of = (b.mem.load_sense ? " !" : " ") + source_name(b, source::r0);
    return memory_op_name(b.mem.op) + of + (b.mem.op == memory_op::shuffle ? ", " + source_name(b, b.mem.load_address) : "");
}

inline std::string condition_text(const machine_block& b) {
    return std::string(" if ") + (b.mem.sense ? "" : "!") + source_name(b, b.mem.cond);
}

inline std::string stage_text(const machine_block& b, int stage) {
    if (stage == 2) return is_load(b.mem.op) ? load_text(b) : is_collective(b.mem.op) ? collective_text(b) : memory_op_name(b.mem.op);
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

/// "store.byte [t1] = t3 if t4", or "".
inline std::string store_line(const machine_block& b) {
    if (!b.has_store) return "";
    const std::string_view size = access_size_names[static_cast<std::size_t>(b.mem.store_size) % access_size_names.size()];
    return "store" + (size.empty() ? "" : "." + std::string(size)) + (b.mem.is_private ? ".private [" : " [") + detail::source_name(b, b.mem.store_address) + "] = " + detail::source_name(b, b.mem.store_data) +
           (b.mem.store_guarded ? detail::condition_text(b) : "");
}

/// "branch 7 if t4", or "". `exit` is the id that is printed as "exit".
inline std::string branch_line(const machine_block& b, int exit = mission.exit_block()) {
    return b.has_branch ? "branch " + detail::block_name(b.taken, exit) + detail::condition_text(b) : "";
}

/// "barrier 2", "barrier 2, count 3", or "".
inline std::string barrier_line(const machine_block& b) {
    if (!b.mem.barrier) return "";
    return "barrier " + detail::decimal(b.mem.barrier_id) +
           (b.mem.barrier_count != 0 ? ", count " + detail::decimal(b.mem.barrier_count) : "");
}

/// "next 8" or "next exit".
inline std::string next_line(const machine_block& b, int exit = mission.exit_block()) {
    return "next " + detail::block_name(b.next, exit);
}

/// All lines of a block that say something.
inline std::vector<std::string> disassemble(const machine_block& b, int exit = mission.exit_block()) {
    std::vector<std::string> lines;
    if (!b.valid) return lines;
    if (b.lane_major) lines.push_back("lane_major");
    for (int stage = 1; stage <= 4; ++stage) lines.push_back(stage_line(b, stage));
    lines.push_back(store_line(b));
    lines.push_back(branch_line(b, exit));
    lines.push_back(barrier_line(b));
    lines.push_back(next_line(b, exit));
    std::erase(lines, "");
    return lines;
}

/// A whole program: "block 3:" with its lines indented below, and the PTX line behind what came from one.
inline std::string disassemble(const program& p, int exit = mission.exit_block()) {
    std::string text;
    for (std::size_t id = 0; id < p.blocks.size(); ++id) {
        if (!p.blocks[id].valid) continue;
        const block_notes notes = id < p.notes.size() ? p.notes[id] : block_notes{};
        const auto line = [&](const std::string& what, const source_line& from) {
            if (what.empty()) return;
            text += "    " + what;
            if (from.ptx_line > 0) text += "  ; PTX line " + detail::decimal(from.ptx_line);
            text += "\n";
        };
        text += "block " + std::to_string(id) + ":\n";
        if (p.blocks[id].lane_major) text += "    lane_major\n";
        for (int stage = 1; stage <= 4; ++stage)
            line(stage_line(p.blocks[id], stage), notes.stages[static_cast<std::size_t>(stage - 1)]);
        line(store_line(p.blocks[id]), notes.store);
        line(branch_line(p.blocks[id], exit), notes.branch);
        line(barrier_line(p.blocks[id]), notes.branch);
        line(next_line(p.blocks[id], exit), {});
    }
    return text;
}

}  // namespace qwengpu::machine
