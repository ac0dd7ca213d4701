// SPDX-License-Identifier: MIT
// All tensors of a checkpoint folder: model.safetensors, or the shards that model.safetensors.index.json names.
#pragma once

#include <qwengpu/checkpoint/safetensors_reader.hpp>
#include <qwengpu/nn/matrix.hpp>
#include <qwengpu/nn/sparse_matrix.hpp>

#include <algorithm>
#include <filesystem>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace qwengpu::checkpoint {

/// The file of each tensor, from the document of a model.safetensors.index.json; `path` is what messages call it.
/// @throws error "checkpoint.index".
inline std::map<std::string, std::string> parse_weight_map(const json& index, const std::string& path) {
    const auto refuse = [&](const std::string& what) { return error("checkpoint.index", what, place{path, 0, 0}); };
    if (!index.is_object() || !index.contains("weight_map") || !index["weight_map"].is_object()) throw refuse("there is no weight_map");
    std::map<std::string, std::string> files;
    for (const auto& [tensor, value] : index["weight_map"].items()) {
        if (!value.is_string()) throw refuse("the file of tensor \"" + tensor + "\" is no text");
        const auto name = value.get<std::string>();
        if (name.empty() || name.find('/') != std::string::npos || name.find('\0') != std::string::npos || name == "..") throw refuse("\"" + name + "\" is no file of this folder");
        files.emplace(tensor, name);
    }
    return files;
}

class tensor_source {
public:
    /// @throws error "checkpoint.file", "checkpoint.safetensors", "checkpoint.index".
    explicit tensor_source(const std::string& folder) : folder_(folder) {
        namespace fs = std::filesystem;
        const auto index = fs::path(folder) / "model.safetensors.index.json";
        const auto single = fs::path(folder) / "model.safetensors";
        if (fs::exists(index)) {
            read_index(index.string());
            return;
        }
        if (!fs::exists(single)) throw error("checkpoint.file", "there is neither model.safetensors nor model.safetensors.index.json in this folder", place{folder, 0, 0});
        add(safetensors_reader(single.string()));
    }

    [[nodiscard]] bool has(const std::string& name) const { return where_.contains(name); }
    [[nodiscard]] tensor_view at(const std::string& name) const {
        const auto found = where_.find(name);
        if (found == where_.end()) throw error("checkpoint.tensor", "there is no tensor \"" + name + "\"; is this a Qwen3.5 checkpoint?", place{folder_, 0, 0});
        return files_[found->second].at(name);
    }
    /// All names, sorted.
    [[nodiscard]] std::vector<std::string> names() const {
        std::vector<std::string> all;
        for (const auto& [name, unused] : where_) all.push_back(name);
        return all;
    }
    [[nodiscard]] const std::string& folder() const { return folder_; }

private:
    void add(safetensors_reader file) {
        for (const auto& t : file.header().tensors) where_.emplace(t.name, files_.size());
        files_.push_back(std::move(file));
    }

    void read_index(const std::string& path) {
        const mapped_file mapped(path);
        const std::string_view text(reinterpret_cast<const char*>(mapped.bytes().data()), mapped.bytes().size());
        std::map<std::string, std::size_t> number;
        for (const auto& [tensor, name] : parse_weight_map(parse_strictly("checkpoint.index", path, text), path)) {
            const auto [at, is_new] = number.try_emplace(name, files_.size());
            if (is_new) files_.emplace_back(folder_ + "/" + name);
            if (!files_[at->second].has(tensor)) throw error("checkpoint.index", "tensor \"" + tensor + "\" is not in " + name + "; is the download complete?", place{path, 0, 0});
            where_.emplace(tensor, at->second);
        }
    }

    std::string folder_;
    std::vector<safetensors_reader> files_;
    std::map<std::string, std::size_t> where_;
};

namespace detail {

inline std::string shape_text(const std::vector<std::uint64_t>& shape) {
    std::string text = "[";
    for (const auto extent : shape) text += (text.size() > 1 ? ", " : "") + std::to_string(extent);
    return text + "]";
}

}  // namespace detail

/// Checks type and shape of a tensor that a model is made of. @throws error "checkpoint.tensor".
inline void check_tensor(const tensor_view& t, const std::vector<std::uint64_t>& shape) {
    const auto refuse = [&](const std::string& what) { return error("checkpoint.tensor", "tensor \"" + t.name + "\" " + what, place{t.file.path(), 0, 0}); };
    if (!is_model_type(t.type)) throw refuse("is " + std::string(row(t.type).name) + "; F32, BF16 and F16 can be read");
    if (t.shape != shape) throw refuse("has the shape " + detail::shape_text(t.shape) + ", but config.json asks for " + detail::shape_text(shape));
}

/// Row `index` of a matrix as floats.
inline void read_row(const tensor_view& t, std::size_t index, std::span<float> to) {
    const auto bytes = to.size() * bytes_of(t.type);
    to_floats(t.type, t.bytes.subspan(index * bytes, bytes), to.data());
}

inline nn::vector read_vector(const tensor_source& from, const std::string& name, int size) {
    const auto t = from.at(name);
    check_tensor(t, {static_cast<std::uint64_t>(size)});
    nn::vector v(size);
    to_floats(t.type, t.bytes, v.data());
    return v;
}

/// A tensor of rows * cols elements, whatever its further extents, as a dense matrix.
inline nn::dense_matrix read_dense(const tensor_view& t, int rows, int cols) {
    nn::dense_matrix m(rows, cols);
    to_floats(t.type, t.bytes, m.data());
    return m;
}

/// The same without its zeros; the pages of the file are given back as they have been read.
inline nn::sparse_matrix read_sparse(const tensor_view& t, int rows, int cols) {
    std::vector<nn::triplet> entries;
    std::vector<float> line(static_cast<std::size_t>(cols));
    for (int r = 0; r < rows; ++r) {
        read_row(t, static_cast<std::size_t>(r), line);
        for (int c = 0; c < cols; ++c)
            if (line[static_cast<std::size_t>(c)] != 0) entries.push_back({r, c, line[static_cast<std::size_t>(c)]});
    }
    t.file.forget(t.bytes);
    return nn::sparse_matrix::from_triplets(rows, cols, std::move(entries));
}

}  // namespace qwengpu::checkpoint
