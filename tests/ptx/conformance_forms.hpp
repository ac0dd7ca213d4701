// SPDX-License-Identifier: MIT
// One instance of every PTX instruction and type, made from the opcode table: what docs/conformance.md has its lines from.
#pragma once

#include <algorithm>
#include <array>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <qwengpu/ptx/check_form.hpp>
#include <qwengpu/ptx/opcode_table.hpp>
#include <qwengpu/ptx/type_rules.hpp>

namespace qwengpu::test {

/// A register that an instance reads or writes: of what type, and what it is called.
struct instance_register {
    ptx::scalar_type type = ptx::scalar_type::none;
    std::string name;
};

/// An instruction with operands, and what has to be there for it.
struct instance {
    std::string name;  ///< with modifiers and types
    std::string text;
    std::vector<instance_register> reads, writes;
};

namespace detail {

using ptx::scalar_type;

inline std::vector<std::string> split(std::string_view list, char separator = ' ') {
    std::vector<std::string> all;
    ptx::detail::any_word(list, separator, [&](std::string_view w) { return all.emplace_back(w), false; });
    return all;
}

inline std::vector<std::string> types_in(std::string_view list) {
    std::vector<std::string> all;
    if (!list.empty() && list.back() == '?') list.remove_suffix(1);
    for (const std::string& w : split(list))
        for (const std::string& t : split(ptx::detail::words_of(w))) all.push_back(t);
    return all;
}

/// Types of which one instance is enough where an instruction has two types.
inline bool is_foreign(const std::string& t) {
    const scalar_type type = *ptx::type_named(t);
    return (ptx::is_float(type) && type != scalar_type::f32) || ptx::bits_of(type) > 64;
}

/// What words stand in an instance besides the table's own: spaces, and what makes it whole.
inline std::vector<std::string> variants_of(std::string_view opcode) {
    struct variant { std::string_view opcode, words; };
    static constexpr std::array<variant, 9> all{{{"ld", "global shared local const param"}, {"st", "global shared local"}, {"atom", "global shared"}, {"red", "global shared"},
                                                 {"redux", "add min max and or xor"}, {"cvta", "to.global"}, {"prefetch", "global.L2"}, {"prefetchu", "L1"}, {"fence", "acq_rel.gpu"}}};
    for (const variant& v : all)
        if (v.opcode == opcode) return split(v.words);
    return {""};
}

/// Whole instances of what the table leaves open.
inline std::vector<instance> by_hand() {
    const instance_register p{scalar_type::pred, "%p0"}, r{scalar_type::b32, "%r0"}, d0{scalar_type::b32, "%r30"}, p0{scalar_type::pred, "%p30"};
    return {{"bra", "bra END;", {}, {}}, {"bra", "@%p0 bra END;", {p}, {}}, {"brx.idx", "and.b32 %r0, %r0, 1;\nbrx.idx %r0, places;", {r}, {}},
            {"call", "call function;", {}, {}}, {"cvt.pack", "cvt.pack.sat.s16.s32 %r30, %r0, %r0;", {r}, {d0}},
            {"discard", "discard.global.L2 [%gp], 128;", {}, {}}, {"elect.sync", "elect.sync %r30|%p30, 0xffffffff;", {}, {d0, p0}},
            {"exit", "@%p0 exit;", {p}, {}}, {"ret", "@%p0 ret;", {p}, {}}, {"trap", "@%p0 trap;", {p}, {}}, {"brkpt", "@%p0 brkpt;", {p}, {}},
            {"createpolicy.fractional.b64", "createpolicy.fractional.L2::evict_last.b64 %d30, 1.0;", {}, {{scalar_type::b64, "%d30"}}},
            {"fence.acq_rel.gpu", "fence.acq_rel.gpu;", {}, {}}, {"bar.arrive", "bar.arrive 1, 32;", {}, {}}, {"barrier.arrive", "barrier.arrive 1, 32;", {}, {}}};
}

class instance_maker {
public:
    instance_maker(const ptx::opcode_row& row, std::vector<std::string> words, std::vector<std::string> types)
        : row_(row), words_(std::move(words)), types_(std::move(types)) {}

