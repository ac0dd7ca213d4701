// SPDX-License-Identifier: MIT
// Words as tokens: one `short` where the word fits, else `lo` and then `hi`.
#pragma once

#include <qwengpu/text/vocabulary.hpp>

#include <cstdint>
#include <optional>
#include <vector>

namespace qwengpu::text {

/// Appends the tokens of a word.
template <machine::sizes M = machine::mission>
void put_word(std::vector<token>& out, std::uint32_t word) {
    using V = vocabulary<M>;
    if (V::fits_short(word)) return out.push_back(V::encode(token_class::short_word, word));
    out.push_back(V::encode(token_class::lo, word & 0xffff));
    out.push_back(V::encode(token_class::hi, word >> 16));
}

/// Puts words together again, token by token.
template <machine::sizes M = machine::mission>
class word_reader {
public:
    /// Whether a token can go on from here.
    [[nodiscard]] bool takes(token_class c) const {
        return half_read_ ? c == token_class::hi : c == token_class::lo || c == token_class::short_word;
    }

    /// Whether the low half is read and the high half is to come.
    [[nodiscard]] bool half_read() const { return half_read_; }

    /// Takes a token; the word, if this token completes it.
    std::optional<std::uint32_t> take(const decoded_token& t) {
        if (t.id == token_class::short_word) return vocabulary<M>::sign_extended(t.first);
        half_read_ = t.id == token_class::lo;
        if (!half_read_) return low_ | t.first << 16;
        low_ = t.first;
        return std::nullopt;
    }

private:
    std::uint32_t low_ = 0;
    bool half_read_ = false;
};

}  // namespace qwengpu::text
