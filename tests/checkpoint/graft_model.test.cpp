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

synthetic_options base_of(element_type type, float anisotropy, bool published = false) {
    return {.shape = test::toy_shape, .layers = 4, .vocabulary = vocabulary, .anisotropy = anisotropy, .vision_language = published, .type = type};
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

TEST_CASE("without a common mean some tokens are pushed, a little, and launches run all the same") {
    const test::scratch_folder base, graft;
    auto options = base_of(element_type::f32, 0.0F);
    options.vocabulary = vocabulary;
    write_synthetic_base(base.path(), options);
    // A direction that was not fitted leaves half of the tokens on the wrong side.
    const tensor_source source(base.path());
    const auto embedding = source.at("model.embed_tokens.weight");
    shutter s{{{}, {}}, nn::vector::Unit(1, 0), 0x1p-12, 1};
    s.map.free = {0};
    const double reach = needed_reach<nn::fp32>(embedding, vocabulary, s, 1e-6F);
    const auto seen = report_tokens<nn::fp32>(embedding, vocabulary, s, reach, 1e-6F);
    CHECK(seen.exact + seen.pushed + static_cast<std::int64_t>(seen.undecided.size()) == vocabulary);
    CHECK(seen.pushed > vocabulary / 4);
    CHECK(seen.largest_deviation < 0.3);
    const auto r = graft_model(base.path(), graft.path(), test::toy_front());
    check_conversation<nn::fp32>(base.path(), graft.path(), r.fp32);
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

TEST_CASE("a base of other shapes is refused") {
    const test::scratch_folder base, graft;
    auto options = base_of(element_type::f32, 0.5F);
    options.shape.mlp = 65;
    write_synthetic_base(base.path(), options);
    CHECK_THROWS_AS(graft_model(base.path(), graft.path(), test::toy_front()), error);
    CHECK_THROWS_AS(graft_model(base.path(), base.path(), test::toy_front()), error);
}