    instance run() {
        out_.name = std::string(row_.name);
        for (const std::string& w : words_)
            if (!w.empty()) out_.name += "." + w;
        for (const std::string& t : types_) out_.name += "." + t;
        std::string operands;
        for (const std::string& spec : split(row_.operands))
            if (spec.back() != '?') operands += (operands.empty() ? " " : ", ") + operand_of(spec);
        out_.text = out_.name + operands + ";";
        return std::move(out_);
    }

private:
    [[nodiscard]] bool has(std::string_view word) const {
        return std::any_of(words_.begin(), words_.end(), [&](const std::string& w) { return w == word; });
    }

    [[nodiscard]] scalar_type type_of(std::string_view spec) const {
        const auto type = [&](std::size_t k) { return types_.empty() ? scalar_type::b32 : *ptx::type_named(types_[std::min(k, types_.size() - 1)]); };
        switch (spec.size() > 1 ? spec[1] : '0') {
            case '1': return type(1);
            case 'L': return type(types_.size() - 1);
            case 'w': return ptx::widened(type(0));
            case 'u': return scalar_type::u32;
            case 'h': return scalar_type::u64;
            default: return type(0);
        }
    }

    static std::string name_of(scalar_type t, int n) {
        const int bits = ptx::bits_of(t);
        return (t == scalar_type::pred ? "%p" : bits <= 16 ? "%h" : bits == 32 ? "%r" : bits == 64 ? "%d" : "%q") + std::to_string(n);
    }
    std::string source(scalar_type t) {
        const int n = static_cast<int>(out_.reads.size());
        out_.reads.push_back({t, name_of(t, n)});
        return out_.reads.back().name;
    }
    std::string destination(scalar_type t) {
        out_.writes.push_back({t, name_of(t, 30 + static_cast<int>(out_.writes.size()))});
        return out_.writes.back().name;
    }

    /// Operands of mov.v2 and mov.v4 are vectors.
    template <class One>
    std::string as_many(One one) {
        if (!has("v2") && !has("v4")) return one();
        std::string parts = "{" + one();
        for (int k = 1; k < (has("v2") ? 2 : 4); ++k) parts += ", " + one();
        return parts + "}";
    }

    std::string either_destination(scalar_type t) {
        const std::string p = destination(scalar_type::pred);
        return destination(t) + "|" + p;
    }

    std::string operand_of(const std::string& spec) {
        const bool warp_wide = row_.name == "shfl" || row_.name == "vote" || row_.name == "match" || row_.name == "redux";
        ++position_;
        if (warp_wide && spec == "su" && (row_.name != "shfl" || position_ > 3)) return position_ == 4 && row_.name == "shfl" ? "31" : "0xffffffff";
        switch (spec[0]) {
            case 'V': case 'd': case 'D': case 'x': case 'A': case 'M': return as_many([&] { return destination(type_of(spec)); });
            case 'W': case 's': case 'S': case 'y': case 'B': case 'N': return as_many([&] { return source(spec[0] == 'N' && !types_.empty() && types_[0] == "pred" ? scalar_type::pred : type_of(spec)); });
            case 'p': case 'P': return destination(scalar_type::pred);
            case 'q': return source(scalar_type::pred);
            case 'e': return destination(type_of(spec));
            case 'E': return either_destination(type_of(spec));
            case 'm': return has("shared") ? "[shared_word]" : has("local") ? "[local_word]" : has("const") ? "[constant_word]" : has("param") ? "[k_word]" : "[%gp]";
            case 'l': return "END";
            case 'i': if (row_.name == "applypriority" || row_.name == "setmaxnreg") return "128";
                return row_.name == "lop3" ? "0x96" : row_.name == "bar" && has("warp") ? "0xffffffff" : "0";
            default: return "0";
        }
    }

