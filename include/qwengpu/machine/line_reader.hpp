// SPDX-License-Identifier: MIT
// Reads one line of assembly from left to right: marks, names and numbers; what is wrong is said with line and column.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>

#include <qwengpu/error.hpp>

namespace qwengpu::machine::detail {

/// Reads one line of assembly from left to right.
class line_reader {
public:
    line_reader(std::string_view text, int line) : text_(text.substr(0, text.find(';'))), line_(line) {}

    [[noreturn]] void fail(const std::string& what) const {
        throw error("machine.assembly", what, place{"", line_, static_cast<int>(at_) + 1});
    }

    bool at_end() {
        at_ = std::min(text_.find_first_not_of(" \t\r", at_), text_.size());
        return at_ == text_.size();
    }

    bool accept(std::string_view mark) {
        if (at_end() || !text_.substr(at_).starts_with(mark)) return false;
        at_ += mark.size();
        return true;
    }

    void expect(std::string_view mark) {
        if (!accept(mark)) fail("here should be '" + std::string(mark) + "'");
    }

    /// Letters, digits and the given other characters.
    std::string_view word(std::string_view others = "_") {
        if (at_end()) fail("the line ends too early");
        const std::size_t from = at_;
        const auto belongs = [&](char c) {
            return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                   others.find(c) != std::string_view::npos;
        };
        while (at_ < text_.size() && belongs(text_[at_])) ++at_;
        if (at_ == from) fail("here should be a name");
        return text_.substr(from, at_ - from);
    }

    /// A decimal number from `first` to `last`.
    int number(int first, int last) {
        const bool negative = accept("-");
        long value = 0;
        for (const char digit : word("")) {
            if (digit < '0' || digit > '9') fail("here should be a decimal number");
            value = std::min(value * 10 + (digit - '0'), 1'000'000L);
        }
        value = negative ? -value : value;
        if (value < first || value > last)
            fail("a number from " + std::to_string(first) + " to " + std::to_string(last) + " is wanted");
        return static_cast<int>(value);
    }

private:
    std::string_view text_;
    int line_;
    std::size_t at_ = 0;
};

}  // namespace qwengpu::machine::detail
