// SPDX-License-Identifier: MIT
// A tensor of the wrong size is refused by name, by both engines; so is a shape that cannot be.
#include <functional>
#include <string>

#include "qwengpu/nn/convert.hpp"
#include "qwengpu/nn/dense_model.hpp"
#include "qwengpu/nn/sparse_model.hpp"
#include "support/catch.hpp"

namespace {

using namespace qwengpu::nn;

constexpr shape small{.hidden = 8, .mlp = 10, .heads = 2, .value_heads = 4, .key_dim = 3, .value_dim = 5, .conv = 4,
                      .query_heads = 4, .kv_heads = 2, .head_dim = 6, .rotary_dims = 2};

full_layer_weights<dense_matrix> full_layer() {
    const auto zero = [](int rows, int cols) { return dense_matrix(dense_matrix::Zero(rows, cols)); };
    return {.input_norm = vector::Zero(8),
            .post_norm = vector::Zero(8),
            .mixer = {zero(48, 8), zero(12, 8), zero(12, 8), vector::Zero(6), vector::Zero(6), zero(8, 24)},
            .mlp = {zero(10, 8), zero(10, 8), zero(8, 10)}};
}

/// What a function throws.
qwengpu::error thrown_by(const std::function<void()>& function) {
    try {
        function();
    } catch (const qwengpu::error& e) {
        return e;
    }
    return {"none", "nothing was thrown"};
}

using linear_layer = linear_layer_weights<sparse_matrix>;

struct wrong_tensor {
    std::string name;
    std::function<void(linear_layer&)> spoil;
};

const std::vector<wrong_tensor> wrong_tensors = {
    {"input_layernorm.weight", [](linear_layer& w) { w.input_norm.resize(7); }},
    {"post_attention_layernorm.weight", [](linear_layer& w) { w.post_norm.resize(9); }},
    {"linear_attn.in_proj_qkv.weight", [](linear_layer& w) { w.mixer.in_proj_qkv = sparse_matrix(8, 32); }},
    {"linear_attn.in_proj_z.weight", [](linear_layer& w) { w.mixer.in_proj_z = sparse_matrix(20, 9); }},
    {"linear_attn.in_proj_b.weight", [](linear_layer& w) { w.mixer.in_proj_b = sparse_matrix(2, 8); }},
    {"linear_attn.in_proj_a.weight", [](linear_layer& w) { w.mixer.in_proj_a = sparse_matrix(2, 8); }},
    {"linear_attn.conv1d.weight", [](linear_layer& w) { w.mixer.conv.resize(32, 3); }},
    {"linear_attn.dt_bias", [](linear_layer& w) { w.mixer.dt_bias.resize(2); }},
    {"linear_attn.A_log", [](linear_layer& w) { w.mixer.a_log.resize(0); }},
    {"linear_attn.norm.weight", [](linear_layer& w) { w.mixer.norm.resize(20); }},
    {"linear_attn.out_proj.weight", [](linear_layer& w) { w.mixer.out_proj = sparse_matrix(20, 8); }},
    {"mlp.gate_proj.weight", [](linear_layer& w) { w.mlp.gate = sparse_matrix(8, 10); }},
    {"mlp.up_proj.weight", [](linear_layer& w) { w.mlp.up = sparse_matrix(11, 8); }},
    {"mlp.down_proj.weight", [](linear_layer& w) { w.mlp.down = sparse_matrix(10, 8); }},
};

}  // namespace

TEST_CASE("a wrong tensor of a linear layer is named, with what it is and should be", "[nn]") {
    for (const wrong_tensor& wrong : wrong_tensors) {
        const linear_layer good = zero_linear_layer(small);
        linear_layer bad = good;
        wrong.spoil(bad);
        const auto sparse = thrown_by([&] { (void)sparse_model<fp32>({good, bad}, small); });
        CHECK(sparse.id() == "nn.shape");
        CHECK(sparse.message().starts_with("model.layers.1." + wrong.name + " is "));

        const auto dense = thrown_by([&] { (void)dense_model<fp32, sparse_matrix>({good, bad}, small); });
        CHECK(dense.message() == sparse.message());
    }
    linear_layer bad = zero_linear_layer(small);
    bad.mlp.gate = sparse_matrix(8, 10);
    CHECK(thrown_by([&] { check_layer(bad, small, 7); }).message() ==
          "model.layers.7.mlp.gate_proj.weight is 8 x 10, but the model's shape asks for 10 x 8; give this tensor that size, or "
          "the model another shape");
}

TEST_CASE("a wrong tensor of a full layer is named", "[nn]") {
    const auto message_of = [](const std::function<void(full_layer_weights<dense_matrix>&)>& spoil) {
        auto w = full_layer();
        spoil(w);
        return thrown_by([&] { check_layer(w, small, 3); }).message();
    };
    CHECK(message_of([](auto&) {}) == "nothing was thrown");
    CHECK(message_of([](auto& w) { w.mixer.q_proj.resize(24, 8); }).starts_with("model.layers.3.self_attn.q_proj.weight is 24 x 8"));
    CHECK(message_of([](auto& w) { w.mixer.k_proj.resize(6, 8); }).starts_with("model.layers.3.self_attn.k_proj.weight"));
    CHECK(message_of([](auto& w) { w.mixer.v_proj.resize(6, 8); }).starts_with("model.layers.3.self_attn.v_proj.weight"));
    CHECK(message_of([](auto& w) { w.mixer.q_norm.resize(5); }).starts_with("model.layers.3.self_attn.q_norm.weight is 5,"));
    CHECK(message_of([](auto& w) { w.mixer.k_norm.resize(5); }).starts_with("model.layers.3.self_attn.k_norm.weight"));
    CHECK(message_of([](auto& w) { w.mixer.o_proj.resize(8, 12); }).starts_with("model.layers.3.self_attn.o_proj.weight"));
}

TEST_CASE("a shape that cannot be is refused", "[nn]") {
    CHECK(thrown_by([] { check_shape(small); }).id() == "none");
    CHECK(thrown_by([] { check_shape(qwen35_2b); }).id() == "none");
    for (const auto& spoil : std::vector<std::function<void(shape&)>>{
             [](shape& s) { s.hidden = 0; }, [](shape& s) { s.value_heads = 3; }, [](shape& s) { s.kv_heads = 3; },
             [](shape& s) { s.rotary_dims = 3; }, [](shape& s) { s.rotary_dims = 8; }, [](shape& s) { s.conv = 0; }}) {
        shape s = small;
        spoil(s);
        CHECK(thrown_by([&] { check_shape(s); }).id() == "nn.shape");
    }
}

TEST_CASE("the shape of Qwen3.5-2B has the sizes of its tensors", "[nn]") {
    constexpr shape s = qwen35_2b;
    STATIC_REQUIRE(s.qkv_channels() == 6144);
    STATIC_REQUIRE(s.value_channels() == 2048);
    STATIC_REQUIRE(2 * s.query_channels() == 4096);
    STATIC_REQUIRE(s.kv_channels() == 512);
    STATIC_REQUIRE(s.eps() == 1e-6F);
}
