// SPDX-License-Identifier: MIT
// Small good files of every format that checkpoint/ reads, and readers that look at all that a file has: for tests with damaged
// files. A reader gives a number made of what it read, so that nothing is left out; it throws our error or nothing.
#pragma once

#include <qwengpu/checkpoint/config.hpp>
#include <qwengpu/checkpoint/gguf_reader.hpp>
#include <qwengpu/checkpoint/graft_tokenizer.hpp>
#include <qwengpu/checkpoint/machine_note.hpp>
#include <qwengpu/checkpoint/safetensors_header.hpp>
#include <qwengpu/checkpoint/safetensors_writer.hpp>
#include <qwengpu/checkpoint/sparse_reader.hpp>
#include <qwengpu/checkpoint/tensor_source.hpp>

#include <cstdint>
#include <numeric>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace qwengpu::test {

namespace cp = qwengpu::checkpoint;

/// A number as so many bytes, lowest first.
inline std::string little(std::uint64_t value, int bytes) {
    std::string text;
    for (int i = 0; i < bytes; ++i) text += static_cast<char>(value >> (8 * i));
    return text;
}

inline std::span<const std::byte> as_bytes(std::string_view s) { return std::as_bytes(std::span(s)); }

/// The sum of all bytes of tensors whose places are relative to `data`.
inline std::uint64_t sum_of(const std::vector<cp::tensor_entry>& tensors, std::span<const std::byte> data) {
    std::uint64_t sum = 0;
    for (const auto& t : tensors)
        for (const auto byte : data.subspan(static_cast<std::size_t>(t.begin), static_cast<std::size_t>(t.end - t.begin))) sum += std::to_integer<std::uint64_t>(byte);
    return sum;
}

inline std::uint64_t read_tensors(std::string_view bytes) {
    const auto header = cp::read_safetensors_header("f", as_bytes(bytes));
    return sum_of(header.tensors, as_bytes(bytes).subspan(static_cast<std::size_t>(header.data_begin)));
}

inline std::uint64_t read_gguf_file(std::string_view bytes) {
    const auto contents = cp::read_gguf("f", as_bytes(bytes));
    return sum_of(contents.tensors, as_bytes(bytes).subspan(static_cast<std::size_t>(contents.data_begin))) + contents.metadata.dump().size();
}

inline std::uint64_t read_config_text(std::string_view bytes) {
    const auto c = cp::parse_config(cp::parse_strictly("checkpoint.config", "f", bytes), "f");
    const auto& s = c.shape;
    const auto channels = s.qkv_channels() + s.query_channels() + s.kv_channels() + s.rotary_dims;
    return static_cast<std::uint64_t>(channels) + c.document.dump().size() + cp::stored_dtype(c).size() + static_cast<std::uint64_t>(c.layers());
}

inline std::uint64_t read_index_text(std::string_view bytes) { return cp::parse_weight_map(cp::parse_strictly("checkpoint.index", "f", bytes), "f").size(); }

inline std::uint64_t read_note_text(std::string_view bytes) {
    const auto n = cp::parse_machine_note(cp::parse_strictly("checkpoint.note", "f", bytes), "f");
    return static_cast<std::uint64_t>(n.first_token + n.tokens + n.layers);
}

inline std::uint64_t read_tokenizer_text(std::string_view bytes) {
    return cp::graft_tokenizer(cp::parse_strictly("checkpoint.tokenizer", "f", bytes), "f", 8, 2, [](int t) { return std::to_string(t); }).dump().size();
}

inline std::uint64_t sum_of(const cp::sparse_contents& contents) {
    std::uint64_t sum = contents.tensors.size();
    for (const auto& [name, t] : contents.tensors)
        for (const auto& row : t.rows)
            for (const auto& e : t.of(row)) sum += static_cast<std::uint64_t>(row.index) + static_cast<std::uint64_t>(e.column) + (e.value > 0 ? 1U : 0U);
    return sum;
}

inline std::uint64_t read_sparse(std::string_view bytes) { return sum_of(cp::read_sparse_file("f", as_bytes(bytes))); }

/// The same of a body under a head with the right length and checksum, which random changes would never hit.
inline std::uint64_t read_sparse_body(std::string_view body) { return read_sparse(cp::sparse_file_of(std::string(body))); }

inline std::string good_tensors() {
    const auto plan = [](const char* name, std::vector<std::uint64_t> shape) { return cp::planned_tensor{name, cp::element_type::bf16, std::move(shape), {}}; };
    return cp::safetensors_head({plan("model.norm.weight", {4}), plan("a", {2, 3}), plan("empty", {0, 5})}, {{"format", "pt"}}) + std::string(20, 'x');
}

inline std::string good_gguf() {
    cp::gguf_metadata kv;
    kv.add("general.architecture", "qwen35");
    kv.add("tokens", std::vector<std::string>{"a", "bc"});
    kv.add("flags", std::vector<bool>{true, false});
    return cp::gguf_head(kv, {{"token_embd.weight", cp::element_type::f32, {2, 4}, {}}, {"b", cp::element_type::bf16, {3}, {}}}) + std::string(64, '\0');
}

inline std::string good_config() {
    cp::model_config c;
    c.vocabulary = 10;
    c.full_attention = {false, true};
    return cp::text_config(c, "bfloat16", 1).dump();
}

inline std::string good_index() { return R"({"metadata":{"total_size":4},"weight_map":{"a":"model-1.safetensors","b":"model-2.safetensors"}})"; }
inline std::string good_note() { return cp::machine_note_text({3, 4, 5}); }
inline std::string good_tokenizer() { return R"({"model":{"vocab":{"a":0,"b":1}},"added_tokens":[{"id":2,"content":"<end>"}]})"; }

inline std::string good_sparse() {
    const auto table = cp::plan_rows("table", cp::element_type::f32, 5, 300, [](int row, std::span<float> out) {
        if (row == 1) return;
        out[3] = 1.0F;
        out[row == 2 ? 7 : 8] = row == 4 ? -0.1F : 0.5F;
        out[299] = static_cast<float>(row);
    });
    const auto norm = cp::plan_vector("norm", cp::element_type::bf16, Eigen::VectorXf::LinSpaced(4, -1.0F, 2.0F));
    return cp::sparse_file_bytes(good_config(), good_note(), {table, norm, cp::plan_sparse("zeros", cp::element_type::bf16, nn::sparse_matrix(3, 2))});
}

inline std::string good_sparse_body() { return good_sparse().substr(cp::sparse_head_size); }

}  // namespace qwengpu::test
