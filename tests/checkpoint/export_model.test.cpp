// SPDX-License-Identifier: MIT
// Front layers written as a checkpoint and run from the files: the same weights come back, and the model answers as the
// front's rule says, in fp32 and bf16, with and without full-attention layers between.
#include <qwengpu/checkpoint/disk_model.hpp>
#include <qwengpu/checkpoint/export_model.hpp>

#include "support/catch.hpp"
#include "support/scratch_folder.hpp"
#include "support/toy_front.hpp"

#include <random>
#include <vector>

namespace {

using namespace qwengpu;
using namespace qwengpu::checkpoint;

std::vector<int> random_tokens(int count) {
    std::mt19937 random(7);
    std::vector<int> tokens{8 + 3, 2, 5};
    while (static_cast<int>(tokens.size()) < count) tokens.push_back(static_cast<int>(random() % 16));
    return tokens;
}

template <class R>
void check_answers(const std::string& folder, const std::vector<int>& tokens) {
    const disk_model<R> model(folder);
    auto state = model.fresh();
    std::vector<int> answers;
    for (const int t : tokens) answers.push_back(static_cast<int>(model.next(state, static_cast<std::uint32_t>(t))));
    CHECK(answers == test::toy_answers(tokens));
}

}  // namespace

TEST_CASE("an export answers as its front does") {
    const test::scratch_folder folder;
    const auto front = test::toy_front();
    for (const int period : {0, 4, 2}) {
        INFO(period);
        export_model(folder.path(), front, {.type = element_type::bf16, .period = period});
        check_answers<nn::bf16>(folder.path(), random_tokens(200));
        export_model(folder.path(), front, {.type = element_type::f32, .period = period});
        check_answers<nn::fp32>(folder.path(), random_tokens(200));
    }
}

TEST_CASE("what is read back is what was written") {
    const test::scratch_folder folder;
    const auto front = test::toy_front();
    export_model(folder.path(), front, {.type = element_type::f32});
    const auto config = read_config(folder.path());
    CHECK(config.shape == front.shape);
    CHECK(config.full_attention == std::vector<bool>{false, false, false, true});
    CHECK(config.vocabulary == 16);
    CHECK(config.tied);
    const tensor_source source(folder.path());
    const layer_reader<nn::sparse_matrix> reader(source, config.prefix(), config.shape);
    for (int i = 0; i < 3; ++i) {
        const auto back = reader.linear(i);
        const auto& w = front.layers[static_cast<std::size_t>(i)];
        CHECK(back.mlp.down == w.mlp.down);
        CHECK(back.mlp.gate == w.mlp.gate);
        CHECK(back.mixer.in_proj_qkv == w.mixer.in_proj_qkv);
        CHECK(back.mixer.out_proj == w.mixer.out_proj);
        CHECK(back.mixer.conv == w.mixer.conv);
        CHECK(back.mixer.dt_bias == w.mixer.dt_bias);
        CHECK(back.input_norm == w.input_norm);
    }
}

TEST_CASE("layouts have whole periods, and full attention where it is wanted") {
    CHECK(front_layout(3, 0) == std::vector<int>{0, 1, 2});
    CHECK(alone_layout(3, 0) == std::vector<int>{0, 1, 2, pass_through});
    CHECK(front_layout(3, 4) == std::vector<int>{0, 1, 2, pass_through});
    CHECK(front_layout(4, 4) == std::vector<int>{0, 1, 2, pass_through, 3, absent, absent, pass_through});
    CHECK(front_layout(45, 4).size() == 60);
}

TEST_CASE("an interval is told where it tells all") {
    CHECK(interval_of({false, false, false, true, false, false, false, true}) == 4);
    CHECK(interval_of({false, true, false}) == 2);
    CHECK(interval_of({true, true}) == 1);
    CHECK(interval_of({false, false}) == 0);
    CHECK(interval_of({false, true, true}) == 0);
    CHECK(interval_of({false, false, true, false, false}) == 3);
    CHECK(interval_of({false, true, false, false}) == 0);
}

TEST_CASE("a tokenizer has a word for every token") {
    const test::scratch_folder folder;
    export_model(folder.path(), test::toy_front(), {});
    const auto tokenizer = json::parse(folder.read("tokenizer.json"));
    CHECK(tokenizer["model"]["vocab"]["go:5"] == 13);
    CHECK(tokenizer["model"]["vocab"].size() == 16);
    CHECK_FALSE(tokenizer["model"]["vocab"].contains(tokenizer["model"]["unk_token"].get<std::string>()));
}

TEST_CASE("a checkpoint whose parts do not fit is refused with the tensor's name") {
    const test::scratch_folder folder;
    export_model(folder.path(), test::toy_front(), {.type = element_type::f32});
    auto config = json::parse(folder.read("config.json"));
    config["intermediate_size"] = 65;
    folder.write("config.json", config.dump());
    try {
        const disk_model<nn::fp32> model(folder.path());
        FAIL("it was taken");
    } catch (const error& e) {
        CHECK(std::string(e.what()).find("model.layers.0.mlp.down_proj.weight") != std::string::npos);
        CHECK(e.id() == "checkpoint.tensor");
    }
}
