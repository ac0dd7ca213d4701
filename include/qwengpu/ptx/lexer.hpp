// SPDX-License-Identifier: MIT
// Cuts PTX text into tokens, one at a time. Comments and white space vanish; places are lines and columns from 1.
// Errors are thrown as `syntax_error`, which the parser turns into diagnostics; no byte of the file is ever echoed raw.
#pragma once

#include <array>
#include <cstddef>
#include <stdexcept>
#include <string>
#include <string_view>

#include <qwengpu/ptx/diagnostics.hpp>
#include <qwengpu/ptx/number.hpp>
#include <qwengpu/ptx/token.hpp>

namespace qwengpu::ptx {

/// Thrown and caught inside the parser: what is wrong, and where.
struct syntax_error : std::runtime_error {
    syntax_error(place at, const std::string& message) : std::runtime_error(message), where(at) {}
    place where;
};

class lexer {
public:
    /// `text` must outlive the lexer and its tokens.
    explicit lexer(std::string_view text) : text_(text) {}

    /// The next token; `end` for ever after the last.
    token next() {
        const std::size_t before = at_;
        skip_blank();
        token t;
        t.where = here();
        t.glued = at_ == before && at_ > 0;
        if (at_ >= text_.size()) return t;
        const char c = text_[at_];
        if (detail::is_digit(c)) return number(t);
        if (c == '"') return string(t);
        if (c == '.' && detail::is_word_char(peek(1))) return dotted(t);
        if (starts_word()) return word(t);
        return punctuation(t);
    }

    /// Skips the rest of the line (old DWARF lines).
    void skip_line() {
        while (at_ < text_.size() && text_[at_] != '\n') ++at_;
    }

private:
    [[nodiscard]] char peek(std::size_t n) const { return at_ + n < text_.size() ? text_[at_ + n] : '\0'; }
    [[nodiscard]] place here() const {
        return {line_, static_cast<std::uint32_t>(at_ - line_start_ + 1)};
    }
    [[nodiscard]] bool starts_word() const {
        const char c = text_[at_];
        if (c == '%') return detail::is_word_char(peek(1));
        return detail::is_letter(c) || c == '_' || c == '$';
    }

    void advance() {
        if (text_[at_++] != '\n') return;
        ++line_;
        line_start_ = at_;
    }

    [[nodiscard]] bool begins_line() const {
        return text_.substr(line_start_, at_ - line_start_).find_first_not_of(" \t") == text_.npos;
    }

    void skip_blank() {
        while (at_ < text_.size()) {
            const char c = text_[at_];
            if (c == ' ' || c == '\t' || c == '\r' || c == '\n' || c == '\f' || c == '\v') advance();
            else if (c == '/' && peek(1) == '/') skip_line();
            else if (c == '/' && peek(1) == '*') skip_comment();
            else if (c == '#' && begins_line()) skip_line();  // # 1 "k.ptx": a preprocessor's marker
            else break;
        }
    }

    void skip_comment() {
        const place start = here();
        const std::size_t end = text_.find("*/", at_ + 2);
        const std::size_t stop = end == text_.npos ? text_.size() : end + 2;
        while (at_ < stop) advance();
        if (end == text_.npos) throw syntax_error(start, "this comment is never closed: the file ends before its */");
    }

    token take(token& t, token_kind kind, std::size_t length) {
        t.kind = kind;
        t.text = text_.substr(at_, length);
        at_ += length;
        return t;
    }

    token number(token& t) {
        take(t, token_kind::integer, detail::number_length(text_.substr(at_)));
        if (!detail::read_number(t))
            throw syntax_error(t.where, "'" + printable(t.text) + "' is no number of PTX, or does not fit 64 bits");
        return t;
    }

    [[nodiscard]] bool escaped(std::size_t n) const {
        return text_[n] == '\\' && n + 1 < text_.size() && text_[n + 1] != '\n';
    }

    token string(token& t) {
        std::size_t end = at_ + 1;
        while (end < text_.size() && text_[end] != '"' && text_[end] != '\n') end += escaped(end) ? 2U : 1U;
        if (end >= text_.size() || text_[end] != '"') {
            skip_line();
            throw syntax_error(t.where, "this string is never closed: expected '\"' before the end of the line");
        }
        take(t, token_kind::string, end + 1 - at_);
        t.text = t.text.substr(1, t.text.size() - 2);
        return t;
    }

    [[nodiscard]] std::size_t word_end(std::size_t from) const {
        while (from < text_.size() && detail::is_word_char(text_[from])) ++from;
        return from;
    }

    token word(token& t) { return take(t, token_kind::word, word_end(at_ + 1) - at_); }

    token dotted(token& t) {
        std::size_t end = word_end(at_ + 1);
        while (text_.substr(end, 2) == "::") end = word_end(end + 2);
        take(t, token_kind::dotted, end - at_);
        t.text.remove_prefix(1);
        return t;
    }

    token punctuation(token& t) {
        static constexpr std::array<std::string_view, 8> pairs{"<<", ">>", "<=", ">=", "==", "!=", "&&", "||"};
        for (std::string_view p : pairs)
            if (text_.substr(at_, 2) == p) return take(t, token_kind::punct, 2);
        static constexpr std::string_view single = ",;()[]{}<>|@!+-~*/%:?=&^.";
        if (single.find(text_[at_]) != single.npos) return take(t, token_kind::punct, 1);
        const char bad = text_[at_++];
        throw syntax_error(t.where, "the character " + spelled(bad) + " does not belong to PTX here");
    }

    static std::string spelled(char c) {
        static constexpr std::string_view hex = "0123456789abcdef";
        if (c >= 0x20 && c <= 0x7e) return std::string("'") + c + "'";
        const auto byte = static_cast<unsigned char>(c);
        return std::string("0x") + hex[byte >> 4] + hex[byte & 15];
    }

    std::string_view text_;
    std::size_t at_ = 0, line_start_ = 0;
    std::uint32_t line_ = 1;
};

}  // namespace qwengpu::ptx
