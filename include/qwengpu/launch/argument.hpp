// SPDX-License-Identifier: MIT
// The arguments of a launch: buffers by name and type, numbers by value, structs of both. Values are kept as their
// bytes, little-endian, so that what comes back from a launch is compared and shown bit by bit.
#pragma once

#include <qwengpu/error.hpp>
#include <qwengpu/launch/element.hpp>

#include <bit>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

namespace qwengpu {

static_assert(std::endian::native == std::endian::little, "buffers are copied byte by byte: the host must be little-endian");

/// A named array of elements in global memory.
struct buffer {
    std::string name;
    element type = element::i32;
    std::vector<std::uint8_t> bytes;  ///< size() * row(type).bytes
    int align = 0;                    ///< bytes the kernel wants it aligned to; 0: its element's size, at least a word

    [[nodiscard]] std::size_t size() const { return bytes.size() / static_cast<std::size_t>(row(type).bytes); }
    [[nodiscard]] int words() const { return static_cast<int>((bytes.size() + 3) / 4); }

    /// Bits of element i, zero-extended to 64.
    [[nodiscard]] std::uint64_t bits(std::size_t i) const {
        const auto n = static_cast<std::size_t>(row(type).bytes);
        std::uint64_t value = 0;
        std::memcpy(&value, bytes.data() + i * n, n);
        return value;
    }

    void append(std::uint64_t value) {
        for (int i = 0; i < row(type).bytes; ++i) bytes.push_back(static_cast<std::uint8_t>(value >> 8 * i));
    }

    friend bool operator==(const buffer&, const buffer&) = default;
};

/// One argument of a kernel.
struct argument {
    enum class kind : std::uint8_t { pointer, scalar, structure };
    kind what = kind::scalar;
    buffer array;                   ///< pointer: the buffer it points to
    bool keep = false;              ///< pointer: the buffer stays as an earlier launch of the session left it
    element type = element::i32;    ///< scalar
    std::uint64_t value = 0;        ///< scalar: its bits, zero-extended
    std::vector<argument> members;  ///< structure, laid out as in C
};

/// A pointer to a buffer that holds these values at the start: `in("a", std::vector{1, 2, 3})`.
template <element_type T>
argument in(std::string name, const std::vector<T>& values) {
    argument a;
    a.what = argument::kind::pointer;
    a.array.name = std::move(name);
    a.array.type = element_of<T>;
    a.array.bytes.resize(values.size() * sizeof(T));
    if (!values.empty()) std::memcpy(a.array.bytes.data(), values.data(), a.array.bytes.size());
    return a;
}

/// A pointer to a zeroed buffer of `count` elements: `zeros<int>("c", 16)`.
template <element_type T>
argument zeros(std::string name, std::size_t count) {
    return in(std::move(name), std::vector<T>(count));
}

/// A pointer to a buffer of an earlier launch of the session, with `count` elements, as that launch left it.
template <element_type T>
argument kept(std::string name, std::size_t count) {
    auto a = zeros<T>(std::move(name), count);
    a.keep = true;
    return a;
}

/// A number by value.
template <element_type T>
argument scalar(T value) {
    argument a;
    a.type = element_of<T>;
    std::memcpy(&a.value, &value, sizeof(T));
    return a;
}

/// A struct by value, its members laid out as in C.
inline argument structure(std::vector<argument> members) {
    argument a;
    a.what = argument::kind::structure;
    a.members = std::move(members);
    return a;
}

/// The values of a buffer as C++ numbers. Error "launch.type" if T is not the buffer's type.
template <element_type T>
std::vector<T> values_of(const buffer& b) {
    if (b.type != element_of<T>)
        throw error("launch.type", "buffer " + b.name + " holds " + std::string(row(b.type).name) + ", not " + std::string(row(element_of<T>).name));
    std::vector<T> values(b.bytes.size() / sizeof(T));
    if (!values.empty()) std::memcpy(values.data(), b.bytes.data(), values.size() * sizeof(T));
    return values;
}

}  // namespace qwengpu
