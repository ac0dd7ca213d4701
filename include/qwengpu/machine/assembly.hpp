// SPDX-License-Identifier: MIT
// Programs from text, in the form that disassembly.hpp prints. Blocks are named by "block NAME:" and numbered as they come; a
// block without "next" goes on to the one below it, the last one to exit; a number as name leaves out blocks. A semicolon begins a comment. Registers get
// the ports R0-R3 in the order in which the lines name them.
//     block loop:
//         t1 = add R1, #1 -> R1
//         t4 = cmp.lt t1, c[13]
//         branch loop if t4
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <qwengpu/error.hpp>
#include <qwengpu/machine/block.hpp>
#include <qwengpu/machine/disassembly.hpp>
#include <qwengpu/machine/instruction_table.hpp>
#include <qwengpu/machine/legality.hpp>
#include <qwengpu/machine/line_reader.hpp>
#include <qwengpu/machine/program.hpp>
#include <qwengpu/machine/sizes.hpp>

namespace qwengpu::machine {

namespace detail {

/// Splits "cmp.lt.s" at its dots.
inline std::vector<std::string_view> parts_of(std::string_view name) {
    std::vector<std::string_view> parts;
    for (std::size_t dot = name.find('.'); dot != std::string_view::npos; dot = name.find('.')) {
        parts.push_back(name.substr(0, dot));
        name.remove_prefix(dot + 1);
    }
    parts.push_back(name);
    return parts;
}

template <std::size_t N>
std::optional<unsigned> index_of(const std::array<std::string_view, N>& names, std::string_view name) {
    const auto found = std::find(names.begin(), names.end(), name);
    if (found == names.end() || name.empty()) return std::nullopt;
    return static_cast<unsigned>(found - names.begin());
}

/// The bits of mod that a suffix of an op's name stands for, if it is one of its suffixes.
inline std::optional<unsigned> suffix_bits(alu_op op, std::string_view suffix) {
    if (op == alu_op::add && suffix.size() == 4 && suffix.starts_with("shl") && suffix[3] >= '1' && suffix[3] <= '3')
        return static_cast<unsigned>(suffix[3] - '0');
    for (const mod_name& named : mod_names)
        if (named.op == op && named.name == suffix) return named.bits;
    if (compares(op)) return index_of(relation_names, suffix);
    if (rounds(op)) return index_of(rounding_names, suffix);
    for (unsigned table = 0; op == alu_op::lop && table < 256; ++table)
        if (hex_byte(table) == suffix) return table;
    return std::nullopt;
}

/// Reads the lines of one block.
class block_assembler {
public:
    machine_block block{};
    std::string next{}, taken{};  ///< names of blocks, "" if the lines do not say

    void line(line_reader& in) {
        if (in.accept("next ")) next = in.word();
        else if (in.accept("branch ")) branch(in);
        else if (in.accept("store")) store(in);
        else if (in.accept("barrier ")) barrier(in);
        else if (in.accept("lane_major")) block.lane_major = true;
        else stage(in);
        if (!in.at_end()) in.fail("the line should end here");
    }

private:
    void branch(line_reader& in) {
        taken = in.word();
        block.has_branch = true;
        if (!in.accept("if ")) in.fail("a branch needs 'if'");
        condition(in);
    }

    void store(line_reader& in) {
        block.has_store = true;
        while (in.accept(".")) store_suffix(in, in.word());
        block.mem.store_address = bracketed(in);
        in.expect("=");
        block.mem.store_data = memory_source(in);
        block.mem.store_guarded = in.accept("if ");
        if (block.mem.store_guarded) condition(in);
    }

    void store_suffix(line_reader& in, std::string_view suffix) {
        if (suffix == "private") return void(block.mem.is_private = true);
        const std::optional<unsigned> size = index_of(access_size_names, suffix);
        if (!size) in.fail("store has no form '" + std::string(suffix) + "'");
        block.mem.store_size = static_cast<access_size>(*size);
    }

    void barrier(line_reader& in) {
        block.mem.barrier = true;
        block.mem.barrier_id = static_cast<std::uint8_t>(in.number(0, 7));
        if (!in.accept(",")) return;
        in.expect("count");
        block.mem.barrier_count = static_cast<std::uint8_t>(in.number(1, 15));
    }

    /// Store and branch share one condition.
    void condition(line_reader& in) {
        const bool sense = !in.accept("!");
        const source cond = memory_source(in);
        if (has_condition_ && (cond != block.mem.cond || sense != block.mem.sense))
            in.fail("store and branch of a block have one condition");
        has_condition_ = true;
        block.mem.cond = cond;
        block.mem.sense = sense;
    }

