// SPDX-License-Identifier: MIT
// A safetensors file, mapped: its tensors by name. Nothing is read before it is asked for.
#pragma once

#include <qwengpu/checkpoint/mapped_file.hpp>
#include <qwengpu/checkpoint/safetensors_header.hpp>

#include <algorithm>
#include <map>
#include <string>

namespace qwengpu::checkpoint {

/// A tensor's bytes with their type and shape. Refers to the mapping, which it keeps alive.
struct tensor_view {
    std::string name;
    element_type type = element_type::f32;
    std::vector<std::uint64_t> shape;
    std::span<const std::byte> bytes;
    mapped_file file;

    [[nodiscard]] std::uint64_t elements() const { return bytes.size() / bytes_of(type); }
};

class safetensors_reader {
public:
    /// @throws error "checkpoint.file", "checkpoint.safetensors".
    explicit safetensors_reader(const std::string& path) : file_(path), header_(read_safetensors_header(path, file_.bytes())) {
        for (std::size_t i = 0; i < header_.tensors.size(); ++i) by_name_.emplace(header_.tensors[i].name, i);
    }

    [[nodiscard]] const safetensors_header& header() const { return header_; }
    [[nodiscard]] const std::string& path() const { return file_.path(); }
    [[nodiscard]] bool has(const std::string& name) const { return by_name_.contains(name); }

    /// @throws error "checkpoint.tensor" if there is none of this name.
    [[nodiscard]] tensor_view at(const std::string& name) const {
        const auto found = by_name_.find(name);
        if (found == by_name_.end()) throw error("checkpoint.tensor", "there is no tensor \"" + name + "\"", place{path(), 0, 0});
        const auto& e = header_.tensors[found->second];
        return {e.name, e.type, e.shape, file_.bytes().subspan(static_cast<std::size_t>(header_.data_begin + e.begin), static_cast<std::size_t>(e.end - e.begin)), file_};
    }

private:
    mapped_file file_;
    safetensors_header header_;
    std::map<std::string, std::size_t> by_name_;
};

}  // namespace qwengpu::checkpoint
