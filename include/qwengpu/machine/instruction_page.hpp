// SPDX-License-Identifier: MIT
// The instruction table as a page of documentation: docs/instructions.md is exactly this text.
#pragma once

#include <array>
#include <string>
#include <string_view>

#include <qwengpu/machine/disassembly.hpp>
#include <qwengpu/machine/instruction_table.hpp>

namespace qwengpu::machine {

/// Names of the units, in their order.
inline constexpr std::array<std::string_view, 10> unit_names{"-",          "adder", "logic",      "shifter", "comparator", "bytes",
                                                             "multiplier", "bits",  "reciprocal", "float"};

namespace detail {

inline std::string operand_names(std::uint8_t operands) {
    std::string names;
    for (int i = 0; i < 3; ++i)
        if ((operands >> i) & 1) names += std::string(names.empty() ? "" : " ") + static_cast<char>('a' + i);
    return names.empty() ? "-" : names;
}

inline std::string table_line(const instruction_row& row) {
    return "| " + std::to_string(static_cast<int>(row.op)) + " | `" + std::string(row.name) + "` | " +
           operand_names(row.operands) + " | " + (row.mod_bits != 0 ? hex_byte(row.mod_bits) : "-") + " | " +
           (row.only_stage3 ? "3" : "1, 3, 4") + " | " +
           std::string(unit_names[static_cast<std::size_t>(row.unit)]) + " | " + std::string(row.text) + " |\n";
}

template <std::size_t N>
std::string listed(const std::array<std::string_view, N>& names) {
    std::string text;
    for (std::size_t i = 0; i < N; ++i)
        if (!names[i].empty()) text += (text.empty() ? "" : ", ") + std::to_string(i) + " `" + std::string(names[i]) + "`";
    return text;
}

}  // namespace detail

/// The whole page, in Markdown.
inline std::string instruction_page() {
    std::string page =
        "# Instructions\n\n"
        "Made from `machine/instruction_table.hpp` by the hidden test `[write_instructions]`; the tests compare the two.\n"
        "[machine.md](machine.md) says what blocks, stages and sources are.\n\n"
        "## ALU\n\n"
        "`mod` names the bits of the instruction's mod that mean something; the others are 0. `cmp` and `fcmp` read c only\n"
        "if they combine, `add` only with mod[3], `i2f` b only with mod[6].\n\n"
        "| op | name | reads | mod | stages | unit | result |\n|---|---|---|---|---|---|---|\n";
    for (const instruction_row& row : instruction_table) page += detail::table_line(row);
    page +=
        "\n## How they are written\n\n"
        "`t1 = add.shl2 c[13], %thread -> R4`: stage 1 adds constant 13 and the thread's number shifted by 2, and register 4\n"
        "gets the value. `#5` is an immediate, `c[13]` a constant, `R4` a register through one of the four ports, `t1` the value\n"
        "of stage 1, `0` zero.\n\n"
        "* `add`: `.sub` for a - b, `.shl1` to `.shl3` for the shift of b, `.carry` for bit 0 of c.\n"
        "* `lop`: the table in hexadecimal, as `lop.0xc0` for a and b.\n"
        "* `cmp`: the relation, by the bits lt, eq, gt: ";
    page += detail::listed(relation_names);
    page += "; `.s` for signed;\n  then `, and x`, `, or x`, `, xor x`, and `!x` for the inverse.\n"
            "* `fcmp`: likewise, with `.nan` for true if an operand is NaN, and `.ftz`.\n"
            "* `min`, `max`: `.s` for signed. `fmin`, `fmax`: `.ftz`, and `.nan` for NaN if an operand is.\n"
            "* `insert`: `.half`. `funnel`: `.left`.\n"
            "* `mul`: `.hi` for the high word, `.s` for the signed product.\n"
            "* `fma`, `fadd`, `fmul`, `i2f`, `f2i`, `fround`: `.rz`, `.rm`, `.rp` for rounding to zero, down, up; `.ftz`, `.sat`;\n"
            "  `.negp` for the negated product (`fadd`: a), `.negc`; `.s` signed, `.wide` 64 bits, `.hi` their high word.\n"
            "* `t2 = load [address] if guard else other`: the guard may be inverted by `!`; both are optional. `load.u8`, `.s8`,\n"
            "  `.u16`, `.s16`, `.byte_word`, `.half_word` for bytes, halves, and the words that hold them.\n"
            "* `t2 = shuffle R5, lane`, `ballot R5` (`ballot !R5`), `match R5`.\n"
            "* `store [address] = data if guard`, with `.byte` or `.half` for its alignment; `.private` behind load or store if it\n"
            "  may be of local memory; `lane_major` for an atomic.\n"
            "* `barrier 2` for all threads, `barrier 2, count 3` for 12 of them.\n"
            "* `branch block if condition`, `next block`; `exit` is a block. `block 896:` goes on at block 896.\n\n"
            "Special registers: ";
    page += detail::listed(special_names);
    return page + ".\n";
}

}  // namespace qwengpu::machine
