// SPDX-License-Identifier: MIT
// What every prompt begins with (docs/machine.md, "The prompt"). The layers rely on it: rows that are read side by side, as those of
// all warps' lanes are, must all have been written.
#pragma once

#include <qwengpu/text/vocabulary.hpp>

#include <cstdint>

namespace qwengpu::test {

/// All lanes of the mission's warps at exit, and the lane favoured last.
template <class Reader>
void read_idle_warps(Reader& reader) {
    for (std::uint32_t warp = 0; warp < 8; ++warp) reader.read(text::token_class::start, 0, warp);
    reader.read(text::token_class::fair, 3);
}

/// The phases of all barriers, for programs that have one.
template <class Reader>
void read_barriers(Reader& reader) {
    for (std::uint32_t barrier = 0; barrier < 8; ++barrier) reader.read(text::token_class::release, barrier, 0);
}

}  // namespace qwengpu::test
