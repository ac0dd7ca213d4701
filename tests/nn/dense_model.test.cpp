// SPDX-License-Identifier: MIT
// The dense engine against golden files made by an independent script, for both kinds of layers and both roundings.
#include <string>

#include "qwengpu/nn/convert.hpp"
#include "qwengpu/nn/dense_model.hpp"
#include "qwengpu/nn/head.hpp"
#include "support/catch.hpp"
#include "support/closeness.hpp"
#include "support/golden_model.hpp"

namespace {

using namespace qwengpu::nn;

constexpr const char* names[] = {"linear", "linear_grouped", "full", "stack"};

/// Residuals after every sublayer, as an observer.
struct recording {
    std::vector<tokens> after_mixer, after_mlp;

    auto observer() {
        return [this](int, point p, const auto& residual) {
            (p == point::after_mixer ? after_mixer : after_mlp).push_back(residual);
        };
    }
};

template <class R>
bool is_close(const closeness& c) {
    return std::is_same_v<R, bf16> ? c.equal_share > 0.97 && c.largest_difference < 0.01 : c.largest_difference < 5e-6;
}

template <class R>
void require_close(const std::vector<tokens>& is, const std::vector<tokens>& should) {
    REQUIRE(is.size() == should.size());
    for (std::size_t layer = 0; layer < is.size(); ++layer) {
        const closeness c = compare(is[layer], should[layer]);
        CAPTURE(layer, c.equal_share, c.largest_difference);
        CHECK(is_close<R>(c));
    }
}

template <class R>
void check_memory(const typename dense_model<R, dense_matrix>::state& state, const std::vector<dense_matrix>& should) {
    std::vector<tokens> heads;
    for (const auto& layer : state)
        if (const auto* linear = std::get_if<delta_net_state>(&layer))
            heads.insert(heads.end(), linear->heads.begin(), linear->heads.end());
    REQUIRE(heads.size() == should.size());
    const double tolerance = std::is_same_v<R, bf16> ? 0.01 : 5e-6;
    for (std::size_t i = 0; i < heads.size(); ++i) CHECK(compare(heads[i], should[i]).largest_difference < tolerance);
}

template <class R>
void check_golden(const std::string& name) {
    const golden::model golden = golden::read(__FILE__, name);
    const golden::expectation& expected = golden.expected<R>();
    CAPTURE(name, R::name);

    const dense_model<R, dense_matrix> model(golden.layers, golden.shape);
    auto state = model.new_state();
    tokens residuals = golden.embeddings;
    recording seen;
    model.forward(state, residuals, seen.observer());

    require_close<R>(seen.after_mixer, expected.after_mixer);
    require_close<R>(seen.after_mlp, expected.after_mlp);
    check_memory<R>(state, expected.memory);
    const tokens result = logits<R>(golden.head, final_norm<R>(residuals, golden.norm, golden.shape.eps()));
    CHECK(is_close<R>(compare(result, expected.logits)));
}

}  // namespace

TEST_CASE("dense layers give what the reference's formulas give", "[nn]") {
    const std::string name = GENERATE(from_range(std::begin(names), std::end(names)));
    check_golden<fp32>(name);
    check_golden<bf16>(name);
}

TEST_CASE("the golden comparison tells the roundings apart", "[nn]") {
    const golden::model golden = golden::read(__FILE__, "linear");
    const closeness c = compare(golden.fp32.after_mixer[0], golden.bf16.after_mixer[0]);
    CHECK_FALSE(is_close<fp32>(c));
    CHECK_FALSE(is_close<bf16>(c));
}

TEST_CASE("token by token gives what all tokens at once give", "[nn]") {
    const std::string name = GENERATE(from_range(std::begin(names), std::end(names)));
    const golden::model golden = golden::read(__FILE__, name);
    const dense_model<fp32, dense_matrix> model(golden.layers, golden.shape);
    auto at_once = model.new_state(), one_by_one = model.new_state();
    tokens all = golden.embeddings, single = golden.embeddings;
    model.forward(at_once, all);
    for (Eigen::Index t = 0; t < single.cols(); ++t) {
        vector residual = single.col(t);
        model.step(one_by_one, residual);
        single.col(t) = residual;
    }
    CHECK(compare(single, all).largest_difference < 5e-6);
}

TEST_CASE("the chunked form gives the same, whole or continued by single tokens", "[nn]") {
    const golden::model golden = golden::read(__FILE__, "stack");
    const dense_model<fp32, dense_matrix> model(golden.layers, golden.shape, delta_form::chunked);
    const tokens& expected = golden.fp32.after_mlp.back();
    auto state = model.new_state();
    tokens all = golden.embeddings;
    model.forward(state, all);
    CHECK(compare(all, expected).largest_difference < 5e-6);
    check_memory<fp32>(state, golden.fp32.memory);

    auto split = model.new_state();
    tokens first = golden.embeddings.leftCols(4);
    model.forward(split, first);
    vector next = golden.embeddings.col(4);
    model.step(split, next);
    CHECK(compare(next, expected.col(4)).largest_difference < 5e-6);
}

TEST_CASE("a copied state goes on by itself", "[nn]") {
    const golden::model golden = golden::read(__FILE__, "stack");
    const dense_model<bf16, dense_matrix> model(golden.layers, golden.shape);
    auto state = model.new_state();
    tokens prefix = golden.embeddings.leftCols(3);
    model.forward(state, prefix);
    auto fork = state;
    vector other = -golden.embeddings.col(0);
    model.step(fork, other);

    vector residual = golden.embeddings.col(3);
    model.step(state, residual);
    CHECK(compare(residual, golden.bf16.after_mlp.back().col(3)).largest_difference < 0.01);
    CHECK(compare(other, residual).largest_difference > 0.1);
}

TEST_CASE("bf16 and sparse storage give what dense storage gives", "[nn]") {
    const golden::model golden = golden::read(__FILE__, "stack");
    std::vector<layer_weights<bf16_matrix>> halves;
    std::vector<layer_weights<sparse_matrix>> sparse;
    for (const auto& layer : golden.layers)
        std::visit([&](const auto& w) {
            halves.emplace_back(convert_layer<bf16_matrix>(w));
            sparse.emplace_back(convert_layer<sparse_matrix>(w));
        }, layer);
    const auto run = [&](const auto& model) {
        auto state = model.new_state();
        tokens residuals = golden.embeddings;
        model.forward(state, residuals);
        return residuals;
    };
    const tokens& expected = golden.fp32.after_mlp.back();
    CHECK(compare(run(dense_model<fp32, bf16_matrix>(halves, golden.shape)), expected).largest_difference < 5e-6);
    CHECK(compare(run(dense_model<fp32, sparse_matrix>(sparse, golden.shape)), expected).largest_difference < 5e-6);
}
