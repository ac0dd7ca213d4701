// SPDX-License-Identifier: MIT
// Bits of an address (docs/machine.md, "Addresses"), and which of them an access asks about: the window in bits 31-27,
// the word from bit 2 on.
#pragma once

#include <qwengpu/machine/sizes.hpp>
#include <qwengpu/stage/words.hpp>

namespace qwengpu::stage {

inline constexpr unsigned local_window = 28, shared_window = 29;

/// The bits that say which word of its memory an address means.
template <machine::sizes M>
word word_bits(const word& address) {
    return {address.begin() + 2, address.begin() + 2 + machine::bits_for(M.words)};
}

/// The bits of an address's window.
inline word window_of(const word& address) { return {address.begin() + 27, address.end()}; }

/// 1 if the address is in this window.
inline linear in_window(const word& address, unsigned window) { return equals(window_of(address), window); }

/// 1 if a window of 5 bits is local's or shared memory's, 28 or 29, else 0 or less.
inline linear is_own_memory(const word& window) { return all({window[4], window[3], window[2], no(window[1])}); }

/// 1 or more if `event` is 1 and the window is neither; else 0 or less.
inline linear unless_own_memory(const linear& event, const word& window) {
    return 4.0 * event - linear(window[4]) - linear(window[3]) - linear(window[2]) - no(window[1]);
}

}  // namespace qwengpu::stage
