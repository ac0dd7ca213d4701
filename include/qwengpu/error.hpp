// SPDX-License-Identifier: MIT
// The one exception of the library: a stable id, a message, and where there is one a place in a file.
// Ids are "room.what" ("ptx.parse"); they do not change between versions. A message names a place and a remedy.
#pragma once

#include <optional>
#include <stdexcept>
#include <string>
#include <utility>

namespace qwengpu {

/// A place in a text file. Lines and columns count from 1; 0 means not known.
struct place {
    std::string file{};
    int line = 0;
    int column = 0;

    friend bool operator==(const place&, const place&) = default;
};

/// "file:line:column", without the parts that are not known.
inline std::string to_string(const place& p) {
    std::string text = p.file;
    for (const int number : {p.line, p.line > 0 ? p.column : 0})
        if (number > 0) text += (text.empty() ? "" : ":") + std::to_string(number);
    return text;
}

/// Base of everything the library throws. `what()` is "file:line:column: message [id]".
class error : public std::runtime_error {
public:
    error(std::string id, std::string message, std::optional<place> where = std::nullopt)
        : std::runtime_error(describe(id, message, where)),
          id_(std::move(id)), message_(std::move(message)), where_(std::move(where)) {}

    [[nodiscard]] const std::string& id() const noexcept { return id_; }
    [[nodiscard]] const std::string& message() const noexcept { return message_; }
    [[nodiscard]] const std::optional<place>& where() const noexcept { return where_; }

private:
    static std::string describe(const std::string& id, const std::string& message, const std::optional<place>& where) {
        const std::string at = where ? to_string(*where) : std::string{};
        return (at.empty() ? "" : at + ": ") + message + " [" + id + "]";
    }

    std::string id_, message_;
    std::optional<place> where_;
};

}  // namespace qwengpu
