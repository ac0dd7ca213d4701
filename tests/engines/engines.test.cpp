// SPDX-License-Identifier: MIT
// The same launches on different engines: a small machine on the sparse engine and on the dense engine's arithmetic, and what
// an engine must bear: states that are copied in mid-launch, threads that share the weights, many tokens at once.
#include <qwengpu/nn/dense_model.hpp>

#include "support/catch.hpp"
#include "support/compiled_machine.hpp"
#include "support/model_against_emulator.hpp"
#include "support/small_machine.hpp"

#include <array>
#include <span>
#include <thread>

using namespace qwengpu;
using test::small_machine;

namespace {

/// The dense engine on weights that are stored sparse: dense states and activations, products without the zeros.
template <nn::rounding R>
auto on_dense_engine(const stage::compiled_layers<small_machine>& compiled) {
    using engine = nn::dense_model<R, nn::sparse_matrix>;
    std::vector<nn::layer_weights<nn::sparse_matrix>> layers(compiled.layers().begin(), compiled.layers().end());
    return machine_model<small_machine, R, engine>(compiled, engine(std::move(layers), compiled.shape()));
}

/// Launches of the small machine, `count` of them from a seed on, on a model against the emulator.
template <class Model>
void check_small_launches(const Model& model, std::uint64_t seed, int count, const test::random_options& options) {
    for (int i = 0; i < count; ++i, ++seed) {
        const auto image = test::random_launch<small_machine>(seed, options);
        if (!test::parting(test::on_both(image, model)).empty()) FAIL("seed " << seed << "\n" << test::smallest_failure(image, model));
    }
}

/// Tokens that a model writes after `prompt`, going on from `state`.
template <class Model>
std::vector<text::token> write(const Model& model, typename Model::state& state, std::span<const text::token> prompt,
                               std::uint64_t most = std::numeric_limits<std::uint64_t>::max()) {
    std::vector<text::token> tokens;
    text::generate(model, state, prompt, {.tokens = most}, [&](text::token t) { return tokens.push_back(t), true; });
    return tokens;
}

template <class Model>
std::vector<text::token> write(const Model& model, const std::vector<text::token>& prompt) {
    auto state = model.fresh();
    return write(model, state, prompt);
}

template <machine::sizes M>
std::vector<text::token> emulated(const machine::launch_image<M>& image) {
    text::transcriber<M> writer;
    machine::emulate(image, writer, test::most_records);
    return writer.tokens();
}

/// Launches of a few hundred tokens.
machine::launch_image<> short_launch(std::uint64_t seed) {
    return test::random_launch(seed, {.max_blocks = 8, .max_thread_blocks = 2, .max_threads = 12, .faulty_percent = 0});
}

}  // namespace

TEST_CASE("a small machine in a small shape writes what the emulator writes", "[engines]") {
    const auto& compiled = test::compiled_small_machine();
    check_small_launches(on_sparse_engine<nn::fp32>(compiled), test::seed_or(1), 40, {});
    check_small_launches(on_sparse_engine<nn::bf16>(compiled), test::seed_or(101), 20, {});
}

TEST_CASE("the dense engine's arithmetic writes the same, in fp32 and in bf16", "[engines]") {
    const auto& compiled = test::compiled_small_machine();
    const test::random_options brief{.max_blocks = 5, .max_thread_blocks = 1, .max_threads = 4};
    check_small_launches(on_dense_engine<nn::fp32>(compiled), test::seed_or(1), 2, brief);
    check_small_launches(on_dense_engine<nn::bf16>(compiled), test::seed_or(11), 2, brief);
}

TEST_CASE("two launches go on from one state that is copied", "[engines]") {
    const auto& model = test::sparse_machine();
    for (std::uint64_t seed = 1; seed <= 3; ++seed) {
        auto image = short_launch(seed);
        const auto prompt = text::prompt_of(image), expected = emulated(image);
        auto other = image;
        for (auto& word : other.memory) word.value += word.window != 0 ? 1u : 0u;
        const auto other_prompt = text::prompt_of(other), other_expected = emulated(other);
        const auto apart = std::mismatch(prompt.begin(), prompt.end(), other_prompt.begin(), other_prompt.end());
        const auto common = static_cast<std::size_t>(apart.first - prompt.begin());
        REQUIRE((common > 20 && common < prompt.size()));

        auto state = model.fresh();
        for (std::size_t i = 0; i < common; ++i) model.read(state, prompt[i]);
        auto fork = state;
        CHECK(write(model, state, std::span(prompt).subspan(common)) == expected);
        CHECK(write(model, fork, std::span(other_prompt).subspan(common)) == other_expected);
    }
}

TEST_CASE("a launch goes on from a state that was copied in its middle", "[engines]") {
    const auto& model = test::sparse_machine();
    const auto image = short_launch(5);
    const auto prompt = text::prompt_of(image), expected = emulated(image);
    auto state = model.fresh();
    auto written = write(model, state, prompt, expected.size() / 2);
    for (int copy = 0; copy < 2; ++copy) {
        auto fork = state;
        auto whole = written;
        const auto rest = write(model, fork, std::span(written).last(1));
        whole.insert(whole.end(), rest.begin(), rest.end());
        CHECK(whole == expected);
    }
}

TEST_CASE("threads share the weights", "[engines]") {
    const auto& model = test::sparse_machine();
    constexpr std::size_t threads = 4;
    std::array<std::vector<text::token>, threads> written;
    std::vector<std::thread> workers;
    for (std::size_t t = 0; t < threads; ++t)
        workers.emplace_back([&, t] { written[t] = write(model, text::prompt_of(short_launch(20 + t))); });
    for (auto& worker : workers) worker.join();
    for (std::size_t t = 0; t < threads; ++t) CHECK(written[t] == emulated(short_launch(20 + t)));
}

TEST_CASE("many tokens at once leave the residuals of one at a time", "[engines]") {
    const auto& compiled = test::compiled_machine();
    const auto& engine = test::sparse_machine().engine();
    const auto image = short_launch(30);
    auto tokens = text::prompt_of(image);
    const auto transcript = emulated(image);
    tokens.insert(tokens.end(), transcript.begin(), transcript.end());
    nn::tokens at_once(compiled.shape().hidden, static_cast<Eigen::Index>(tokens.size()));
    for (std::size_t i = 0; i < tokens.size(); ++i) at_once.col(static_cast<Eigen::Index>(i)) = compiled.code().row(tokens[i]);
    auto state = engine.new_state(), stepped = engine.new_state();
    engine.forward(state, at_once);
    for (std::size_t i = 0; i < tokens.size(); ++i) {
        nn::vector residual = compiled.code().row(tokens[i]);
        engine.step(stepped, residual);
        REQUIRE(residual == at_once.col(static_cast<Eigen::Index>(i)));
    }
}
