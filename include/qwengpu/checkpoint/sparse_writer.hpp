// SPDX-License-Identifier: MIT
// Our own compact container for models of few non-zeros: tensors row by row, a row as its own entries or as the changes
// against the row before, values as numbers of a list. A few MB where safetensors take GB. The format is in docs/checkpoints.md.
#pragma once

#include <qwengpu/checkpoint/atomic_file.hpp>
#include <qwengpu/checkpoint/byte_cursor.hpp>
#include <qwengpu/checkpoint/planned_tensor.hpp>
#include <qwengpu/checkpoint/safetensors_writer.hpp>
#include <qwengpu/checkpoint/sha256.hpp>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace qwengpu::checkpoint {

inline constexpr std::string_view sparse_magic{"qwengpu\x1a", 8};
inline constexpr std::uint32_t sparse_version = 1;
inline constexpr std::size_t sparse_head_size = 56;  ///< magic, version, four zeros, length of the body, its SHA-256

namespace detail {

/// An entry of a row: its column, and its value as a float's bits or as a number of the list.
using sparse_entry = std::pair<std::uint32_t, std::uint32_t>;

struct sparse_row {
    std::uint64_t index = 0;
    std::vector<sparse_entry> entries;  ///< columns ascend
};

/// Takes a tensor's bytes in order, and keeps the rows that are not zero.
class row_collector {
public:
    explicit row_collector(const planned_tensor& t) : type_(t.type), columns_(t.shape.empty() ? 1 : t.shape.back()) {}

    void take(std::span<const std::byte> bytes) {
        const auto width = bytes_of(type_);
        values_.resize(bytes.size() / width);
        to_floats(type_, bytes, values_.data());
        for (const float v : values_) {
            if (v != 0) put(std::bit_cast<std::uint32_t>(v));
            ++at_;
        }
    }
    [[nodiscard]] std::vector<sparse_row> rows() && { return std::move(rows_); }

private:
    void put(std::uint32_t bits) {
        const auto row = at_ / columns_;
        if (rows_.empty() || rows_.back().index != row) rows_.push_back({row, {}});
        rows_.back().entries.emplace_back(static_cast<std::uint32_t>(at_ % columns_), bits);
    }

    element_type type_;
    std::uint64_t columns_, at_ = 0;
    std::vector<float> values_;
    std::vector<sparse_row> rows_;
};

/// What must be changed in `before` to get `after`; value 0: the entry goes.
inline std::vector<sparse_entry> changes(const std::vector<sparse_entry>& before, const std::vector<sparse_entry>& after) {
    std::vector<sparse_entry> result;
    auto b = before.begin();
    for (const auto& a : after) {
        for (; b != before.end() && b->first < a.first; ++b) result.emplace_back(b->first, 0);
        if (b != before.end() && b->first == a.first && (b++)->second == a.second) continue;
        result.push_back(a);
    }
    for (; b != before.end(); ++b) result.emplace_back(b->first, 0);
    return result;
}

inline void put_row(std::string& to, const std::vector<sparse_entry>& entries, bool relative) {
    put_number(to, 2 * entries.size() + (relative ? 1 : 0));
    std::uint32_t next = 0;
    for (const auto& [column, value] : entries) {
        put_number(to, column - next);
        put_number(to, value);
        next = column + 1;
    }
}

inline std::string sparse_tensor_bytes(const planned_tensor& t, const std::vector<sparse_row>& rows) {
    std::string to;
    put_text(to, t.name);
    to += static_cast<char>(t.type == element_type::bf16 ? 1 : 0);
    put_number(to, t.shape.size());
    for (const auto extent : t.shape) put_number(to, extent);
    put_number(to, rows.size());
    std::uint64_t next = 0;
    const std::vector<sparse_entry> nothing;
    for (const auto* before = &nothing; const auto& row : rows) {
        put_number(to, row.index - next);
        const auto changed = changes(*before, row.entries);
        const bool relative = changed.size() < row.entries.size();
        put_row(to, relative ? changed : row.entries, relative);
        next = row.index + 1;
        before = &row.entries;
    }
    return to;
}

/// Numbers the values from 1 on, the most frequent first, and puts their numbers in their place.
inline std::vector<std::uint32_t> number_values(std::vector<std::vector<sparse_row>>& tensors) {
    std::unordered_map<std::uint32_t, std::uint64_t> count;
    const auto each = [&](auto&& visit) {
        for (auto& rows : tensors)
            for (auto& row : rows)
                for (auto& entry : row.entries) visit(entry.second);
    };
    each([&](std::uint32_t bits) { ++count[bits]; });
    std::vector<std::uint32_t> values;
    for (const auto& [bits, unused] : count) values.push_back(bits);
    std::sort(values.begin(), values.end(), [&](auto a, auto b) { return count[a] != count[b] ? count[a] > count[b] : a < b; });
    for (std::size_t i = 0; i < values.size(); ++i) count[values[i]] = i + 1;
    each([&](std::uint32_t& bits) { bits = static_cast<std::uint32_t>(count[bits]); });
    return values;
}

}  // namespace detail

/// The file of a body: the head with its length and checksum, and the body itself.
inline std::string sparse_file_of(const std::string& body) {
    sha256 hash;
    hash.update(std::as_bytes(std::span(body)));
    std::string head(sparse_magic);
    put_raw(head, sparse_version);
    put_raw(head, std::uint32_t{0});
    put_raw(head, std::uint64_t{body.size()});
    for (const auto byte : hash.finish_bytes()) head += static_cast<char>(byte);
    return head + body;
}

/// The whole file of a model. `config` and `note` are the texts of config.json and qwengpu.json. Types are F32 and BF16.
/// @throws error "checkpoint.sparse" if a tensor has another type.
inline std::string sparse_file_bytes(const std::string& config, const std::string& note, const std::vector<planned_tensor>& tensors, const write_progress& progress = {}) {
    std::vector<std::vector<detail::sparse_row>> rows;
    std::uint64_t total = 0, done = 0;
    for (const auto& t : tensors) total += t.bytes();
    for (const auto& t : tensors) {
        if (t.type != element_type::f32 && t.type != element_type::bf16) throw error("checkpoint.sparse", "tensor \"" + t.name + "\" is neither F32 nor BF16");
        detail::row_collector collector(t);
        t.write([&](std::span<const std::byte> bytes) { collector.take(bytes); });
        rows.push_back(std::move(collector).rows());
        done += t.bytes();
        if (progress) progress(done, total);
    }
    std::string body;
    put_text(body, config);
    put_text(body, note);
    const auto values = detail::number_values(rows);
    put_number(body, values.size());
    for (const auto bits : values) put_raw(body, bits);
    put_number(body, tensors.size());
    for (std::size_t i = 0; i < tensors.size(); ++i) body += detail::sparse_tensor_bytes(tensors[i], rows[i]);
    return sparse_file_of(body);
}

}  // namespace qwengpu::checkpoint
