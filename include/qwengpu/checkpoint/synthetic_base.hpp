// SPDX-License-Identifier: MIT
// A Qwen3.5 checkpoint of random weights, to try grafts where no trained one is at hand: any depth and vocabulary,
// embeddings with a common mean as trained ones have, or without. The same numbers on every machine.
#pragma once

#include <qwengpu/checkpoint/export_model.hpp>

#include <cmath>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace qwengpu::checkpoint {

struct synthetic_options {
    nn::shape shape{};
    int layers = 24, vocabulary = 248'320;
    float anisotropy = 0.3F;       ///< length of the embeddings' common mean, over that of what differs between them
    bool tied = true;              ///< the head is the embedding
    bool vision_language = false;  ///< names and config of the published class, with one tensor each of mtp and vision
    element_type type = element_type::bf16;
    std::uint64_t seed = 1;
    write_progress progress{};
};

namespace detail {

/// Numbers of mean 0 and deviation 1, nearly normal (four 16-bit numbers summed), from a counter (splitmix64).
class random_numbers {
public:
    explicit random_numbers(std::uint64_t seed) : state_(seed * 0x9e3779b97f4a7c15U) {}
    float next() {
        std::uint64_t z = state_ += 0x9e3779b97f4a7c15U;
        z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9U;
        z = (z ^ (z >> 27)) * 0x94d049bb133111ebU;
        z ^= z >> 31;
        const auto sum = (z & 0xffffU) + ((z >> 16) & 0xffffU) + ((z >> 32) & 0xffffU) + (z >> 48);
        return (static_cast<float>(sum) - 131070.0F) * (1.7320508F / 65535.0F);
    }

private:
    std::uint64_t state_;
};

class synthesizer {
public:
    synthesizer(const synthetic_options& o, std::string prefix) : o_(o), prefix_(std::move(prefix)) {}

    [[nodiscard]] std::vector<planned_tensor> plan(const std::vector<bool>& full_attention) {
        const auto& s = o_.shape;
        embedding();
        for (std::size_t i = 0; i < full_attention.size(); ++i) {
            const auto at = layer_prefix(prefix_, static_cast<int>(i));
            add(at + "input_layernorm.weight", {s.hidden}, 0.1F);
            add(at + "post_attention_layernorm.weight", {s.hidden}, 0.1F);
            full_attention[i] ? attention(at + "self_attn.") : delta_net(at + "linear_attn.");
            add(at + "mlp.gate_proj.weight", {s.mlp, s.hidden}, 0.02F);
            add(at + "mlp.up_proj.weight", {s.mlp, s.hidden}, 0.02F);
            add(at + "mlp.down_proj.weight", {s.hidden, s.mlp}, 0.02F);
        }
        add(prefix_ + "norm.weight", {s.hidden}, 0.2F);
        if (!o_.tied) add("lm_head.weight", {o_.vocabulary, s.hidden}, 0.02F);
        if (o_.vision_language) {
            add("mtp.norm.weight", {s.hidden}, 0.1F);
            add("model.visual.merger.norm.weight", {s.hidden}, 0.1F);
        }
        return std::move(plan_);
    }

private:
    void add(std::string name, const std::vector<int>& shape, float deviation, float mean = 0.0F) {
        const std::vector<std::uint64_t> extents(shape.begin(), shape.end());
        const int cols = shape.back(), rows = static_cast<int>(*byte_size(element_type::u8, extents) / static_cast<std::uint64_t>(cols));
        const auto seed = o_.seed + 1'000'003U * ++tensors_;
        plan_.push_back(plan_rows(std::move(name), o_.type, rows, cols, [seed, deviation, mean](int row, std::span<float> out) {
            random_numbers numbers(seed ^ (static_cast<std::uint64_t>(row) << 40));
            for (float& x : out) x = mean + deviation * numbers.next();
        }, extents));
    }

    void embedding() {
        const auto seed = o_.seed;
        plan_.push_back(plan_rows(prefix_ + "embed_tokens.weight", o_.type, o_.vocabulary, o_.shape.hidden, [seed, mean = o_.anisotropy](int row, std::span<float> out) {
            random_numbers common(seed), own(seed ^ (static_cast<std::uint64_t>(row + 1) << 24));
            for (float& x : out) x = 0.02F * (own.next() + mean * common.next());
        }));
    }

    void delta_net(const std::string& at) {
        const auto& s = o_.shape;
        add(at + "in_proj_qkv.weight", {s.qkv_channels(), s.hidden}, 0.02F);
        add(at + "in_proj_z.weight", {s.value_channels(), s.hidden}, 0.02F);
        add(at + "in_proj_b.weight", {s.value_heads, s.hidden}, 0.02F);
        add(at + "in_proj_a.weight", {s.value_heads, s.hidden}, 0.02F);
        add(at + "conv1d.weight", {s.qkv_channels(), 1, s.conv}, 0.3F);
        add(at + "dt_bias", {s.value_heads}, 1.0F);
        add(at + "A_log", {s.value_heads}, 0.5F, 1.0F);
        add(at + "norm.weight", {s.value_dim}, 0.1F, 1.0F);
        add(at + "out_proj.weight", {s.hidden, s.value_channels()}, 0.02F);
    }

    void attention(const std::string& at) {
        const auto& s = o_.shape;
        add(at + "q_proj.weight", {2 * s.query_channels(), s.hidden}, 0.02F);
        add(at + "k_proj.weight", {s.kv_channels(), s.hidden}, 0.02F);
        add(at + "v_proj.weight", {s.kv_channels(), s.hidden}, 0.02F);
        add(at + "q_norm.weight", {s.head_dim}, 0.1F);
        add(at + "k_norm.weight", {s.head_dim}, 0.1F);
        add(at + "o_proj.weight", {s.hidden, s.query_channels()}, 0.02F);
    }

    const synthetic_options& o_;
    std::string prefix_;
    std::vector<planned_tensor> plan_;
    std::uint64_t tensors_ = 0;
};

inline ordered_json published_config(const ordered_json& text) {
    return {{"architectures", {"Qwen3_5ForConditionalGeneration"}}, {"model_type", "qwen3_5"}, {"text_config", text}, {"tie_word_embeddings", text["tie_word_embeddings"]}};
}

}  // namespace detail

/// Writes the checkpoint into `folder`. Its words are w0, w1, ..., the last of which ends generation.
inline void write_synthetic_base(const std::string& folder, const synthetic_options& o) {
    detail::make_folder(folder);
    model_config c;
    c.shape = o.shape;
    c.vocabulary = o.vocabulary;
    c.tied = o.tied;
    c.vision_language = o.vision_language;
    for (int i = 0; i < o.layers; ++i) c.full_attention.push_back((i + 1) % 4 == 0);
    const auto text = text_config(c, detail::dtype_name(o.type), o.vocabulary - 1);
    write_text(folder + "/config.json", (o.vision_language ? detail::published_config(text) : text).dump(2) + "\n");
    detail::write_generation_config(folder, o.vocabulary - 1);
    write_word_tokenizer(folder, o.vocabulary, o.vocabulary - 1, [](int t) { return "w" + std::to_string(t); });
    write_sharded(folder, detail::synthesizer(o, c.prefix()).plan(c.full_attention), 5'000'000'000, o.progress);
}

}  // namespace qwengpu::checkpoint
