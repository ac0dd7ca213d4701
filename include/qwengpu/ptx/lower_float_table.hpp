// SPDX-License-Identifier: MIT
// Which function lowers an instruction on f32, and the manners of those that are sequences.
#pragma once

#include <array>
#include <string_view>

#include <qwengpu/ptx/float_divide.hpp>
#include <qwengpu/ptx/float_root.hpp>
#include <qwengpu/ptx/lower_float.hpp>
#include <qwengpu/ptx/lower_float_convert.hpp>

namespace qwengpu::ptx::lower {

/// div.rn .rz .rm .rp; .full and .approx are correctly rounded too.
inline void float_div(lowering& l) {
    detail::float_code c(l, detail::manner_of(l.now()));
    l.result(detail::float_division(c).run(l.raw_word(1), l.raw_word(2)));
}

inline void float_rcp(lowering& l) {
    detail::float_code c(l, detail::manner_of(l.now()));
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

namespace detail {

struct float_function {
    std::string_view opcode;
    void (*lower)(lowering&);
};

inline constexpr std::array float_functions{
    float_function{"abs", float_abs}, float_function{"add", float_add_or_sub}, float_function{"copysign", float_copysign}, float_function{"cvt", float_cvt},
    float_function{"div", float_div}, float_function{"fma", float_fma}, float_function{"mad", float_fma}, float_function{"max", float_min_or_max},
    float_function{"min", float_min_or_max}, float_function{"mul", float_mul}, float_function{"neg", float_neg}, float_function{"rcp", float_rcp},
    float_function{"rsqrt", float_rsqrt}, float_function{"setp", float_setp}, float_function{"sqrt", float_sqrt}, float_function{"sub", float_add_or_sub}, float_function{"testp", float_testp}};

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
