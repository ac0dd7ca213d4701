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

inline machine::access_strength strength_of(const instruction& i) {
    if (i.has("volatile")) return machine::access_strength::is_volatile;
    for (std::string_view m : {"relaxed", "acquire", "release", "mmio", "sc"})
        if (i.has(m)) return machine::access_strength::relaxed;
    return machine::access_strength::plain;
}

/// What memory an instruction says it is of.
inline ir::region region_of(const instruction& i) {
    switch (i.space) {
        case state_space::shared: return ir::region::shared;
        case state_space::local: return ir::region::local;
        case state_space::global: case state_space::constant: return ir::region::global;
        default: return ir::region::any;
    }
}

/// Whether the address is an offset in shared memory: of an access that says so, or of one that names a variable there.
inline bool is_shared_offset(lowering& l, const operand& address) {
    if (l.now().space != state_space::none) return l.now().space == state_space::shared;
    return !address.items.empty() && address.items[0].kind == operand_kind::symbol_value && l.space_of(address.items[0]) == state_space::shared;
}

/// A byte `offset` behind the address.
inline ir::operand address_of(lowering& l, const operand& address, std::uint32_t offset) {
    const auto distance = static_cast<std::uint32_t>(address.value) + offset + (is_shared_offset(l, address) ? l.map().from_offset() : 0U);
    if (address.items.empty()) return ir::literal(distance);
    return l.behind(l.read(address.items[0]), distance);
}

inline void write_loaded(lowering& l, const operand& d, ir::operand x) {
    l.write(d, widen(l, x, is_signed(l.now().type())));
}

/// The word the destination holds before the load, for lanes whose guard does not hold.
inline ir::operand old_word(lowering& l, const operand& d) { return d.kind == operand_kind::reg ? l.read(d) : ir::zero; }

/// `kept`: though nobody wants the word, since the access may trap; one word of an access is enough.
inline ir::operand load_word(lowering& l, ir::operand address, ir::operand otherwise, bool kept, machine::memory_op access = machine::memory_op::load) {
    ir::instruction i;
    i.kind = ir::made_by::load;
    i.access = access;
    i.a = address;
    i.b = l.guard();
    i.sense = l.guard_sense();
    i.c = i.b.present() ? otherwise : ir::operand{};
    i.strength = strength_of(l.now());
    i.kept = kept;
    i.where = region_of(l.now());
    return l.emit(i);
}

inline void store_word(lowering& l, ir::operand address, ir::operand data, machine::access_size size = machine::access_size::word) {
    ir::instruction i;
    i.kind = ir::made_by::store;
    i.size = size;
    i.strength = strength_of(l.now());
    i.where = region_of(l.now());
    i.a = address;
    i.b = data;
    i.c = l.guard();
    i.sense = l.guard_sense();
    l.emit(i);
}

/// How the parts of an access of 8 or 16 bits are held: as many in an access as a word takes.
struct part_access {
    std::size_t parts = 1;
    machine::access_size size = machine::access_size::byte;
    machine::memory_op load = machine::memory_op::load;
};

inline part_access access_of_parts(scalar_type t, std::size_t parts) {
    using machine::memory_op;
    const auto bytes = static_cast<std::size_t>(bytes_of(t));
    const std::size_t together = std::min(parts, 4 / bytes);
    if (together * bytes == 4) return {together, machine::access_size::word, memory_op::load};
    if (together * bytes == 1) return {1, machine::access_size::byte, is_signed(t) ? memory_op::load_s8 : memory_op::load_u8};
    return {together, machine::access_size::half, together == 1 && is_signed(t) ? memory_op::load_s16 : memory_op::load_u16};
}

/// Loads of 8 and 16 bits. A vector of them is aligned to its size, so it is read by words.
inline void load_parts(lowering& l) {
    const scalar_type t = l.now().type();
    const std::vector<operand> parts = parts_of(l.now().operands[0]);
    const part_access how = access_of_parts(t, parts.size());
    std::vector<std::pair<operand, ir::operand>> loaded;
    for (std::size_t k = 0; k < parts.size(); k += how.parts) {
        const ir::operand at = address_of(l, l.now().operands[1], static_cast<std::uint32_t>(k) * static_cast<std::uint32_t>(bytes_of(t)));
        const ir::operand word = load_word(l, at, ir::zero, k == 0, how.load);
        for (unsigned part = 0; part < how.parts; ++part) loaded.emplace_back(parts[k + part], how.parts == 1 ? word : l.part(word, t, part));
    }
    for (const auto& [d, x] : loaded) write_loaded(l, d, x);
}

