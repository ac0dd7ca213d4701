// SPDX-License-Identifier: MIT
// A base's tokenizer.json with the machine's tokens added. Each is one added token whose text no ordinary text holds by
// chance: <|gpu:lo:1a2b|>. Ids of the base's vocabulary that its tokenizer leaves open are filled, since added tokens
// are numbered without holes.
#pragma once

#include <qwengpu/checkpoint/mapped_file.hpp>
#include <qwengpu/checkpoint/tokenizer.hpp>

#include <algorithm>
#include <cstdint>
#include <string>

namespace qwengpu::checkpoint {

/// The text of a machine's token among ordinary text.
inline std::string spelled_in_text(const std::string& spelled) { return "<|gpu:" + spelled + "|>"; }

namespace detail {

inline ordered_json added_token(std::int64_t id, const std::string& text) {
    return {{"id", id}, {"content", text}, {"single_word", false}, {"lstrip", false}, {"rstrip", false}, {"normalized", false}, {"special", false}};
}

/// One more than the largest id of a tokenizer.
inline std::int64_t end_of_ids(const json& tokenizer) {
    std::int64_t end = 0;
    if (tokenizer.contains("model") && tokenizer["model"].contains("vocab") && tokenizer["model"]["vocab"].is_object())
        for (const auto& [word, id] : tokenizer["model"]["vocab"].items())
            if (id.is_number_integer()) end = std::max(end, id.get<std::int64_t>() + 1);
    if (tokenizer.contains("added_tokens") && tokenizer["added_tokens"].is_array())
        for (const auto& t : tokenizer["added_tokens"])
            if (t.is_object() && t.contains("id") && t["id"].is_number_integer()) end = std::max(end, t["id"].get<std::int64_t>() + 1);
    return end;
}

}  // namespace detail

/// @param first  id of the machine's token 0: the size of the base's vocabulary
/// @throws error "checkpoint.tokenizer" if the base's tokenizer is no JSON object, or its ids reach beyond `first`.
inline json graft_tokenizer(json tokenizer, const std::string& file, std::int64_t first, int tokens, const spelling& spell) {
    const auto refuse = [&](const std::string& what) { return error("checkpoint.tokenizer", what, place{file, 0, 0}); };
    if (!tokenizer.is_object()) throw refuse("this is no tokenizer.json");
    auto& added = tokenizer["added_tokens"];
    if (added.is_null()) added = json::array();
    if (!added.is_array()) throw refuse("added_tokens is no list");
    const auto end = detail::end_of_ids(tokenizer);
    if (end > first) throw refuse("its ids reach to " + std::to_string(end) + ", beyond the " + std::to_string(first) + " rows of the embedding");
    for (auto id = end; id < first; ++id) added.push_back(json(detail::added_token(id, "<|unused:" + std::to_string(id) + "|>")));
    for (int t = 0; t < tokens; ++t) added.push_back(json(detail::added_token(first + t, spelled_in_text(spell(t)))));
    return tokenizer;
}

}  // namespace qwengpu::checkpoint
