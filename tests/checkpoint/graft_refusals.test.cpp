// SPDX-License-Identifier: MIT
// Bases before which nothing can be grafted are refused, with the file or tensor and what to do, and leave no checkpoint behind.
#include <qwengpu/checkpoint/graft_model.hpp>
#include <qwengpu/checkpoint/synthetic_base.hpp>

#include "support/catch.hpp"
#include "support/scratch_folder.hpp"
#include "support/toy_front.hpp"

#include <filesystem>
#include <functional>
#include <limits>
#include <string>
#include <vector>

namespace {

using namespace qwengpu;
using namespace qwengpu::checkpoint;
using change = std::function<void(const test::scratch_folder&)>;

void write_base(const std::string& folder, element_type type = element_type::bf16) {
    write_synthetic_base(folder, {.shape = test::toy_shape, .layers = 4, .vocabulary = 50, .anisotropy = 0.5F, .type = type});
}

/// All tensors of a checkpoint written again, with some of them changed.
void rewrite(const test::scratch_folder& folder, const std::function<void(std::vector<planned_tensor>&)>& changed) {
    const tensor_source from(folder.path());
    std::vector<planned_tensor> plan;
    for (const auto& name : from.names()) {
        const auto t = from.at(name);
        plan.push_back({name, t.type, t.shape, [t](const byte_sink& sink) { sink(t.bytes); }});
    }
    changed(plan);
    write_safetensors(folder.file("model.safetensors"), plan);
}

void change_config(const test::scratch_folder& folder, const std::function<void(json&)>& changed) {
    auto config = json::parse(folder.read("config.json"));
    changed(config);
    folder.write("config.json", config.dump());
}

/// Whether the graft is refused with this id, and a message that holds these words and names a place.
bool refused(const char* id, const std::vector<std::string>& words, const change& spoil) {
    const test::scratch_folder base, graft;
    write_base(base.path());
    spoil(base);
    try {
        (void)graft_model(base.path(), graft.path(), test::toy_front());
    } catch (const error& e) {
        INFO(e.what());
        CHECK(e.id() == id);
        REQUIRE(e.where());
        CHECK(e.where()->file.find(base.path()) == 0);
        CHECK_FALSE(std::filesystem::exists(graft.file("model.safetensors")));
        for (const auto& word : words) CHECK(e.message().find(word) != std::string::npos);
        return true;
    }
    return false;
}

change with_tensor(const std::string& name, const std::function<void(planned_tensor&)>& changed) {
    return [=](const auto& folder) {
        rewrite(folder, [&](auto& plan) {
            for (auto& t : plan)
                if (t.name == name) changed(t);
        });
    };
}

change without_tensor(const std::string& name) {
    return [=](const auto& folder) { rewrite(folder, [&](auto& plan) { std::erase_if(plan, [&](const auto& t) { return t.name == name; }); }); };
}

change with_number(const std::string& name, float number) {
    return with_tensor(name, [=](planned_tensor& t) {
        const auto old = t.write;
        t.write = [=, type = t.type](const byte_sink& sink) {
            bool first = true;
            old([&](std::span<const std::byte> bytes) {
                std::vector<std::byte> copy(bytes.begin(), bytes.end());
                if (first) from_floats(type, std::vector<float>{number}, copy.data());
                first = false;
                sink(copy);
            });
        };
    });
}

change with_config(const std::function<void(json&)>& changed) {
    return [=](const auto& folder) { change_config(folder, changed); };
}

}  // namespace

TEST_CASE("a folder that is no checkpoint") {
    CHECK(refused("checkpoint.file", {"does it exist"}, [](const auto& f) { std::filesystem::remove(f.file("config.json")); }));
    CHECK(refused("checkpoint.file", {"neither model.safetensors nor"}, [](const auto& f) { std::filesystem::remove(f.file("model.safetensors")); }));
    CHECK(refused("checkpoint.config", {"not valid JSON", "at byte 0"}, [](const auto& f) { f.write("config.json", "Not Found"); }));
    CHECK(refused("checkpoint.safetensors", {"is the file complete?"}, [](const auto& f) {
        const auto all = f.read("model.safetensors");
        f.write("model.safetensors", all.substr(0, all.size() - 1));
    }));
    CHECK(refused("checkpoint.index", {"is the download complete?"}, [](const auto& f) { f.write("model.safetensors.index.json", R"({"weight_map":{"model.norm.weight":"model.safetensors","gone":"model.safetensors"}})"); }));
}

