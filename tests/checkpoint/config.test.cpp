// SPDX-License-Identifier: MIT
// config.json as published (nested, with vision) and text-only; keys that are missing or wrong are named.
#include <qwengpu/checkpoint/config.hpp>

#include "support/catch.hpp"

#include <string>

namespace {

using namespace qwengpu;
using namespace qwengpu::checkpoint;

const json text = json::parse(R"({"hidden_size": 2048, "intermediate_size": 6144, "num_hidden_layers": 24, "num_attention_heads": 8, "num_key_value_heads": 2, "head_dim": 256,
    "linear_num_key_heads": 16, "linear_num_value_heads": 16, "linear_key_head_dim": 128, "linear_value_head_dim": 128, "linear_conv_kernel_dim": 4, "full_attention_interval": 4,
    "vocab_size": 248320, "rms_norm_eps": 1e-06, "rope_parameters": {"rope_type": "default", "rope_theta": 10000000, "partial_rotary_factor": 0.25}, "tie_word_embeddings": true})");

std::string refusal(json document) {
    try {
        (void)parse_config(document, "config.json");
    } catch (const error& e) {
        CHECK(e.id() == "checkpoint.config");
        return e.message();
    }
    return "";
}

json with(const char* key, const json& value) {
    auto document = text;
    document[key] = value;
    return document;
}

}  // namespace

TEST_CASE("the text-only config of Qwen3.5-2B is its shape") {
    const auto c = parse_config(text, "config.json");
    CHECK(c.shape == nn::qwen35_2b);
    CHECK(c.layers() == 24);
    CHECK(c.full_attention[3]);
    CHECK_FALSE(c.full_attention[4]);
    CHECK(c.prefix() == "model.");
    CHECK(c.tied);
}

TEST_CASE("the published config is nested, and its tensors have a longer name") {
    const auto c = parse_config({{"model_type", "qwen3_5"}, {"text_config", text}, {"tie_word_embeddings", true}, {"vision_config", {{"depth", 24}}}}, "config.json");
    CHECK(c.shape == nn::qwen35_2b);
    CHECK(c.prefix() == "model.language_model.");
    CHECK(c.tied);
}

TEST_CASE("kinds of layers may be listed") {
    auto document = with("num_hidden_layers", 2);
    document["layer_types"] = {"full_attention", "linear_attention"};
    CHECK(parse_config(document, "c").full_attention == std::vector<bool>{true, false});
    document["layer_types"] = {"full_attention"};
    CHECK(refusal(document).find("layer_types must list") != std::string::npos);
    document["layer_types"] = {"full_attention", "sliding"};
    CHECK(refusal(document).find("linear_attention and full_attention only") != std::string::npos);
}

TEST_CASE("what is missing or wrong is named") {
    for (const auto* key : {"hidden_size", "intermediate_size", "num_hidden_layers", "head_dim", "vocab_size", "linear_conv_kernel_dim", "rms_norm_eps"}) {
        auto document = text;
        document.erase(key);
        CHECK(refusal(document).find(key) != std::string::npos);
        CHECK(refusal(with(key, "many")).find(key) != std::string::npos);
        CHECK(refusal(with(key, -1)).find(key) != std::string::npos);
    }
    CHECK(refusal(json::array()).find("no JSON object") != std::string::npos);
    CHECK(refusal({{"text_config", 3}}).find("no object") != std::string::npos);
    CHECK(refusal(with("rope_parameters", {{"partial_rotary_factor", 0.25}})).find("rope_theta") != std::string::npos);
    CHECK(refusal(with("tie_word_embeddings", 1)).find("true or false") != std::string::npos);
}

TEST_CASE("what is written is read as the same") {
    auto c = parse_config(text, "config.json");
    c.full_attention = {false, true, false};
    const auto back = parse_config(json(text_config(c, "bfloat16", 7)), "config.json");
    CHECK(back.shape == c.shape);
    CHECK(back.full_attention == c.full_attention);
    CHECK(back.vocabulary == c.vocabulary);
}
