// SPDX-License-Identifier: MIT
// A front before a base of random weights: launches answer as the front's rule says whatever text stands before them, text
// gives the logits of the base alone to the bit where the report says so, and the base's tensors are copied byte by byte.
#include <qwengpu/checkpoint/disk_model.hpp>
#include <qwengpu/checkpoint/graft_model.hpp>
#include <qwengpu/checkpoint/synthetic_base.hpp>

#include "support/catch.hpp"
#include "support/scratch_folder.hpp"
#include "support/toy_front.hpp"

#include <algorithm>
#include <cstring>
#include <random>
#include <vector>

namespace {

using namespace qwengpu;
using namespace qwengpu::checkpoint;

constexpr int vocabulary = 300;

synthetic_options base_of(element_type type, float anisotropy, bool published = false, bool tied = true) {
    return {.shape = test::toy_shape, .layers = 4, .vocabulary = vocabulary, .anisotropy = anisotropy, .tied = tied, .vision_language = published, .type = type};
}

/// The graft's answers after each token of a sequence; machine tokens are counted from `vocabulary` on.
template <class R>
std::vector<int> answers(const disk_model<R>& model, typename disk_model<R>::state& state, const std::vector<int>& tokens) {
    std::vector<int> all;
    for (const int t : tokens) all.push_back(static_cast<int>(model.next(state, static_cast<std::uint32_t>(t))));
    return all;
}

std::vector<int> shifted(std::vector<int> tokens) {
    for (int& t : tokens) t += vocabulary;
    return tokens;
}

template <class R>
void check_conversation(const std::string& base_folder, const std::string& graft_folder, const token_report& report) {
    const disk_model<R> base(base_folder), graft(graft_folder);
    auto alone = base.fresh();
    auto state = graft.fresh();
    std::vector<int> changed;
    for (int t = 0; t < vocabulary; ++t) {
        auto one = base.fresh();
        auto other = graft.fresh();
        base.read(one, static_cast<std::uint32_t>(t));
        graft.read(other, static_cast<std::uint32_t>(t));
        if (one.residual != other.residual) changed.push_back(t);
        if (t % 8 == 0) base.read(alone, static_cast<std::uint32_t>(t)), graft.read(state, static_cast<std::uint32_t>(t));
    }
    CHECK(report.undecided.empty());
    CHECK(static_cast<std::int64_t>(changed.size()) == report.pushed);
    if (changed.empty()) CHECK(alone.residual == state.residual);
    const std::vector<int> launch{8 + 1, 5, 8 + 2, 3, 6, 8 + 7, 0, 15, 4, 12}, other{8 + 5, 2, 8 + 6, 7};
    auto rule = test::toy_answers(launch);
    CHECK(answers(graft, state, shifted(launch)) == shifted(rule));
    for (const std::uint32_t word : {17U, 250U, 3U}) graft.read(state, word);
    // What the first launch left is still there, whatever was said in between.
    auto both = launch;
    both.insert(both.end(), other.begin(), other.end());
    rule = test::toy_answers(both);
    CHECK(answers(graft, state, shifted(other)) == shifted({rule.begin() + static_cast<std::ptrdiff_t>(launch.size()), rule.end()}));
}

std::span<const std::byte> bytes_of(const tensor_source& s, const std::string& name) { return s.at(name).bytes; }

bool equal(std::span<const std::byte> a, std::span<const std::byte> b) { return a.size() <= b.size() && std::memcmp(a.data(), b.data(), a.size()) == 0; }

}  // namespace

TEST_CASE("with a common mean all text passes to the bit, and launches run through the base") {
    const test::scratch_folder base, graft;
    write_synthetic_base(base.path(), base_of(element_type::f32, 0.5F));
    const auto r = graft_model(base.path(), graft.path(), test::toy_front());
    CHECK(r.fp32.exact == vocabulary);
    CHECK(r.mode.margin() > 0);
    CHECK(r.mode.noise < r.mode.lead / 1000);
    check_conversation<nn::fp32>(base.path(), graft.path(), r.fp32);
}

TEST_CASE("in bf16, with layers of full attention between, and the published names") {
    const test::scratch_folder base, graft;
    write_synthetic_base(base.path(), base_of(element_type::bf16, 0.5F, true));
    const auto r = graft_model(base.path(), graft.path(), test::toy_front(), {.period = 4});
    CHECK(r.bf16.exact == vocabulary);
    CHECK(r.front_layers == 4);
    CHECK(r.carried == std::vector<std::string>{"model.visual.merger.norm.weight", "mtp.norm.weight"});
    check_conversation<nn::bf16>(base.path(), graft.path(), r.bf16);
}

