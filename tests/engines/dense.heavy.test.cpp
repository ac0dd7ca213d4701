// SPDX-License-Identifier: MIT
// Whole launches of real kernels on the dense Eigen engine, in fp32 and in bf16: every product with every weight of all 45
// layers, and the head over the whole vocabulary. Takes minutes, and up to 7 GB of memory.
//
// Many tokens at once: given the prompt and the tokens of the emulator before it, each token is the dense engine's choice. As that
// holds from the first on, greedy decoding writes just these tokens. A short launch is decoded token by token, too.
#include "support/catch.hpp"
#include "support/compiled_machine.hpp"
#include "support/dense_run.hpp"
#include "support/kernel_cases.hpp"
#include "support/model_against_emulator.hpp"
#include "support/small_machine.hpp"

#include <chrono>
#include <iostream>

using namespace qwengpu;

namespace {

/// A launch, the emulator's tokens, and both as one sequence.
template <machine::sizes M = machine::mission>
struct emulated_launch {
    std::string name;
    std::vector<text::token> prompt, transcript;

    emulated_launch(std::string n, const machine::launch_image<M>& image) : name(std::move(n)), prompt(text::prompt_of(image)) {
        text::transcriber<M> writer;
        machine::emulate(image, writer, test::most_records);
        transcript = writer.tokens();
    }
    [[nodiscard]] test::sequence sequence() const {
        auto all = prompt;
        all.insert(all.end(), transcript.begin(), transcript.end() - 1);
        return {std::move(all), prompt.size()};
    }
};

emulated_launch<> of_case(const std::string& file, const std::string& name, const std::string& flavour) {
    return {name + " from " + flavour, test::find_case(file, name, flavour).image};
}

std::size_t mismatches(const std::vector<text::token>& a, const std::vector<text::token>& b) {
    std::size_t count = a.size() > b.size() ? a.size() - b.size() : b.size() - a.size();
    for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i) count += a[i] != b[i] ? 1u : 0u;
    return count;
}

class stopwatch {
public:
    [[nodiscard]] double seconds() const { return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count(); }

private:
    std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

/// Every token after `launch` is what the dense engine chooses.
template <nn::rounding R, machine::sizes M>
void check_choices(const stage::compiled_layers<M>& compiled, const std::vector<emulated_launch<M>>& launches) {
    std::vector<test::sequence> sequences;
    for (const auto& l : launches) sequences.push_back(l.sequence());
    const stopwatch watch;
    const auto chosen = test::dense_choices<R>(compiled, sequences);
    for (std::size_t i = 0; i < launches.size(); ++i) {
        const auto wrong = mismatches(chosen[i], launches[i].transcript);
        std::cout << "dense " << R::name << ", " << launches[i].name << ": prompt " << launches[i].prompt.size() << ", " << chosen[i].size()
                  << " tokens compared, " << wrong << " differ\n";
        INFO(launches[i].name);
        CHECK(wrong == 0);
    }
    std::cout << "dense " << R::name << ": " << watch.seconds() << " s\n";
}

std::vector<emulated_launch<>> kernels() {
    return {of_case("vecadd", "vecadd.n13_blocks", "nvcc"), of_case("gcd", "gcd_k.mixed", "clang"), of_case("collatz", "collatz.n5", "nvcc"),
            of_case("fibonacci", "fib_iter.n3", "nvcc")};
}

/// The dense engine as a language model, embeddings and head in full. Weights are stored as bf16, which all of them are.
template <nn::rounding R>
class dense_language_model {
public:
    using engine = nn::dense_model<R, nn::bf16_matrix>;
    using state = typename engine::state;

    explicit dense_language_model(const stage::compiled_layers<>& compiled)
        : compiled_(compiled), engine_(layers(compiled), compiled.shape()), head_(static_cast<int>(text::vocabulary<>::size), compiled.shape().hidden) {
        for (text::token t = 0; t < text::vocabulary<>::size; ++t) {
            const auto row = compiled.code().row(t);
            for (int i = 0; i < compiled.shape().hidden; ++i)
                if (row(i) != 0) head_.set(static_cast<int>(t), i, row(i));
        }
    }

    [[nodiscard]] state fresh() const { return engine_.new_state(); }
    void read(state& s, text::token t) const { read(s, std::vector{t}); }
    void read(state& s, const std::vector<text::token>& many) const {
        auto residuals = test::embeddings(compiled_, many);
        engine_.forward(s, residuals);
    }
    [[nodiscard]] text::token next(state& s, text::token t) const {
        nn::vector residual = compiled_.code().row(t);
        engine_.step(s, residual);
        const auto normed = nn::final_norm<R>(residual, compiled_.code().final_norm(), compiled_.shape().eps());
        return static_cast<text::token>(nn::argmax(nn::logits<R>(head_, normed).col(0)));
    }

private:
    static std::vector<nn::layer_weights<nn::bf16_matrix>> layers(const stage::compiled_layers<>& compiled) {
        std::vector<nn::layer_weights<nn::bf16_matrix>> all;
        for (const auto& layer : compiled.layers()) all.emplace_back(nn::convert_layer<nn::bf16_matrix>(layer));
        return all;
    }

    const stage::compiled_layers<>& compiled_;
    engine engine_;
    nn::bf16_matrix head_;
};

/// Greedy decoding by the host loop, after the prompt is read at once.
template <nn::rounding R>
void check_decoding(const emulated_launch<>& l) {
    const dense_language_model<R> model(test::compiled_machine());
    const stopwatch watch;
    auto state = model.fresh();
    model.read(state, std::vector(l.prompt.begin(), l.prompt.end() - 1));
    std::vector<text::token> written;
    text::generate(model, state, std::span(l.prompt).last(1), {.tokens = l.transcript.size() + 1},
                   [&](text::token t) { return written.push_back(t), true; });
    std::cout << "dense " << R::name << ", token by token, " << l.name << ": prompt " << l.prompt.size() << ", " << written.size()
              << " tokens, " << watch.seconds() << " s\n";
    CHECK(written == l.transcript);
}

}  // namespace

TEST_CASE("the dense engine chooses the emulator's tokens: small machine, fp32 and bf16", "[.heavy][engines]") {
    std::vector<emulated_launch<test::small_machine>> launches;
    for (std::uint64_t seed = test::seed_or(1); launches.size() < 3; ++seed)
        launches.emplace_back("seed " + std::to_string(seed),
                              test::random_launch<test::small_machine>(seed, {.max_blocks = 6, .max_thread_blocks = 2, .max_threads = 4}));
    check_choices<nn::fp32>(test::compiled_small_machine(), launches);
    check_choices<nn::bf16>(test::compiled_small_machine(), launches);
}

TEST_CASE("the dense engine chooses the emulator's tokens of four kernels: fp32", "[.heavy][engines]") {
    check_choices<nn::fp32>(test::compiled_machine(), kernels());
}

TEST_CASE("the dense engine chooses the emulator's tokens of four kernels: bf16", "[.heavy][engines]") {
    check_choices<nn::bf16>(test::compiled_machine(), kernels());
}

TEST_CASE("the dense engine decodes a launch token by token: fp32 and bf16", "[.heavy][engines]") {
    const auto l = of_case("vecadd", "vecadd.one_warp", "nvcc");
    check_decoding<nn::fp32>(l);
    check_decoding<nn::bf16>(l);
}
