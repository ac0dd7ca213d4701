// SPDX-License-Identifier: MIT
// Values of PTX as bits in 64-bit words, for the interpreter of the tests: cut to a type's width, extended, clamped.
#pragma once

#include <cstdint>

#include <qwengpu/ptx/types.hpp>

namespace qwengpu::test::interpreter {

using ptx::scalar_type;
using u32 = std::uint32_t;
using u64 = std::uint64_t;
using s64 = std::int64_t;
__extension__ using u128 = unsigned __int128;
__extension__ using s128 = __int128;

constexpr u64 mask_of(int bits) { return bits >= 64 ? ~u64{0} : (u64{1} << bits) - 1; }

/// The low bits of x that the type has.
constexpr u64 cut(u64 x, scalar_type t) { return t == scalar_type::pred ? x & 1 : x & mask_of(ptx::bits_of(t)); }

/// x read as a signed number of so many bits.
constexpr s64 signed_of(u64 x, int bits) {
    const u64 low = x & mask_of(bits);
    return bits < 64 && ((low >> (bits - 1)) & 1) != 0 ? static_cast<s64>(low | ~mask_of(bits)) : static_cast<s64>(low);
}

/// The number that x means in this type.
constexpr s128 number_of(u64 x, scalar_type t) {
    return ptx::is_signed(t) ? s128{signed_of(x, ptx::bits_of(t))} : s128{cut(x, t)};
}

constexpr s128 least_of(scalar_type t) { return ptx::is_signed(t) ? -(s128{1} << (ptx::bits_of(t) - 1)) : s128{0}; }
constexpr s128 most_of(scalar_type t) { return (s128{1} << (ptx::bits_of(t) - (ptx::is_signed(t) ? 1 : 0))) - 1; }

/// The bits of the number nearest to n that the type has.
constexpr u64 clamped(s128 n, scalar_type t) {
    const s128 inside = n < least_of(t) ? least_of(t) : n > most_of(t) ? most_of(t) : n;
    return cut(static_cast<u64>(inside), t);
}

/// x of this type, extended to 64 bits as loads and conversions do.
constexpr u64 extended(u64 x, scalar_type t) { return ptx::is_signed(t) ? static_cast<u64>(signed_of(x, ptx::bits_of(t))) : cut(x, t); }

}  // namespace qwengpu::test::interpreter
