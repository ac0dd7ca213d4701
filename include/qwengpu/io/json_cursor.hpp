// SPDX-License-Identifier: MIT
// A place in a JSON document that knows its path, so that every complaint names the file and where in it:
// `cases.json: at /3/args/0/type: ...`. Keys that nobody asked for are refused, so that a typo is no silent default.
#pragma once

#include <qwengpu/error.hpp>
#include <qwengpu/io/key_watch.hpp>

#include <algorithm>
#include <cstdint>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <fstream>
#include <initializer_list>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace qwengpu::io {

using json = nlohmann::json;

/// A value inside a JSON document. Refers to the document, which must outlive it.
class json_cursor {
public:
    json_cursor(const json& value, std::string file, std::string path = {})
        : value_(&value), file_(std::move(file)), path_(std::move(path)) {}

    [[nodiscard]] const json& value() const { return *value_; }
    [[nodiscard]] const std::string& file() const { return file_; }

    /// An error ("io.format") that names this place.
    [[nodiscard]] error complaint(std::string_view message) const {
        return {"io.format", fmt::format("at {}: {}", path_.empty() ? "/" : path_, message), place{file_, 0, 0}};
    }

    [[nodiscard]] bool has(const char* key) const { return value_->is_object() && value_->contains(key); }

    /// Member of an object; refused if it is not there.
    [[nodiscard]] json_cursor at(const char* key) const {
        if (!value_->is_object()) throw complaint(fmt::format("an object is wanted here, not {}", kind()));
        if (!value_->contains(key)) throw complaint(fmt::format("the key \"{}\" is missing", key));
        return {(*value_)[key], file_, path_ + "/" + key};
    }

    /// The elements of an array.
    [[nodiscard]] std::vector<json_cursor> items() const {
        if (!value_->is_array()) throw complaint(fmt::format("an array is wanted here, not {}", kind()));
        std::vector<json_cursor> all;
        for (std::size_t i = 0; i < value_->size(); ++i) all.emplace_back((*value_)[i], file_, fmt::format("{}/{}", path_, i));
        return all;
    }

    [[nodiscard]] std::string text() const {
        if (!value_->is_string()) throw complaint(fmt::format("a string is wanted here, not {}", kind()));
        return value_->get<std::string>();
    }

    [[nodiscard]] std::int64_t integer() const {
        if (!value_->is_number_integer()) throw complaint(fmt::format("a whole number is wanted here, not {}", value_->is_number() ? value_->dump() : kind()));
        if (value_->is_number_unsigned() && value_->get<std::uint64_t>() > INT64_MAX) throw complaint("the number is too large");
        return value_->get<std::int64_t>();
    }

    /// Refuses an object with a key that is not listed.
    void allow_keys(std::initializer_list<std::string_view> known) const {
        if (!value_->is_object()) throw complaint(fmt::format("an object is wanted here, not {}", kind()));
        for (const auto& [key, unused] : value_->items())
            if (std::find(known.begin(), known.end(), key) == known.end())
                throw complaint(fmt::format("unknown key \"{}\"; the keys here are {}", key, fmt::join(known, ", ")));
    }

private:
    [[nodiscard]] std::string kind() const {
        return value_->is_null() ? "null" : fmt::format("{} {}", value_->is_array() ? "an" : "a", value_->type_name());
    }

    const json* value_;
    std::string file_, path_;
};

/// The JSON document of a file. Errors: "io.file" (cannot be read), "io.format" (is no JSON, with the parser's place; has a key twice).
inline json read_json(const std::string& file) {
    std::ifstream in(file, std::ios::binary);
    const std::string text{std::istreambuf_iterator<char>(in), {}};
    if (!in) throw error("io.file", "the file cannot be read; does it exist?", place{file, 0, 0});
    try {
        key_watch watch;
        auto document = json::parse(text, [&watch](int, json::parse_event_t event, json& parsed) { return watch(event, parsed); });
        if (watch.found()) throw json_cursor(document, file, watch.path()).complaint(fmt::format("the key \"{}\" stands twice here; keep one of them", watch.key()));
        return document;
    } catch (const json::parse_error& e) {
        const auto upto = text.begin() + static_cast<std::ptrdiff_t>(std::min(e.byte, text.size()));
        const auto line = 1 + std::count(text.begin(), upto, '\n');
        throw error("io.format", "this is not valid JSON here", place{file, static_cast<int>(line), 0});
    }
}

}  // namespace qwengpu::io
