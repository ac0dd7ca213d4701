// SPDX-License-Identifier: MIT
// Tokens per second of the engines on random logic layers of Qwen3.5-2B's shape (tests/support/logic_model.hpp): 45 layers
// for the sparse engine, and three layers for the comparison with the dense one, in one run.
#include <chrono>

#include <benchmark/benchmark.h>

#include "qwengpu/nn/convert.hpp"
#include "qwengpu/nn/dense_model.hpp"
#include "qwengpu/nn/sparse_model.hpp"
#include "support/logic_model.hpp"

namespace {

using namespace qwengpu::nn;

const std::vector<linear_layer_weights<sparse_matrix>>& layers() {
    static const auto all = logic_model::builder(qwen35_2b, {}, 1).layers(45);
    return all;
}

tokens embeddings(int count) {
    logic_model::builder random(qwen35_2b, {}, 2);
    tokens all(qwen35_2b.hidden, count);
    for (auto column : all.colwise()) column = random.embedding(0.1);
    return all;
}

double seconds_since(std::chrono::steady_clock::time_point start) {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

template <class R>
void sparse_step(benchmark::State& state) {
    const sparse_model<R> model(layers());
    const tokens inputs = embeddings(64);
    auto st = model.new_state();
    Eigen::Index next = 0;
    Eigen::Index active = 0;
    for (auto _ : state) {
        vector residual = inputs.col(next++ % inputs.cols());
        model.step(st, residual);
        active += (residual.array() != 0).count();
    }
    state.SetItemsProcessed(state.iterations());
    state.counters["nonzeros"] = static_cast<double>(logic_model::nonzeros(layers()));
    state.counters["active"] = static_cast<double>(active) / static_cast<double>(state.iterations());
}
BENCHMARK_TEMPLATE(sparse_step, fp32);
BENCHMARK_TEMPLATE(sparse_step, bf16);

template <class R>
void sparse_forward(benchmark::State& state) {
    const sparse_model<R> model(layers());
    const tokens inputs = embeddings(256);
    auto st = model.new_state();
    for (auto _ : state) {
        tokens residuals = inputs;
        model.forward(st, residuals);
    }
    state.SetItemsProcessed(state.iterations() * inputs.cols());
}
BENCHMARK_TEMPLATE(sparse_forward, fp32);

void sparse_against_dense(benchmark::State& state) {
    const std::vector<linear_layer_weights<sparse_matrix>> few(layers().begin(), layers().begin() + 3);
    std::vector<layer_weights<bf16_matrix>> stored;
    for (const auto& layer : few) stored.emplace_back(convert_layer<bf16_matrix>(layer));
    const sparse_model<fp32> sparse(few);
    const dense_model<fp32, bf16_matrix> dense(stored);
    auto sparse_st = sparse.new_state();
    auto dense_st = dense.new_state();
    const tokens inputs = embeddings(4);
    double sparse_seconds = 0, dense_seconds = 0;
    for (auto _ : state)
        for (const auto& input : inputs.colwise()) {
            vector a = input, b = input;
            auto start = std::chrono::steady_clock::now();
            sparse.step(sparse_st, a);
            sparse_seconds += seconds_since(start);
            start = std::chrono::steady_clock::now();
            dense.step(dense_st, b);
            dense_seconds += seconds_since(start);
        }
    const auto count = static_cast<double>(state.iterations() * inputs.cols());
    state.counters["sparse_tokens/s"] = count / sparse_seconds;
    state.counters["dense_tokens/s"] = count / dense_seconds;
    state.counters["ratio"] = dense_seconds / sparse_seconds;
}
BENCHMARK(sparse_against_dense)->Unit(benchmark::kMillisecond);

}  // namespace

BENCHMARK_MAIN();
