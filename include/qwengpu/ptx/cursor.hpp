// SPDX-License-Identifier: MIT
// The parser's view of the tokens: look two ahead, accept, expect. What is not as expected is thrown as a `syntax_error`
// that says what was expected, what was found, and, at the end of the file, inside what the file ended.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include <qwengpu/ptx/lexer.hpp>

namespace qwengpu::ptx {

class cursor {
public:
    explicit cursor(std::string_view text) : lexer_(text) {}

    /// The token `n` places ahead, n = 0 or 1.
    const token& peek(std::size_t n = 0) {
        while (count_ <= n) {
            const token t = lexer_.next();
            ahead_[count_++] = t;
        }
        return ahead_[n];
    }
    token take() {
        const token t = peek();
        last_ = t.where;
        ahead_[0] = std::exchange(ahead_[1], token{});
        --count_;
        return t;
    }
    [[nodiscard]] bool at_end() { return peek().kind == token_kind::end; }
    [[nodiscard]] bool at(std::string_view punctuation) { return peek().is(punctuation); }
    [[nodiscard]] bool at_dotted(std::string_view name) { return peek().is_dotted(name); }

    bool accept(std::string_view punctuation) { return take_if(at(punctuation)); }
    bool accept_dotted(std::string_view name) { return take_if(at_dotted(name)); }
    bool accept_word(std::string_view name) { return take_if(peek().is_word(name)); }

    void expect(std::string_view punctuation) {
        if (!accept(punctuation)) fail("expected '" + std::string(punctuation) + "'");
    }
    token expect(token_kind kind, std::string_view what) {
        if (peek().kind != kind) fail("expected " + std::string(what));
        return take();
    }
    std::uint64_t expect_integer(std::string_view what) { return expect(token_kind::integer, what).value; }

    /// Throws "<expected>, found ..." at the next token.
    [[noreturn]] void fail(const std::string& expected) {
        const token& t = peek();
        if (t.kind == token_kind::end)
            throw syntax_error(t.where, "unexpected end of file: the file ends inside " + inside_ + " (" + expected + ")");
        throw syntax_error(t.where, expected + ", found " + spelled(t));
    }

    /// After an error in the statement of a body: skips to behind its `;`, or to the brace that closes the body. Braces of operands
    /// are skipped with it. Returns how many braces stand open then: they were no operands but scopes, behind a missing `;`.
    std::size_t skip_statement() {
        for (std::size_t open = 0;;) {
            const token t = quiet_peek();
            if (t.kind == token_kind::end) return open;
            if (t.is("}") && open == 0 && !closes_operand()) return 0;
            if (t.is("{")) ++open;
            if (t.is("}") && open > 0) --open;
            take();
            if (t.is(";")) return open;
        }
    }
    /// After an error between functions: skips to behind the `;` or the `}` that ends the declaration.
    void skip_declaration() {
        for (std::size_t open = 0;;) {
            const token t = quiet_peek();
            if (t.kind == token_kind::end) return;
            take();
            if (t.is("{")) ++open;
            if (t.is("}") && open > 0) --open;
            if (open == 0 && (t.is(";") || t.is("}"))) return;
        }
    }
    /// Whether an error at `where` is only what the end of the file made of its last token.
    bool cut_off_at(place where) { return quiet_peek().kind == token_kind::end && (where == last_ || where == quiet_peek().where); }

    void skip_line() {
        count_ = 0;
        lexer_.skip_line();
    }

    /// What the parser is in, for the message at an unexpected end of file: "the body of kernel k".
    void set_inside(std::string what) { inside_ = std::move(what); }

    /// A token for a message: '.s32', a string, 'end of file'.
    static std::string spelled(const token& t) {
        if (t.kind == token_kind::end) return "the end of the file";
        if (t.kind == token_kind::string) return "a string";
        return std::string(t.kind == token_kind::dotted ? "'." : "'") + printable(t.text) + "'";
    }

private:
    bool take_if(bool wanted) {
        if (wanted) take();
        return wanted;
    }
    /// As peek, but passes over bytes that are no tokens: their error has been said, or follows from one that has.
    token quiet_peek(std::size_t n = 0) {
        for (;;) try {
                return peek(n);
            } catch (const syntax_error&) {
            }
    }
    bool closes_operand() {
        const token t = quiet_peek(1);
        return t.is(",") || t.is(";") || t.is("]");
    }

    lexer lexer_;
    token ahead_[2];
    std::size_t count_ = 0;
    place last_{};
    std::string inside_ = "its first lines";
};

}  // namespace qwengpu::ptx
