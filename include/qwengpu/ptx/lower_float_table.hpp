// SPDX-License-Identifier: MIT
// Which function lowers an instruction on f32, and the manners of those that are sequences.
#pragma once

#include <array>
#include <string_view>

#include <qwengpu/ptx/float_circle.hpp>
#include <qwengpu/ptx/float_divide.hpp>
#include <qwengpu/ptx/float_exponential.hpp>
#include <qwengpu/ptx/float_root.hpp>
#include <qwengpu/ptx/lower_double.hpp>
#include <qwengpu/ptx/lower_float.hpp>
#include <qwengpu/ptx/lower_float_convert.hpp>

namespace qwengpu::ptx::lower {

/// Whether the quick way may be taken: without .ftz its factors would not reach all results.
inline bool is_quick(const lowering& l) { return l.now().has("approx") && l.now().has("ftz"); }

/// div.rn .rz .rm .rp; .full, and .approx without .ftz, are correctly rounded too.
inline void float_div(lowering& l) {
    detail::float_code c(l, detail::manner_of(l.now()));
    if (is_quick(l)) {
        const ir::operand inverse = detail::approximate_reciprocal(c, l.raw_word(2));
        return l.result(c.fmul(l.raw_word(1), inverse, detail::m::ftz));
    }
    const ir::operand b = l.raw_word(2), a = l.raw_word(1);
    l.result(detail::float_division(c).run(a, b));
}

inline void float_rcp(lowering& l) {
    detail::float_code c(l, detail::manner_of(l.now()));
    if (is_quick(l)) return l.result(detail::approximate_reciprocal(c, l.raw_word(1)));
    l.result(detail::float_division(c).run(detail::float_code::constant(1.0F), l.raw_word(1)));
}

inline void float_sqrt(lowering& l) {
    detail::float_code c(l, detail::manner_of(l.now()));
    detail::float_root root(c, l.raw_word(1));
    l.result(l.now().has("approx") ? root.approximate() : root.rounded());
}

inline void float_rsqrt(lowering& l) {
    detail::float_code c(l, detail::manner_of(l.now()));
    l.result(detail::float_root(c, l.raw_word(1)).inverse_root());
}

/// ex2, lg2, sin, cos, tanh.
inline void float_elementary(lowering& l) {
    detail::float_code c(l, detail::manner_of(l.now()));
    const std::string_view name = l.now().opcode;
    const ir::operand x = l.raw_word(1);
    if (name == "ex2") return l.result(detail::exponential(c, x));
    if (name == "lg2") return l.result(detail::logarithm(c, x));
    if (name == "tanh") return l.result(detail::hyperbolic_tangent(c, x));
    l.result(detail::sine(c, c.input(x), name == "cos" ? 1 : 0));
}

namespace detail {

struct float_function {
    std::string_view opcode;
    void (*lower)(lowering&);
};

inline constexpr std::array float_functions{
    float_function{"abs", float_abs}, float_function{"add", float_add_or_sub}, float_function{"copysign", float_copysign},
    float_function{"cos", float_elementary}, float_function{"cvt", float_cvt}, float_function{"div", float_div},
    float_function{"ex2", float_elementary}, float_function{"fma", float_fma}, float_function{"lg2", float_elementary},
    float_function{"mad", float_fma}, float_function{"max", float_min_or_max}, float_function{"min", float_min_or_max},
    float_function{"mul", float_mul}, float_function{"neg", float_neg}, float_function{"rcp", float_rcp}, float_function{"rsqrt", float_rsqrt},
    float_function{"setp", float_setp}, float_function{"sin", float_elementary}, float_function{"sqrt", float_sqrt},
    float_function{"sub", float_add_or_sub}, float_function{"tanh", float_elementary}, float_function{"testp", float_testp}};

inline constexpr std::array double_functions{float_function{"abs", double_abs}, float_function{"cvt", double_cvt}, float_function{"mul", double_mul},
                                             float_function{"neg", double_neg}};

/// What lowers the instruction if one of its types is f64 and it is among the few that are lowered; nullptr for all others.
inline auto double_function_of(const instruction& i) -> void (*)(lowering&) {
    if (i.type(0) != scalar_type::f64 && i.type(1) != scalar_type::f64) return nullptr;
    for (const float_function& f : double_functions)
        if (f.opcode == i.opcode) return f.lower;
    return nullptr;
}

/// What lowers the instruction if it computes with f32; nullptr for all others, those that only move f32 words among them.
inline auto float_function_of(const instruction& i) -> void (*)(lowering&) {
    const bool compares = i.type(1) == scalar_type::f32;
    if (i.opcode == "set") return compares ? &float_set : nullptr;
    if (i.opcode == "slct") return compares ? &float_slct : nullptr;
    if (i.type(0) != scalar_type::f32 && !compares) return nullptr;
    for (const float_function& f : float_functions)
        if (f.opcode == i.opcode) return f.lower;
    return nullptr;
}

}  // namespace detail

}  // namespace qwengpu::ptx::lower