/// The low parts of some values side by side in a word.
inline ir::operand joined_parts(lowering& l, const std::vector<operand>& values, std::size_t first, std::size_t n, int bits) {
    const auto side_by_side = [&](std::size_t k, unsigned selector) {
        const ir::operand high = l.read(values[first + k + 1]), low = l.read(values[first + k]);
        return l.permute(low, high, selector);
    };
    if (n == 1) return l.read(values[first]);
    if (bits == 16) return side_by_side(0, 0x5410);
    const ir::operand low = side_by_side(0, 0x5140);
    return n == 2 ? low : l.permute(low, side_by_side(2, 0x5140), 0x5410);
}

inline void store_parts(lowering& l) {
    const scalar_type t = l.now().type();
    const std::vector<operand> parts = parts_of(l.now().operands[1]);
    const part_access how = access_of_parts(t, parts.size());
    for (std::size_t k = 0; k < parts.size(); k += how.parts) {
        const ir::operand at = address_of(l, l.now().operands[0], static_cast<std::uint32_t>(k) * static_cast<std::uint32_t>(bytes_of(t)));
        store_word(l, at, joined_parts(l, parts, k, how.parts, bits_of(t)), how.size);
    }
}

inline void load_global(lowering& l) {
    if (bits_of(l.now().type()) < 32) return load_parts(l);
    const operand& address = l.now().operands[1];
    const bool is_wide = is_64(l);
    std::uint32_t at = 0;
    std::vector<std::pair<operand, wide>> loaded;
    for (const operand& d : parts_of(l.now().operands[0])) {
        const ir::operand old = old_word(l, d), low = load_word(l, address_of(l, address, at), old, at == 0);
        const ir::operand high = is_wide ? load_word(l, address_of(l, address, at + 4), ir::zero, false) : ir::zero;
        loaded.emplace_back(d, wide{low, high});
        at += is_wide ? 8 : 4;
    }
    for (const auto& [d, x] : loaded)
        if (is_wide) l.write(d, x);
        else write_loaded(l, d, x.lo);
}

inline void store_global(lowering& l) {
    if (bits_of(l.now().type()) < 32) return store_parts(l);
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

/// A word, or a part of one, of the kernel's parameters.
inline ir::operand kernel_parameter(lowering& l, int number, std::uint32_t at, scalar_type t) {
    const ir::operand word = ir::parameter_word(static_cast<std::uint32_t>(number), at / 4);
    return l.extend(l.shift_right(word, ir::literal(8 * (at % 4))), t);
}

/// A load of a .param variable by its name: of the kernel from the constants, of a call from where the arguments are. Says whether it was one.
inline bool load_parameter(lowering& l) {
    const operand& address = l.now().operands[1];
    if (address.items.empty() || !l.names_parameter(address.items[0])) return false;
    const std::uint32_t id = address.items[0].sym.id;
    const int number = l.parameter_number(id);
    const scalar_type t = l.now().type();
    auto at = static_cast<std::uint32_t>(address.value + address.items[0].value);
    for (const operand& d : parts_of(l.now().operands[0])) {
        const auto part = [&](std::uint32_t n) { return number >= 0 ? kernel_parameter(l, number, at + n, t) : l.read_place(l.frame_id(), id, at + n, t); };
        if (bits_of(t) == 64) l.write(d, wide{part(0), part(4)});
        else write_loaded(l, d, part(0));
        at += static_cast<std::uint32_t>(bytes_of(t));
    }
    return true;
}

/// A store into a .param variable of a call or result; says whether it was one.
inline bool store_parameter(lowering& l) {
    const operand& address = l.now().operands[0];
    if (address.items.empty() || !l.names_parameter(address.items[0])) return false;
    const std::uint32_t id = address.items[0].sym.id;
    const scalar_type t = l.now().type();
    auto at = static_cast<std::uint32_t>(address.value + address.items[0].value);
    for (const operand& s : parts_of(l.now().operands[1])) {
        const wide x = l.read_wide(s);
        l.write_place(l.frame_id(), id, at, x.lo, t);
        if (is_64(l)) l.write_place(l.frame_id(), id, at + 4, x.hi, t);
        at += static_cast<std::uint32_t>(bytes_of(t));
    }
    return true;
}

}  // namespace detail

inline void ld(lowering& l) {
    if (detail::load_parameter(l)) return;
    detail::load_global(l);
}

inline void st(lowering& l) {
    if (detail::store_parameter(l)) return;
    if (l.now().space == state_space::param) return l.refuse("parameters at an address that is not known when compiling are not supported; write them by name");
    detail::store_global(l);
}

}  // namespace qwengpu::ptx::lower
