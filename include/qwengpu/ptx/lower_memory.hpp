// SPDX-License-Identifier: MIT
// Loads and stores: words of global memory, parameters of the kernel (words of the constants), and the .param variables
// through which device functions get arguments and give results.
#pragma once

#include <algorithm>
#include <string>

#include <qwengpu/ptx/lower_integer.hpp>

namespace qwengpu::ptx::lower {

namespace detail {

/// The parts of a vector operand, or the operand alone.
inline std::vector<operand> parts_of(const operand& o) { return o.kind == operand_kind::vector ? o.items : std::vector<operand>{o}; }

inline bool is_pinned(const instruction& i) {
    for (std::string_view m : {"volatile", "relaxed", "acquire", "release", "mmio", "sc"})
        if (i.has(m)) return true;
    return false;
}

/// Whether the access can be lowered; says why not.
inline bool fits_memory(lowering& l) {
    const instruction& i = l.now();
    if (i.space == state_space::shared) l.refuse("shared memory is not supported yet; use global memory");
    else if (i.space == state_space::local) l.refuse("local memory is not supported yet; keep the values in registers (no arrays with variable index)");
    else if (i.space == state_space::constant) l.refuse("constant memory is not supported yet; pass the table as a buffer");
    else if (bits_of(i.type()) < 32 && i.opcode == "st") l.refuse("stores of 8 and 16 bits are not supported yet; use 32-bit elements");
    else if (bits_of(i.type()) > 64) l.refuse("accesses of 128 bits are not supported; use .v4 of 32 bits");
    else return true;
    return false;
}

inline ir::operand address_of(lowering& l, const operand& address, std::uint32_t offset) {
    const auto constant = ir::literal(static_cast<std::uint32_t>(address.value) + offset);
    return address.items.empty() ? constant : l.add(l.read(address.items[0]), constant);
}

inline void write_loaded(lowering& l, const operand& d, ir::operand x) {
    l.write(d, widen(l, x, is_signed(l.now().type())));
}

/// The word the destination holds before the load, for lanes whose guard does not hold.
inline ir::operand old_word(lowering& l, const operand& d) { return d.kind == operand_kind::reg ? l.read(d) : ir::zero; }

inline ir::operand load_word(lowering& l, ir::operand address, ir::operand otherwise) {
    ir::instruction i;
    i.kind = ir::made_by::load;
    i.a = address;
    i.b = l.guard();
    i.sense = l.guard_sense();
    i.c = i.b.present() ? otherwise : ir::operand{};
    i.pinned = is_pinned(l.now());
    return l.emit(i);
}

inline void store_word(lowering& l, ir::operand address, ir::operand data) {
    ir::instruction i;
    i.kind = ir::made_by::store;
    i.a = address;
    i.b = data;
    i.c = l.guard();
    i.sense = l.guard_sense();
    l.emit(i);
}

/// A load of 8 or 16 bits: the word around it, shifted down. Bit 0 of the address of 16 bits stays, so an odd one still traps.
inline ir::operand load_part(lowering& l, ir::operand address, scalar_type t) {
    const std::uint32_t inside = bits_of(t) == 8 ? 3 : 2;
    const ir::operand word = load_word(l, l.both(address, ir::literal(~inside)), ir::zero);
    return l.extend(l.shift_right(word, l.shift_left(l.both(address, ir::literal(inside)), ir::literal(3))), t);
}

inline void load_parts(lowering& l) {
    std::uint32_t at = 0;
    std::vector<std::pair<operand, ir::operand>> loaded;
    for (const operand& d : parts_of(l.now().operands[0])) {
        loaded.emplace_back(d, load_part(l, address_of(l, l.now().operands[1], at), l.now().type()));
        at += static_cast<std::uint32_t>(bytes_of(l.now().type()));
    }
    for (const auto& [d, x] : loaded) write_loaded(l, d, x);
}

inline void load_global(lowering& l) {
    if (!fits_memory(l)) return;
    if (bits_of(l.now().type()) < 32) return load_parts(l);
    const operand& address = l.now().operands[1];
    const bool is_wide = is_64(l);
    std::uint32_t at = 0;
    std::vector<std::pair<operand, wide>> loaded;
    for (const operand& d : parts_of(l.now().operands[0])) {
        const ir::operand low = load_word(l, address_of(l, address, at), old_word(l, d));
        const ir::operand high = is_wide ? load_word(l, address_of(l, address, at + 4), ir::zero) : ir::zero;
        loaded.emplace_back(d, wide{low, high});
        at += is_wide ? 8 : 4;
    }
    for (const auto& [d, x] : loaded)
        if (is_wide) l.write(d, x);
        else write_loaded(l, d, x.lo);
}

inline void store_global(lowering& l) {
    if (!fits_memory(l)) return;
    const operand& address = l.now().operands[0];
    const bool is_wide = is_64(l);
    std::uint32_t at = 0;
    for (const operand& s : parts_of(l.now().operands[1])) {
        const wide x = l.read_wide(s);
        store_word(l, address_of(l, address, at), x.lo);
        if (is_wide) store_word(l, address_of(l, address, at + 4), x.hi);
        at += is_wide ? 8 : 4;
    }
}

/// Which parameter of the kernel a .param variable is; its number, or -1.
inline int parameter_number(const function& f, std::uint32_t id) {
    for (std::size_t k = 0; k < f.parameters.size(); ++k)
        if (!f.parameters[k].in_register && f.parameters[k].id == id) return static_cast<int>(k);
    return -1;
}

/// A word, or a part of one, of the kernel's parameters.
inline ir::operand kernel_parameter(lowering& l, int number, std::uint32_t at, scalar_type t) {
    const ir::operand word = ir::parameter_word(static_cast<std::uint32_t>(number), at / 4);
    return l.extend(l.shift_right(word, ir::literal(8 * (at % 4))), t);
}

inline void load_parameter(lowering& l) {
    const operand& address = l.now().operands[1];
    if (address.items.empty() || address.items[0].kind != operand_kind::symbol_value)
        return l.refuse("parameters at a computed address are not supported; read them by name");
    const std::uint32_t id = address.items[0].sym.id;
    const int number = l.frame_id() == 0 ? parameter_number(l.code(), id) : -1;
    const scalar_type t = l.now().type();
    auto at = static_cast<std::uint32_t>(address.value);
    for (const operand& d : parts_of(l.now().operands[0])) {
        const auto part = [&](std::uint32_t n) {
            return number >= 0 ? kernel_parameter(l, number, at + n, t) : l.read_variable(l.parameter_variable(l.frame_id(), id, at + n));
        };
        if (bits_of(t) == 64) l.write(d, wide{part(0), part(4)});
        else write_loaded(l, d, part(0));
        at += static_cast<std::uint32_t>(bytes_of(t));
    }
}

inline void store_parameter(lowering& l) {
    const operand& address = l.now().operands[0];
    if (address.items.empty() || address.items[0].kind != operand_kind::symbol_value)
        return l.refuse("parameters at a computed address are not supported; write them by name");
    const std::uint32_t id = address.items[0].sym.id;
    auto at = static_cast<std::uint32_t>(address.value);
    for (const operand& s : parts_of(l.now().operands[1])) {
        const wide x = l.read_wide(s);
        l.write_variable(l.parameter_variable(l.frame_id(), id, at), l.extend(x.lo, l.now().type()));
        if (is_64(l)) l.write_variable(l.parameter_variable(l.frame_id(), id, at + 4), x.hi);
        at += static_cast<std::uint32_t>(bytes_of(l.now().type()));
    }
}

}  // namespace detail

inline void ld(lowering& l) {
    if (l.now().space == state_space::param) return detail::load_parameter(l);
    detail::load_global(l);
}

inline void st(lowering& l) {
    if (l.now().space == state_space::param) return detail::store_parameter(l);
    detail::store_global(l);
}

}  // namespace qwengpu::ptx::lower
