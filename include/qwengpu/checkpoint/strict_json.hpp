// SPDX-License-Identifier: MIT
// JSON as checkpoints need it: no key twice (of which the parser would keep the last silently), and errors that name
// the byte of the file where something is wrong.
#pragma once

#include <qwengpu/error.hpp>

#include <cstddef>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace qwengpu::checkpoint {

using json = nlohmann::json;
using ordered_json = nlohmann::ordered_json;

/// An error at a byte of a file: "model.safetensors: at byte 12: ...".
inline error error_at(const char* id, const std::string& file, std::size_t byte, const std::string& what) {
    return {id, "at byte " + std::to_string(byte) + ": " + what, place{file, 0, 0}};
}

namespace detail {

/// No document of a checkpoint is nested deeper; copies of one that is could use up the stack.
inline constexpr int deepest_json = 64;
struct too_deep {};

/// Sees every key of a document as it is parsed; remembers the first that stands twice in its object.
class duplicate_watch {
public:
    bool operator()(int depth, json::parse_event_t event, json& parsed) {
        if (depth > deepest_json) throw too_deep{};
        if (event == json::parse_event_t::object_start) open_.emplace_back();
        if (event == json::parse_event_t::object_end) open_.pop_back();
        if (event == json::parse_event_t::key && !open_.back().insert(parsed.get<std::string>()).second && twice_.empty())
            twice_ = parsed.get<std::string>(), found_ = true;
        return true;
    }
    [[nodiscard]] bool found() const { return found_; }
    [[nodiscard]] const std::string& key() const { return twice_; }

private:
    std::vector<std::set<std::string>> open_;
    std::string twice_;
    bool found_ = false;
};

}  // namespace detail

/// The document in `text`, which stands at byte `offset` of `file`.
/// @throws error `id` with the byte of the file where the text is no JSON, or with the key that stands twice.
inline json parse_strictly(const char* id, const std::string& file, std::string_view text, std::size_t offset = 0) {
    detail::duplicate_watch watch;
    json document;
    try {
        document = json::parse(text.begin(), text.end(), [&watch](int depth, json::parse_event_t event, json& parsed) { return watch(depth, event, parsed); });
    } catch (const detail::too_deep&) {
        throw error_at(id, file, offset, "the JSON is nested deeper than " + std::to_string(detail::deepest_json) + " levels");
    } catch (const json::exception& e) {
        const auto* parse = dynamic_cast<const json::parse_error*>(&e);
        throw error_at(id, file, offset + (parse != nullptr && parse->byte > 0 ? parse->byte - 1 : 0), "this is not valid JSON");
    }
    if (watch.found()) throw error_at(id, file, offset, "the key \"" + watch.key() + "\" stands twice in one object");
    return document;
}

}  // namespace qwengpu::checkpoint
