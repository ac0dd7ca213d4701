// SPDX-License-Identifier: MIT
// Checks one operand against its word in the opcode table (opcode_row.hpp): the kind of operand, and by the rules of
// type_rules.hpp the types of its registers and constants.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include <qwengpu/ptx/check_form.hpp>
#include <qwengpu/ptx/type_rules.hpp>

namespace qwengpu::ptx::detail {

/// Says what is wrong with an operand; nothing if it is good.
struct complaint {
    std::string_view id;
    std::string text;
};
using verdict = std::optional<complaint>;

/// An instruction with what is needed to judge its operands.
struct operand_judge {
    const parsed_module& m;
    const function& f;
    const instruction& i;

    [[nodiscard]] const register_entry& reg(const operand& o) const { return f.registers[o.id]; }

    /// The type that a word of the table asks for.
    [[nodiscard]] scalar_type wanted(std::string_view spec) const {
        if (spec.find_first_of("pqP") == 0) return scalar_type::pred;
        const char t = spec.size() > 1 && spec[1] != '?' ? spec[1] : '0';
        if (t == 'u') return scalar_type::b32;
        if (t == 'h') return scalar_type::b64;
        if (t == 'w') return widened(i.type());
        if (t == 'L') return i.types.empty() ? scalar_type::none : i.types.back();
        return i.type(t == '1' ? 1 : 0);
    }

    static verdict kind(std::string text) { return complaint{"ptx.parse", std::move(text)}; }
    static verdict type(std::string text) { return complaint{"ptx.type", std::move(text)}; }

    [[nodiscard]] verdict misfit(const operand& o, scalar_type has, scalar_type want) const {
        return type("." + std::string(name_of(has)) + " " + printable(o.text) + " does not fit ." + std::string(name_of(want)));
    }

    [[nodiscard]] verdict judge_register(const operand& o, scalar_type want, bool wider) const {
        const register_entry& r = reg(o);
        if (r.vector > 1 && o.part == 0)
            return kind(printable(o.text) + " is a vector register: name a part of it, such as .x");
        const bool good = wider ? fits_wider(want, r.type) : fits(want, r.type);
        return good ? std::nullopt : misfit(o, r.type, want);
    }

    [[nodiscard]] verdict judge_destination(const operand& o, scalar_type want, bool wider = false) const {
        if (o.negated) return kind("'!' cannot stand before a result");
        if (o.kind != operand_kind::reg) return kind("the result must go to a register");
        return judge_register(o, want, wider);
    }

    /// Conversions between integers read them too: ptxas takes that.
    [[nodiscard]] bool reads_special() const {
        return i.opcode == "mov" || (i.opcode == "cvt" && !is_float(i.type(0)) && !is_float(i.type(1)));
    }

    [[nodiscard]] verdict judge_special(const operand& o, scalar_type want) const {
        const bool constant = o.special == sreg::warp_size;  // WARP_SZ stands for a number
        if (!reads_special() && !constant) return kind("a special register can only be read by mov, or by cvt between integers");
        if (o.special == sreg::other && parts_of_sreg(o.text))
            return kind(printable(o.text) + " is a vector: name a part of it, .x, .y or .z, or read it with mov.v4");
        if (o.special == sreg::other) return std::nullopt;  // the compiler refuses it by name
        const scalar_type has = detail::sreg_rows[static_cast<std::size_t>(o.special)].type;
        const bool good = !is_float(want) && (want == scalar_type::pred) == (has == scalar_type::pred) && (constant || bits_of(want) <= bits_of(has));
        return good ? std::nullopt
                    : type("." + std::string(name_of(has)) + " " + printable(o.text) + " does not fit ." +
                           std::string(name_of(want)));
    }

    [[nodiscard]] verdict judge_source(const operand& o, scalar_type want, bool wider = false) const {
        if (o.negated) return kind("'!' cannot stand before this operand of " + printable(i.full_name()));
        switch (o.kind) {
            case operand_kind::reg: return judge_register(o, want, wider);
            case operand_kind::special: return judge_special(o, want);
            case operand_kind::integer:
                return is_float(want)
                           ? type("an integer does not fit ." + std::string(name_of(want)) + "; write 0f00000000 or 0.0")
                           : std::nullopt;
            case operand_kind::f32_bits:
                return fits(want, scalar_type::f32) ? std::nullopt
                                                    : type("a 32-bit float does not fit ." + std::string(name_of(want)));
            case operand_kind::f64_bits:
                return fits(want, scalar_type::f64) ? std::nullopt
                                                    : type("a 64-bit float does not fit ." + std::string(name_of(want)));
            case operand_kind::symbol_value:
                return kind("the address of " + printable(o.text) + " can only be taken by mov or cvta");
            default: return kind("expected a register or a constant");
        }
    }

    /// A destination that may be `_`: the result is not wanted.
    [[nodiscard]] verdict judge_discard(const operand& o, scalar_type want, bool wider = false) const {
        return o.kind == operand_kind::sink ? std::nullopt : judge_destination(o, want, wider);
    }

