// SPDX-License-Identifier: MIT
// Whether bytes are UTF-8 (RFC 3629): no overlong forms, no surrogates, nothing beyond U+10FFFF. Texts of files that are not are
// refused where they are read, since no JSON can hold them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace qwengpu::checkpoint {

inline bool is_utf8(std::string_view text) {
    const auto byte = [&](std::size_t i) { return static_cast<std::uint8_t>(text[i]); };
    for (std::size_t i = 0; i < text.size();) {
        const auto first = byte(i++);
        if (first < 0x80) continue;
        const std::size_t more = first >= 0xf0 ? 3 : first >= 0xe0 ? 2 : 1;
        if (first < 0xc2 || first > 0xf4 || text.size() - i < more) return false;
        const unsigned least = first == 0xe0 ? 0xa0 : first == 0xf0 ? 0x90 : 0x80, most = first == 0xed ? 0x9f : first == 0xf4 ? 0x8f : 0xbf;
        if (byte(i) < least || byte(i) > most) return false;
        for (std::size_t k = 1; k < more; ++k)
            if (byte(i + k) < 0x80 || byte(i + k) > 0xbf) return false;
        i += more;
    }
    return true;
}

}  // namespace qwengpu::checkpoint