TEST_CASE("without a common mean some tokens are pushed, a little, as the report says, and launches run all the same") {
    const test::scratch_folder base, graft;
    auto options = base_of(element_type::f32, 0.0F);
    options.vocabulary = 3000;  // more than twice the free channels, so that no direction has all of them on one side
    write_synthetic_base(base.path(), options);
    const auto r = graft_model(base.path(), graft.path(), test::toy_front(), {.measure = 3000});
    const auto undecided = static_cast<std::int64_t>(r.fp32.undecided.size());
    CHECK(r.fp32.pushed > 50);
    CHECK(undecided < 30);
    CHECK(r.fp32.exact + r.fp32.pushed + undecided == 3000);
    CHECK(r.measured.tokens == 3000);
    CHECK(r.measured.exact >= r.fp32.exact);
    CHECK(r.measured.exact <= r.fp32.exact + undecided);
    CHECK(r.measured.largest_deviation < 0.5);
    CHECK(std::abs(r.measured.largest_deviation - r.fp32.largest_deviation) < 0.01 * r.fp32.largest_deviation);
    CHECK(r.measured.most_deviating == r.fp32.most_deviating);

    const disk_model<nn::fp32> model(graft.path());
    auto state = model.fresh();
    for (int t = 0; t < 3000; t += 30) model.read(state, static_cast<std::uint32_t>(t));
    const std::vector<int> launch{8 + 1, 5, 8 + 2, 3, 6, 8 + 7, 0, 15, 4, 12};
    std::vector<int> said;
    for (const int t : launch) said.push_back(static_cast<int>(model.next(state, static_cast<std::uint32_t>(t + 3000))) - 3000);
    CHECK(said == test::toy_answers(launch));
}

TEST_CASE("what the report says of all tokens is measured on all tokens, in both arithmetics") {
    const test::scratch_folder base, graft;
    for (const auto type : {element_type::f32, element_type::bf16}) {
        write_synthetic_base(base.path(), base_of(type, 0.5F));
        const auto r = graft_model(base.path(), graft.path(), test::toy_front(), {.measure = vocabulary});
        CHECK(r.measured.tokens == vocabulary);
        CHECK(r.measured.exact == vocabulary);
        CHECK(r.fp32.exact == vocabulary);
        CHECK(r.bf16.exact == vocabulary);
        CHECK(r.fp32.least_side > r.certain_side);
        CHECK(r.mode.bf16_steps > 1.1);
        const auto written = json::parse(graft.read("graft_report.json"));
        CHECK(written["ordinary_tokens"]["measured"]["exact"] == vocabulary);
        CHECK(written["sha256_of_base_tensors"].size() == tensor_source(base.path()).names().size());
    }
}

namespace {

/// Every layer of a graft on the dense engine, none left out: the answers, and whether the layers of full attention among the first
/// `front` leave every bit of the residual as it is.
template <class R>
std::pair<std::vector<int>, bool> run_every_layer(const std::string& folder, const std::vector<int>& tokens, int front) {
    const auto config = read_config(folder);
    const tensor_source source(folder);
    const layer_reader<nn::dense_matrix> reader(source, config.prefix(), config.shape);
    std::vector<nn::layer_weights<nn::dense_matrix>> layers;
    for (int i = 0; i < config.layers(); ++i) layers.push_back(reader.layer(i, config.full_attention[static_cast<std::size_t>(i)]));
    const nn::dense_model<R, nn::dense_matrix> model(std::move(layers), config.shape);
    const head_rows embedding(source.at(config.prefix() + "embed_tokens.weight"), config.vocabulary, config.shape.hidden), head(source.at("lm_head.weight"), config.vocabulary, config.shape.hidden);
    const auto norm = read_vector(source, config.prefix() + "norm.weight", config.shape.hidden);
    auto state = model.new_state();
    std::vector<int> said;
    bool exact = true;
    int passed = 0;
    for (const int t : tokens) {
        nn::vector x(config.shape.hidden), before;
        embedding.read(t, x);
        model.step(state, x, [&](int layer, nn::point p, const nn::const_tokens_ref& r) {
            if (layer < front && config.full_attention[static_cast<std::size_t>(layer)]) {
                exact = exact && std::memcmp(r.data(), before.data(), static_cast<std::size_t>(before.size()) * sizeof(float)) == 0;
                ++passed;
            }
            if (p == nn::point::after_mlp) before = r.col(0);
        });
        said.push_back(head.argmax<R>(nn::final_norm<R>(x, norm, config.shape.eps())));
    }
    CHECK(passed == 2 * static_cast<int>(tokens.size()) * (front / 4));
    return {said, exact};
}

}  // namespace

TEST_CASE("with a period of 4 the layers between pass every bit, machine's tokens and words alike, and launches run") {
    const test::scratch_folder base, graft;
    const std::vector<int> words{5, 77, 140}, launch{8 + 1, 5, 8 + 2, 3, 6, 8 + 7, 0, 15, 4, 12};
    auto text = words;
    for (const int t : launch) text.push_back(t + vocabulary);
    text.push_back(9);
    for (const auto type : {element_type::f32, element_type::bf16}) {
        write_synthetic_base(base.path(), base_of(type, 0.5F));
        const auto r = graft_model(base.path(), graft.path(), test::toy_front(), {.period = 4});
        CHECK(json::parse(graft.read("config.json"))["full_attention_interval"] == 4);
        const auto [said, exact] = type == element_type::f32 ? run_every_layer<nn::fp32>(graft.path(), text, r.front_layers) : run_every_layer<nn::bf16>(graft.path(), text, r.front_layers);
        CHECK(exact);
        CHECK(std::vector<int>(said.begin() + 3, said.end() - 1) == shifted(test::toy_answers(launch)));
    }
}

