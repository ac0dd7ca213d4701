// SPDX-License-Identifier: MIT
// What the sparse engine skips adds nothing: on compiled layers its residuals are those of engines that skip only products with
// zeros, sublayer by sublayer, over random launches.
#include <qwengpu/nn/dense_model.hpp>
#include <qwengpu/nn/rms_norm.hpp>
#include <qwengpu/nn/swiglu.hpp>

#include "support/catch.hpp"
#include "support/compiled_machine.hpp"
#include "support/model_against_emulator.hpp"
#include "support/small_machine.hpp"

#include <vector>

using namespace qwengpu;
using test::small_machine;

namespace {

/// Prompt and transcript.
template <machine::sizes M>
std::vector<text::token> tokens_of(const machine::launch_image<M>& image) {
    auto tokens = text::prompt_of(image);
    text::transcriber<M> writer;
    machine::emulate(image, writer, test::most_records);
    tokens.insert(tokens.end(), writer.tokens().begin(), writer.tokens().end());
    return tokens;
}

/// Calls compare(layer, point, residual of the sparse engine) after every sublayer of every token.
template <nn::rounding R, machine::sizes M, class Start, class Compare>
void run_sparse(const stage::compiled_layers<M>& compiled, const machine::launch_image<M>& image, const Start& start, const Compare& compare) {
    const nn::sparse_model<R> engine(compiled.layers(), compiled.shape());
    auto state = engine.new_state();
    for (const text::token t : tokens_of(image)) {
        nn::vector residual = compiled.code().row(t);
        start(residual);
        engine.step(state, residual, compare);
    }
}

/// Every MLP of a launch against nn::swiglu.
template <nn::rounding R>
void check_mlps(std::uint64_t seed) {
    const auto& compiled = test::compiled_machine();
    const auto image = test::random_launch(seed, {.max_blocks = 8, .max_thread_blocks = 1, .max_threads = 4, .faulty_percent = 0});
    nn::vector before;
    run_sparse<R>(compiled, image, [](const auto&) {}, [&](int layer, nn::point p, const auto& residual) {
        if (p == nn::point::after_mixer) return void(before = residual);
        const auto& w = compiled.layers()[static_cast<std::size_t>(layer)];
        const nn::tokens added = nn::swiglu<R>(w.mlp, nn::rms_norm<R>(before, w.post_norm, compiled.shape().eps()));
        if (residual != nn::rounded<R>(before + added)) FAIL("seed " << seed << ", layer " << layer);
    });
}

/// Every sublayer of a small machine's launch against the dense engine's arithmetic.
template <nn::rounding R>
void check_sublayers(std::uint64_t seed) {
    const auto& compiled = test::compiled_small_machine();
    using engine = nn::dense_model<R, nn::sparse_matrix>;
    const engine dense(std::vector<nn::layer_weights<nn::sparse_matrix>>(compiled.layers().begin(), compiled.layers().end()), compiled.shape());
    auto state = dense.new_state();
    std::vector<nn::vector> expected;
    std::size_t next = 0;
    const auto start = [&](nn::vector residual) {
        expected.clear();
        next = 0;
        dense.step(state, residual, [&](int, nn::point, const auto& r) { expected.emplace_back(r); });
    };
    const auto image = test::random_launch<small_machine>(seed, {.max_blocks = 5, .max_thread_blocks = 1, .max_threads = 4});
    run_sparse<R>(compiled, image, start, [&](int layer, nn::point, const auto& residual) {
        if (residual != expected[next++]) FAIL("seed " << seed << ", layer " << layer);
    });
}

}  // namespace

TEST_CASE("units that the sparse engine skips are shut", "[engines]") {
    check_mlps<nn::fp32>(test::seed_or(41));
    check_mlps<nn::bf16>(test::seed_or(42));
}

TEST_CASE("every sublayer of a small machine adds what the dense engine adds", "[engines]") {
    for (std::uint64_t i = 0; i < 2; ++i) {
        check_sublayers<nn::fp32>(test::seed_or(51) + i);
        check_sublayers<nn::bf16>(test::seed_or(61) + i);
    }
}
