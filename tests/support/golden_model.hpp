// SPDX-License-Identifier: MIT
// Reads the golden files of tests/nn/goldens: a small model, its input, and what make_goldens.py found for it.
#pragma once

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "qwengpu/nn/dense_model.hpp"

namespace golden {

using json = nlohmann::json;
namespace nn = qwengpu::nn;

inline Eigen::VectorXf to_vector(const json& j) {
    const auto numbers = j.get<std::vector<float>>();
    return Eigen::Map<const Eigen::VectorXf>(numbers.data(), static_cast<Eigen::Index>(numbers.size()));
}

inline nn::dense_matrix to_matrix(const json& j) {
    nn::dense_matrix m(static_cast<Eigen::Index>(j.size()), static_cast<Eigen::Index>(j.at(0).size()));
    for (std::size_t row = 0; row < j.size(); ++row) m.row(static_cast<Eigen::Index>(row)) = to_vector(j[row]).transpose();
    return m;
}

/// [tokens][channels] in the file, [channels, tokens] here.
inline nn::tokens to_tokens(const json& j) { return to_matrix(j).transpose(); }

inline nn::shape to_shape(const json& j) {
    const auto size = [&](const char* name) { return j.at(name).get<int>(); };
    return {.hidden = size("hidden"), .mlp = size("mlp"), .heads = size("heads"), .value_heads = size("value_heads"),
            .key_dim = size("key_dim"), .value_dim = size("value_dim"), .conv = size("conv"),
            .query_heads = size("query_heads"), .kv_heads = size("kv_heads"), .head_dim = size("head_dim"),
            .rotary_dims = size("rotary_dims"), .rope_theta = size("rope_theta")};
}

inline nn::delta_net_weights<nn::dense_matrix> to_delta_net(const json& t) {
    const auto matrix = [&](const char* name) { return to_matrix(t.at(std::string("linear_attn.") + name)); };
    const auto vector = [&](const char* name) { return to_vector(t.at(std::string("linear_attn.") + name)); };
    return {matrix("in_proj_qkv.weight"), matrix("in_proj_z.weight"), matrix("in_proj_b.weight"),
            matrix("in_proj_a.weight"), matrix("conv1d.weight"), vector("dt_bias"), vector("A_log"),
            vector("norm.weight"), matrix("out_proj.weight")};
}

inline nn::attention_weights<nn::dense_matrix> to_attention(const json& t) {
    const auto matrix = [&](const char* name) { return to_matrix(t.at(std::string("self_attn.") + name)); };
    return {matrix("q_proj.weight"), matrix("k_proj.weight"), matrix("v_proj.weight"),
            to_vector(t.at("self_attn.q_norm.weight")), to_vector(t.at("self_attn.k_norm.weight")), matrix("o_proj.weight")};
}

inline nn::layer_weights<nn::dense_matrix> to_layer(const json& layer) {
    const json& t = layer.at("tensors");
    const auto input_norm = to_vector(t.at("input_layernorm.weight"));
    const auto post_norm = to_vector(t.at("post_attention_layernorm.weight"));
    const nn::swiglu_weights<nn::dense_matrix> mlp{to_matrix(t.at("mlp.gate_proj.weight")),
                                                   to_matrix(t.at("mlp.up_proj.weight")),
                                                   to_matrix(t.at("mlp.down_proj.weight"))};
    if (layer.at("kind") == "full")
        return nn::full_layer_weights<nn::dense_matrix>{input_norm, post_norm, to_attention(t), mlp};
    return nn::linear_layer_weights<nn::dense_matrix>{input_norm, post_norm, to_delta_net(t), mlp};
}

/// What the script found, with one rounding.
struct expectation {
    std::vector<nn::tokens> after_mixer, after_mlp;  ///< per layer, [hidden, tokens]
    nn::tokens logits;                               ///< [vocabulary, tokens]
    std::vector<nn::dense_matrix> memory;            ///< of all heads of all linear layers, after the last token
};

struct model {
    nn::shape shape;
    std::vector<nn::layer_weights<nn::dense_matrix>> layers;
    nn::tokens embeddings;
    Eigen::VectorXf norm;
    nn::dense_matrix head;
    expectation fp32, bf16;

    template <class R>
    const expectation& expected() const {
        return std::is_same_v<R, nn::bf16> ? bf16 : fp32;
    }
};

inline expectation to_expectation(const json& j) {
    expectation e;
    for (const json& layer : j.at("after_mixer")) e.after_mixer.push_back(to_tokens(layer));
    for (const json& layer : j.at("after_mlp")) e.after_mlp.push_back(to_tokens(layer));
    for (const json& head : j.at("memory")) e.memory.push_back(to_matrix(head));
    e.logits = to_tokens(j.at("logits"));
    return e;
}

/// The golden model of the given name; `test_file` is the __FILE__ of a test in tests/nn.
inline model read(const char* test_file, const std::string& name) {
    std::ifstream file(std::filesystem::path(test_file).parent_path() / "goldens" / (name + ".json"));
    const json j = json::parse(file);
    model m{.shape = to_shape(j.at("shape")), .layers = {}, .embeddings = to_tokens(j.at("embeddings")),
            .norm = to_vector(j.at("norm")), .head = to_matrix(j.at("head")),
            .fp32 = to_expectation(j.at("expected").at("fp32")), .bf16 = to_expectation(j.at("expected").at("bf16"))};
    for (const json& layer : j.at("layers")) m.layers.push_back(to_layer(layer));
    return m;
}

}  // namespace golden
