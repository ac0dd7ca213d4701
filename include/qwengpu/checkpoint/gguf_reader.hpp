// SPDX-License-Identifier: MIT
// Reads GGUF version 3: metadata as JSON, tensors as views of the mapped file. Every size is checked before it is used;
// what is wrong is told with the byte where it stands.
#pragma once

#include <qwengpu/checkpoint/byte_cursor.hpp>
#include <qwengpu/checkpoint/gguf_writer.hpp>
#include <qwengpu/checkpoint/mapped_file.hpp>
#include <qwengpu/checkpoint/safetensors_reader.hpp>

#include <limits>
#include <set>
#include <string>
#include <vector>

namespace qwengpu::checkpoint {

/// The contents of a file.
struct gguf_contents {
    ordered_json metadata = ordered_json::object();
    std::vector<tensor_entry> tensors;  ///< shapes slowest extent first; places relative to the data
    std::uint64_t data_begin = 0;
};

namespace detail {

class gguf_cursor : byte_cursor {
public:
    gguf_cursor(std::string file, std::span<const std::byte> bytes) : byte_cursor("checkpoint.gguf", std::move(file), bytes) {}

    using byte_cursor::left, byte_cursor::position, byte_cursor::raw, byte_cursor::refusal;

    std::string text() {
        const auto size = raw<std::uint64_t>();
        if (size > left()) throw refusal("a text of " + std::to_string(size) + " bytes, but the file has only " + std::to_string(left()) + " more");
        return std::string(characters("a text", static_cast<std::size_t>(size)));
    }
    /// How many things of at least `each` bytes follow.
    std::uint64_t count(const char* of, std::size_t each) {
        const auto n = raw<std::uint64_t>();
        if (n > left() / each) throw refusal(std::to_string(n) + " " + of + ", more than the file has bytes for");
        return n;
    }
    ordered_json value(std::uint32_t type) {
        switch (static_cast<gguf_value>(type)) {
            case gguf_value::u8: return raw<std::uint8_t>();
            case gguf_value::i8: return raw<std::int8_t>();
            case gguf_value::u16: return raw<std::uint16_t>();
            case gguf_value::i16: return raw<std::int16_t>();
            case gguf_value::u32: return raw<std::uint32_t>();
            case gguf_value::i32: return raw<std::int32_t>();
            case gguf_value::f32: return raw<float>();
            case gguf_value::boolean: return truth();
            case gguf_value::string: return text();
            case gguf_value::u64: return raw<std::uint64_t>();
            case gguf_value::i64: return raw<std::int64_t>();
            case gguf_value::f64: return raw<double>();
            case gguf_value::array: break;
        }
        if (type != static_cast<std::uint32_t>(gguf_value::array)) throw refusal("a value of the unknown type " + std::to_string(type));
        return array();
    }

private:
    bool truth() {
        const auto byte = raw<std::uint8_t>();
        if (byte > 1) throw refusal("a truth value that is neither 0 nor 1");
        return byte == 1;
    }
    ordered_json array() {
        const auto type = raw<std::uint32_t>();
        if (type == static_cast<std::uint32_t>(gguf_value::array)) throw refusal("a list of lists, which this reader does not know");
        const auto n = count("values in a list", 1);
        auto list = ordered_json::array();
        for (std::uint64_t i = 0; i < n; ++i) list.push_back(value(type));
        return list;
    }
};

inline element_type gguf_element(gguf_cursor& in, std::uint32_t type) {
    if (type == static_cast<std::uint32_t>(gguf_tensor_type::f32)) return element_type::f32;
    if (type == static_cast<std::uint32_t>(gguf_tensor_type::f16)) return element_type::f16;
    if (type == static_cast<std::uint32_t>(gguf_tensor_type::bf16)) return element_type::bf16;
    throw in.refusal("a tensor of type " + std::to_string(type) + "; F32 (0), F16 (1) and BF16 (30) can be read");
}

inline tensor_entry gguf_tensor(gguf_cursor& in, std::uint64_t& expected, std::set<std::string>& names) {
    tensor_entry t;
    t.name = in.text();
    if (t.name.size() > 64 || !names.insert(t.name).second) throw in.refusal("the tensor name \"" + t.name.substr(0, 80) + "\" is too long, or stands twice");
    const auto extents = in.raw<std::uint32_t>();
    if (extents == 0 || extents > 4) throw in.refusal("tensor \"" + t.name + "\" has " + std::to_string(extents) + " extents; 1 to 4 are possible");
    for (std::uint32_t i = 0; i < extents; ++i) t.shape.insert(t.shape.begin(), in.raw<std::uint64_t>());
    t.type = gguf_element(in, in.raw<std::uint32_t>());
    t.begin = in.raw<std::uint64_t>();
    const auto size = byte_size(t.type, t.shape);
    if (!size || *size > (std::uint64_t{1} << 62)) throw in.refusal("tensor \"" + t.name + "\" is too large for any file");
    if (t.begin != expected) throw in.refusal("tensor \"" + t.name + "\" begins at byte " + std::to_string(t.begin) + " of the data, but " + std::to_string(expected) + " is where it must");
    t.end = t.begin + *size;
    expected = aligned(t.end);
    if (expected > (std::uint64_t{1} << 62)) throw in.refusal("the tensors are too large for any file");
    return t;
}

}  // namespace detail

/// Reads all but the numbers of the tensors. @throws error "checkpoint.gguf" with the byte where something is wrong.
inline gguf_contents read_gguf(const std::string& file, std::span<const std::byte> bytes) {
    detail::gguf_cursor in(file, bytes);
    gguf_contents c;
    if (bytes.size() < 4 || std::memcmp(bytes.data(), "GGUF", 4) != 0) throw in.refusal("this is no GGUF file");
    (void)in.raw<std::uint32_t>();
    if (const auto version = in.raw<std::uint32_t>(); version != 3) throw in.refusal("version " + std::to_string(version) + " of the format; 3 can be read");
    const auto tensors = in.count("tensors", 24), pairs = in.raw<std::uint64_t>();
    if (pairs > in.left() / 13) throw in.refusal(std::to_string(pairs) + " keys, more than the file has bytes for");
    for (std::uint64_t i = 0; i < pairs; ++i) {
        const auto key = in.text();
        if (key.size() > 65535 || c.metadata.contains(key)) throw in.refusal("the key \"" + key.substr(0, 80) + "\" is too long, or stands twice");
        c.metadata[key] = in.value(in.raw<std::uint32_t>());
    }
    if (c.metadata.contains("general.alignment") && c.metadata["general.alignment"] != gguf_alignment) throw in.refusal("general.alignment is not 32, which this reader does not know");
    std::uint64_t end = 0;
    std::set<std::string> names;
    for (std::uint64_t i = 0; i < tensors; ++i) c.tensors.push_back(detail::gguf_tensor(in, end, names));
    c.data_begin = aligned(in.position());
    if (c.data_begin > bytes.size() || end > bytes.size() - c.data_begin) throw in.refusal("the file ends before its last tensor, or the padding after it, does; is it complete?");
    return c;
}

}  // namespace qwengpu::checkpoint
