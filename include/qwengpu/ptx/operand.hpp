// SPDX-License-Identifier: MIT
// An operand of a PTX instruction. Names are resolved: registers, symbols and labels are ids of the tables in ast.hpp.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include <qwengpu/ptx/special_register.hpp>
#include <qwengpu/ptx/types.hpp>

namespace qwengpu::ptx {

/// Which table a symbol's id belongs to.
enum class symbol_kind : std::uint8_t { none, module_variable, function_variable, function };

struct symbol {
    symbol_kind kind = symbol_kind::none;
    std::uint32_t id = 0;
    friend bool operator==(const symbol&, const symbol&) = default;
};

enum class operand_kind : std::uint8_t {
    reg,           ///< `id` is a register; `negated` for !%p
    special,       ///< `special`
    integer,       ///< `value`: the 64 bits of the constant, two's complement
    f32_bits,      ///< `value`: the 32 bits of 0fXXXXXXXX
    f64_bits,      ///< `value`: the 64 bits of 0dX..X or of a decimal like 1.5
    address,       ///< [base + value]; base is `items[0]`: a reg or symbol, or no item for an absolute address
    symbol_value,  ///< `sym` + `value`: the address of a variable or function, as a value
    label,         ///< `id` is a label
    branch_table,  ///< `id` is a branch table (.branchtargets)
    call_table,    ///< `id` is a call table (.calltargets) or prototype (.callprototype)
    vector,        ///< {a, b, ...}: `items`
    pair,          ///< d|p: `items`, two of them
    list,          ///< (a, b, ...) of a call: `items`
    sink,          ///< _
    texture        ///< [tex, {...}]: `items`: address, coordinates...
};

struct operand {
    operand_kind kind = operand_kind::sink;
    bool negated = false;                  ///< !%p
    bool is_unsigned = false;              ///< integer written with U, or too large for a signed 64-bit one
    char part = 0;                         ///< x, y, z or w for a part of a vector register (%v.x)
    sreg special = sreg::other;
    symbol sym{};
    std::uint32_t id = 0;
    std::int64_t value = 0;
    std::string_view text{};               ///< name as written, for messages; lives as long as the module
    std::vector<operand> items{};
    place where{};
    std::string_view selector{};           ///< bytes or half words of a register in a video instruction, without the dot: "b0", "h32"
    bool minus = false;                    ///< -%r1 in a vmad
};

}  // namespace qwengpu::ptx
