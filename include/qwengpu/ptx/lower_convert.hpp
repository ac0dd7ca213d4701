// SPDX-License-Identifier: MIT
// Moves and conversions between integers: mov (with packing and unpacking), cvt, cvta.
#pragma once

#include <algorithm>

#include <qwengpu/ptx/lower_integer.hpp>

namespace qwengpu::ptx::lower {

namespace detail {

/// mov {a, b, ...}, x: the parts of x from the low end.
inline void unpack(lowering& l, const std::vector<operand>& parts) {
    const wide x = l.pair(1);
    const int each = bits_of(l.now().type()) / static_cast<int>(parts.size());
    for (std::size_t k = 0; k < parts.size(); ++k) {
        const int at = each * static_cast<int>(k);
        l.write(parts[k], l.shift_right(at < 32 ? x.lo : x.hi, ir::literal(static_cast<std::uint32_t>(at % 32))));
    }
}

/// mov x, {a, b, ...}.
inline wide pack(lowering& l, const std::vector<operand>& parts) {
    const int each = bits_of(l.now().type()) / static_cast<int>(parts.size());
    wide x{ir::zero, ir::zero};
    for (std::size_t k = 0; k < parts.size(); ++k) {
        const int at = each * static_cast<int>(k);
        const ir::operand part = each < 32 ? l.both(l.read(parts[k]), ir::literal((1U << each) - 1)) : l.read(parts[k]);
        ir::operand& half = at < 32 ? x.lo : x.hi;
        if (each == 16 && at % 32 == 16) {
            half = l.permute(half, part, 0x5410);
            continue;
        }
        half = l.either(half, l.shift_left(part, ir::literal(static_cast<std::uint32_t>(at % 32))));
    }
    return x;
}

/// mov.v2, mov.v4: part by part, all read before the first is written.
inline void move_parts(lowering& l, const std::vector<operand>& to, const std::vector<operand>& from) {
    std::vector<wide> parts;
    for (const operand& o : from) parts.push_back(l.read_wide(o));
    for (std::size_t k = 0; k < to.size(); ++k) l.write(to[k], parts[k]);
}

}  // namespace detail

inline void mov(lowering& l) {
    const operand &d = l.now().operands[0], &s = l.now().operands[1];
    if (d.kind == operand_kind::vector && s.kind == operand_kind::vector) return detail::move_parts(l, d.items, s.items);
    if (l.now().vector > 1) return l.refuse("vector registers are not supported; use scalar registers");
    if (bits_of(l.now().type()) > 64) return l.refuse("128-bit registers are not supported; move the parts");
    if (d.kind == operand_kind::vector) return detail::unpack(l, d.items);
    if (s.kind == operand_kind::vector) return l.result(detail::pack(l, s.items));
    if (l.now().type() == scalar_type::pred) {
        const ir::operand p = l.predicate(s);
        return l.result(p.is_literal() ? ir::literal(p.bits != 0 ? 1 : 0) : p);
    }
    l.result(l.read_wide(s));
}

namespace detail {

/// The nearest number of type `to` to a number of type `of`, both of at most 32 bits.
inline ir::operand clamp(lowering& l, ir::operand x, scalar_type of, scalar_type to) {
    const auto order = is_signed(of) ? machine::mod::is_signed : std::uint8_t{0};
    const int bits = bits_of(to);
    const std::uint32_t all = bits >= 32 ? 0xffffffffU : (1U << bits) - 1;
    const std::uint32_t most = is_signed(to) ? all >> 1 : all;
    const std::uint32_t least = is_signed(to) ? ~most : 0;
    const bool too_low = is_signed(of) && (!is_signed(to) || bits < bits_of(of));
    if (too_low) x = l.emit(lowering::op::max, x, ir::literal(least), {}, order);
    const bool too_high = bits < bits_of(of) || (bits == bits_of(of) && is_signed(to) && !is_signed(of));
    return too_high ? l.emit(lowering::op::min, x, ir::literal(most), {}, order) : x;
}

/// The nearest number of type `to` to a 64-bit number, as a pair.
inline wide clamp(lowering& l, wide x, scalar_type of, scalar_type to) {
    const ir::operand negative = l.shift_right(x.hi, ir::literal(31));
    const wide none{ir::zero, ir::zero};
    if (bits_of(to) == 64 && is_signed(of) == is_signed(to)) return x;
    if (bits_of(to) == 64 && is_signed(of)) return select(l, negative, none, x);
    if (bits_of(to) == 64) return select(l, negative, {ir::literal(0xffffffffU), ir::literal(0x7fffffffU)}, x);
    const std::uint32_t all = bits_of(to) == 32 ? 0xffffffffU : (1U << bits_of(to)) - 1;
    const wide most{ir::literal(is_signed(to) ? all >> 1 : all), ir::zero};
    const wide least = is_signed(to) ? wide{ir::literal(~(all >> 1)), ir::literal(0xffffffffU)} : none;
    const unsigned order = is_signed(of) ? unsigned{machine::mod::is_signed} : 0U;
    x = select(l, compare(l, order | machine::mod::cmp_gt, x, most), most, x);
    return is_signed(of) ? select(l, compare(l, order | machine::mod::cmp_lt, x, least), least, x) : x;
}

inline wide converted(lowering& l, wide raw, scalar_type of, scalar_type to) {
    const bool saturates = l.now().has("sat");
    if (bits_of(of) == 64) {
        if (saturates) raw = clamp(l, raw, of, to);
        if (bits_of(to) == 64) return raw;
        return widen(l, l.extend(raw.lo, to), is_signed(to));
    }
    const ir::operand x = l.extend(raw.lo, of);
    if (bits_of(to) == 64) {
        if (saturates && is_signed(of) && !is_signed(to)) return {l.emit(lowering::op::max, x, ir::zero, {}, machine::mod::is_signed), ir::zero};
        return widen(l, x, is_signed(of));
    }
    const ir::operand low = saturates ? clamp(l, x, of, to) : l.extend(x, to);
    return widen(l, low, is_signed(to));
}

}  // namespace detail

inline void cvt(lowering& l) {
    const scalar_type to = l.now().type(0), of = l.now().type(1);
    l.result(detail::converted(l, l.pair(1), of, to));
}

/// Addresses are the same in all spaces, their window says what they are; but for offsets in shared memory (memory_map.hpp).
inline void cvta(lowering& l) {
    wide address = l.pair(1);
    const std::uint32_t distance = l.now().space == state_space::shared ? l.map().from_offset() : 0U;
    if (distance != 0) address.lo = l.add(address.lo, ir::literal(l.now().has("to") ? 0U - distance : distance));
    l.mark_pointer(address.lo);
    l.result(address);
}

}  // namespace qwengpu::ptx::lower
