// SPDX-License-Identifier: MIT
// Which function lowers an instruction, and why the others cannot be lowered.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <unordered_map>

#include <qwengpu/ptx/lower_bits.hpp>
#include <qwengpu/ptx/lower_compare.hpp>
#include <qwengpu/ptx/lower_convert.hpp>
#include <qwengpu/ptx/lower_float_table.hpp>
#include <qwengpu/ptx/lower_cooperate.hpp>
#include <qwengpu/ptx/lower_memory.hpp>
#include <qwengpu/ptx/lower_video.hpp>
#include <qwengpu/ptx/opcode_row.hpp>

namespace qwengpu::ptx {

namespace detail {

using lower_function = void (*)(lowering&);

/// Instructions that order memory or hint at caches: on this machine every access is done when the next begins.
inline void nothing(lowering&) {}

inline const std::unordered_map<std::string_view, lower_function>& lower_functions() {
    static const std::unordered_map<std::string_view, lower_function> table{
        {"abs", lower::abs}, {"add", lower::add_or_sub}, {"addc", lower::with_carry}, {"and", lower::logic}, {"bfe", lower::extract_field},
        {"bfi", lower::insert_field}, {"bfind", lower::find_bit}, {"bmsk", lower::bit_mask}, {"brev", lower::reverse},
        {"applypriority", nothing}, {"createpolicy", lower::no_policy}, {"getctarank", lower::rank_in_cluster}, {"griddepcontrol", nothing}, {"mapa", lower::map_to_block}, {"setmaxnreg", nothing},
        {"activemask", lower::activemask}, {"atom", lower::atomic}, {"bar", lower::barrier}, {"barrier", lower::barrier}, {"elect", lower::elect},
        {"isspacep", lower::isspacep}, {"match", lower::match}, {"red", lower::atomic}, {"redux", lower::redux}, {"shfl", lower::shuffle}, {"vote", lower::vote},
        {"clz", lower::count}, {"cnot", lower::cnot}, {"cvt", lower::cvt}, {"cvta", lower::cvta}, {"div", lower::div_or_rem},
        {"discard", nothing}, {"dp2a", lower::dot_product}, {"dp4a", lower::dot_product}, {"fence", lower::order_memory}, {"fns", lower::find_nth_one}, {"ld", lower::ld}, {"ldu", lower::ld}, {"lop3", lower::lop3}, {"mad", lower::mad}, {"mad24", lower::mul_24},
        {"madc", lower::mad_with_carry}, {"max", lower::min_or_max}, {"membar", lower::order_memory}, {"min", lower::min_or_max}, {"mov", lower::mov},
        {"mul", lower::mul}, {"mul24", lower::mul_24}, {"nanosleep", nothing}, {"neg", lower::neg}, {"not", lower::bit_not},
        {"or", lower::logic}, {"pmevent", nothing}, {"popc", lower::count}, {"prefetch", nothing}, {"prefetchu", nothing},
        {"prmt", lower::permute_bytes}, {"rem", lower::div_or_rem}, {"sad", lower::sad}, {"selp", lower::selp}, {"set", lower::set},
        {"setp", lower::setp}, {"shf", lower::funnel_shift}, {"shl", lower::shift}, {"shr", lower::shift}, {"slct", lower::slct},
        {"st", lower::st}, {"sub", lower::add_or_sub}, {"subc", lower::with_carry}, {"szext", lower::extend_low_bits}, {"xor", lower::logic},
        {"vmad", lower::video_multiply}, {"vabsdiff", lower::video_scalar}, {"vabsdiff2", lower::video_parts_at_once},
        {"vabsdiff4", lower::video_parts_at_once}, {"vadd", lower::video_scalar}, {"vadd2", lower::video_parts_at_once},
        {"vadd4", lower::video_parts_at_once}, {"vavrg2", lower::video_parts_at_once}, {"vavrg4", lower::video_parts_at_once},
        {"vmax", lower::video_scalar}, {"vmax2", lower::video_parts_at_once}, {"vmax4", lower::video_parts_at_once}, {"vmin", lower::video_scalar},
        {"vmin2", lower::video_parts_at_once}, {"vmin4", lower::video_parts_at_once}, {"vset", lower::video_scalar},
        {"vset2", lower::video_parts_at_once}, {"vset4", lower::video_parts_at_once}, {"vshl", lower::video_scalar}, {"vshr", lower::video_scalar},
        {"vsub", lower::video_scalar}, {"vsub2", lower::video_parts_at_once}, {"vsub4", lower::video_parts_at_once}};
    return table;
}

/// A reason that many instructions share.
struct refusal {
    std::string_view opcodes;  ///< separated by spaces
    std::string_view why;
};

inline constexpr std::array<refusal, 4> refusals{{
    {"mbarrier", "barriers in memory are not supported; use bar.sync"},
    {"tex tld4 txq suld sust sured suq istypep", "textures and surfaces are not supported; read a buffer instead"},
    {"wmma mma wgmma tcgen05 ldmatrix stmatrix movmatrix", "matrix instructions are not supported; multiply in a loop"},
    {"cp", "asynchronous copies are not supported; use loads and stores"},
}};

/// Why no instruction of this name is supported, or empty.
inline std::string_view why_refused(std::string_view opcode) {
    for (const refusal& r : refusals)
        if (names(r.opcodes, opcode)) return r.why;
    return {};
}

/// Why floats of the instruction cannot be lowered, or empty.
inline std::string_view why_float_refused(const instruction& i) {
    for (scalar_type t : i.types) {
        if (t == scalar_type::f64 && names("mov ld ldu st selp", i.opcode)) continue;
        if (t == scalar_type::f64) return "64-bit floats (f64, double in CUDA) are not supported; use float";
        if (t == scalar_type::tf32) return "floats of the type tf32 are not supported; use f32";
        if (is_float(t) && t != scalar_type::f32) return "16-bit and smaller floats are not supported; use f32";
    }
    return {};
}

}  // namespace detail

/// Lowers the instruction in hand, or adds it to the list of refusals.
inline void lower_instruction(lowering& l) {
    const instruction& i = l.now();
    const auto& table = detail::lower_functions();
    const auto found = table.find(i.opcode);
    const std::string_view why = detail::why_refused(i.opcode);
    if (found == table.end() && !why.empty()) return l.refuse(std::string(why));
    if (const auto on_doubles = lower::detail::double_function_of(i)) return on_doubles(l);
    if (const std::string_view float_why = detail::why_float_refused(i); !float_why.empty()) return l.refuse(std::string(float_why));
    if (const auto on_floats = lower::detail::float_function_of(i)) return on_floats(l);
    if (found == table.end())
        return l.refuse("this instruction is not supported; write it with integer arithmetic, comparisons and 32-bit loads and stores");
    for (scalar_type t : i.types)
        if (bits_of(t) > 64) return l.refuse("this type is not supported; use 32-bit integers");
    if (i.type() == scalar_type::u16x2 || i.type() == scalar_type::s16x2) return lower::pair_of_halves(l);
    found->second(l);
}

}  // namespace qwengpu::ptx
