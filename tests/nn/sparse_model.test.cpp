// SPDX-License-Identifier: MIT
// The sparse engine against golden files and against the dense engine: bit for bit where the signals are exact, closely
// where weights are random; and its states.
#include <random>
#include <thread>

#include "qwengpu/nn/convert.hpp"
#include "qwengpu/nn/dense_model.hpp"
#include "qwengpu/nn/sparse_model.hpp"
#include "support/catch.hpp"
#include "support/closeness.hpp"
#include "support/golden_model.hpp"
#include "support/logic_model.hpp"

namespace {

using namespace qwengpu::nn;
using layers = std::vector<linear_layer_weights<sparse_matrix>>;

constexpr shape small{.hidden = 256, .mlp = 200, .heads = 4, .value_heads = 4, .key_dim = 64, .value_dim = 64};
constexpr logic_model::amounts small_amounts{.moves = 60, .gates = 50, .scratch = 90, .heads = 3, .key_bits = 4, .values = 30};

template <class R>
auto dense_twin(const layers& sparse, const shape& s) {
    std::vector<layer_weights<dense_matrix>> dense;
    for (const auto& w : sparse) dense.emplace_back(convert_layer<dense_matrix>(w));
    return dense_model<R, dense_matrix>(std::move(dense), s);
}

tokens random_signals(int count, unsigned seed) {
    logic_model::builder builder(small, small_amounts, seed);
    tokens all(small.hidden, count);
    for (auto column : all.colwise()) column = builder.embedding(0.2);
    return all;
}

template <class Model>
tokens step_all(const Model& model, typename Model::state& st, tokens residuals) {
    for (Eigen::Index t = 0; t < residuals.cols(); ++t) {
        vector residual = residuals.col(t);
        model.step(st, residual);
        residuals.col(t) = residual;
    }
    return residuals;
}

/// Random real weights, each of which is there with a probability that differs from row to row; some heads lack a part.
layers random_layers(const shape& s, unsigned seed) {
    std::mt19937 random(seed);
    std::normal_distribution<float> normal;
    const auto matrix = [&](int rows, int cols) {
        std::vector<triplet> entries;
        for (int row = 0; row < rows; ++row)
            for (int col = 0; col < cols; ++col)
                if (random() % 10 < static_cast<unsigned>(row % 4)) entries.push_back({row, col, normal(random) / 3});
        return sparse_matrix::from_triplets(rows, cols, entries);
    };
    const auto vec = [&](int n, float mean) { return vector(vector::NullaryExpr(n, [&](Eigen::Index) { return mean + normal(random) / 2; })); };
    layers result;
    for (int i = 0; i < 3; ++i) {
        linear_layer_weights<sparse_matrix> w{
            .input_norm = vec(s.hidden, 0), .post_norm = vec(s.hidden, 0),
            .mixer = {matrix(s.qkv_channels(), s.hidden), matrix(s.value_channels(), s.hidden), matrix(s.value_heads, s.hidden),
                      matrix(s.value_heads, s.hidden), Eigen::MatrixXf::Random(s.qkv_channels(), s.conv), vec(s.value_heads, -1),
                      vec(s.value_heads, 0), vec(s.value_dim, 1), matrix(s.hidden, s.value_channels())},
            .mlp = {matrix(s.mlp, s.hidden), matrix(s.mlp, s.hidden), matrix(s.hidden, s.mlp)}};
        w.input_norm(1) = w.post_norm(2) = -1;
        w.mixer.conv.bottomLeftCorner(s.value_dim, s.conv - 1).setZero();  // the last value head remembers nothing
        result.push_back(std::move(w));
    }
    return result;
}

layers without_rows(layers from, sparse_matrix delta_net_weights<sparse_matrix>::*part, int first, int count) {
    for (auto& w : from) {
        auto entries = (w.mixer.*part).triplets();
        std::erase_if(entries, [&](const triplet& t) { return t.row >= first && t.row < first + count; });
        w.mixer.*part = sparse_matrix::from_triplets((w.mixer.*part).rows(), (w.mixer.*part).cols(), entries);
    }
    return from;
}

template <class R>
void check_golden(const std::string& name) {
    const golden::model golden = golden::read(__FILE__, name);
    layers sparse;
    for (const auto& layer : golden.layers)
        sparse.push_back(convert_layer<sparse_matrix>(std::get<linear_layer_weights<dense_matrix>>(layer)));
    const sparse_model<R> model(sparse, golden.shape);
    auto state = model.new_state();
    const closeness c = compare(step_all(model, state, golden.embeddings), golden.expected<R>().after_mlp.back());
    CAPTURE(name, R::name, c.equal_share);
    CHECK(c.largest_difference < (std::is_same_v<R, bf16> ? 0.01 : 5e-6));
    if (std::is_same_v<R, bf16>) CHECK(c.equal_share > 0.97);
    std::size_t next = 0;
    for (int layer = 0; layer < model.layers(); ++layer)
        for (int head = 0; head < golden.shape.value_heads; ++head)
            CHECK(compare(model.memory(state, layer, head), golden.expected<R>().memory[next++]).largest_difference < 0.01);
}

template <class R>
void check_logic_is_exact() {
    const auto weights = logic_model::builder(small, small_amounts, 5).layers(6);
    const sparse_model<R> sparse(weights, small);
    const auto dense = dense_twin<R>(weights, small);
    auto sparse_state = sparse.new_state();
    auto dense_state = dense.new_state();
    const tokens inputs = random_signals(40, 6);
    for (Eigen::Index t = 0; t < inputs.cols(); ++t) {
        std::vector<tokens> seen, expected;
        vector a = inputs.col(t), b = a;
        sparse.step(sparse_state, a, [&](int, point, const auto& r) { seen.emplace_back(r); });
        dense.step(dense_state, b, [&](int, point, const auto& r) { expected.emplace_back(r); });
        REQUIRE(seen == expected);
        REQUIRE(a == b);
    }
    CHECK(sparse_state.layers[0].memory.stored_rows() > 10);
}

}  // namespace

