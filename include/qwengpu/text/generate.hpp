// SPDX-License-Identifier: MIT
// The host loop: read the prompt, then argmax and append until the model says `end`. It sees tokens only; what they
// mean is known to it in two cases: `end` stops it, and it counts `hdr` so that a launch can be stopped.
#pragma once

#include <qwengpu/text/vocabulary.hpp>

#include <concepts>
#include <cstdint>
#include <limits>
#include <span>

namespace qwengpu::text {

/// A language model with a state of its own per sequence. `read` takes a token of the prompt; `next` takes a token
/// and answers with the most likely one to follow (greedy decoding).
template <class Model>
concept language_model = requires(const Model& model, typename Model::state& state, token t) {
    { model.fresh() } -> std::same_as<typename Model::state>;
    { model.read(state, t) } -> std::same_as<void>;
    { model.next(state, t) } -> std::convertible_to<token>;
};

/// Where generation stops if the model does not. `records` counts `hdr` tokens, `tokens` all that are generated.
struct generation_limits {
    std::uint64_t records = std::numeric_limits<std::uint64_t>::max();
    std::uint64_t tokens = std::numeric_limits<std::uint64_t>::max();
};

/// Why generation stopped, and how much was made.
enum class stopped_by : std::uint8_t { end, record_limit, token_limit, host };
struct generation {
    stopped_by reason = stopped_by::end;
    std::uint64_t tokens = 0, records = 0;
};

/// Continues a prompt (not empty) from `state`. Every token the model makes goes to `append(token)`, `end` included;
/// the `hdr` that would go over the limit of records does not. `append` answers whether to go on.
template <machine::sizes M = machine::mission, language_model Model, class Append>
generation generate(const Model& model, typename Model::state& state, std::span<const token> prompt,
                    const generation_limits& limits, Append&& append) {
    for (const token t : prompt.first(prompt.size() - 1)) model.read(state, t);
    generation made;
    for (token last = prompt.back(); made.tokens < limits.tokens;) {
        last = static_cast<token>(model.next(state, last));
        const auto what = vocabulary<M>::class_of(last);
        if (what == token_class::hdr && made.records == limits.records) return {stopped_by::record_limit, made.tokens, made.records};
        const bool go_on = append(last);
        ++made.tokens;
        if (what == token_class::hdr) ++made.records;
        if (what == token_class::end) return made;
        if (!go_on) return {stopped_by::host, made.tokens, made.records};
    }
    made.reason = stopped_by::token_limit;
    return made;
}

}  // namespace qwengpu::text