TEST_CASE("models of another kind or shape") {
    CHECK(refused("checkpoint.config", {"linear_num_key_heads", "is missing"}, with_config([](json& c) { c.erase("linear_num_key_heads"); })));
    CHECK(refused("checkpoint.graft", {"other shapes", "Qwen3.5-2B's are wanted"}, with_config([](json& c) { c["linear_value_head_dim"] = 16; })));
    CHECK(refused("checkpoint.tensor", {"embed_tokens.weight", "config.json asks for"}, with_config([](json& c) { c["vocab_size"] = 51; })));
    CHECK(refused("checkpoint.tensor", {"model.layers.4.", "is this a Qwen3.5 checkpoint?"}, with_config([](json& c) { c["num_hidden_layers"] = 5, c.erase("layer_types"); })));
    CHECK(refused("checkpoint.tensor", {"\"lm_head.weight\""}, with_config([](json& c) { c["tie_word_embeddings"] = false; })));
    CHECK(refused("checkpoint.tensor", {"model.language_model.embed_tokens.weight"}, with_config([](json& c) { c = {{"text_config", c}}; })));
}

TEST_CASE("every tensor of the text model must be there in its shape") {
    const test::scratch_folder folder;
    write_base(folder.path());
    for (const auto& name : tensor_source(folder.path()).names()) {
        INFO(name);
        CHECK(refused("checkpoint.tensor", {"\"" + name + "\"", "is this a Qwen3.5 checkpoint?"}, without_tensor(name)));
    }
    for (const auto* name : {"model.layers.0.linear_attn.conv1d.weight", "model.layers.3.self_attn.q_norm.weight", "model.layers.2.linear_attn.A_log"})
        CHECK(refused("checkpoint.tensor", {name, "has the shape"}, with_tensor(name, [](planned_tensor& t) { t.shape.insert(t.shape.begin(), 1); })));
}

TEST_CASE("types that cannot be grafted before") {
    const auto as = [](element_type type) {
        return with_tensor("model.layers.1.mlp.up_proj.weight", [type](planned_tensor& t) {
            t.type = type;
            t.write = [bytes = t.bytes()](const byte_sink& sink) { sink(std::vector<std::byte>(bytes)); };
        });
    };
    CHECK(refused("checkpoint.graft", {"model.layers.1.mlp.up_proj.weight", "convert the checkpoint to BF16"}, as(element_type::f16)));
    CHECK(refused("checkpoint.tensor", {"model.layers.1.mlp.up_proj.weight", "is F8_E4M3", "can be read"}, as(element_type::f8_e4m3)));
    CHECK(refused("checkpoint.tensor", {"is I32"}, as(element_type::i32)));
}

TEST_CASE("numbers that are none") {
    constexpr auto nan = std::numeric_limits<float>::quiet_NaN(), infinity = std::numeric_limits<float>::infinity();
    CHECK(refused("checkpoint.graft", {"model.layers.0.mlp.down_proj.weight", "no finite number"}, with_number("model.layers.0.mlp.down_proj.weight", nan)));
    CHECK(refused("checkpoint.graft", {"model.layers.3.self_attn.v_proj.weight", "no finite number"}, with_number("model.layers.3.self_attn.v_proj.weight", infinity)));
    CHECK(refused("checkpoint.graft", {"model.layers.1.input_layernorm.weight", "no finite number"}, with_number("model.layers.1.input_layernorm.weight", nan)));
    CHECK(refused("checkpoint.graft", {"embed_tokens.weight", "no finite number"}, with_number("model.embed_tokens.weight", infinity)));
    CHECK(refused("checkpoint.graft", {"model.norm.weight", "no finite number"}, with_number("model.norm.weight", nan)));
    CHECK(refused("checkpoint.graft", {"linear_attn.norm.weight", "no finite number"}, with_number("model.layers.1.linear_attn.norm.weight", nan)));
}

TEST_CASE("weights so large that the machine could not be heard") {
    CHECK(refused("checkpoint.graft", {"so large"}, with_number("model.layers.0.mlp.down_proj.weight", 0x1p60F)));
}

TEST_CASE("a graft is no base, and a base is no place for its own graft") {
    CHECK(refused("checkpoint.graft", {"a machine in it already", "it was made from"}, [](const auto& f) { write_machine_note(f.path(), {0, 1, 1}); }));
    const test::scratch_folder base;
    write_base(base.path());
    CHECK_THROWS_AS(graft_model(base.path(), base.path(), test::toy_front()), error);
}

TEST_CASE("a tokenizer that does not fit") {
    CHECK(refused("checkpoint.tokenizer", {"beyond the 50 rows"}, [](const auto& f) { f.write("tokenizer.json", R"({"model":{"vocab":{"a":50}}})"); }));
    CHECK(refused("checkpoint.tokenizer", {"not valid JSON"}, [](const auto& f) { f.write("tokenizer.json", "<html>"); }));
}

TEST_CASE("a front whose first layer looks back cannot be shut out") {
    const test::scratch_folder base, graft;
    write_base(base.path());
    auto front = test::toy_front();
    front.layers.front().mixer.conv(0, 0) = 1;
    CHECK_THROWS_AS(graft_model(base.path(), graft.path(), front), error);
}
