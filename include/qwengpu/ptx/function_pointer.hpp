// SPDX-License-Identifier: MIT
// Addresses of functions. They are numbers that no memory has, the same in all kernels of a file. A pointer may mean any function of
// the file whose address is taken somewhere, even in another kernel, and whose parameters and results have the sizes of the call's.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <qwengpu/machine/program.hpp>
#include <qwengpu/ptx/ast.hpp>

namespace qwengpu::ptx {

class function_pointers {
public:
    explicit function_pointers(const parsed_module& m) : m_(m), taken_(m.functions.size(), 0) {
        for (const variable& v : m.variables)
            for (const initial_value& i : v.initial) take(i.sym);
        for (const function& f : m.functions)
            for (const instruction& i : f.code)
                for (std::size_t k = 0; k < i.operands.size(); ++k)
                    if (i.opcode != "call" || k != 1) look(i.operands[k]);
    }

    /// The address of function `id`: in the last window, which owns nothing, so that an access traps; and never 0. Of the first
    /// thousands of a file it fits into an instruction. Odd addresses are left to C++, which tells virtual members by them.
    static constexpr std::uint32_t address_of(std::uint32_t id) { return 0U - 16 * (id + 1); }
    /// What a variable begins with where its initialiser names a function.
    static constexpr std::uint64_t initial(const initial_value& i) {
        return machine::masked_part(address_of(i.sym.id) + static_cast<std::uint32_t>(i.bits), i.mask);
    }

    /// The functions that the pointer of a call in `caller` may mean, in the order of the file.
    [[nodiscard]] std::vector<std::uint32_t> meant_by(const instruction& call, const function& caller) const {
        std::vector<std::uint32_t> all = listed(call, caller);
        std::erase_if(all, [&](std::uint32_t id) { return !can_be_called(m_.functions[id]) || !fits(call, caller, m_.functions[id]); });
        return all;
    }

private:
    void take(const symbol& s) {
        if (s.kind == symbol_kind::function) taken_[s.id] = 1;
    }

    void look(const operand& o) {
        if (o.kind == operand_kind::symbol_value) take(o.sym);
        for (const operand& inner : o.items) look(inner);
    }

    /// Those of the call's .calltargets, or all whose address is taken.
    [[nodiscard]] std::vector<std::uint32_t> listed(const instruction& call, const function& caller) const {
        if (call.operands.size() > 3 && !caller.call_tables[call.operands[3].id].functions.empty()) return caller.call_tables[call.operands[3].id].functions;
        std::vector<std::uint32_t> all;
        for (std::uint32_t id = 0; id < taken_.size(); ++id)
            if (taken_[id] != 0) all.push_back(id);
        return all;
    }

    /// What `delete` calls (D0) frees memory that no kernel can have got.
    static bool can_be_called(const function& f) { return f.has_body && !f.is_entry && !(f.name.starts_with("_Z") && f.name.ends_with("D0Ev")); }

    [[nodiscard]] bool fits(const instruction& call, const function& caller, const function& f) const {
        return fit(call.operands[0].items, caller, f.results, f) && fit(call.operands[2].items, caller, f.parameters, f);
    }

    static bool fit(const std::vector<operand>& given, const function& caller, const std::vector<parameter>& wanted, const function& f) {
        return std::equal(given.begin(), given.end(), wanted.begin(), wanted.end(), [&](const operand& o, const parameter& p) {
            const std::uint64_t has = bytes_given(o, caller);
            return has == 0 || has == (p.in_register ? bytes_in(f, p.id) : f.variables[p.id].bytes());
        });
    }

    static std::uint64_t bytes_in(const function& f, std::uint32_t reg) { return static_cast<std::uint64_t>(bytes_of(f.registers[reg].type)); }
    /// 0 for what has no size of its own.
    static std::uint64_t bytes_given(const operand& o, const function& caller) {
        if (o.kind == operand_kind::reg) return bytes_in(caller, o.id);
        return o.kind == operand_kind::symbol_value && o.sym.kind == symbol_kind::function_variable ? caller.variables[o.sym.id].bytes() : 0;
    }

    const parsed_module& m_;
    std::vector<std::uint8_t> taken_;
};

}  // namespace qwengpu::ptx
