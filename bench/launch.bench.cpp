// SPDX-License-Identifier: MIT
// Whole launches of real kernels: tokens per second of the 45 compiled layers on the sparse engine, with and without the
// comparison, records per second of the emulator, their ratio in one run, and how long it takes to build the weights.
#include <qwengpu/launch.hpp>
#include <qwengpu/launch/machine_model.hpp>

#include <benchmark/benchmark.h>

#include <chrono>
#include <string>
#include <vector>

namespace {

using namespace qwengpu;

const stage::compiled_layers<>& compiled() {
    static const stage::compiled_layers<> layers;
    return layers;
}

template <nn::rounding R>
const machine_model<machine::mission, R>& model() {
    static const auto built = on_sparse_engine<R>(compiled());
    return built;
}

/// A launch, ready to run.
struct workload {
    launch_request request;
    machine::launch_image<> image;
    std::vector<text::token> prompt;

    workload(const char* file, const char* kernel, launch_request r)
        : request(std::move(r)),
          image(prepare(load_kernel(std::string(QWENGPU_TEST_DATA) + "/kernels/ptx/nvcc/" + file, kernel).program, request)),
          prompt(text::prompt_of(image)) {}
};

const workload& collatz() {
    static const workload w("collatz.ptx", "collatz",
                            {{1, 1, 1}, {8, 1, 1}, {in("in", std::vector<unsigned>{0, 1, 2, 3, 6, 7, 9, 27}), zeros<int>("steps", 8), scalar(8), scalar(200)}, 0});
    return w;
}

const workload& matmul() {
    std::vector<int> a, b;
    for (int i = 0; i < 25; ++i) a.push_back(70001 * i - 900000), b.push_back(-30011 * i + 400000);
    static const workload w("matmul.ptx", "matmul_i", {{1, 1, 1}, {5, 5, 1}, {in("a", a), in("b", b), zeros<int>("c", 25), scalar(5)}, 0});
    return w;
}

struct written {
    std::int64_t tokens = 0, records = 0;
};

template <nn::rounding R>
written write_launch(const workload& w) {
    auto state = model<R>().fresh();
    const auto made = text::generate(model<R>(), state, w.prompt, {}, [](text::token) { return true; });
    return {static_cast<std::int64_t>(made.tokens), static_cast<std::int64_t>(made.records)};
}

/// Tokens of prompt and transcript per second.
template <class R>
void sparse_tokens(benchmark::State& state, const workload& (*load)()) {
    const auto& w = load();
    written made;
    for (auto _ : state) made = write_launch<R>(w);
    state.SetItemsProcessed(state.iterations() * (made.tokens + static_cast<std::int64_t>(w.prompt.size())));
    state.counters["written"] = static_cast<double>(made.tokens);
    state.counters["prompt"] = static_cast<double>(w.prompt.size());
}
void sparse_fp32(benchmark::State& state, const workload& (*load)()) { sparse_tokens<nn::fp32>(state, load); }
void sparse_bf16(benchmark::State& state, const workload& (*load)()) { sparse_tokens<nn::bf16>(state, load); }
BENCHMARK_CAPTURE(sparse_fp32, collatz, collatz)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(sparse_bf16, collatz, collatz)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(sparse_fp32, matmul, matmul)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(sparse_bf16, matmul, matmul)->Unit(benchmark::kMillisecond);

/// The same with every token and every pass compared with the emulator.
void compared_tokens(benchmark::State& state, const workload& (*load)()) {
    const auto& w = load();
    std::int64_t tokens = 0;
    for (auto _ : state) {
        const auto r = run(w.request, w.image, model<nn::fp32>(), run_on::both);
        if (r.difference) state.SkipWithError("model and emulator differ");
        tokens += static_cast<std::int64_t>(r.prompt_tokens + r.compared_tokens);
    }
    state.SetItemsProcessed(tokens);
}
BENCHMARK_CAPTURE(compared_tokens, collatz, collatz)->Unit(benchmark::kMillisecond);

/// Records of the emulator per second.
void emulated_records(benchmark::State& state, const workload& (*load)()) {
    const auto& w = load();
    std::int64_t records = 0;
    for (auto _ : state) records += static_cast<std::int64_t>(machine::emulate(w.image).records);
    state.SetItemsProcessed(records);
}
BENCHMARK_CAPTURE(emulated_records, collatz, collatz);
BENCHMARK_CAPTURE(emulated_records, matmul, matmul);

/// Both in turn, so that their ratio holds on a machine that others use too.
void ratios(benchmark::State& state, const workload& (*load)()) {
    const auto& w = load();
    double fp32 = 0, bf16 = 0, emulated = 0;
    const auto timed = [](double& sum, auto&& f) {
        const auto begin = std::chrono::steady_clock::now();
        f();
        sum += std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    };
    for (auto _ : state) {
        timed(fp32, [&] { write_launch<nn::fp32>(w); });
        timed(bf16, [&] { write_launch<nn::bf16>(w); });
        timed(emulated, [&] { benchmark::DoNotOptimize(machine::emulate(w.image)); });
    }
    state.counters["bf16/fp32 time"] = bf16 / fp32;
    state.counters["fp32/emulator time"] = fp32 / emulated;
}
BENCHMARK_CAPTURE(ratios, collatz, collatz)->Unit(benchmark::kMillisecond);

void build_weights(benchmark::State& state) {
    for (auto _ : state) benchmark::DoNotOptimize(stage::compiled_layers<>());
}
BENCHMARK(build_weights)->Unit(benchmark::kMillisecond);

void build_engine(benchmark::State& state) {
    for (auto _ : state) benchmark::DoNotOptimize(on_sparse_engine<nn::fp32>(compiled()));
}
BENCHMARK(build_engine)->Unit(benchmark::kMillisecond);

/// A copy of the state in the middle of a launch.
void copy_state(benchmark::State& state) {
    auto s = model<nn::fp32>().fresh();
    text::generate(model<nn::fp32>(), s, collatz().prompt, {.tokens = 500}, [](text::token) { return true; });
    for (auto _ : state) benchmark::DoNotOptimize(machine_model<>::state(s));
}
BENCHMARK(copy_state)->Unit(benchmark::kMicrosecond);

}  // namespace

BENCHMARK_MAIN();
