// SPDX-License-Identifier: MIT
// config.json of a Qwen3.5 model: of the text-only class (qwen3_5_text), or of the published one with vision, whose text
// settings stand under text_config. Every key is written out, since the defaults of engines differ.
#pragma once

#include <qwengpu/checkpoint/mapped_file.hpp>
#include <qwengpu/checkpoint/strict_json.hpp>
#include <qwengpu/nn/shape.hpp>

#include <cmath>
#include <string>
#include <vector>

namespace qwengpu::checkpoint {

/// What the tensors and the arithmetic follow from.
struct model_config {
    nn::shape shape;
    int vocabulary = 0;
    std::vector<bool> full_attention;  ///< one per layer: full attention, not Gated DeltaNet
    bool tied = true;                  ///< the head is the embedding
    bool vision_language = false;      ///< the text model stands inside Qwen3_5ForConditionalGeneration
    json document = json::object();    ///< the whole file, as read

    [[nodiscard]] int layers() const { return static_cast<int>(full_attention.size()); }
    /// What the names of the text model's tensors begin with.
    [[nodiscard]] std::string prefix() const { return vision_language ? "model.language_model." : "model."; }
};

namespace detail {

class config_reader {
public:
    config_reader(const json& text, std::string file) : text_(text), file_(std::move(file)) {}

    [[nodiscard]] error refusal(const std::string& what) const { return {"checkpoint.config", what, place{file_, 0, 0}}; }

    /// The most that a width or a vocabulary can be, and what a number of heads or the width of one can: products of two fit an int.
    static constexpr int most_channels = 1 << 24, most_heads = 1 << 12;

    [[nodiscard]] int integer(const char* key, int most = most_channels) const {
        const auto& value = member(key);
        // Numbers beyond the range become negative ones.
        if (!value.is_number_integer() || value.get<std::int64_t>() < 1 || value.get<std::int64_t>() > most) throw refusal(std::string(key) + " must be a whole number from 1 to " + std::to_string(most));
        return value.get<int>();
    }
    [[nodiscard]] double number(const json& of, const char* key) const {
        if (!of.is_object() || !of.contains(key) || !of[key].is_number()) throw refusal(std::string("the number ") + key + " is missing");
        return of[key].get<double>();
    }
    [[nodiscard]] const json& member(const char* key) const {
        if (!text_.contains(key)) throw refusal(std::string("the key ") + key + " is missing");
        return text_[key];
    }
    [[nodiscard]] bool flag(const json& of, const char* key, bool otherwise) const {
        if (!of.contains(key)) return otherwise;
        if (!of[key].is_boolean()) throw refusal(std::string(key) + " must be true or false");
        return of[key].get<bool>();
    }

    [[nodiscard]] nn::shape shape() const {
        nn::shape s;
        s.hidden = integer("hidden_size");
        s.mlp = integer("intermediate_size");
        s.heads = integer("linear_num_key_heads", most_heads);
        s.value_heads = integer("linear_num_value_heads", most_heads);
        s.key_dim = integer("linear_key_head_dim", most_heads);
        s.value_dim = integer("linear_value_head_dim", most_heads);
        s.conv = integer("linear_conv_kernel_dim", most_heads);
        s.query_heads = integer("num_attention_heads", most_heads);
        s.kv_heads = integer("num_key_value_heads", most_heads);
        s.head_dim = integer("head_dim", most_heads);
        s.inverse_eps = static_cast<int>(std::lround(1.0 / checked_eps()));
        read_rope(s);
        return s;
    }

    [[nodiscard]] std::vector<bool> full_attention() const {
        const int count = integer("num_hidden_layers", most_heads);
        std::vector<bool> kinds;
        if (!text_.contains("layer_types")) {
            const int interval = text_.contains("full_attention_interval") ? integer("full_attention_interval") : 4;
            for (int i = 0; i < count; ++i) kinds.push_back((i + 1) % interval == 0);
            return kinds;
        }
        const auto& types = text_["layer_types"];
        if (!types.is_array() || types.size() != static_cast<std::size_t>(count)) throw refusal("layer_types must list the kinds of num_hidden_layers layers");
        for (const auto& t : types) {
            if (t != "linear_attention" && t != "full_attention") throw refusal("layer_types knows linear_attention and full_attention only");
            kinds.push_back(t == "full_attention");
        }
        return kinds;
    }

private:
    [[nodiscard]] double checked_eps() const {
        const auto eps = number(text_, "rms_norm_eps");
        if (!(eps >= 1e-9 && eps <= 1.0)) throw refusal("rms_norm_eps must lie between 1e-9 and 1");
        return eps;
    }
    void read_rope(nn::shape& s) const {
        const auto& rope = text_.contains("rope_parameters") ? text_["rope_parameters"] : text_;
        const double theta = number(rope, "rope_theta");
        const double part = rope.contains("partial_rotary_factor") ? number(rope, "partial_rotary_factor") : 0.25;
        if (!(theta >= 1 && theta <= 1e9) || !(part >= 0 && part <= 1)) throw refusal("rope_theta or partial_rotary_factor is out of range");
        s.rope_theta = static_cast<int>(theta);
        s.rotary_dims = static_cast<int>(s.head_dim * part);
    }