    void stage(line_reader& in) {
        if (!in.accept("t")) in.fail("a line is 't1 = ...' to 't4 = ...', 'store', 'branch' or 'next'");
        const int number = in.number(1, 4);
        in.expect("=");
        const std::string_view name = in.word("_.");
        if (number == 2) memory(in, name);
        else (number == 1 ? block.s1 : number == 3 ? block.s3 : block.s4) = instruction(in, name);
        if (in.accept("->")) block.dest[static_cast<std::size_t>(number - 1)] = register_number(in);
    }

    std::uint8_t register_number(line_reader& in) {
        in.expect("R");
        return static_cast<std::uint8_t>(in.number(0, 15));
    }

    void memory(line_reader& in, std::string_view name) {
        constexpr std::string_view suffix = ".private";
        const bool is_private = name.ends_with(suffix);
        if (is_private) name.remove_suffix(suffix.size());
        const std::optional<unsigned> op = index_of(memory_op_names, name);
        if (!op) in.fail("stage 2 loads, or shuffle, ballot, match, or does nothing");
        block.mem.op = static_cast<memory_op>(*op);
        block.mem.is_private = block.mem.is_private || is_private;
        if (is_load(block.mem.op)) load(in);
        if (is_collective(block.mem.op)) collective(in);
    }

    /// Its register comes through port R0.
    void collective(line_reader& in) {
        block.mem.load_sense = block.mem.op == memory_op::ballot && in.accept("!");
        in.expect("R");
        to_front(port(in, in.number(0, 15)));
        if (block.mem.op == memory_op::shuffle) block.mem.load_address = (in.expect(","), memory_source(in));
    }

    /// Lets a port be R0, and moves those before it up by one.
    void to_front(source s) {
        const auto moved = [s](source& other) {
            if (other == s) other = source::r0;
            else if (other >= source::r0 && other < s) other = static_cast<source>(static_cast<int>(other) + 1);
        };
        const auto first = block.ports.begin(), at = first + (static_cast<int>(s) - static_cast<int>(source::r0));
        std::rotate(first, at, at + 1);
        memory_instruction& m = block.mem;
        for (alu_instruction* i : {&block.s1, &block.s3, &block.s4})
            for (source* of : {&i->a, &i->b, &i->c}) moved(*of);
        for (source* of : {&m.load_address, &m.load_guard, &m.load_else, &m.store_address, &m.store_data, &m.cond}) moved(*of);
    }

    void load(line_reader& in) {
        memory_instruction& m = block.mem;
        m.load_address = bracketed(in);
        if (in.accept("if ")) {
            m.load_sense = !in.accept("!");
            m.load_guard = memory_source(in);
        }
        if (in.accept("else ")) m.load_else = memory_source(in);
    }

    alu_instruction instruction(line_reader& in, std::string_view name) {
        alu_instruction i = opcode(in, name);
        std::optional<std::uint16_t> bits;
        const std::uint8_t used = compares(i.op) ? ab : operands_of(i);
        if (used & operand_a) i.a = operand(in, bits);
        if (used & operand_b) i.b = (in.expect(","), operand(in, bits));
        if (used & operand_c) i.c = (in.expect(","), operand(in, bits));
        if (compares(i.op) && in.accept(",")) combination(in, i, bits);
        i.imm = bits.value_or(0);
        return i;
    }

    alu_instruction opcode(line_reader& in, std::string_view name) {
        const std::vector<std::string_view> parts = parts_of(name);
        for (const instruction_row& row : instruction_table) {
            if (row.name != parts[0]) continue;
            alu_instruction i{row.op};
            for (std::size_t p = 1; p < parts.size(); ++p) {
                const std::optional<unsigned> bits = suffix_bits(row.op, parts[p]);
                if (!bits) in.fail(std::string(row.name) + " has no form '" + std::string(parts[p]) + "'");
                i.mod = static_cast<std::uint8_t>(i.mod | *bits);
            }
            return i;
        }
        in.fail("there is no instruction '" + std::string(parts[0]) + "'");
    }

    void combination(line_reader& in, alu_instruction& i, std::optional<std::uint16_t>& bits) {
        const std::optional<unsigned> how = index_of(combination_names, in.word());
        if (!how) in.fail("a comparison combines by and, or, xor");
        const bool inverted = in.accept("!");
        i.mod = static_cast<std::uint8_t>(i.mod | *how << 4 | (inverted ? mod::cmp_not_c : 0u));
        i.c = operand(in, bits);
    }

    source bracketed(line_reader& in) {
        in.expect("[");
        const source s = memory_source(in);
        in.expect("]");
        return s;
    }

    source memory_source(line_reader& in) {
        std::optional<std::uint16_t> bits;
        const source s = operand(in, bits);
        if (bits) in.fail("loads, stores and branches have no immediate and no constant");
        return s;
    }

