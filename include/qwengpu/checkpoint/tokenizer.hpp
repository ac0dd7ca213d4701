// SPDX-License-Identifier: MIT
// Tokenizer files for a vocabulary of spelled tokens: every token is one whole word, and a prompt is words with spaces
// between them. A word that is no token is an error of the tokenizer, not some other token.
#pragma once

#include <qwengpu/checkpoint/atomic_file.hpp>
#include <qwengpu/checkpoint/strict_json.hpp>

#include <functional>
#include <string>

namespace qwengpu::checkpoint {

/// Spells a token: text without spaces, another one for each token.
using spelling = std::function<std::string(int token)>;

/// tokenizer.json: words at white space, each of them a token. The name of the unknown token is no token, so that it is never produced.
inline ordered_json word_tokenizer(int tokens, const spelling& spell) {
    auto vocabulary = ordered_json::object();
    for (int t = 0; t < tokens; ++t) vocabulary.get_ref<ordered_json::object_t&>().emplace_back(spell(t), t);
    return {{"version", "1.0"}, {"truncation", nullptr}, {"padding", nullptr}, {"added_tokens", ordered_json::array()}, {"normalizer", nullptr},
            {"pre_tokenizer", {{"type", "WhitespaceSplit"}}}, {"post_processor", nullptr}, {"decoder", nullptr},
            {"model", {{"type", "WordLevel"}, {"vocab", std::move(vocabulary)}, {"unk_token", "<unknown>"}}}};
}

/// Writes tokenizer.json and tokenizer_config.json. @throws error "checkpoint.write".
inline void write_word_tokenizer(const std::string& folder, int tokens, int end_token, const spelling& spell) {
    write_text(folder + "/tokenizer.json", word_tokenizer(tokens, spell).dump() + "\n");
    const ordered_json config{{"tokenizer_class", "PreTrainedTokenizerFast"}, {"eos_token", spell(end_token)}, {"pad_token", spell(end_token)},
                              {"clean_up_tokenization_spaces", false}, {"add_bos_token", false}, {"model_max_length", 1'000'000}};
    write_text(folder + "/tokenizer_config.json", config.dump(2) + "\n");
}

}  // namespace qwengpu::checkpoint
