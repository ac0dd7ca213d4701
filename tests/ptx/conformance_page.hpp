// SPDX-License-Identifier: MIT
// Compiles one instance of every PTX instruction and type and says what became of it: docs/conformance.md is exactly this text.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "conformance_forms.hpp"
#include "run_kernel.hpp"

namespace qwengpu::test {

/// What became of an instance: the machine operations that carry its line, and what their slots cost.
struct conformance {
    std::string name, refused;
    std::map<std::string, int> made_of;
    int operations = 0, blocks = 0, tokens = 0;
};

namespace detail {

inline std::string load_of(const instance_register& r, std::size_t place) {
    const std::string at = " [%gp+" + std::to_string(8 * (place % 4)) + "];\n";
    if (r.type == ptx::scalar_type::pred) return "ld.volatile.global.u32 %s0," + at + "setp.eq.u32 " + r.name + ", %s0, 123456;\n";
    const int bits = ptx::bits_of(r.type);
    return bits > 64 ? "" : "ld.volatile.global.b" + std::to_string(std::max(bits, 16)) + " " + r.name + "," + at;
}

inline std::string store_of(const instance_register& r, std::size_t place) {
    const std::string at = "[%op+" + std::to_string(8 * (place % 2)) + "], ";
    if (r.type == ptx::scalar_type::pred) return "selp.b32 %s1, 1, 0, " + r.name + ";\nst.volatile.global.u32 " + at + "%s1;\n";
    const int bits = ptx::bits_of(r.type);
    return bits > 64 ? "" : "st.volatile.global.b" + std::to_string(std::max(bits, 16)) + " " + at + r.name + ";\n";
}

/// A kernel that reads the registers, runs the instruction in a block of its own, and stores what it made in a loop: what is
/// used there is not worked out again.
inline std::string before_instance(const instance& i) {
    std::string text = R"(.version 8.5
.target sm_80
.address_size 64
.const .align 16 .b32 constant_word[4] = {1, 2, 3, 4};
.func function() { ret; }
.visible .entry k(.param .u64 k_in, .param .u64 k_out, .param .align 8 .b8 k_word[8])
{
.reg .pred %p<50>;
.reg .b16 %h<50>;
.reg .b32 %r<50>, %s<3>, %tid32;
.reg .b64 %d<50>, %gp, %op, %at;
.reg .b128 %q<50>;
.shared .align 16 .b32 shared_word[4];
.local .align 16 .b32 local_word[4];
ld.param.u64 %gp, [k_in];
ld.param.u64 %op, [k_out];
mov.u32 %tid32, %tid.x;
mul.wide.u32 %at, %tid32, 32;
add.s64 %gp, %gp, %at;
mul.wide.u32 %at, %tid32, 16;
add.s64 %op, %op, %at;
)";
    for (std::size_t k = 0; k < i.reads.size(); ++k) text += load_of(i.reads[k], k);
    if (i.text.find("places") != i.text.npos)
        text += "places: .branchtargets END, HERE;\n";
    return text + "ld.volatile.global.u32 %s2, [%gp];\nsetp.eq.u32 %p48, %s2, 99;\n@%p48 bra END;\n";
}

inline std::string instance_kernel(const instance& i) {
    std::string text = before_instance(i) + i.text + "\nHERE:\n";
    for (std::size_t k = 0; k < i.writes.size(); ++k) text += store_of(i.writes[k], k);
    return text + "ld.volatile.global.u32 %s2, [%gp];\nsetp.eq.u32 %p49, %s2, 98;\n@%p49 bra HERE;\nEND:\nret;\n}\n";
}

inline int lines_of(const std::string& text) { return static_cast<int>(std::count(text.begin(), text.end(), '\n')); }

inline std::string_view name_of_access(const machine::machine_block& b) {
    switch (b.mem.op) {
        case machine::memory_op::shuffle: return "shuffle";
        case machine::memory_op::ballot: return "ballot";
        case machine::memory_op::match: return "match";
        default: return "load";
    }
}

/// Counts what of a block carries a line from `first` to `last`. A slot costs a word of two tokens for each of four lanes, and
/// an address too if it is a store; a branch one token.
inline void count_block(conformance& c, const machine::machine_block& b, const machine::block_notes& n, int first, int last) {
    constexpr int lanes = 4, word = 2, address_and_word = 3;
    const auto carries = [&](const machine::source_line& l) { return l.ptx_line >= first && l.ptx_line <= last; };
    int tokens = 0, operations = 0;
    const auto add = [&](std::string_view name, int cost) {
        ++c.made_of[std::string(name)];
        ++operations;
        tokens += cost;
    };
    const auto written = [&](std::size_t k) { return b.dest[k] != 0 ? lanes * word : 0; };
    const std::array<const machine::alu_instruction*, 4> stages{&b.s1, nullptr, &b.s3, &b.s4};
    // What an atomic does to the word, and how a part gets into its word, belong to the access.
    const auto serves_access = [&](std::size_t k) {
        return (k == 2 && b.lane_major && carries(n.stages[1])) || (k == 3 && stages[k]->op == machine::alu_op::insert && carries(n.store));
    };
    for (std::size_t k : {std::size_t{0}, std::size_t{2}, std::size_t{3}})
        if (stages[k]->op != machine::alu_op::none && (carries(n.stages[k]) || serves_access(k))) add(machine::find_instruction(stages[k]->op)->name, written(k));
    if (b.mem.op != machine::memory_op::none && (carries(n.stages[1]) || (b.has_store && carries(n.store)))) add(name_of_access(b), written(1));
    if (b.has_store && (carries(n.store) || (b.lane_major && carries(n.stages[1])))) add("store", lanes * address_and_word);
    if (b.has_branch && carries(n.branch)) add("branch", lanes);
    if (b.mem.barrier) add("barrier", 0);
    c.operations += operations;
    c.blocks += operations > 0 ? 1 : 0;
    c.tokens += tokens + (operations > 0 ? 1 : 0);
}

}  // namespace detail

inline conformance conformance_of(const instance& i) {
    conformance c;
    c.name = i.name;
    try {
        const auto p = compile_text(detail::instance_kernel(i), "k").program;
        const int first = detail::lines_of(detail::before_instance(i)) + 1, last = first + detail::lines_of(i.text);
        for (std::size_t k = 0; k < p.blocks.size(); ++k)
            if (p.blocks[k].valid) detail::count_block(c, p.blocks[k], p.notes[k], first, last);
    } catch (const ptx::diagnostic_error& e) {
        c.refused = e.all()[0].id + ": " + e.all()[0].message;
    }
    return c;
}

namespace detail {

/// What of the message is the reason: behind its id and the instruction's name.
inline std::string reason_of(const conformance& c) {
    const std::string text = c.refused.substr(c.refused.find(": ") + 2);
    const std::size_t name = text.find(": ");
    return name != text.npos && text.compare(0, name, text, 0, name) == 0 && text.substr(0, name).find(' ') == text.npos ? text.substr(name + 2) : text;
}

inline std::string page_line(const conformance& c) {
    std::string line = "| `" + c.name + "` | ";
    if (!c.refused.empty()) return line + "refused: " + reason_of(c) + " | | | |\n";
    std::string parts;
    for (const auto& [name, n] : c.made_of) parts += (parts.empty() ? "" : " ") + (n > 1 ? std::to_string(n) + "x" : "") + name;
    line += c.operations == 0 ? "free" : c.operations == 1 ? "native" : "sequence";
    return line + " | " + parts + " | " + std::to_string(c.blocks) + " | " + std::to_string(c.tokens) + " |\n";
}

}  // namespace detail

/// The whole page, in Markdown.
inline std::string conformance_page(const std::vector<conformance>& all) {
    std::string page =
        "# Which PTX runs, and how\n\n"
        "Made from the table that the front end reads PTX with (`ptx/opcode_table.hpp`) by compiling one instance of every instruction and type: the hidden test\n"
        "`[write_conformance]` writes this page, a test compares the two. That the results are right is what `tests/ptx/*_instructions.test.cpp` and its neighbours check.\n\n"
        "* *native*: one operation of the machine. *sequence*: several. *free*: none; the value is where it is needed already. *refused*: with the reason that the compiler gives,\n"
        "  beside line and column, and what to do instead.\n"
        "* Of words like comparisons (`eq`), joinings (`and`) and scopes (`cta`) the first stands for all. Types of two sizes that nobody has here stand in one line for all pairs.\n"
        "* Operations, blocks and tokens are those of the instruction by itself, its operands and its result in registers. Tokens are what a warp of four lanes writes whose words\n"
        "  all differ and take two tokens each; a loop counts once. Among other instructions most values need no register, and what is the same in all lanes is written once.\n\n"
        "| instruction | how | made of | blocks | tokens |\n|---|---|---|---|---|\n";
    for (const conformance& c : all) page += detail::page_line(c);
    return page;
}

inline std::vector<conformance> all_conformance() {
    std::vector<conformance> all;
    for (const instance& i : all_instances()) all.push_back(conformance_of(i));
    return all;
}

}  // namespace qwengpu::test