    /// `bits` are the 16 bits that a stage has for its immediate and its row of constants.
    source operand(line_reader& in, std::optional<std::uint16_t>& bits) {
        if (in.accept("R")) return port(in, in.number(0, 15));
        if (in.accept("#")) return sixteen(in, bits, in.number(-32768, 32767), source::imm);
        if (in.accept("c[")) {
            const source s = sixteen(in, bits, in.number(0, 127), source::constant);
            in.expect("]");
            return s;
        }
        if (in.accept("%")) return special(in);
        if (in.accept("t")) return static_cast<source>(static_cast<int>(source::t1) + in.number(1, 4) - 1);
        if (in.number(0, 0) != 0) in.fail("numbers are written #N");
        return source::zero;
    }

    source sixteen(line_reader& in, std::optional<std::uint16_t>& bits, int value, source s) {
        const auto wanted = static_cast<std::uint16_t>(value);
        if (bits && *bits != wanted) in.fail("an instruction has one immediate or row of constants");
        bits = wanted;
        return s;
    }

    source port(line_reader& in, int reg) {
        for (std::size_t i = 0; i < ports_; ++i)
            if (block.ports[i] == reg) return static_cast<source>(static_cast<std::size_t>(source::r0) + i);
        if (ports_ == block.ports.size()) in.fail("a block reads four registers at most");
        block.ports[ports_++] = static_cast<std::uint8_t>(reg);
        return static_cast<source>(static_cast<std::size_t>(source::r0) + ports_ - 1);
    }

    source special(line_reader& in) {
        const std::optional<unsigned> which = index_of(special_names, "%" + std::string(in.word("_.")));
        if (!which) in.fail("there is no such special register");
        const auto wanted = static_cast<special_register>(*which);
        if (block.special != special_register::none && block.special != wanted)
            in.fail("a block reads one special register");
        block.special = wanted;
        return source::special;
    }

    std::size_t ports_ = 0;
    bool has_condition_ = false;
};

}  // namespace detail

namespace detail {

/// Blocks as they were read; their targets are names until all are known.
template <sizes M>
class program_assembler {
public:
    void line(line_reader& in, int number) {
        if (in.accept("block ")) {
            begin(std::string(in.word()), in, number);
            in.expect(":");
            if (in.at_end()) return;
        }
        if (read_.empty()) in.fail("a program begins with 'block NAME:'");
        read_.back().lines.line(in);
    }

    program finish() const {
        program p;
        for (std::size_t i = 0; i < read_.size(); ++i) {
            const named_block& b = read_[i];
            p.blocks.resize(b.id, no_block);
            p.blocks.push_back(b.lines.block);
            if (b.lines.block.has_branch) p.blocks.back().taken = target(b.lines.taken, b);
            p.blocks.back().next = b.lines.next.empty() ? following(i) : target(b.lines.next, b);
        }
        return p;
    }

private:
    struct named_block {
        std::string name;
        std::size_t id;
        int line;
        block_assembler lines;
    };

    /// A number beyond the blocks read so far leaves out those between.
    void begin(const std::string& name, const line_reader& in, int number) {
        const std::size_t id = read_.empty() ? 0 : read_.back().id + 1;
        const bool is_number = name.find_first_not_of("0123456789") == std::string::npos && name.size() < 6;
        const std::size_t at = is_number ? std::max(id, static_cast<std::size_t>(std::stoi(name))) : id;
        if (at >= static_cast<std::size_t>(M.exit_block())) in.fail("the machine holds " + std::to_string(M.exit_block()) + " blocks");
        read_.push_back({name, at, number, {}});
    }

    std::uint16_t following(std::size_t i) const {
        return static_cast<std::uint16_t>(i + 1 < read_.size() ? read_[i + 1].id : static_cast<std::size_t>(M.exit_block()));
    }

    /// A name of a block, else the number of one, which need not be there.
    std::uint16_t target(const std::string& name, const named_block& from) const {
        if (name == "exit") return static_cast<std::uint16_t>(M.exit_block());
        const auto found = std::find_if(read_.begin(), read_.end(), [&](const named_block& b) { return b.name == name; });
        if (found != read_.end()) return static_cast<std::uint16_t>(found->id);
        if (name.find_first_not_of("0123456789") != std::string::npos)
            throw error("machine.assembly", "there is no block '" + name + "'", place{"", from.line, 0});
        return static_cast<std::uint16_t>(line_reader(name, from.line).number(0, M.exit_block()));
    }

    std::vector<named_block> read_{};
};

}  // namespace detail

/// The program of a text. @throws error "machine.assembly" with line and column, or "machine.illegal".
template <sizes M = mission>
program assemble(std::string_view text) {
    detail::program_assembler<M> blocks;
    for (int number = 1; !text.empty(); ++number) {
        const std::size_t end = std::min(text.find('\n'), text.size());
        detail::line_reader in(text.substr(0, end), number);
        if (!in.at_end()) blocks.line(in, number);
        text.remove_prefix(std::min(end + 1, text.size()));
    }
    program p = blocks.finish();
    require_legal<M>(p);
    return p;
}

}  // namespace qwengpu::machine