TEST_CASE("the sparse engine gives what the reference's formulas give", "[nn]") {
    const std::string name = GENERATE("linear", "linear_grouped");
    check_golden<fp32>(name);
    check_golden<bf16>(name);
}

TEST_CASE("exact signals come out of the sparse and the dense engine bit for bit", "[nn]") {
    check_logic_is_exact<fp32>();
    check_logic_is_exact<bf16>();
}

TEST_CASE("random sparse weights give what the dense engine gives, heads that lack a part included", "[nn]") {
    constexpr shape s{.hidden = 70, .mlp = 90, .heads = 2, .value_heads = 4, .key_dim = 6, .value_dim = 10};
    using mixer = delta_net_weights<sparse_matrix>;
    const auto all = random_layers(s, 11);
    const std::vector<layers> kinds = {all,
                                       without_rows(all, &mixer::in_proj_qkv, 0, 6),    // no q for heads 0 and 1
                                       without_rows(all, &mixer::in_proj_qkv, 18, 6),   // no k for heads 2 and 3
                                       without_rows(all, &mixer::in_proj_qkv, 24, 10),  // no v for head 0
                                       without_rows(all, &mixer::in_proj_z, 30, 10),    // no z for head 3
                                       without_rows(all, &mixer::in_proj_a, 0, 4), without_rows(all, &mixer::in_proj_b, 0, 4)};
    const std::vector<int> heads_run = {4, 2, 2, 3, 3, 4, 4};
    for (std::size_t i = 0; i < kinds.size(); ++i) {
        const sparse_model<fp32> sparse(kinds[i], s);
        const auto dense = dense_twin<fp32>(kinds[i], s);
        auto sparse_state = sparse.new_state();
        auto dense_state = dense.new_state();
        tokens inputs = tokens::Random(s.hidden, 12);
        inputs.middleRows(10, 50).setZero();
        CAPTURE(i);
        CHECK(compare(step_all(sparse, sparse_state, inputs), step_all(dense, dense_state, inputs)).largest_difference < 1e-4);
        CHECK(sparse.live_heads(0) == heads_run[i]);
    }
}

TEST_CASE("all tokens at once give what they give one by one", "[nn]") {
    const auto weights = logic_model::builder(small, small_amounts, 8).layers(4);
    const sparse_model<fp32> model(weights, small);
    auto one_by_one = model.new_state(), at_once = model.new_state();
    const tokens inputs = random_signals(70, 9);
    tokens residuals = inputs;
    model.forward(at_once, residuals);
    CHECK(residuals == step_all(model, one_by_one, inputs));
    for (int head = 0; head < small.value_heads; ++head) CHECK(model.memory(at_once, 3, head) == model.memory(one_by_one, 3, head));
}

