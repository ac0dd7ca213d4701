// SPDX-License-Identifier: MIT
// Which register types fit which instruction types. Source: PTX ISA, "Type Checking Rules" and the tables of relaxed rules
// for ld, st and cvt.
#pragma once

#include <qwengpu/ptx/types.hpp>

namespace qwengpu::ptx {

/// Classes agree: predicates only with predicates, .bN with everything, integers of any sign with each other, floats with their own type.
constexpr bool classes_agree(scalar_type instruction, scalar_type reg) {
    const type_class a = class_of(instruction), b = class_of(reg);
    if (a == type_class::predicate || b == type_class::predicate) return a == b;
    if (a == type_class::untyped || b == type_class::untyped) return true;
    if (a == type_class::floating || b == type_class::floating) return instruction == reg;
    return true;
}

/// Same size, and classes that agree.
constexpr bool fits(scalar_type instruction, scalar_type reg) {
    return bits_of(instruction) == bits_of(reg) && classes_agree(instruction, reg);
}

/// As `fits`, but the register may be wider: then it must not be a float, and for a float it must be untyped.
constexpr bool fits_wider(scalar_type instruction, scalar_type reg) {
    if (bits_of(reg) <= bits_of(instruction)) return fits(instruction, reg);
    if (is_float(instruction)) return class_of(reg) == type_class::untyped;
    return !is_float(reg) && class_of(reg) != type_class::opaque;
}

/// The type of twice the size: what mul.wide.s16 writes is .s32.
constexpr scalar_type widened(scalar_type t) {
    switch (t) {
        case scalar_type::u16: return scalar_type::u32;
        case scalar_type::s16: return scalar_type::s32;
        case scalar_type::u32: return scalar_type::u64;
        case scalar_type::s32: return scalar_type::s64;
        default: return scalar_type::none;
    }
}

}  // namespace qwengpu::ptx