    const json& text_;
    std::string file_;
};

}  // namespace detail

/// @throws error "checkpoint.config" naming the key that is missing or wrong.
inline model_config parse_config(const json& document, const std::string& file) {
    if (!document.is_object()) throw error("checkpoint.config", "this is no JSON object", place{file, 0, 0});
    model_config c;
    c.document = document;
    c.vision_language = document.contains("text_config");
    const auto& text = c.vision_language ? document["text_config"] : document;
    if (!text.is_object()) throw error("checkpoint.config", "text_config is no object", place{file, 0, 0});
    const detail::config_reader reader(text, file);
    c.shape = reader.shape();
    c.vocabulary = reader.integer("vocab_size");
    c.full_attention = reader.full_attention();
    c.tied = reader.flag(document, "tie_word_embeddings", reader.flag(text, "tie_word_embeddings", false));
    return c;
}

/// Reads FOLDER/config.json. @throws error "checkpoint.file", "checkpoint.config".
inline model_config read_config(const std::string& folder) {
    const auto path = folder + "/config.json";
    const mapped_file file(path);
    const std::string_view text(reinterpret_cast<const char*>(file.bytes().data()), file.bytes().size());
    return parse_config(parse_strictly("checkpoint.config", path, text), path);
}

/// The kinds of layers as config.json names them.
inline ordered_json layer_types(const std::vector<bool>& full_attention) {
    auto types = ordered_json::array();
    for (const bool full : full_attention) types.push_back(full ? "full_attention" : "linear_attention");
    return types;
}

/// The interval at which full attention stands, if one tells all: every interval-th layer and no other. 0: none does.
inline int interval_of(const std::vector<bool>& full_attention) {
    int interval = 1;
    while (interval <= static_cast<int>(full_attention.size()) && !full_attention[static_cast<std::size_t>(interval) - 1]) ++interval;
    for (std::size_t i = 0; i < full_attention.size(); ++i)
        if (full_attention[i] != ((i + 1) % static_cast<std::size_t>(interval) == 0)) return 0;
    return interval <= static_cast<int>(full_attention.size()) ? interval : 0;
}

/// config.json of a text-only model; `dtype` is float32, bfloat16 or float16.
inline ordered_json text_config(const model_config& c, const std::string& dtype, int eos_token, int positions = 262144) {
    const auto& s = c.shape;
    ordered_json config{{"architectures", {"Qwen3_5ForCausalLM"}}, {"model_type", "qwen3_5_text"}, {"dtype", dtype}, {"vocab_size", c.vocabulary}, {"hidden_size", s.hidden},
            {"intermediate_size", s.mlp}, {"num_hidden_layers", c.layers()}, {"layer_types", layer_types(c.full_attention)},
            {"linear_num_key_heads", s.heads}, {"linear_num_value_heads", s.value_heads}, {"linear_key_head_dim", s.key_dim}, {"linear_value_head_dim", s.value_dim},
            {"linear_conv_kernel_dim", s.conv}, {"num_attention_heads", s.query_heads}, {"num_key_value_heads", s.kv_heads}, {"head_dim", s.head_dim},
            {"attention_bias", false}, {"attention_dropout", 0.0}, {"attn_output_gate", true}, {"hidden_act", "silu"}, {"rms_norm_eps", 1.0 / s.inverse_eps},
            {"rope_parameters", {{"rope_type", "default"}, {"rope_theta", s.rope_theta}, {"partial_rotary_factor", static_cast<double>(s.rotary_dims) / s.head_dim}, {"mrope_section", {11, 11, 10}}, {"mrope_interleaved", true}}},
            {"mamba_ssm_dtype", "float32"}, {"max_position_embeddings", positions}, {"tie_word_embeddings", c.tied}, {"use_cache", true}, {"initializer_range", 0.02},
            {"bos_token_id", nullptr}, {"eos_token_id", eos_token}, {"pad_token_id", eos_token}};
    if (const int interval = interval_of(c.full_attention); interval > 0) config["full_attention_interval"] = interval;
    return config;
}

}  // namespace qwengpu::checkpoint
