// SPDX-License-Identifier: MIT
// Writes safetensors files: one, or several with the index that says which tensor is where. The header is padded with
// spaces to a multiple of 8 bytes; tensors stand by descending element size, then by name.
#pragma once

#include <qwengpu/checkpoint/atomic_file.hpp>
#include <qwengpu/checkpoint/byte_cursor.hpp>
#include <qwengpu/checkpoint/planned_tensor.hpp>
#include <qwengpu/checkpoint/strict_json.hpp>

#include <cstdio>
#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace qwengpu::checkpoint {

/// Called now and then with the bytes written so far, and all there will be.
using write_progress = std::function<void(std::uint64_t done, std::uint64_t total)>;

/// The bytes before the data: length and JSON of a file with these tensors, in the order given.
inline std::string safetensors_head(const std::vector<planned_tensor>& tensors, const std::map<std::string, std::string>& metadata = {}) {
    ordered_json header = ordered_json::object();
    if (!metadata.empty()) header["__metadata__"] = metadata;
    std::uint64_t at = 0;
    for (const auto& t : tensors) {
        header[t.name] = {{"dtype", row(t.type).name}, {"shape", t.shape}, {"data_offsets", {at, at + t.bytes()}}};
        at += t.bytes();
    }
    std::string text = header.dump();
    text.append((8 - text.size() % 8) % 8, ' ');
    std::string head;
    put_raw(head, std::uint64_t{text.size()});
    return head + text;
}

namespace detail {

inline void write_one(const std::string& path, std::vector<const planned_tensor*> tensors, const std::function<void(std::uint64_t)>& wrote) {
    std::sort(tensors.begin(), tensors.end(), [](const auto* a, const auto* b) { return a->type != b->type ? a->type > b->type : a->name < b->name; });
    std::vector<planned_tensor> ordered;
    for (const auto* t : tensors) ordered.push_back(*t);
    atomic_file file(path);
    file.write(safetensors_head(ordered, {{"format", "pt"}}));
    for (const auto& t : ordered) {
        const auto before = file.written();
        t.write([&](std::span<const std::byte> bytes) { file.write(bytes); });
        if (file.written() - before != t.bytes()) throw error("checkpoint.write", "tensor \"" + t.name + "\" gave " + std::to_string(file.written() - before) + " bytes of " + std::to_string(t.bytes()), place{path, 0, 0});
        wrote(t.bytes());
    }
    file.commit();
}

inline std::string shard_name(std::size_t index, std::size_t count) {
    char name[64];
    std::snprintf(name, sizeof name, "model-%05zu-of-%05zu.safetensors", index + 1, count);
    return name;
}

}  // namespace detail

/// Writes one file. @throws error "checkpoint.write".
inline void write_safetensors(const std::string& path, const std::vector<planned_tensor>& tensors) {
    std::vector<const planned_tensor*> all;
    for (const auto& t : tensors) all.push_back(&t);
    detail::write_one(path, all, [](std::uint64_t) {});
}

/// Writes model.safetensors, or shards of about `shard_bytes` and model.safetensors.index.json, into a folder. The
/// index is written last: without it the shards are no checkpoint.
/// @throws error "checkpoint.write".
inline void write_sharded(const std::string& folder, const std::vector<planned_tensor>& tensors, std::uint64_t shard_bytes, const write_progress& progress = {}) {
    std::vector<std::vector<const planned_tensor*>> shards(1);
    std::uint64_t total = 0, in_shard = 0, done = 0;
    for (const auto& t : tensors) {
        if (in_shard > 0 && in_shard + t.bytes() > shard_bytes) shards.emplace_back(), in_shard = 0;
        shards.back().push_back(&t);
        in_shard += t.bytes();
        total += t.bytes();
    }
    const auto wrote = [&](std::uint64_t bytes) {
        done += bytes;
        if (progress) progress(done, total);
    };
    // What an earlier checkpoint left would be taken for a part of this one.
    for (const auto* stale : {"/model.safetensors.index.json", "/model.safetensors"}) std::filesystem::remove(folder + stale);
    if (shards.size() == 1) return detail::write_one(folder + "/model.safetensors", shards[0], wrote);
    ordered_json index{{"metadata", {{"total_size", total}}}, {"weight_map", ordered_json::object()}};
    for (std::size_t i = 0; i < shards.size(); ++i) {
        const auto name = detail::shard_name(i, shards.size());
        detail::write_one(folder + "/" + name, shards[i], wrote);
        for (const auto* t : shards[i]) index["weight_map"][t->name] = name;
    }
    write_text(folder + "/model.safetensors.index.json", index.dump(2) + "\n");
}

}  // namespace qwengpu::checkpoint
