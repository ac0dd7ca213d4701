// SPDX-License-Identifier: MIT
// Random launches on a model against the emulator: one comparison, many of them, and the report of one that fails, made small.
#pragma once

#include <qwengpu/launch/run.hpp>

#include "support/random_program.hpp"
#include "support/shrink_program.hpp"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string>

namespace qwengpu::test {

/// The seed of a random test: QWENGPU_SEED of the environment, or `otherwise`.
inline std::uint64_t seed_or(std::uint64_t otherwise) {
    const char* given = std::getenv("QWENGPU_SEED");
    return given != nullptr ? std::strtoull(given, nullptr, 0) : otherwise;
}

/// Records after which a random launch is stopped; nearly all end by themselves long before.
inline constexpr std::uint64_t most_records = 5000;

/// A random launch of one of four kinds: as they come, of many small thread blocks, of wide ones, of many machine blocks.
inline machine::launch_image<> any_launch(std::uint64_t seed) {
    random_options o;
    o.mix_ports = true;
    if (seed % 4 == 1) o.max_thread_blocks = 12, o.max_threads = 8, o.max_blocks = 8;
    if (seed % 4 == 2) o.max_blocks = 8;
    if (seed % 4 == 3) o.max_thread_blocks = 2, o.max_threads = 12, o.max_blocks = 60;
    return random_launch(seed, o);
}

/// How two sides of a launch part, or nothing. Beside the comparison's own finding, transcripts and endings are put next to
/// each other, so that a comparison which overlooks something does not hide it.
inline std::string parting(const launch_result& r) {
    if (r.difference) return to_string(*r.difference);
    if (r.model->transcript != r.emulator->transcript) return "the transcripts differ, which the comparison has not found";
    if (r.model->ended != r.emulator->ended) return "the launches end in different ways: " + r.model->message;
    if (r.compared_tokens != r.emulator->transcript.size()) return "not every token was compared";
    return {};
}

/// Runs a launch on both.
template <machine::sizes M, class Model>
launch_result on_both(const machine::launch_image<M>& image, const Model& model, std::uint64_t records = most_records) {
    launch_options options;
    options.max_records = records;
    return run(launch_request{}, image, model, run_on::both, options);
}

/// The smallest launch found that still fails, and how it does.
template <machine::sizes M, class Model>
std::string smallest_failure(const machine::launch_image<M>& image, const Model& model) {
    const auto fails = [&](const machine::launch_image<M>& smaller) { return !parting(on_both(smaller, model)).empty(); };
    const auto small = shrink_launch(image, fails);
    return describe(small) + parting(on_both(small, model));
}

/// What a run of random launches was worth.
struct random_run {
    std::uint64_t launches = 0, tokens = 0, passes = 0, records = 0, prompt_tokens = 0, longest = 0;
    std::optional<std::uint64_t> failed;  ///< the first seed whose launch differs

    void add(const launch_result& r, std::uint64_t seed) {
        ++launches;
        tokens += r.compared_tokens;
        passes += r.compared_passes;
        records += r.emulator->records;
        prompt_tokens += r.prompt_tokens;
        longest = std::max<std::uint64_t>(longest, r.emulator->transcript.size());
        if (!failed && !parting(r).empty()) failed = seed;
    }
    random_run& operator+=(const random_run& o) {
        launches += o.launches, tokens += o.tokens, passes += o.passes, records += o.records, prompt_tokens += o.prompt_tokens;
        longest = std::max(longest, o.longest);
        if (!failed) failed = o.failed;
        return *this;
    }
    [[nodiscard]] std::string to_string() const {
        return fmt::format("{} launches, {} tokens of prompts, {} tokens and {} passes compared, {} records, longest transcript {}", launches,
                           prompt_tokens, tokens, passes, records, longest);
    }
};

}  // namespace qwengpu::test
