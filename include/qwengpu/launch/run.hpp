// SPDX-License-Identifier: MIT
// Runs a prepared launch: on the emulator, on a model through the host loop, or on both with every token, and every
// signal the model shows, compared.
#pragma once

#include <qwengpu/diff/comparator.hpp>
#include <qwengpu/launch/result.hpp>
#include <qwengpu/launch/watcher.hpp>
#include <qwengpu/machine/access_checker.hpp>
#include <qwengpu/machine/emulator.hpp>
#include <qwengpu/text/generate.hpp>
#include <qwengpu/text/prompt.hpp>
#include <qwengpu/text/transcribe.hpp>
#include <qwengpu/text/transcript_reader.hpp>

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

namespace qwengpu {

/// Who runs a launch.
enum class run_on : std::uint8_t { both, model, emulator };

/// How far a model's launch is.
struct launch_progress {
    std::uint64_t tokens = 0, records = 0;
};

struct launch_options {
    std::uint64_t max_records = 1'000'000;  ///< records after which a launch is stopped
    machine::access_checks checks{};        ///< what the emulator looks for; its findings are in the result
    bool compare_stages = true;             ///< compare the signals of every pass too, if the model shows them
    std::function<void(const launch_progress&)> progress{};  ///< called now and then while the model writes
};

namespace detail {

inline double seconds_since(std::chrono::steady_clock::time_point begin) {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

/// What the emulator says of a launch: its result, and what its stages made.
struct reference {
    side_result result;
    diff::stage_trace trace;
};

/// How far a sequence of launches is: what the emulator, and what the model's transcript, left behind.
template <machine::sizes M>
struct sequence_so_far {
    std::optional<machine::outcome<M>> emulator;
    std::optional<machine::launch_state<M>> model;
};

template <machine::sizes M>
reference run_emulator(const launch_request& request, const machine::launch_image<M>& image, const launch_options& options, bool keep_stages,
                       sequence_so_far<M>* sequence = nullptr) {
    reference ref{{}, diff::stage_trace(keep_stages ? diff::stage_trace::default_records : 0)};
    text::transcriber<M> writer;
    watcher<M> last(image);
    std::optional<machine::access_checker<M>> checker;
    std::vector<std::reference_wrapper<machine::observer>> watching{writer, last, ref.trace};
    if (options.checks.any()) watching.emplace_back(checker.emplace(image, options.checks));
    machine::observer_list all(std::move(watching));
    const auto begin = std::chrono::steady_clock::now();
    const bool follows = sequence != nullptr && sequence->emulator;
    auto outcome = follows ? machine::emulate_after(*sequence->emulator, image, all, options.max_records) : machine::emulate(image, all, options.max_records);
    ref.result = result_of(request, image, outcome);
    ref.result.seconds = seconds_since(begin);
    ref.result.transcript = writer.tokens();
    ref.result.passes = ref.result.transcript.size();
    ref.result.last_warp = last.last_warp();
    ref.result.last_block = last.last_block();
    if (checker) ref.result.findings = checker->findings();
    if (sequence != nullptr) sequence->emulator = std::move(outcome);
    return ref;
}

/// A model whose signals go to the comparison before each of its tokens does.
template <machine::sizes M, diff::probing_model Model>
struct probed_model {
    using state = typename Model::state;
    const Model& model;
    diff::comparator<M>& compare;

    [[nodiscard]] state fresh() const { return model.fresh(); }
    void read(state& s, text::token t) const { model.read(s, t); }
    [[nodiscard]] text::token next(state& s, text::token t) const {
        diff::pass_signals seen;
        const auto made = static_cast<text::token>(model.next(s, t, seen));
        compare.signals(seen);
        return made;
    }
};

/// Takes the tokens of a model one by one: keeps them, reads them as events, and hands them to the comparison.
template <machine::sizes M>
class token_sink {
public:
    token_sink(const machine::launch_image<M>& image, machine::launch_state<M> before, const launch_options& options, diff::comparator<M>* compare)
        : options_(options), compare_(compare), seen_(image, std::move(before)), reader_(image.program, seen_) {}

    [[nodiscard]] const machine::launch_state<M>& state() const { return seen_.outcome().state; }

    /// False when nothing more is wanted.
    bool operator()(text::token t) {
        tokens_.push_back(t);
        if (options_.progress && tokens_.size() % 256 == 0) options_.progress({tokens_.size(), seen_.outcome().records});
        const bool fits = understood(t);
        return compare_ != nullptr ? compare_->token(t) : fits;
    }

    side_result result(const launch_request& request, const machine::launch_image<M>& image, text::stopped_by reason) {
        auto r = result_of(request, image, seen_.outcome());
        if (reason == text::stopped_by::host) r.ended = message_.empty() ? launch_ending::stopped : launch_ending::broken;
        r.message = message_;
        r.transcript = std::move(tokens_);
        r.last_warp = seen_.last_warp();
        r.last_block = seen_.last_block();
        return r;
    }

private:
    /// Reads the token as an event; from the first that does not fit on, nothing is read.
    bool understood(text::token t) {
        if (!message_.empty()) return false;
        try {
            reader_.read(t);
        } catch (const error& e) {
            message_ = e.message();
        }
        return message_.empty();
    }

    const launch_options& options_;
    diff::comparator<M>* compare_;
    watcher<M> seen_;
    text::transcript_reader<M> reader_;
    std::vector<text::token> tokens_;
    std::string message_;
};

template <machine::sizes M, text::language_model Model>
side_result run_model(const Model& model, const launch_request& request, const machine::launch_image<M>& image,
                      const std::vector<text::token>& prompt, const launch_options& options, diff::comparator<M>* compare,
                      typename Model::state& state, sequence_so_far<M>& sequence) {
    token_sink<M> sink(image, sequence.model ? sequence.model->followed_by(image) : machine::launch_state<M>(image), options, compare);
    const auto begin = std::chrono::steady_clock::now();
    const auto made = text::generate<M>(model, state, prompt, {.records = options.max_records}, sink);
    const auto seconds = seconds_since(begin);
    auto r = sink.result(request, image, made.reason);
    r.seconds = seconds;
    r.passes = prompt.size() - 1 + r.transcript.size();
    sequence.model = sink.state();
    return r;
}

template <machine::sizes M, text::language_model Model>
side_result run_compared(const Model& model, const launch_request& request, const machine::launch_image<M>& image,
                         const std::vector<text::token>& prompt, const launch_options& options, diff::comparator<M>& compare,
                         typename Model::state& state, sequence_so_far<M>& sequence) {
    if constexpr (diff::probing_model<Model>) {
        if (options.compare_stages) return run_model<M>(probed_model<M, Model>{model, compare}, request, image, prompt, options, &compare, state, sequence);
    }
    return run_model<M>(model, request, image, prompt, options, &compare, state, sequence);
}

template <class Model>
diff::signal_layers layers_of(const Model& model) {
    if constexpr (diff::probing_model<Model>) return model.signal_layers();
    return {};
}

}  // namespace detail

/// Runs a launch on the emulator alone.
template <machine::sizes M>
launch_result run_emulated(const launch_request& request, const machine::launch_image<M>& image, const launch_options& options = {}) {
    launch_result r{image.program, image.buffers, text::prompt_of(image).size(), {}, {}, {}, 0, 0};
    r.emulator = detail::run_emulator(request, image, options, false).result;
    return r;
}

namespace detail {

/// A launch with its prompt, on a model whose state is as earlier launches left it, the emulator beside it.
template <machine::sizes M, text::language_model Model>
launch_result run_in_sequence(const launch_request& request, const machine::launch_image<M>& image, const std::vector<text::token>& prompt, const Model& model,
                              typename Model::state& state, run_on on, const launch_options& options, sequence_so_far<M>& sequence) {
    launch_result r{image.program, image.buffers, prompt.size(), {}, {}, {}, 0, 0};
    if (on == run_on::model) {
        r.model = run_model<M>(model, request, image, prompt, options, nullptr, state, sequence);
        return r;
    }
    auto reference = run_emulator(request, image, options, options.compare_stages && diff::probing_model<Model>, &sequence);
    diff::comparator<M> compare(image.program, reference.result.transcript, &reference.trace, layers_of(model));
    r.model = run_compared<M>(model, request, image, prompt, options, compare, state, sequence);
    compare.finish();
    r.emulator = std::move(reference.result);
    r.difference = compare.found();
    r.compared_tokens = compare.tokens();
    r.compared_passes = compare.passes();
    return r;
}

}  // namespace detail

/// Runs a launch on a model, on the emulator, or on both and compares them.
template <machine::sizes M, text::language_model Model>
launch_result run(const launch_request& request, const machine::launch_image<M>& image, const Model& model, run_on on,
                  const launch_options& options = {}) {
    if (on == run_on::emulator) return run_emulated(request, image, options);
    auto state = model.fresh();
    detail::sequence_so_far<M> sequence;
    return detail::run_in_sequence(request, image, text::prompt_of(image), model, state, on, options, sequence);
}

}  // namespace qwengpu
