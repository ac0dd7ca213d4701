// SPDX-License-Identifier: MIT
// Bytes read one thing after the other, none beyond the end; what is wrong is told with the byte where it stands. Numbers
// are raw, as they lie in the memory of a little-endian host, or LEB128: seven bits a byte, the lowest first, the shortest form only.
#pragma once

#include <qwengpu/checkpoint/strict_json.hpp>
#include <qwengpu/checkpoint/utf8.hpp>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace qwengpu::checkpoint {

/// Appends a number's bytes.
template <class T>
void put_raw(std::string& to, T n) {
    char bytes[sizeof(T)];
    std::memcpy(bytes, &n, sizeof(T));
    to.append(bytes, sizeof(T));
}

/// Appends a number in LEB128.
inline void put_number(std::string& to, std::uint64_t n) {
    for (; n >= 128; n >>= 7) to += static_cast<char>(n % 128 + 128);
    to += static_cast<char>(n);
}

/// Appends a text: its length, then its bytes.
inline void put_text(std::string& to, std::string_view text) {
    put_number(to, text.size());
    to += text;
}

class byte_cursor {
public:
    /// @param id      of the errors
    /// @param offset  byte of the file where `bytes` begin
    byte_cursor(const char* id, std::string file, std::span<const std::byte> bytes, std::size_t offset = 0)
        : id_(id), file_(std::move(file)), bytes_(bytes), offset_(offset) {}

    [[nodiscard]] error refusal(const std::string& what) const { return error_at(id_, file_, offset_ + at_, what); }
    [[nodiscard]] std::size_t left() const { return bytes_.size() - at_; }
    /// Byte of the file where the cursor stands.
    [[nodiscard]] std::size_t position() const { return offset_ + at_; }

    std::uint8_t byte() {
        if (left() == 0) throw refusal("the data end where more must come");
        return std::to_integer<std::uint8_t>(bytes_[at_++]);
    }
    /// A whole number of at most `most`.
    std::uint64_t number(const char* what, std::uint64_t most) {
        std::uint64_t n = 0;
        for (int shift = 0; shift < 63; shift += 7) {
            const std::uint64_t part = byte();
            n |= part % 128 << shift;
            if (part >= 128) continue;
            if (part == 0 && shift > 0) throw refusal(std::string(what) + " is written with more bytes than it needs");
            if (n > most) throw refusal(std::string(what) + " is " + std::to_string(n) + "; at most " + std::to_string(most) + " is possible here");
            return n;
        }
        throw refusal(std::string(what) + " is no number: it does not end");
    }
    std::string_view text(const char* what) {
        const auto size = static_cast<std::size_t>(number(what, left()));
        if (size > left()) throw refusal(std::string(what) + " has " + std::to_string(size) + " bytes, but only " + std::to_string(left()) + " follow");
        return characters(what, size);
    }
    /// A text of `size` bytes, which are there.
    std::string_view characters(const char* what, std::size_t size) {
        const std::string_view value(reinterpret_cast<const char*>(bytes_.data()) + at_, size);
        if (!is_utf8(value)) throw refusal(std::string(what) + " is no UTF-8");
        at_ += size;
        return value;
    }
    template <class T>
    T raw() {
        if (left() < sizeof(T)) throw refusal("the file ends within a number");
        T value;
        std::memcpy(&value, bytes_.data() + at_, sizeof(T));
        at_ += sizeof(T);
        return value;
    }

private:
    const char* id_;
    std::string file_;
    std::span<const std::byte> bytes_;
    std::size_t offset_, at_ = 0;
};

}  // namespace qwengpu::checkpoint
