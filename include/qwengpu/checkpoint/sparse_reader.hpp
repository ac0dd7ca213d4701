// SPDX-License-Identifier: MIT
// Reads our compact container (sparse_writer.hpp; the format is in docs/checkpoints.md). Magic, version, length and checksum
// first; then every number is checked before it is used, and what is wrong is told with the byte where it stands.
#pragma once

#include <qwengpu/checkpoint/config.hpp>
#include <qwengpu/checkpoint/machine_note.hpp>
#include <qwengpu/checkpoint/sparse_writer.hpp>
#include <qwengpu/checkpoint/tensor_source.hpp>

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace qwengpu::checkpoint {

/// A tensor's rows that are not zero; all extents but the last are rows.
struct sparse_tensor {
    struct row {
        int index = 0;
        std::size_t begin = 0, end = 0;  ///< its entries
    };
    struct entry {
        int column = 0;
        float value = 0;
    };

    element_type type = element_type::f32;
    std::vector<std::uint64_t> shape;
    std::vector<row> rows;       ///< indices ascend
    std::vector<entry> entries;  ///< columns of a row ascend

    [[nodiscard]] std::span<const entry> of(const row& r) const { return std::span(entries).subspan(r.begin, r.end - r.begin); }
};

/// The contents of a file.
struct sparse_contents {
    model_config config;
    machine_note note;
    std::map<std::string, sparse_tensor> tensors;
};

namespace detail {

inline constexpr std::uint64_t most_sparse_entries = std::uint64_t{1} << 25;  ///< of all tensors: rows may repeat others, so a short file could ask for any amount

class sparse_body_reader {
public:
    sparse_body_reader(std::string file, std::span<const std::byte> bytes, std::size_t offset)
        : file_(file), in_("checkpoint.sparse", std::move(file), bytes, offset) {}

    sparse_contents read() {
        sparse_contents c;
        c.config = parse_config(document("config"), file_);
        c.note = parse_machine_note(document("note"), file_);
        read_values();
        const auto tensors = in_.number("the number of tensors", in_.left() / 5);
        for (std::uint64_t i = 0; i < tensors; ++i) {
            const std::string name(in_.text("a tensor's name"));
            if (name.empty() || c.tensors.contains(name)) throw in_.refusal("the tensor name \"" + name.substr(0, 80) + "\" is empty, or stands twice");
            c.tensors.emplace(name, tensor());
        }
        if (in_.left() > 0) throw in_.refusal(std::to_string(in_.left()) + " bytes follow the last tensor");
        return c;
    }

private:
    json document(const char* what) {
        const auto text = in_.text(what);
        return parse_strictly("checkpoint.sparse", file_, text, in_.position() - text.size());
    }

    void read_values() {
        const auto count = in_.number("the number of values", in_.left() / 4);
        for (std::uint64_t i = 0; i < count; ++i) {
            const auto value = in_.raw<float>();
            if (!std::isfinite(value) || value == 0) throw in_.refusal("a value that is zero or not finite");
            values_.push_back(value);
        }
    }

    sparse_tensor tensor() {
        sparse_tensor t;
        const auto type = in_.byte();
        if (type > 1) throw in_.refusal("a tensor of type " + std::to_string(type) + "; F32 (0) and BF16 (1) can be read");
        t.type = type == 1 ? element_type::bf16 : element_type::f32;
        std::uint64_t rows = 1, columns = 1;
        for (auto rank = in_.number("a tensor's rank", 4); rank > 0; --rank) {
            t.shape.push_back(in_.number("an extent", 1U << 30));
            rows *= columns;
            columns = t.shape.back();
            if (rows > 1U << 30) throw in_.refusal("a tensor of too many rows");
        }
        std::uint64_t next = 0;
        for (auto count = in_.number("the number of rows", std::min<std::uint64_t>(rows, in_.left() / 2)); count > 0; --count) {
            next += in_.number("the number of rows of zeros", rows - next);
            if (next == rows) throw in_.refusal("a row beyond the tensor's last");
            row(t, static_cast<int>(next++), columns);
        }
        return t;
    }

    void row(sparse_tensor& t, int index, std::uint64_t columns) {
        const auto begin = t.entries.size();
        const auto head = in_.number("the number of a row's entries", in_.left());
        const bool relative = head % 2 == 1;
        if (relative && t.rows.empty()) throw in_.refusal("the first row cannot be changes against one before");
        const auto before = relative ? t.rows.back() : sparse_tensor::row{0, begin, begin};
        auto old = before.begin;
        const auto keep = [&](std::uint64_t column) {
            for (; old < before.end && static_cast<std::uint64_t>(t.entries[old].column) < column; ++old) push(t, t.entries[old]);
        };
        std::uint64_t next = 0;
        for (auto left = head / 2; left > 0; --left) {
            next += in_.number("the number of columns between", columns - next);
            if (next == columns) throw in_.refusal("an entry beyond the last column");
            keep(next);
            const bool there = old < before.end && static_cast<std::uint64_t>(t.entries[old].column) == next;
            put(t, static_cast<int>(next++), relative, there ? t.entries[old++].value : 0.0F);
        }
        keep(columns);
        if (t.entries.size() == begin) throw in_.refusal("a row without entries");
        t.rows.push_back({index, begin, t.entries.size()});
    }

    void put(sparse_tensor& t, int column, bool relative, float old) {
        const auto number = in_.number("a value's number", values_.size());
        const float value = number > 0 ? values_[static_cast<std::size_t>(number) - 1] : 0.0F;
        if (number == 0 && !relative) throw in_.refusal("an entry of zero");
        if (relative && value == old) throw in_.refusal("a change that changes nothing");
        if (t.type == element_type::bf16 && nn::round_to_bf16(value) != value) throw in_.refusal("a value of a BF16 tensor that is no bf16 number");
        if (number > 0) push(t, {column, value});
    }

    void push(sparse_tensor& t, sparse_tensor::entry e) {
        if (++entries_ > most_sparse_entries) throw in_.refusal("more than " + std::to_string(most_sparse_entries) + " entries");
        t.entries.push_back(e);
    }

    std::string file_;
    byte_cursor in_;
    std::vector<float> values_;
    std::uint64_t entries_ = 0;
};

}  // namespace detail

/// Reads the body of a file, which begins at byte `offset` of it. @throws error "checkpoint.sparse", "checkpoint.config", "checkpoint.note".
inline sparse_contents read_sparse_body(const std::string& file, std::span<const std::byte> bytes, std::size_t offset = sparse_head_size) {
    return detail::sparse_body_reader(file, bytes, offset).read();
}

/// Reads a whole file. @throws error as read_sparse_body does.
inline sparse_contents read_sparse_file(const std::string& file, std::span<const std::byte> bytes) {
    byte_cursor head("checkpoint.sparse", file, bytes);
    const auto magic = bytes.first(std::min(bytes.size(), sparse_magic.size()));
    if (magic.size() < sparse_magic.size() || std::memcmp(magic.data(), sparse_magic.data(), magic.size()) != 0) throw head.refusal("this is no file of qwengpu export --sparse");
    (void)head.raw<std::uint64_t>();
    if (const auto version = head.raw<std::uint32_t>(); version != sparse_version) throw head.refusal("version " + std::to_string(version) + " of the format; " + std::to_string(sparse_version) + " can be read. Write the file again");
    if (head.raw<std::uint32_t>() != 0) throw head.refusal("four bytes that must be zero are not");
    const auto size = head.raw<std::uint64_t>();
    if (bytes.size() < sparse_head_size || size != bytes.size() - sparse_head_size)
        throw head.refusal("the file should have " + std::to_string(size) + " bytes after the first " + std::to_string(sparse_head_size) + ", but is " + std::to_string(bytes.size()) + " bytes long; is it complete?");
    const auto body = bytes.subspan(sparse_head_size);
    sha256 hash;
    hash.update(body);
    const auto sum = hash.finish_bytes();
    if (std::memcmp(sum.data(), bytes.data() + 24, sum.size()) != 0) throw head.refusal("the checksum is not that of the data; the file is damaged, write it again");
    return read_sparse_body(file, body);
}

}  // namespace qwengpu::checkpoint