TEST_CASE("the base's tensors are copied byte by byte, under the hash of their bytes") {
    const test::scratch_folder base, graft;
    write_synthetic_base(base.path(), base_of(element_type::bf16, 0.5F));
    const auto r = graft_model(base.path(), graft.path(), test::toy_front());
    const tensor_source from(base.path()), to(graft.path());
    CHECK(equal(bytes_of(from, "model.embed_tokens.weight"), bytes_of(to, "model.embed_tokens.weight")));
    CHECK(equal(bytes_of(from, "model.embed_tokens.weight"), bytes_of(to, "lm_head.weight")));
    CHECK(equal(bytes_of(from, "model.layers.3.self_attn.q_proj.weight"), bytes_of(to, "model.layers.6.self_attn.q_proj.weight")));
    CHECK(equal(bytes_of(from, "model.norm.weight"), bytes_of(to, "model.norm.weight")));
    CHECK(r.hashes.size() == from.names().size());
    const auto config = read_config(graft.path());
    CHECK(config.layers() == 7);
    CHECK(config.full_attention == std::vector<bool>{false, false, false, false, false, false, true});
    CHECK(config.vocabulary == vocabulary + test::toy::tokens);
    CHECK_FALSE(config.tied);
}

TEST_CASE("the tokenizer gets the machine's tokens, without holes") {
    const auto t = graft_tokenizer(json::parse(R"({"model":{"vocab":{"a":0,"b":1}},"added_tokens":[{"id":2,"content":"<end>"}]})"), "t", 5, 2, [](int i) { return "x" + std::to_string(i); });
    REQUIRE(t["added_tokens"].size() == 5);
    CHECK(t["added_tokens"][1]["content"] == "<|unused:3|>");
    CHECK(t["added_tokens"][4]["content"] == "<|gpu:x1|>");
    CHECK(t["added_tokens"][4]["id"] == 6);
    CHECK_THROWS_AS(graft_tokenizer(json::parse(R"({"model":{"vocab":{"a":7}}})"), "t", 5, 2, [](int) { return "x"; }), error);
    CHECK_THROWS_AS(graft_tokenizer(json::array(), "t", 5, 2, [](int) { return "x"; }), error);
}

TEST_CASE("a head of the base's own is kept, and the machine's rows stand after it") {
    const test::scratch_folder base, graft;
    write_synthetic_base(base.path(), base_of(element_type::bf16, 0.5F, false, false));
    const auto r = graft_model(base.path(), graft.path(), test::toy_front());
    const tensor_source from(base.path()), to(graft.path());
    CHECK(equal(bytes_of(from, "lm_head.weight"), bytes_of(to, "lm_head.weight")));
    CHECK(equal(bytes_of(from, "model.embed_tokens.weight"), bytes_of(to, "model.embed_tokens.weight")));
    CHECK(r.hashes.contains("lm_head.weight"));
    check_conversation<nn::bf16>(base.path(), graft.path(), r.bf16);
}

TEST_CASE("the published form is kept with what else is in it, or becomes a text model without") {
    const test::scratch_folder base, graft;
    write_synthetic_base(base.path(), base_of(element_type::bf16, 0.5F, true));
    auto r = graft_model(base.path(), graft.path(), test::toy_front());
    auto config = json::parse(graft.read("config.json"));
    CHECK(config["text_config"]["num_hidden_layers"] == 7);
    CHECK(config["tie_word_embeddings"] == false);
    CHECK(r.carried == std::vector<std::string>{"model.visual.merger.norm.weight", "mtp.norm.weight"});
    CHECK(tensor_source(graft.path()).has("model.language_model.layers.6.self_attn.q_proj.weight"));
    for (const auto& name : r.carried) CHECK(equal(bytes_of(tensor_source(base.path()), name), bytes_of(tensor_source(graft.path()), name)));

    r = graft_model(base.path(), graft.path(), test::toy_front(), {.drop_others = true});
    config = json::parse(graft.read("config.json"));
    CHECK(config["architectures"] == json::array({"Qwen3_5ForCausalLM"}));
    CHECK(config["num_hidden_layers"] == 7);
    CHECK(config["mtp_num_hidden_layers"] == 0);
    CHECK_FALSE(config.contains("text_config"));
    CHECK(config["full_attention_interval"] == 7);  // six layers without, one with
    CHECK(r.dropped == std::vector<std::string>{"model.visual.merger.norm.weight", "mtp.norm.weight"});
    const tensor_source to(graft.path());
    CHECK(equal(bytes_of(tensor_source(base.path()), "model.language_model.layers.3.self_attn.q_proj.weight"), bytes_of(to, "model.layers.6.self_attn.q_proj.weight")));
    for (const auto& name : to.names()) CHECK((name.starts_with("model.layers.") || name == "model.norm.weight" || name == "model.embed_tokens.weight" || name == "lm_head.weight"));
    check_conversation<nn::bf16>(base.path(), graft.path(), r.bf16);
}
