// SPDX-License-Identifier: MIT
// A token of PTX. Texts are views into the source; names of registers keep their `%`, dotted words lose their dot.
#pragma once

#include <cstdint>
#include <string_view>

#include <qwengpu/ptx/types.hpp>

namespace qwengpu::ptx {

enum class token_kind : std::uint8_t {
    end,      ///< of the file
    word,     ///< add, %r1, $L__BB0_1, _
    dotted,   ///< .s32, .L2::128B; text is without the first dot
    integer,  ///< value
    f32,      ///< value: bits of 0fXXXXXXXX
    f64,      ///< value: bits of 0dX..X, or of a decimal like 1.5e3
    string,   ///< text is without the quotes
    punct     ///< text is one character, or one of << >> <= >= == != && ||
};

struct token {
    token_kind kind = token_kind::end;
    bool is_unsigned = false;  ///< integer with U, or above 2^63 - 1
    bool glued = false;        ///< nothing stands between this token and the one before
    std::string_view text{};
    std::uint64_t value = 0;
    place where{};

    [[nodiscard]] bool is(std::string_view punctuation) const { return kind == token_kind::punct && text == punctuation; }
    [[nodiscard]] bool is_dotted(std::string_view name) const { return kind == token_kind::dotted && text == name; }
    [[nodiscard]] bool is_word(std::string_view name) const { return kind == token_kind::word && text == name; }
};

}  // namespace qwengpu::ptx
