// SPDX-License-Identifier: MIT
// GGUF version 3: key-value pairs, tensor table, and data at multiples of 32 bytes. Extents are reversed: the fastest
// comes first.
#pragma once

#include <qwengpu/checkpoint/atomic_file.hpp>
#include <qwengpu/checkpoint/byte_cursor.hpp>
#include <qwengpu/checkpoint/planned_tensor.hpp>
#include <qwengpu/checkpoint/safetensors_writer.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace qwengpu::checkpoint {

inline constexpr std::uint64_t gguf_alignment = 32;

/// Types of values and of tensors, with the numbers they have in a file.
enum class gguf_value : std::uint32_t { u8 = 0, i8 = 1, u16 = 2, i16 = 3, u32 = 4, i32 = 5, f32 = 6, boolean = 7, string = 8, array = 9, u64 = 10, i64 = 11, f64 = 12 };
enum class gguf_tensor_type : std::uint32_t { f32 = 0, f16 = 1, bf16 = 30 };

constexpr gguf_tensor_type gguf_type_of(element_type t) {
    return t == element_type::f32 ? gguf_tensor_type::f32 : t == element_type::f16 ? gguf_tensor_type::f16 : gguf_tensor_type::bf16;
}

constexpr std::uint64_t aligned(std::uint64_t size) { return (size + gguf_alignment - 1) / gguf_alignment * gguf_alignment; }

/// The metadata of a file, as bytes.
class gguf_metadata {
public:
    void add(std::string_view key, std::uint32_t value) { begin(key, gguf_value::u32), put(value); }
    void add(std::string_view key, float value) { begin(key, gguf_value::f32), put(value); }
    void add(std::string_view key, bool value) { begin(key, gguf_value::boolean), put(static_cast<std::uint8_t>(value)); }
    void add(std::string_view key, std::string_view value) { begin(key, gguf_value::string), put_text(value); }
    void add(std::string_view key, const char* value) { add(key, std::string_view(value)); }
    void add(std::string_view key, const std::vector<std::string>& values) {
        begin_array(key, gguf_value::string, values.size());
        for (const auto& v : values) put_text(v);
    }
    void add(std::string_view key, const std::vector<std::int32_t>& values) {
        begin_array(key, gguf_value::i32, values.size());
        for (const auto v : values) put(v);
    }
    void add(std::string_view key, const std::vector<bool>& values) {
        begin_array(key, gguf_value::boolean, values.size());
        for (const bool v : values) put(static_cast<std::uint8_t>(v));
    }

    [[nodiscard]] std::uint64_t count() const { return count_; }
    [[nodiscard]] const std::string& bytes() const { return bytes_; }

private:
    void begin(std::string_view key, gguf_value type) { put_text(key), put(static_cast<std::uint32_t>(type)), ++count_; }
    void begin_array(std::string_view key, gguf_value type, std::size_t size) {
        begin(key, gguf_value::array);
        put(static_cast<std::uint32_t>(type));
        put(static_cast<std::uint64_t>(size));
    }
    template <class T>
    void put(T value) {
        put_raw(bytes_, value);
    }
    void put_text(std::string_view text) { put(static_cast<std::uint64_t>(text.size())), bytes_.append(text); }

    std::string bytes_;
    std::uint64_t count_ = 0;
};

/// What stands before the data, padded: magic, version, counts, metadata, tensor table.
inline std::string gguf_head(const gguf_metadata& metadata, const std::vector<planned_tensor>& tensors) {
    std::string head = "GGUF";
    const auto put = [&head](auto value) { put_raw(head, value); };
    put(std::uint32_t{3});
    put(static_cast<std::uint64_t>(tensors.size()));
    put(metadata.count());
    head += metadata.bytes();
    std::uint64_t offset = 0;
    for (const auto& t : tensors) {
        put(static_cast<std::uint64_t>(t.name.size()));
        head += t.name;
        put(static_cast<std::uint32_t>(t.shape.size()));
        for (auto extent = t.shape.rbegin(); extent != t.shape.rend(); ++extent) put(*extent);
        put(static_cast<std::uint32_t>(gguf_type_of(t.type)));
        put(offset);
        offset += aligned(t.bytes());
    }
    head.resize(aligned(head.size()), '\0');
    return head;
}

/// Writes a file. Names are at most 63 bytes long. @throws error "checkpoint.write", "checkpoint.gguf".
inline void write_gguf(const std::string& path, const gguf_metadata& metadata, const std::vector<planned_tensor>& tensors, const write_progress& progress = {}) {
    std::uint64_t total = 0, done = 0;
    for (const auto& t : tensors) {
        if (t.name.size() > 63 || t.shape.size() > 4) throw error("checkpoint.gguf", "tensor \"" + t.name + "\": its name is longer than 63 bytes, or it has more than 4 extents", place{path, 0, 0});
        total += t.bytes();
    }
    atomic_file file(path);
    file.write(gguf_head(metadata, tensors));
    for (const auto& t : tensors) {
        t.write([&](std::span<const std::byte> bytes) { file.write(bytes); });
        file.write(std::string(static_cast<std::size_t>(aligned(t.bytes()) - t.bytes()), '\0'));
        done += t.bytes();
        if (progress) progress(done, total);
    }
    file.commit();
}

}  // namespace qwengpu::checkpoint
