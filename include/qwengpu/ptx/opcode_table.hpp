// SPDX-License-Identifier: MIT
// The instructions of PTX ISA 6.0 to 9.0: what modifiers, types and operands each may have (opcode_row.hpp says how to read a row).
// Sorted by name; of two forms of a name the upper one is tried first. Instructions that no machine of ours will run take anything.
#pragma once

#include <algorithm>
#include <iterator>
#include <span>
#include <string_view>

#include <qwengpu/ptx/opcode_row.hpp>

namespace qwengpu::ptx {

inline constexpr opcode_row opcode_table[] = {
    // name, when, needs, modifiers, types, operands
    {"abs", "=float", "", "ftz", "$float", "d s"},
    {"abs", "", "", "", "s16 s32 s64", "d s"},
    {"activemask", "", "", "", "b32", "d"},
    {"add", "=float", "", "$round ftz sat", "$float; f16 bf16?", "d sL s"},
    {"add", "sat", "", "", "s32", "d s s"},
    {"add", "cc", "", "", "$wide", "d s s"},
    {"add", "", "", "", "$int u16x2 s16x2", "d s s"},
    {"addc", "", "", "cc", "$int", "d s s"},
    {"and", "", "", "", "pred $bits", "d s s"},
    {"applypriority", "", "", "global ::", "", "m i"},
    {"atom", "cas", "", "relaxed acquire release acq_rel $scope $shared L2::cache_hint", "b16 b32 b64 b128", "A m s s h?"},
    {"atom", "add", "", "relaxed acquire release acq_rel $scope $shared noftz v2 v4 v8 L2::cache_hint", "u32 s32 u64 $float", "A m B h?"},
    {"atom", "inc", "", "relaxed acquire release acq_rel $scope $shared L2::cache_hint", "u32", "A m s h?"},
    {"atom", "dec", "", "relaxed acquire release acq_rel $scope $shared L2::cache_hint", "u32", "A m s h?"},
    {"atom", "exch", "", "relaxed acquire release acq_rel $scope $shared L2::cache_hint", "b32 b64 b128", "A m s h?"},
    {"atom", "=bool", "and|or|xor", "relaxed acquire release acq_rel $scope $shared L2::cache_hint", "b32 b64", "A m s h?"},
    {"atom", "", "min|max", "relaxed acquire release acq_rel $scope $shared noftz v2 v4 v8 L2::cache_hint", "$wide $half", "A m B h?"},
    {"bar", "warp", "sync", "warp", "", "i"},
    {"bar", "popc", "red", "popc cta", "u32", "d i i? q"},
    {"bar", "red", "and|or", "red cta", "pred", "p i i? q"},
    {"bar", "arrive", "", "arrive cta", "", "i i"},
    {"bar", "", "sync", "cta", "", "i i?"},
    {"barrier", "cluster", "arrive|wait", "cluster aligned release acquire relaxed", "", ""},
    {"barrier", "popc", "red", "popc cta aligned", "u32", "d i i? q"},
    {"barrier", "red", "and|or", "red cta aligned", "pred", "p i i? q"},
    {"barrier", "arrive", "", "arrive cta aligned", "", "i i"},
    {"barrier", "", "sync", "cta aligned", "", "i i?"},
    {"bfe", "", "", "", "u32 u64 s32 s64", "d s su su"},
    {"bfi", "", "", "", "b32 b64", "d s s su su"},
    {"bfind", "", "", "shiftamt", "u32 u64 s32 s64", "du s"},
    {"bmsk", "", "clamp|wrap", "", "b32", "d su su"},
    {"bra", "", "", "uni", "", "l"},
    {"brev", "", "", "", "b32 b64", "d s"},
    {"brkpt", "", "", "", "", ""},
    {"brx", "", "idx", "uni", "", "su t"},
    {"call", "", "", "uni", "", "*"},
    {"clz", "", "", "", "b32 b64", "du s"},
    {"cnot", "", "", "", "$bits", "d s"},
    {"copysign", "", "", "", "f32 f64", "d s s"},
    {"cos", "", "approx", "ftz", "f32", "d s"},
    {"createpolicy", "", "", "*", "", "*"},
    {"cvt", "pack", "", "*", "", "*"},
    {"cvt", "", "", "$round $iround rna rs ftz sat relu satfinite", "$cvt;$cvt", "x0 y1 y1? su?"},
    {"cvta", "", "", "to $space", "u32 u64", "d N"},
    {"discard", "", "", "*", "", "*"},
    {"div", "=float", "approx|full|rn|rz|rm|rp", "ftz", "f32 f64", "d s s"},
    {"div", "", "", "", "$int", "d s s"},
    {"dp2a", "", "lo|hi", "", "s32 u32;s32 u32", "du su su su"},
    {"dp4a", "", "", "", "s32 u32;s32 u32", "du su su su"},
    {"elect", "", "", "*", "", "*"},
    {"ex2", "", "approx", "ftz", "f32 f16 f16x2 bf16 bf16x2", "d s"},
    {"exit", "", "", "", "", ""},
    {"fence", "", "", "acquire release acq_rel sc $scope proxy alias async mbarrier_init sync_restrict ::", "", "*"},
    {"fma", "=float", "rn|rz|rm|rp", "ftz sat relu oob", "$float; f16 bf16?", "d sL sL s"},
    {"fns", "", "", "", "b32", "d s s s"},
    {"getctarank", "", "", "shared::cluster", "u32 u64", "du N"},
    {"griddepcontrol", "", "launch_dependents|wait", "", "", ""},
    {"isspacep", "", "global|shared|local|const|param|shared::cta|shared::cluster|param::entry", "", "", "p N"},
    {"ld", "L2::cache_hint", "", "weak volatile relaxed acquire mmio $scope $space $cache v2 v4 v8 ::", "$mem", "D m h"},
    {"ld", "relaxed", "cta|cluster|gpu|sys", "mmio $space v2 v4 v8 ::", "$mem", "D m"},
    {"ld", "acquire", "cta|cluster|gpu|sys", "$space v2 v4 v8 ::", "$mem", "D m"},
    {"ld", "nc", "global", "ca cg cs v2 v4 v8 ::", "$mem", "D m"},
    {"ld", "", "", "weak volatile $space $cache v2 v4 v8 ::", "$mem", "D m"},
    {"ldu", "", "", "global v2 v4", "$mem", "D m"},
    {"lg2", "", "approx", "ftz", "f32", "d s"},
    {"lop3", "or", "", "or", "b32", "E s s s i q"},
    {"lop3", "and", "", "and", "b32", "E s s s i q"},
    {"lop3", "", "", "", "b32", "d s s s i"},
    {"mad", "=float", "rn|rz|rm|rp", "ftz sat", "f32 f64", "d s s s"},
    {"mad", "wide", "", "wide", "u16 u32 s16 s32", "dw s s sw"},
    {"mad", "sat", "hi", "", "s32", "d s s s"},
    {"mad", "", "lo|hi", "cc", "$int", "d s s s"},
    {"mad24", "sat", "hi", "", "s32", "d s s s"},
    {"mad24", "", "lo|hi", "", "u32 s32", "d s s s"},
    {"madc", "", "lo|hi", "cc", "$int", "d s s s"},
    {"mapa", "", "", "shared::cluster", "u32 u64", "d N su"},
    {"match", "any", "sync", "any", "b32 b64", "du s su"},
    {"match", "all", "sync", "all", "b32 b64", "eu s su"},
    {"max", "=float", "", "ftz NaN xorsign abs", "$float", "d s s s?"},
    {"max", "", "", "relu", "$int u16x2 s16x2", "d s s"},
    {"membar", "", "cta|gl|sys|proxy", "alias async ::", "", ""},
    {"min", "=float", "", "ftz NaN xorsign abs", "$float", "d s s s?"},
    {"min", "", "", "relu", "$int u16x2 s16x2", "d s s"},
    {"mov", "v2", "", "", "$any", "A B"},
    {"mov", "v4", "", "", "b16 b32 u16 u32 s16 s32 f32", "A B"},
    {"mov", "", "", "", "pred b128 $any", "M N"},
    {"mul", "=float", "", "$round ftz sat", "$float", "d s s"},
    {"mul", "wide", "", "wide", "u16 u32 s16 s32", "dw s s"},
    {"mul", "", "lo|hi", "", "$int", "d s s"},
    {"mul24", "", "lo|hi", "", "u32 s32", "d s s"},
    {"nanosleep", "", "", "", "u32", "s"},
    {"neg", "=float", "", "ftz", "$float", "d s"},
    {"neg", "", "", "", "s16 s32 s64", "d s"},
    {"not", "", "", "", "pred $bits", "d s"},
    {"or", "", "", "", "pred $bits", "d s s"},
    {"pmevent", "", "", "mask", "", "i"},
    {"popc", "", "", "", "b32 b64", "du s"},
    {"prefetch", "", "", "$space L1 L2 tensormap ::", "", "m"},
    {"prefetchu", "", "", "L1", "", "m"},
    {"prmt", "", "", "f4e b4e rc8 ecl ecr rc16", "b32", "d s s s"},
    {"rcp", "=float", "approx|rn|rz|rm|rp", "ftz", "f32 f64", "d s"},
    {"red", "async", "", "*", "", "*"},
    {"red", "add", "", "relaxed release $scope $shared noftz v2 v4 v8 L2::cache_hint", "u32 s32 u64 $float", "m B h?"},
    {"red", "inc", "", "relaxed release $scope $shared L2::cache_hint", "u32", "m s h?"},
    {"red", "dec", "", "relaxed release $scope $shared L2::cache_hint", "u32", "m s h?"},
    {"red", "=bool", "and|or|xor", "relaxed release $scope $shared L2::cache_hint", "b32 b64", "m s h?"},
    {"red", "", "min|max", "relaxed release $scope $shared noftz v2 v4 v8 L2::cache_hint", "$wide $half", "m B h?"},
    {"redux", "", "sync", "add min max and or xor abs NaN", "u32 s32 b32 f32", "d s su"},
    {"rem", "", "", "", "$int", "d s s"},
    {"ret", "", "", "uni", "", ""},
    {"rsqrt", "", "approx", "ftz", "f32 f64", "d s"},
    {"sad", "", "", "", "$int", "d s s s"},
    {"selp", "", "", "", "$any", "d s s q"},
    {"set", "=float =bool", "eq|ne|lt|le|gt|ge|equ|neu|ltu|leu|gtu|geu|num|nan and|or|xor", "ftz", "u32 s32 f32 u16 s16 $half;$float", "d s1 s1 q"},
    {"set", "=float", "eq|ne|lt|le|gt|ge|equ|neu|ltu|leu|gtu|geu|num|nan", "ftz", "u32 s32 f32 u16 s16 $half;$float", "d s1 s1"},
    {"set", "=bits =bool", "eq|ne and|or|xor", "", "u32 s32 f32 f16 bf16;$bits", "d s1 s1 q"},
    {"set", "=bits", "eq|ne", "", "u32 s32 f32 f16 bf16;$bits", "d s1 s1"},
    {"set", "=signed =bool", "eq|ne|lt|le|gt|ge and|or|xor", "", "u32 s32 f32 f16 bf16;s16 s32 s64", "d s1 s1 q"},
    {"set", "=signed", "eq|ne|lt|le|gt|ge", "", "u32 s32 f32 f16 bf16;s16 s32 s64", "d s1 s1"},
    {"set", "=bool", "eq|ne|lt|le|gt|ge|lo|ls|hi|hs and|or|xor", "", "u32 s32 f32 f16 bf16;u16 u32 u64", "d s1 s1 q"},
    {"set", "", "eq|ne|lt|le|gt|ge|lo|ls|hi|hs", "", "u32 s32 f32 f16 bf16;u16 u32 u64", "d s1 s1"},
    {"setmaxnreg", "", "inc|dec sync aligned", "", "u32", "i"},
    {"setp", "=float =bool", "eq|ne|lt|le|gt|ge|equ|neu|ltu|leu|gtu|geu|num|nan and|or|xor", "ftz", "$float", "P s s q"},
    {"setp", "=float", "eq|ne|lt|le|gt|ge|equ|neu|ltu|leu|gtu|geu|num|nan", "ftz", "$float", "P s s"},
    {"setp", "=bits =bool", "eq|ne and|or|xor", "", "$bits", "P s s q"},
    {"setp", "=bits", "eq|ne", "", "$bits", "P s s"},
    {"setp", "=signed =bool", "eq|ne|lt|le|gt|ge and|or|xor", "", "s16 s32 s64", "P s s q"},
    {"setp", "=signed", "eq|ne|lt|le|gt|ge", "", "s16 s32 s64", "P s s"},
    {"setp", "=bool", "eq|ne|lt|le|gt|ge|lo|ls|hi|hs and|or|xor", "", "u16 u32 u64", "P s s q"},
    {"setp", "", "eq|ne|lt|le|gt|ge|lo|ls|hi|hs", "", "u16 u32 u64", "P s s"},
    {"shf", "", "l|r clamp|wrap", "", "b32", "d s s su"},
    {"shfl", "sync", "up|down|bfly|idx", "sync", "b32", "e s su su su"},
    {"shfl", "", "up|down|bfly|idx", "", "b32", "e s su su"},
    {"shl", "", "", "", "$bits", "d s su"},
    {"shr", "", "", "", "$bits $int", "d s su"},
    {"sin", "", "approx", "ftz", "f32", "d s"},
    {"slct", "", "", "ftz", "$any;s32 f32", "d s s s1"},
    {"sqrt", "=float", "approx|rn|rz|rm|rp", "ftz", "f32 f64", "d s"},
    {"st", "async", "", "*", "", "*"},
    {"st", "bulk", "", "*", "", "*"},
    {"st", "L2::cache_hint", "", "weak volatile relaxed release mmio $scope $shared local wb cg cs wt v2 v4 v8 ::", "$mem", "m S h"},
    {"st", "relaxed", "cta|cluster|gpu|sys", "mmio $shared v2 v4 v8 ::", "$mem", "m S"},
    {"st", "release", "cta|cluster|gpu|sys", "$shared v2 v4 v8 ::", "$mem", "m S"},
    {"st", "", "", "weak volatile $shared local param param::func wb cg cs wt v2 v4 v8 ::", "$mem", "m S"},
    {"sub", "=float", "", "$round ftz sat", "$float; f16 bf16?", "d sL s"},
    {"sub", "sat", "", "", "s32", "d s s"},
    {"sub", "cc", "", "", "$wide", "d s s"},
    {"sub", "", "", "", "$int", "d s s"},
    {"subc", "", "", "cc", "$int", "d s s"},
    {"szext", "", "clamp|wrap", "", "u32 s32", "d s su"},
    {"tanh", "", "approx", "", "f32 f16 f16x2 bf16 bf16x2", "d s"},
    {"testp", "", "finite|infinite|number|notanumber|normal|subnormal", "", "f32 f64", "p s"},
    {"trap", "", "", "", "", ""},
    {"vabsdiff", "", "", "sat add min max", "u32 s32;u32 s32;u32 s32", "V W W s?"},
    {"vabsdiff2", "", "", "sat add", "u32 s32;u32 s32;u32 s32", "V W W s"},
    {"vabsdiff4", "", "", "sat add", "u32 s32;u32 s32;u32 s32", "V W W s"},
    {"vadd", "", "", "sat add min max", "u32 s32;u32 s32;u32 s32", "V W W s?"},
    {"vadd2", "", "", "sat add", "u32 s32;u32 s32;u32 s32", "V W W s"},
    {"vadd4", "", "", "sat add", "u32 s32;u32 s32;u32 s32", "V W W s"},
    {"vavrg2", "", "", "sat add", "u32 s32;u32 s32;u32 s32", "V W W s"},
    {"vavrg4", "", "", "sat add", "u32 s32;u32 s32;u32 s32", "V W W s"},
    {"vmad", "", "", "po sat shr7 shr15", "u32 s32;u32 s32;u32 s32", "V W W W"},
    {"vmax", "", "", "sat add min max", "u32 s32;u32 s32;u32 s32", "V W W s?"},
    {"vmax2", "", "", "sat add", "u32 s32;u32 s32;u32 s32", "V W W s"},
    {"vmax4", "", "", "sat add", "u32 s32;u32 s32;u32 s32", "V W W s"},
    {"vmin", "", "", "sat add min max", "u32 s32;u32 s32;u32 s32", "V W W s?"},
    {"vmin2", "", "", "sat add", "u32 s32;u32 s32;u32 s32", "V W W s"},
    {"vmin4", "", "", "sat add", "u32 s32;u32 s32;u32 s32", "V W W s"},
    {"vote", "ballot sync", "", "", "b32", "d q su"},
    {"vote", "ballot", "", "", "b32", "d q"},
    {"vote", "sync", "all|any|uni", "", "pred", "p q su"},
    {"vote", "", "all|any|uni", "", "pred", "p q"},
    {"vset", "", "eq|ne|lt|le|gt|ge", "add min max", "u32 s32;u32 s32", "V W W s?"},
    {"vset2", "", "eq|ne|lt|le|gt|ge", "add", "u32 s32;u32 s32", "V W W s"},
    {"vset4", "", "eq|ne|lt|le|gt|ge", "add", "u32 s32;u32 s32", "V W W s"},
    {"vshl", "", "clamp|wrap", "sat add min max", "u32 s32;u32 s32;u32", "V W W s?"},
    {"vshr", "", "clamp|wrap", "sat add min max", "u32 s32;u32 s32;u32", "V W W s?"},
    {"vsub", "", "", "sat add min max", "u32 s32;u32 s32;u32 s32", "V W W s?"},
    {"vsub2", "", "", "sat add", "u32 s32;u32 s32;u32 s32", "V W W s"},
    {"vsub4", "", "", "sat add", "u32 s32;u32 s32;u32 s32", "V W W s"},
    {"xor", "", "", "", "pred $bits", "d s s"},
};

/// Instructions that are valid PTX and outside of what this library runs: only their names are known.
inline constexpr std::string_view foreign_opcodes =
    "alloca clusterlaunchcontrol cp istypep ldmatrix mbarrier mma "
    "movmatrix multimem stackrestore stacksave stmatrix suld suq sured sust tcgen05 tensormap tex tld4 txq wgmma wmma";

static_assert(std::is_sorted(std::begin(opcode_table), std::end(opcode_table),
                             [](const opcode_row& a, const opcode_row& b) { return a.name < b.name; }));

/// The rows of this name, in the order of the table; none for an unknown or foreign instruction.
constexpr std::span<const opcode_row> rows_named(std::string_view name) {
    const auto first = std::lower_bound(std::begin(opcode_table), std::end(opcode_table), name,
                                        [](const opcode_row& row, std::string_view n) { return row.name < n; });
    auto last = first;
    while (last != std::end(opcode_table) && last->name == name) ++last;
    return {first, last};
}

/// The name of the instruction as the table holds it, or empty. It lives for ever.
constexpr std::string_view opcode_named(std::string_view name) {
    if (const auto rows = rows_named(name); !rows.empty()) return rows[0].name;
    std::string_view found;
    detail::any_word(foreign_opcodes, ' ', [&](std::string_view word) {
        if (word == name) found = word;
        return !found.empty();
    });
    return found;
}

/// Whether the instruction is one on bytes and half words inside of registers.
constexpr bool is_video(std::string_view opcode) { return opcode.size() > 1 && opcode[0] == 'v' && opcode != "vote"; }

}  // namespace qwengpu::ptx
