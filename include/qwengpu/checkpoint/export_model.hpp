// SPDX-License-Identifier: MIT
// Writes front layers alone as a model that Hugging Face transformers opens as Qwen3_5ForCausalLM: config, tokenizer,
// generation settings, weights in shards. Only one layer's tensors are in memory at a time.
#pragma once

#include <qwengpu/checkpoint/config.hpp>
#include <qwengpu/checkpoint/front_model.hpp>
#include <qwengpu/checkpoint/layer_tensors.hpp>
#include <qwengpu/checkpoint/layout.hpp>
#include <qwengpu/checkpoint/machine_note.hpp>
#include <qwengpu/checkpoint/safetensors_writer.hpp>
#include <qwengpu/checkpoint/tokenizer.hpp>

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

namespace qwengpu::checkpoint {

struct export_options {
    element_type type = element_type::bf16;       ///< F32 or BF16
    int period = 0;                               ///< 4: every fourth layer is full attention, for engines that only know the interval
    std::uint64_t shard_bytes = 5'000'000'000;
    write_progress progress{};
};

namespace detail {

inline std::vector<planned_tensor> plan_front_layer(const front_model& m, int which, const std::string& at, element_type type) {
    if (which == pass_through) return plan_identity_attention(at, type, m.shape);
    if (which == absent) return plan_layer(at, type, nn::zero_linear_layer(m.shape));
    return plan_layer(at, type, m.layers[static_cast<std::size_t>(which)]);
}

inline planned_tensor plan_embedding(const front_model& m, std::string name, element_type type) {
    return plan_rows(std::move(name), type, m.tokens, m.shape.hidden, [write_row = m.write_row](int token, std::span<float> row) { write_row(token, row); });
}

/// Name of a type in config.json.
inline std::string dtype_name(element_type t) { return t == element_type::bf16 ? "bfloat16" : t == element_type::f16 ? "float16" : "float32"; }

inline void make_folder(const std::string& folder) {
    std::error_code failed;
    std::filesystem::create_directories(folder, failed);
    if (failed) throw error("checkpoint.write", "the folder cannot be made: " + failed.message(), place{folder, 0, 0});
}

inline void write_generation_config(const std::string& folder, int end_token) {
    write_text(folder + "/generation_config.json", ordered_json{{"do_sample", false}, {"eos_token_id", end_token}, {"pad_token_id", end_token}}.dump(2) + "\n");
}

}  // namespace detail

/// The config of an export.
inline model_config config_of(const front_model& m, const std::vector<int>& layout) {
    model_config c;
    c.shape = m.shape;
    c.vocabulary = m.tokens;
    for (const int which : layout) c.full_attention.push_back(which == pass_through);
    return c;
}

/// All tensors of an export, in the order of the layers.
inline std::vector<planned_tensor> plan_model(const front_model& m, const std::vector<int>& layout, element_type type) {
    std::vector<planned_tensor> plan{detail::plan_embedding(m, "model.embed_tokens.weight", type)};
    for (std::size_t i = 0; i < layout.size(); ++i)
        for (auto& t : detail::plan_front_layer(m, layout[i], layer_prefix("model.", static_cast<int>(i)), type)) plan.push_back(std::move(t));
    plan.push_back(plan_vector("model.norm.weight", type, m.final_norm));
    return plan;
}

/// Writes the model into `folder`, which is made. @throws error "checkpoint.write".
inline void export_model(const std::string& folder, const front_model& m, const export_options& options = {}) {
    detail::make_folder(folder);
    const auto layout = alone_layout(static_cast<int>(m.layers.size()), options.period);
    write_text(folder + "/config.json", text_config(config_of(m, layout), detail::dtype_name(options.type), m.end_token).dump(2) + "\n");
    write_machine_note(folder, {0, m.tokens, static_cast<std::int64_t>(layout.size())});
    detail::write_generation_config(folder, m.end_token);
    write_word_tokenizer(folder, m.tokens, m.end_token, m.spell);
    write_sharded(folder, plan_model(m, layout, options.type), options.shard_bytes, options.progress);
}

}  // namespace qwengpu::checkpoint