TEST_CASE("states can be copied and cleared, and threads share a model", "[nn]") {
    const auto weights = logic_model::builder(small, small_amounts, 12).layers(4);
    const sparse_model<bf16> model(weights, small);
    const tokens inputs = random_signals(30, 13);
    auto state = model.new_state();
    (void)step_all(model, state, inputs.leftCols(20));
    const auto fork = state;
    const tokens expected = step_all(model, state, inputs.rightCols(10));

    tokens result[2];
    std::thread first([&] { auto own = fork; result[0] = step_all(model, own, inputs.rightCols(10)); });
    std::thread second([&] { auto own = fork; result[1] = step_all(model, own, inputs.rightCols(10)); });
    first.join();
    second.join();
    CHECK(result[0] == expected);
    CHECK(result[1] == expected);

    state.clear();
    auto fresh = model.new_state();
    CHECK(step_all(model, state, inputs) == step_all(model, fresh, inputs));
}

TEST_CASE("what has no weights costs nothing", "[nn]") {
    auto weights = logic_model::builder(small, small_amounts, 15).layers(2);
    weights.push_back(zero_linear_layer(small));
    weights.back().mixer.conv.setOnes();
    weights.back().mlp.gate = sparse_matrix::from_triplets(small.mlp, small.hidden, {{3, 5, 1.0F}});
    const sparse_model<fp32> model(weights, small);
    CHECK(model.live_heads(0) == small_amounts.heads);
    int units = 0;
    for (int unit = 0; unit < small.mlp; ++unit) units += weights[0].mlp.down.column_rows(unit).empty() ? 0 : 1;
    CHECK(model.live_units(0) == units);
    CHECK(model.live_heads(1) == 0);
    CHECK(model.live_heads(2) == 0);
    CHECK(model.live_units(2) == 0);
    const auto state = model.new_state();
    CHECK(state.layers[0].memory.stored_rows() == 0);
    CHECK(model.memory(state, 2, 1).isZero(0));
}

TEST_CASE("an entry of a memory can be set, and a later read shows it", "[nn]") {
    auto weights = logic_model::builder(small, small_amounts, 17).layers(1);
    const sparse_model<fp32> model(weights, small);
    auto state = model.new_state();
    const tokens inputs = random_signals(30, 18);
    (void)step_all(model, state, inputs);
    const auto read_of = [&](auto& st) {
        tokens after_mixer;
        vector residual = inputs.col(0);
        model.step(st, residual, [&](int, point p, const auto& r) {
            if (p == point::after_mixer) after_mixer = r;
        });
        return after_mixer;
    };
    auto changed = state;
    for (int key = 0; key < small.key_dim; ++key) CHECK(model.set_memory(changed, 0, 1, key, 2, 500.0F));
    CHECK(model.memory(changed, 0, 1)(7, 2) == 500.0F);
    CHECK(model.memory(changed, 0, 1).col(3) == model.memory(state, 0, 1).col(3));
    CHECK(read_of(changed) != read_of(state));
    CHECK_FALSE(model.set_memory(changed, 0, small_amounts.heads, 0, 0, 1.0F));
}

TEST_CASE("the residual is rounded on the way in, and observers see every sublayer", "[nn]") {
    const sparse_model<bf16> model({zero_linear_layer(small), zero_linear_layer(small)}, small);
    auto state = model.new_state();
    vector residual = vector::Constant(small.hidden, 257.0F);
    std::vector<std::pair<int, point>> seen;
    model.step(state, residual, [&](int layer, point p, const auto& r) {
        seen.emplace_back(layer, p);
        CHECK(r.rows() == small.hidden);
        CHECK(r(9, 0) == 256.0F);
    });
    CHECK(residual == vector::Constant(small.hidden, 256.0F));
    using enum point;
    CHECK(seen == std::vector<std::pair<int, point>>{{0, after_mixer}, {0, after_mlp}, {1, after_mixer}, {1, after_mlp}});
}
