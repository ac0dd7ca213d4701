// SPDX-License-Identifier: MIT
// Memory after a launch against what is expected of it, element by element. All NaNs are one.
#pragma once

#include <qwengpu/launch/argument.hpp>

#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <fmt/format.h>
#include <string>
#include <vector>

namespace qwengpu {

/// An element that is not as expected; both as bits.
struct mismatch {
    std::string buffer;
    element type = element::i32;
    std::size_t index = 0;
    std::uint64_t expected = 0, found = 0;
};

namespace detail {

inline bool is_nan(const buffer& b, std::uint64_t bits) {
    return b.type == element::f32 && std::isnan(std::bit_cast<float>(static_cast<std::uint32_t>(bits)));
}

inline bool agree(const buffer& b, std::uint64_t x, std::uint64_t y) { return x == y || (is_nan(b, x) && is_nan(b, y)); }

inline std::int64_t sign_extended(element type, std::uint64_t bits) {
    const int unused = 64 - 8 * row(type).bytes;
    return static_cast<std::int64_t>(bits << unused) >> unused;
}

}  // namespace detail

/// A value as people read it: a number, and for f32 its bits too.
inline std::string value_text(element type, std::uint64_t bits) {
    if (type == element::f32) return fmt::format("{} (0x{:08x})", std::bit_cast<float>(static_cast<std::uint32_t>(bits)), bits);
    return row(type).is_signed ? fmt::format("{}", detail::sign_extended(type, bits)) : fmt::format("{}", bits);
}

/// "c[3] is 7, 8 is expected".
inline std::string to_string(const mismatch& m) {
    return fmt::format("{}[{}] is {}, {} is expected", m.buffer, m.index, value_text(m.type, m.found), value_text(m.type, m.expected));
}

/// All elements that are not as expected. Both lists hold the same buffers in the same order.
inline std::vector<mismatch> mismatches(const std::vector<buffer>& expected, const std::vector<buffer>& found) {
    std::vector<mismatch> all;
    for (std::size_t b = 0; b < expected.size(); ++b)
        for (std::size_t i = 0; i < expected[b].size(); ++i) {
            const auto want = expected[b].bits(i), have = found.at(b).bits(i);
            if (!detail::agree(expected[b], want, have)) all.push_back({expected[b].name, expected[b].type, i, want, have});
        }
    return all;
}

}  // namespace qwengpu
