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
        half = l.either(half, l.shift_left(part, ir::literal(static_cast<std::uint32_t>(at % 32))));
    }
    return x;
}

}  // namespace detail

inline void mov(lowering& l) {
    const operand &d = l.now().operands[0], &s = l.now().operands[1];
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

}  // namespace detail

inline void cvt(lowering& l) {
    const scalar_type to = l.now().type(0), of = l.now().type(1);
    if (is_float(to) || is_float(of)) return l.refuse("conversions of floats are not supported yet; use integers");
    const wide raw = l.pair(1);
    const bool from_wide = bits_of(of) == 64;
    const ir::operand x = from_wide ? raw.lo : l.extend(raw.lo, of);
    if (l.now().has("sat")) {
        if (from_wide || bits_of(to) == 64) return l.refuse("saturating 64-bit conversions are not supported; use min and max");
        return l.result(detail::clamp(l, x, of, to));
    }
    if (from_wide && bits_of(to) == 64) return l.result(raw);
    const ir::operand low = l.extend(x, to);
    if (bits_of(to) == 64) return l.result(widen(l, low, is_signed(of)));
    l.result(widen(l, low, is_signed(to)));
}

/// Addresses are the same in all spaces: their window says what they are.
inline void cvta(lowering& l) {
    const wide address = l.pair(1);
    l.mark_pointer(address.lo);
    l.result(address);
}

}  // namespace qwengpu::ptx::lower