    /// A vector of `i.vector` parts, or a scalar if that is 1.
    template <class Judge>
    [[nodiscard]] verdict judge_parts(const operand& o, Judge judge) const {
        if (i.vector == 1 && o.kind != operand_kind::vector) return judge(o);
        if (o.kind == operand_kind::reg && o.part == 0 && reg(o).vector == i.vector) return std::nullopt;
        if (o.kind == operand_kind::vector && static_cast<int>(o.items.size()) == i.vector) {
            for (const operand& item : o.items)
                if (verdict v = judge(item)) return v;
            return std::nullopt;
        }
        if (i.vector == 1 && o.kind == operand_kind::vector && o.items.size() == 1) return judge(o.items[0]);
        return kind("expected " + std::string(i.vector == 1 ? "one register" : "a vector of " + std::to_string(i.vector)));
    }

    [[nodiscard]] verdict judge_address(const operand& o) const {
        if (o.kind != operand_kind::address) return kind("expected an address such as [%rd1+4]");
        if (o.items.empty()) return std::nullopt;
        const operand& base = o.items[0];
        if (base.kind == operand_kind::reg) {
            if (reg(base).vector > 1 || (!fits(scalar_type::u32, reg(base).type) && !fits(scalar_type::u64, reg(base).type)))
                return type("." + std::string(name_of(reg(base).type)) + " " + printable(base.text) +
                            " cannot be an address: that takes a 32-bit or 64-bit integer");
            return std::nullopt;
        }
        if (base.sym.kind == symbol_kind::function) return type(printable(base.text) + " is a function, expected a variable");
        if (i.opcode == "st" && f.is_entry && base.sym.kind == symbol_kind::function_variable && f.parameter_number(base.sym.id) >= 0)
            return kind("a kernel's parameter " + printable(base.text) + " cannot be written");
        const state_space has = m.variable_of(base.sym, f).space;
        if (i.space == state_space::none || i.space == has) return std::nullopt;
        return type(printable(base.text) + " is a ." + std::string(name_of(has)) + " variable, but " +
                    printable(i.full_name()) + " reaches ." + std::string(name_of(i.space)));
    }

    /// {a, b} of a mov: parts of equal size that are together as large as the type.
    [[nodiscard]] verdict judge_packed(const operand& o, scalar_type want, bool result) const {
        const int parts = static_cast<int>(o.items.size());
        const int bits = bits_of(want) / parts;
        const scalar_type part = bits == 8    ? scalar_type::b8
                                 : bits == 16 ? scalar_type::b16
                                 : bits == 32 ? scalar_type::b32
                                              : scalar_type::b64;
        if ((parts != 2 && parts != 4) || bits_of(part) * parts != bits_of(want))
            return type("these parts do not make up ." + std::string(name_of(want)));
        for (const operand& item : o.items)
            if (verdict v = result ? judge_discard(item, part) : judge_source(item, part)) return v;
        return std::nullopt;
    }

    [[nodiscard]] verdict judge_mov_source(const operand& o, scalar_type want) const {
        if (o.kind == operand_kind::vector) return judge_packed(o, want, false);
        if (o.kind != operand_kind::symbol_value) return judge_source(o, want);
        const bool good = !is_float(want) && bits_of(want) >= 32;
        return good || i.types.empty()
                   ? std::nullopt
                   : type("the address of " + printable(o.text) + " does not fit ." + std::string(name_of(want)));
    }

    [[nodiscard]] verdict judge_pair(const operand& o, scalar_type want) const {
        if (o.kind != operand_kind::pair) return judge_discard(o, want);
        if (verdict v = judge_discard(o.items[0], want)) return v;
        return judge_discard(o.items[1], scalar_type::pred);
    }

    [[nodiscard]] verdict judge_predicate(const operand& o) const {
        if (o.kind == operand_kind::integer) return std::nullopt;
        if (o.kind != operand_kind::reg) return kind("expected a predicate register");
        return judge_register(o, scalar_type::pred, false);
    }

    [[nodiscard]] verdict judge(const operand& o, std::string_view spec) const {
        const scalar_type want = wanted(spec);
        switch (spec[0]) {
            case 'd':
            case 'p': return judge_destination(o, want);
            case 's': return judge_source(o, want);
            case 'V': return judge_destination(o, want);
            case 'W': return judge_source(o, want);
            case 'D':
                return judge_parts(o, [&](const operand& x) {
                    return i.vector == 1 ? judge_destination(x, want, true) : judge_discard(x, want, true);
                });
            case 'S': return judge_parts(o, [&](const operand& x) { return judge_source(x, want, true); });
            case 'A': return judge_parts(o, [&](const operand& x) { return judge_discard(x, want); });
            case 'B': return judge_parts(o, [&](const operand& x) { return judge_source(x, want); });
            case 'x': return judge_destination(o, want, true);
            case 'y': return judge_source(o, want, true);
            case 'M': return o.kind == operand_kind::vector ? judge_packed(o, want, true) : judge_destination(o, want);
            case 'N': return i.types.empty() ? std::nullopt : judge_mov_source(o, want);
            case 'P':
            case 'e': return judge_pair(o, want);
            case 'E': return o.kind == operand_kind::pair ? judge_pair(o, want) : kind("expected a pair d|p");
            case 'q': return judge_predicate(o);
            case 'm': return judge_address(o);
            case 'i': return judge_source(o, scalar_type::b32);
            default: return std::nullopt;
        }
    }
};

}  // namespace qwengpu::ptx::detail
