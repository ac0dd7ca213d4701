// SPDX-License-Identifier: MIT
// Constant expressions of PTX: C's operators on 64-bit integers, signed unless an operand is unsigned; floats only with a sign.
// Parsed by precedence climbing. Source: PTX ISA, "Constant Expressions".
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include <qwengpu/ptx/cursor.hpp>

namespace qwengpu::ptx {

struct constant {
    token_kind kind = token_kind::integer;  ///< integer, f32 or f64
    std::uint64_t bits = 0;
    bool is_unsigned = false;
};

namespace detail {

struct binary_operator {
    std::string_view text;
    int level;  ///< higher binds tighter
};

inline constexpr std::array<binary_operator, 18> binary_operators{{
    {"||", 1}, {"&&", 2}, {"|", 3}, {"^", 4}, {"&", 5}, {"==", 6}, {"!=", 6}, {"<", 7}, {"<=", 7}, {">", 7}, {">=", 7},
    {"<<", 8}, {">>", 8}, {"+", 9}, {"-", 9}, {"*", 10}, {"/", 10}, {"%", 10}}};

inline const binary_operator* operator_at(cursor& in) {
    for (const binary_operator& op : binary_operators)
        if (in.at(op.text)) return &op;
    return nullptr;
}

inline constant integer_result(std::uint64_t bits, bool is_unsigned) { return {token_kind::integer, bits, is_unsigned}; }

/// Quotient or remainder; the caller has refused a divisor of zero. INT64_MIN / -1 wraps.
inline std::uint64_t divide(std::uint64_t a, std::uint64_t b, bool is_unsigned, bool remainder) {
    if (is_unsigned) return remainder ? a % b : a / b;
    if (b == ~0ULL) return remainder ? 0 : 0 - a;
    const auto x = static_cast<std::int64_t>(a), y = static_cast<std::int64_t>(b);
    return static_cast<std::uint64_t>(remainder ? x % y : x / y);
}

inline bool less(std::uint64_t a, std::uint64_t b, bool is_unsigned) {
    return is_unsigned ? a < b : static_cast<std::int64_t>(a) < static_cast<std::int64_t>(b);
}

/// Shifts by 64 and more give 0, or the sign.
inline std::uint64_t shift_right(std::uint64_t a, std::uint64_t n, bool is_unsigned) {
    if (is_unsigned) return n > 63 ? 0 : a >> n;
    return static_cast<std::uint64_t>(static_cast<std::int64_t>(a) >> (n > 63 ? 63 : n));
}

inline constant compare(std::string_view op, std::uint64_t a, std::uint64_t b, bool u) {
    const bool r = op == "==" ? a == b : op == "!=" ? a != b : op == "<" ? less(a, b, u) : op == ">" ? less(b, a, u)
                 : op == "<=" ? !less(b, a, u) : op == ">=" ? !less(a, b, u) : op == "&&" ? a != 0 && b != 0 : a != 0 || b != 0;
    return integer_result(r ? 1 : 0, false);
}

inline constant apply(std::string_view op, const constant& x, const constant& y) {
    const std::uint64_t a = x.bits, b = y.bits;
    const bool u = x.is_unsigned || y.is_unsigned;
    if (op == "+") return integer_result(a + b, u);
    if (op == "-") return integer_result(a - b, u);
    if (op == "*") return integer_result(a * b, u);
    if (op == "/" || op == "%") return integer_result(divide(a, b, u, op == "%"), u);
    if (op == "<<") return integer_result(b > 63 ? 0 : a << b, x.is_unsigned);
    if (op == ">>") return integer_result(shift_right(a, b, x.is_unsigned), x.is_unsigned);
    if (op == "&") return integer_result(a & b, u);
    if (op == "|") return integer_result(a | b, u);
    if (op == "^") return integer_result(a ^ b, u);
    return compare(op, a, b, u);
}

/// How deep parentheses and signs may nest; what compilers write needs two or three.
inline constexpr int expression_depth = 64;

inline constant parse_conditional(cursor& in, int depth);

inline constant negate(constant c) {
    if (c.kind == token_kind::f32) c.bits ^= 0x80000000ULL;
    else if (c.kind == token_kind::f64) c.bits ^= 1ULL << 63;
    else c = integer_result(0 - c.bits, c.is_unsigned && c.bits >> 63 == 0);
    return c;
}

inline constant need_integer(cursor& in, const constant& c) {
    if (c.kind != token_kind::integer) in.fail("a floating-point constant can only have a sign; expected the end of the constant");
    return c;
}

inline constant parse_unary(cursor& in, int depth) {
    if (depth > expression_depth) in.fail("this constant expression is nested too deeply");
    if (in.accept("-")) return negate(parse_unary(in, depth + 1));
    if (in.accept("+")) return parse_unary(in, depth + 1);
    if (in.accept("~")) {
        const constant c = need_integer(in, parse_unary(in, depth + 1));
        return integer_result(~c.bits, c.is_unsigned);
    }
    if (in.accept("!")) return integer_result(need_integer(in, parse_unary(in, depth + 1)).bits == 0 ? 1 : 0, false);
    if (in.accept("(")) {
        const bool to_u64 = in.accept_dotted("u64"), cast = to_u64 || in.accept_dotted("s64");
        constant c = cast ? constant{} : parse_conditional(in, depth + 1);
        in.expect(")");
        if (cast) {
            c = need_integer(in, parse_unary(in, depth + 1));
            c.is_unsigned = to_u64;
        }
        return c;
    }
    const token& t = in.peek();
    if (t.kind != token_kind::integer && t.kind != token_kind::f32 && t.kind != token_kind::f64) in.fail("expected a constant");
    const constant c{t.kind, t.value, t.is_unsigned};
    in.take();
    return c;
}

inline constant parse_binary(cursor& in, int level, int depth) {
    constant left = parse_unary(in, depth);
    while (const binary_operator* op = operator_at(in)) {
        if (op->level < level) break;
        need_integer(in, left);
        in.take();
        const constant right = need_integer(in, parse_binary(in, op->level + 1, depth + 1));
        if ((op->text == "/" || op->text == "%") && right.bits == 0) in.fail("division by zero in a constant expression");
        left = apply(op->text, left, right);
    }
    return left;
}

inline constant parse_conditional(cursor& in, int depth) {
    const constant c = parse_binary(in, 1, depth);
    if (!in.accept("?")) return c;
    const constant yes = parse_conditional(in, depth + 1);
    in.expect(":");
    const constant no = parse_conditional(in, depth + 1);
    return need_integer(in, c).bits != 0 ? yes : no;
}

}  // namespace detail

/// Parses a constant expression. Throws syntax_error.
inline constant parse_constant(cursor& in) { return detail::parse_conditional(in, 0); }

/// One that must be an integer; gives its 64 bits.
inline std::uint64_t parse_integer_constant(cursor& in) { return detail::need_integer(in, parse_constant(in)).bits; }

}  // namespace qwengpu::ptx
