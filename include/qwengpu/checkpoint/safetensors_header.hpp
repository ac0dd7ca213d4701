// SPDX-License-Identifier: MIT
// The header of a safetensors file: u64 length, then JSON {name: {dtype, shape, data_offsets}}, then the data. All rules
// of the format are checked: sizes without overflow, offsets that start at 0, leave no hole and end with the file.
#pragma once

#include <qwengpu/checkpoint/element_type.hpp>
#include <qwengpu/checkpoint/strict_json.hpp>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace qwengpu::checkpoint {

inline constexpr std::uint64_t largest_header = 100'000'000;  ///< bytes, a rule of the format

/// A tensor of a file: where its bytes are, relative to the data.
struct tensor_entry {
    std::string name;
    element_type type = element_type::f32;
    std::vector<std::uint64_t> shape;
    std::uint64_t begin = 0, end = 0;

    [[nodiscard]] std::uint64_t elements() const { return (end - begin) / bytes_of(type); }
};

struct safetensors_header {
    std::vector<tensor_entry> tensors;            ///< in the order of their bytes
    std::map<std::string, std::string> metadata;  ///< of the whole file
    std::uint64_t data_begin = 0;                 ///< byte of the file where the data begin
};

/// Bytes of a tensor, or nothing if they do not fit 64 bits.
inline std::optional<std::uint64_t> byte_size(element_type type, const std::vector<std::uint64_t>& shape) {
    std::uint64_t size = bytes_of(type);
    if (std::find(shape.begin(), shape.end(), 0U) != shape.end()) return 0;
    for (const auto extent : shape) {
        if (size > std::numeric_limits<std::uint64_t>::max() / extent) return std::nullopt;
        size *= extent;
    }
    return size;
}

namespace detail {

class header_reader {
public:
    header_reader(std::string file, std::uint64_t data_size) : file_(std::move(file)), data_size_(data_size) {}

    [[nodiscard]] safetensors_header read(const json& document) const {
        if (!document.is_object()) throw refusal("the header is no JSON object");
        safetensors_header header;
        for (const auto& [name, value] : document.items()) {
            if (name == "__metadata__") header.metadata = metadata(value);
            else header.tensors.push_back(entry(name, value));
        }
        std::sort(header.tensors.begin(), header.tensors.end(), [](const auto& a, const auto& b) { return std::tie(a.begin, a.end, a.name) < std::tie(b.begin, b.end, b.name); });
        check_layout(header.tensors);
        return header;
    }

private:
    [[nodiscard]] error refusal(const std::string& what) const { return error_at("checkpoint.safetensors", file_, 8, what); }

    [[nodiscard]] std::map<std::string, std::string> metadata(const json& value) const {
        if (!value.is_object()) throw refusal("__metadata__ is no object");
        std::map<std::string, std::string> result;
        for (const auto& [key, text] : value.items()) {
            if (!text.is_string()) throw refusal("__metadata__ holds something other than text under \"" + key + "\"");
            result[key] = text.get<std::string>();
        }
        return result;
    }

    [[nodiscard]] std::vector<std::uint64_t> numbers(const std::string& name, const json& value, const char* key) const {
        const auto found = value.find(key);
        if (found == value.end() || !found->is_array()) throw refusal("tensor \"" + name + "\" has no list " + key);
        std::vector<std::uint64_t> result;
        for (const auto& n : *found) {
            if (!n.is_number_unsigned()) throw refusal("tensor \"" + name + "\": " + key + " holds what is no whole number from 0 on");
            result.push_back(n.get<std::uint64_t>());
        }
        return result;
    }

    [[nodiscard]] tensor_entry entry(const std::string& name, const json& value) const {
        if (!value.is_object()) throw refusal("tensor \"" + name + "\" is no object");
        for (const auto& [key, unused] : value.items())
            if (key != "dtype" && key != "shape" && key != "data_offsets") throw refusal("tensor \"" + name + "\" has the unknown key \"" + key + "\"");
        const auto type = value.find("dtype");
        if (type == value.end() || !type->is_string()) throw refusal("tensor \"" + name + "\" has no dtype");
        const auto id = element_type_named(type->get<std::string>());
        if (!id) throw refusal("tensor \"" + name + "\" has the unknown dtype " + type->get<std::string>());
        tensor_entry e{name, *id, numbers(name, value, "shape"), 0, 0};
        const auto offsets = numbers(name, value, "data_offsets");
        if (offsets.size() != 2 || offsets[0] > offsets[1]) throw refusal("tensor \"" + name + "\": data_offsets must be a begin and an end");
        e.begin = offsets[0];
        e.end = offsets[1];
        check_size(e);
        return e;
    }

    void check_size(const tensor_entry& e) const {
        const auto size = byte_size(e.type, e.shape);
        if (!size) throw refusal("tensor \"" + e.name + "\": its shape is too large for any file");
        if (e.end > data_size_) throw refusal("tensor \"" + e.name + "\" ends at byte " + std::to_string(e.end) + " of the data, which are only " + std::to_string(data_size_) + " bytes; is the file complete?");
        if (*size != e.end - e.begin) throw refusal("tensor \"" + e.name + "\" has " + std::to_string(e.end - e.begin) + " bytes, but its shape asks for " + std::to_string(*size));
    }

    void check_layout(const std::vector<tensor_entry>& sorted) const {
        std::uint64_t at = 0;
        for (const auto& e : sorted) {
            if (e.begin != at) throw refusal("tensor \"" + e.name + "\" begins at byte " + std::to_string(e.begin) + " of the data, but " + std::to_string(at) + " is where it must");
            at = e.end;
        }
        if (at != data_size_) throw refusal("the tensors end at byte " + std::to_string(at) + " of the data, but the data are " + std::to_string(data_size_) + " bytes");
    }

    std::string file_;
    std::uint64_t data_size_;
};

}  // namespace detail

/// The header of the file whose bytes these are; `file` is what messages call it.
/// @throws error "checkpoint.safetensors" with the byte where a rule of the format is broken.
inline safetensors_header read_safetensors_header(const std::string& file, std::span<const std::byte> bytes) {
    const auto refuse = [&](std::size_t byte, const std::string& what) { return error_at("checkpoint.safetensors", file, byte, what); };
    if (bytes.size() < 8) throw refuse(bytes.size(), "the file ends before its header's length, which takes 8 bytes");
    std::uint64_t length = 0;
    std::memcpy(&length, bytes.data(), 8);
    if (length > largest_header) throw refuse(0, "a header of " + std::to_string(length) + " bytes, more than the format allows; is this a safetensors file?");
    if (length > bytes.size() - 8) throw refuse(bytes.size(), "the file ends within its header of " + std::to_string(length) + " bytes");
    const std::string_view text(reinterpret_cast<const char*>(bytes.data()) + 8, static_cast<std::size_t>(length));
    if (text.empty() || text.front() != '{') throw refuse(8, "the header does not begin with {");
    auto header = detail::header_reader(file, bytes.size() - 8 - length).read(parse_strictly("checkpoint.safetensors", file, text, 8));
    header.data_begin = 8 + length;
    return header;
}

}  // namespace qwengpu::checkpoint