    const ptx::opcode_row& row_;
    std::vector<std::string> words_, types_;
    instance out_;
    int position_ = 0;
};

/// Whether the instruction has the word with these types: sums of numbers, logic of bits.
inline bool goes_with(std::string_view opcode, std::string_view word, const std::vector<std::string>& types) {
    if (opcode != "redux") return true;
    const bool logic = word == "and" || word == "or" || word == "xor";
    return types[0] != "f32" && logic == (types[0] == "b32");
}

/// The rounding that a conversion must have.
inline std::string rounding_of(std::string_view opcode, const std::vector<std::string>& types) {
    if (opcode != "cvt") return {};
    const scalar_type to = *ptx::type_named(types[0]), from = *ptx::type_named(types[1]);
    if (ptx::is_float(from) && !ptx::is_float(to)) return "rzi";
    return ptx::is_float(to) && (!ptx::is_float(from) || ptx::bits_of(to) < ptx::bits_of(from)) ? "rn" : "";
}

/// All ways to choose the words a row needs: each alternative, but of comparisons, joining and scopes the first.
inline std::vector<std::vector<std::string>> choices_of(const ptx::opcode_row& row) {
    std::vector<std::vector<std::string>> all{{}};
    for (const std::string& w : split(row.when))
        if (w[0] != '=') all[0].push_back(w);
    for (const std::string& group : split(row.needs)) {
        std::vector<std::string> alternatives = split(group, '|');
        if (group.find("eq|") == 0 || group.find("and|or|xor") == 0 || group.find("cta|") == 0) alternatives.resize(1);
        std::vector<std::vector<std::string>> more;
        for (const auto& words : all)
            for (const std::string& a : alternatives) more.push_back(words), more.back().push_back(a);
        all = std::move(more);
    }
    return all;
}

inline std::vector<std::vector<std::string>> types_of(const ptx::opcode_row& row) {
    const auto lists = ptx::detail::type_lists(row.types);
    std::vector<std::vector<std::string>> all{{}};
    for (std::size_t k = 0; k < lists.size(); ++k) {
        if (lists[k].back() == '?') break;
        const auto types = types_in(lists[k]);
        std::vector<std::vector<std::string>> more;
        for (const auto& before : all)
            for (const std::string& t : types) {
                const bool other_foreign = !before.empty() && is_foreign(before[0]);
                if (k > 0 && (other_foreign ? t != types[0] : is_foreign(t) && before[0] != types_in(lists[0])[0])) continue;
                more.push_back(before), more.back().push_back(t);
            }
        all = std::move(more);
    }
    return all;
}

inline bool class_fits(const ptx::opcode_row& row, const std::vector<std::string>& types) {
    const auto last = types.empty() ? ptx::type_class::none : ptx::class_of(*ptx::type_named(types.back()));
    for (const std::string& w : split(row.when)) {
        if (w == "=float" && last != ptx::type_class::floating) return false;
        if (w == "=bits" && last != ptx::type_class::untyped) return false;
        if (w == "=signed" && last != ptx::type_class::signed_integer) return false;
    }
    return true;
}

}  // namespace detail

/// Every instruction and type of the table, sorted by name, no name twice but of guarded jumps.
inline std::vector<instance> all_instances() {
    std::vector<instance> all = detail::by_hand();
    std::set<std::string> there;
    for (const instance& i : all) there.insert(i.name);
    for (const ptx::opcode_row& row : ptx::opcode_table) {
        if (row.modifiers == "*" || row.operands == "*" || there.contains(std::string(row.name))) continue;
        for (const auto& chosen : detail::choices_of(row))
            for (const std::string& variant : detail::variants_of(row.name))
                for (const auto& types : detail::types_of(row)) {
                    if (!detail::class_fits(row, types) || !detail::goes_with(row.name, variant, types)) continue;
                    std::vector<std::string> with(chosen);
                    if (const std::string rounding = detail::rounding_of(row.name, types); !rounding.empty()) with.push_back(rounding);
                    if (!chosen.empty() && variant != "global" && (row.name == "ld" || row.name == "st")) continue;
                    if (std::find(with.begin(), with.end(), variant) == with.end()) with.insert(with.begin(), variant);
                    instance made = detail::instance_maker(row, with, types).run();
                    if (there.insert(made.name).second) all.push_back(std::move(made));
                }
    }
    for (const std::string& name : detail::split(ptx::foreign_opcodes)) all.push_back({name, name + ";", {}, {}});
    std::stable_sort(all.begin(), all.end(), [](const instance& a, const instance& b) { return a.name < b.name; });
    return all;
}

}  // namespace qwengpu::test
