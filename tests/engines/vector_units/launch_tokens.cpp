// SPDX-License-Identifier: MIT
// Prints the tokens of some launches as the engines of this build write them. Built for several sets of vector instructions; exits
// with 77 on a processor that lacks them.
#include <qwengpu/launch/machine_model.hpp>
#include <qwengpu/nn/dense_model.hpp>
#include <qwengpu/text/generate.hpp>
#include <qwengpu/text/prompt.hpp>

#include "support/compiled_machine.hpp"
#include "support/random_program.hpp"
#include "support/small_machine.hpp"

#include <cstdio>

using namespace qwengpu;

namespace {

bool runs_here() {
#if defined(__AVX512F__)
    return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
#elif defined(__AVX2__)
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
#else
    return true;
#endif
}

template <machine::sizes M, class Model>
void print_launches(const char* engine, const Model& model, int count, const test::random_options& options) {
    for (int seed = 1; seed <= count; ++seed) {
        std::printf("%s #%d:", engine, seed);
        auto state = model.fresh();
        const auto prompt = text::prompt_of(test::random_launch<M>(static_cast<std::uint64_t>(seed), options));
        text::generate<M>(model, state, prompt, {.tokens = 2000}, [](text::token t) { return std::printf(" %u", t) > 0; });
        std::printf("\n");
    }
}

template <nn::rounding R>
void print_dense() {
    using engine = nn::dense_model<R, nn::sparse_matrix>;
    const auto& compiled = test::compiled_small_machine();
    std::vector<nn::layer_weights<nn::sparse_matrix>> layers(compiled.layers().begin(), compiled.layers().end());
    const machine_model<test::small_machine, R, engine> model(compiled, engine(std::move(layers), compiled.shape()));
    print_launches<test::small_machine>(R::name, model, 2, {.max_blocks = 6, .max_thread_blocks = 2, .max_threads = 4});
}

}  // namespace

int main() {
    if (!runs_here()) return 77;
    const test::random_options any{.max_blocks = 12, .max_thread_blocks = 2, .max_threads = 16};
    print_launches<machine::mission>("sparse fp32", test::sparse_machine<nn::fp32>(), 10, any);
    print_launches<machine::mission>("sparse bf16", test::sparse_machine<nn::bf16>(), 10, any);
    print_dense<nn::fp32>();
    print_dense<nn::bf16>();
}
