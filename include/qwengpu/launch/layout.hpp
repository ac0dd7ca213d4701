// SPDX-License-Identifier: MIT
// Arguments as the bytes of kernel parameters: little-endian, structs laid out as in C, pointers 8 bytes or 4.
#pragma once

#include <qwengpu/launch/argument.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace qwengpu::detail {

struct c_layout {
    std::size_t bytes = 0, align = 1;
};

inline std::size_t aligned(std::size_t at, std::size_t align) { return (at + align - 1) / align * align; }

inline c_layout layout_of(const argument& a, std::size_t pointer_bytes) {
    if (a.what == argument::kind::pointer) return {pointer_bytes, pointer_bytes};
    if (a.what == argument::kind::scalar) {
        const auto bytes = static_cast<std::size_t>(row(a.type).bytes);
        return {bytes, bytes};
    }
    c_layout all;
    for (const auto& member : a.members) {
        const auto m = layout_of(member, pointer_bytes);
        all = {aligned(all.bytes, m.align) + m.bytes, std::max(all.align, m.align)};
    }
    return {aligned(all.bytes, all.align), all.align};
}

inline void put_number(std::vector<std::uint8_t>& out, std::uint64_t value, std::size_t bytes) {
    for (std::size_t i = 0; i < bytes; ++i) out.push_back(static_cast<std::uint8_t>(value >> 8 * i));
}

/// Appends an argument where it is aligned. `next_pointer()` gives the address of the next buffer, in their order.
template <class NextPointer>
void put_argument(std::vector<std::uint8_t>& out, const argument& a, std::size_t pointer_bytes, NextPointer&& next_pointer) {
    const auto layout = layout_of(a, pointer_bytes);
    out.resize(aligned(out.size(), layout.align));
    if (a.what == argument::kind::pointer) return put_number(out, next_pointer(), pointer_bytes);
    if (a.what == argument::kind::scalar) return put_number(out, a.value, layout.bytes);
    std::vector<std::uint8_t> inside;
    for (const auto& member : a.members) put_argument(inside, member, pointer_bytes, next_pointer);
    inside.resize(layout.bytes);
    out.insert(out.end(), inside.begin(), inside.end());
}

/// Bytes as words, the last one filled up with zeros.
inline std::vector<std::uint32_t> words_of(const std::vector<std::uint8_t>& bytes) {
    std::vector<std::uint32_t> words((bytes.size() + 3) / 4);
    for (std::size_t i = 0; i < bytes.size(); ++i) words[i / 4] |= std::uint32_t{bytes[i]} << 8 * (i % 4);
    return words;
}

}  // namespace qwengpu::detail
