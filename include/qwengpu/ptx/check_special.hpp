// SPDX-License-Identifier: MIT
// What the opcode table cannot say. The rounding of cvt: where a conversion can lose something it must be written, elsewhere it
// must not be; .ftz and .sat by type; one state space, one vector size. Source: PTX ISA, "cvt", checked against the assembler
// of the CUDA toolkit.
#pragma once

#include <algorithm>
#include <array>
#include <string>
#include <string_view>

#include <qwengpu/ptx/ast.hpp>
#include <qwengpu/ptx/diagnostics.hpp>
#include <qwengpu/ptx/check_form.hpp>
#include <qwengpu/ptx/opcode_row.hpp>

namespace qwengpu::ptx::detail {

/// Types that cvt has only with modifiers of their own; nothing here runs them.
inline bool is_exotic(scalar_type t) {
    return is_float(t) && t != scalar_type::f16 && t != scalar_type::f32 && t != scalar_type::f64;
}

/// Which group of rounding modifiers a conversion must have (`needed`) or may have (`allowed`); empty: none.
struct cvt_rounding {
    std::string_view needed, allowed;
};

inline cvt_rounding rounding_of(scalar_type to, scalar_type from) {
    if (!is_float(from)) return {is_float(to) ? "$round" : "", ""};
    if (!is_float(to)) return {"$iround", ""};
    if (bits_of(to) < bits_of(from)) return {"$round", ""};
    return {"", to == from ? "$iround" : ""};
}

inline void check_cvt(const instruction& i, diagnostics& wrong) {
    const scalar_type to = i.type(0), from = i.type(1);
    if (is_exotic(to) || is_exotic(from)) return;
    const cvt_rounding r = rounding_of(to, from);
    const auto is_rounding = [](std::string_view m) {
        return names("$round $iround", m);
    };
    const auto found = std::find_if(i.modifiers.begin(), i.modifiers.end(), is_rounding);
    const std::string_view modifier = found == i.modifiers.end() ? std::string_view{} : *found;
    if (modifier.empty() && !r.needed.empty())
        wrong.add("ptx.parse", i.where,
                  printable(i.full_name()) +
                      " needs a rounding: " + (r.needed == "$round" ? ".rn, .rz, .rm or .rp" : ".rni, .rzi, .rmi or .rpi"));
    if (!modifier.empty() && !names(r.needed, modifier) && !names(r.allowed, modifier))
        wrong.add("ptx.parse", i.where,
                  "rounding '." + std::string(modifier) + "' does not go with " + printable(i.full_name()));
}

/// .ftz is for floats of 32 bits or half of it, and for the reciprocals of f64, which look at 32 bits only. No f64 saturates.
inline void check_float_modifiers(const instruction& i, diagnostics& wrong) {
    const auto some = [&](auto what) {
        return std::any_of(i.types.begin(), i.types.end(), what);
    };
    const bool small_float = some([](scalar_type t) { return is_float(t) && t != scalar_type::f64; });
    const bool only_f64 = some([](scalar_type t) { return t == scalar_type::f64; }) && !small_float && i.opcode != "cvt";
    const std::string_view m = i.has("ftz") && !small_float && i.opcode != "rcp" && i.opcode != "rsqrt" ? "ftz"
                               : i.has("sat") && only_f64                                               ? "sat"
                                                                                                        : "";
    if (!m.empty())
        wrong.add("ptx.parse", i.where,
                  "modifier '." + std::string(m) + "' does not go with the types of " + printable(i.full_name()));
}

/// Modifiers of which an instruction may have one at most.
inline constexpr std::array<std::string_view, 6> exclusive_groups{"v2 v4 v8",
                                                                  "$scope",
                                                                  "f4e b4e rc8 ecl ecr rc16",
                                                                  "ca cg cs lu cv wb wt",
                                                                  "weak volatile relaxed acquire release acq_rel sc",
                                                                  "$round"};

inline void check_single(const instruction& i, diagnostics& wrong) {
    const auto several = [&](auto what) {
        return std::count_if(i.modifiers.begin(), i.modifiers.end(), what) > 1;
    };
    if (several([](std::string_view m) { return space_named(m).has_value(); }))
        wrong.add("ptx.parse", i.where, printable(i.full_name()) + " names two state spaces; one is allowed");
    for (const std::string_view group : exclusive_groups)
        if (several([&](std::string_view m) { return names(group, m); }))
            wrong.add("ptx.parse", i.where, printable(i.full_name()) + " may have only one of " + dotted_list(group, ' '));
}

}  // namespace qwengpu::ptx::detail
