// SPDX-License-Identifier: MIT
// The instructions of the tests' PTX interpreter that one thread executes by itself, but memory accesses and jumps.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include <qwengpu/ptx/ast.hpp>

#include "support/interpreter/access.hpp"
#include "support/interpreter/integer.hpp"
#include "support/interpreter/real.hpp"
#include "support/interpreter/thread.hpp"
#include "support/interpreter/video.hpp"

namespace qwengpu::test::interpreter {

namespace detail {

inline std::string_view comparison_of(const ptx::instruction& i) {
    for (std::string_view m : i.modifiers)
        for (std::string_view known : {"eq", "ne", "lt", "le", "gt", "ge", "lo", "ls", "hi", "hs", "equ", "neu", "ltu", "leu", "gtu", "geu", "num", "nan"})
            if (m == known) return m;
    return {};
}

inline bool combined(const ptx::instruction& i, bool r, bool with) { return i.has("and") ? (r && with) : i.has("or") ? (r || with) : (r != with); }

inline bool is_combining(const ptx::instruction& i) { return i.has("and") || i.has("or") || i.has("xor"); }

inline bool compared(const block_context& c, const thread& t, const ptx::instruction& i, scalar_type type, std::size_t first) {
    const u64 a = read(c, t, i.operands[first], type), b = read(c, t, i.operands[first + 1], type);
    return ptx::is_float(type) ? real_compare(comparison_of(i), a, b, i.has("ftz")) : integer_compare(comparison_of(i), a, b, type);
}

inline void execute_setp(const block_context& c, thread& t, const ptx::instruction& i) {
    const bool r = compared(c, t, i, i.type(), 1);
    const bool with = is_combining(i) && read(c, t, i.operands[3], scalar_type::pred) != 0;
    const bool p = is_combining(i) ? combined(i, r, with) : r, q = is_combining(i) ? combined(i, !r, with) : !r;
    const ptx::operand& d = i.operands[0];
    if (d.kind != ptx::operand_kind::pair) return write(t, d, scalar_type::pred, p ? 1 : 0);
    write(t, d.items[0], scalar_type::pred, p ? 1 : 0);
    write(t, d.items[1], scalar_type::pred, q ? 1 : 0);
}

inline void execute_set(const block_context& c, thread& t, const ptx::instruction& i) {
    bool r = compared(c, t, i, i.type(1), 1);
    if (is_combining(i)) r = combined(i, r, read(c, t, i.operands[3], scalar_type::pred) != 0);
    write(t, i.operands[0], i.type(0), !r ? 0 : ptx::is_float(i.type(0)) ? u64{0x3f800000U} : ~u64{0});
}

inline void execute_cvt(const block_context& c, thread& t, const ptx::instruction& i) {
    const scalar_type to = i.type(0), from = i.type(1);
    const u64 x = read(c, t, i.operands[1], from);
    u64 r = 0;
    if (ptx::is_float(to) && ptx::is_float(from)) r = real_of_real(i, x);
    else if (ptx::is_float(to)) r = real_of_integer(i, number_of(x, from));
    else if (ptx::is_float(from)) r = integer_of_real(i, x, to);
    else r = i.has("sat") ? clamped(number_of(x, from), to) : extended(x, from);
    // A result narrower than its register is extended by its own type.
    write(t, i.operands[0], scalar_type::none, ptx::is_float(to) ? r : extended(r, to));
}

inline void execute_slct(const block_context& c, thread& t, const ptx::instruction& i) {
    const u64 sign = read(c, t, i.operands[3], i.type(1));
    const bool first = ptx::is_float(i.type(1)) ? !is_nan(sign) && real_of(flushed(sign, i.has("ftz"))) >= 0.0F : signed_of(sign, 32) >= 0;
    write(t, i.operands[0], i.type(0), read(c, t, i.operands[first ? 1 : 2], i.type(0)));
}

inline void execute_carry(const block_context& c, thread& t, const ptx::instruction& i) {
    const scalar_type type = i.type();
    const int bits = ptx::bits_of(type);
    const u128 top = u128{1} << bits;
    u128 a = read(c, t, i.operands[1], type);
    const u128 b = read(c, t, i.operands[2], type);
    const bool takes = i.opcode == "addc" || i.opcode == "subc" || i.opcode == "madc";
    u128 carry = takes && t.carry ? 1 : 0, r = 0;
    if (i.opcode == "sub" || i.opcode == "subc") {
        r = a + top - b - carry;
        if (i.has("cc")) t.carry = r < top;  // a borrow
    } else {
        u128 addend = b;
        if (i.opcode == "mad" || i.opcode == "madc") {
            const s128 p = number_of(static_cast<u64>(a), type) * number_of(static_cast<u64>(b), type);
            a = cut(static_cast<u64>(i.has("hi") ? p >> bits : p), type);
            addend = read(c, t, i.operands[3], type);
        }
        r = a + addend + carry;
        if (i.has("cc")) t.carry = r >= top;
    }
    write(t, i.operands[0], type, static_cast<u64>(r));
}

/// Absolute value, negation and copysign are about sign bits; the rest of f32 rounds.
inline u64 real_result(const block_context& c, const thread& t, const ptx::instruction& i) {
    const auto at = [&](std::size_t k) { return k < i.operands.size() ? read(c, t, i.operands[k], scalar_type::f32) : u64{0}; };
    const std::string_view op = i.opcode;
    if (op == "abs") return flushed(at(1), i.has("ftz")) & ~sign_bit;
    if (op == "neg") return flushed(at(1), i.has("ftz")) ^ sign_bit;
    if (op == "copysign") return (at(2) & ~u64{sign_bit}) | (at(1) & sign_bit);
    if (op == "min" || op == "max") return real_extreme(i, at(1), at(2));
    if (op == "add" || op == "sub" || op == "mul" || op == "div" || op == "fma" || op == "mad" || op == "rcp" || op == "sqrt")
        return real_arithmetic(i, at(1), at(2), at(3));
    throw fault("no rule for " + i.full_name());
}

inline void execute_integer(const block_context& c, thread& t, const ptx::instruction& i) {
    const scalar_type type = i.type();
    const bool mixed = i.opcode == "dp4a" || i.opcode == "dp2a", wide = i.has("wide");
    const auto at = [&](std::size_t k, scalar_type as) { return k < i.operands.size() ? read(c, t, i.operands[k], as) : u64{0}; };
    const bool counts = i.opcode == "shl" || i.opcode == "shr" || i.opcode == "bfe" || i.opcode == "bfi" || i.opcode == "szext";
    const operands o{at(1, mixed ? scalar_type::b32 : type), at(2, counts && i.opcode != "bfi" ? scalar_type::b32 : mixed ? scalar_type::b32 : type),
                     at(3, wide ? scalar_type::b64 : counts || mixed ? scalar_type::b32 : type), at(4, scalar_type::b32)};
    bool known = false;
    const u64 r = integer_arithmetic(i, o, known);
    if (!known) throw fault("no rule for " + i.full_name());
    const bool counting = i.opcode == "popc" || i.opcode == "clz" || i.opcode == "bfind";
    write(t, i.operands[0], counting || mixed ? scalar_type::b32 : wide ? scalar_type::none : type, r);
}

}  // namespace detail

/// Executes an instruction that only this thread sees and that does not jump.
inline void execute(block_context& c, thread& t, const ptx::instruction& i) {
    const std::string_view op = i.opcode;
    if (op == "ld" || op == "ldu") return execute_load(c, t, i);
    if (op == "st") return execute_store(c, t, i);
    if (op == "atom" || op == "red") return execute_atomic(c, t, i);
    if (op == "cvta") return execute_cvta(c, t, i);
    if (op == "isspacep") return execute_isspacep(c, t, i);
    if (op == "membar" || op == "fence" || op == "nanosleep" || op == "prefetch" || op == "prefetchu" || op == "pmevent") return;
    if (op[0] == 'v') {
        const auto at = [&](std::size_t k) { return k < i.operands.size() ? read(c, t, i.operands[k], scalar_type::b32) : u64{0}; };
        return write(t, i.operands[0], scalar_type::b32, video_result(i, at(1), at(2), at(3)));
    }
    if (op == "setp") return detail::execute_setp(c, t, i);
    if (op == "set") return detail::execute_set(c, t, i);
    if (op == "cvt") return detail::execute_cvt(c, t, i);
    if (op == "slct") return detail::execute_slct(c, t, i);
    if (op == "mov") return write(t, i.operands[0], i.type(), read(c, t, i.operands[1], i.type()));
    if (op == "selp") return write(t, i.operands[0], i.type(), read(c, t, i.operands[read(c, t, i.operands[3], scalar_type::pred) != 0 ? 1 : 2], i.type()));
    if (op == "testp") return write(t, i.operands[0], scalar_type::pred, real_is(i.modifiers[0], read(c, t, i.operands[1], scalar_type::f32)) ? 1 : 0);
    if (op == "addc" || op == "subc" || op == "madc" || i.has("cc")) return detail::execute_carry(c, t, i);
    if (i.type() == scalar_type::f32) return write(t, i.operands[0], scalar_type::f32, detail::real_result(c, t, i));
    detail::execute_integer(c, t, i);
}

}  // namespace qwengpu::test::interpreter
