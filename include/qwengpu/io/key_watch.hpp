// SPDX-License-Identifier: MIT
// Sees a JSON document while it is parsed, and finds the first key that stands twice in its object: the parser itself would keep the
// last of them without a word.
#pragma once

#include <cstddef>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace qwengpu::io {

/// A callback for nlohmann::json::parse that lets everything through.
class key_watch {
public:
    bool operator()(nlohmann::json::parse_event_t event, const nlohmann::json& parsed) {
        using seen = nlohmann::json::parse_event_t;
        if (event == seen::object_end || event == seen::array_end) return open_.pop_back(), true;
        if (event == seen::key) return key(parsed.get<std::string>()), true;
        if (!open_.empty() && open_.back().is_array) ++open_.back().count;
        if (event != seen::value) open_.push_back({event == seen::array_start});
        return true;
    }

    [[nodiscard]] bool found() const { return twice_.has_value(); }
    /// The key, and the path of its object, as json_cursor writes it.
    [[nodiscard]] const std::string& key() const { return *twice_; }
    [[nodiscard]] const std::string& path() const { return path_; }

private:
    /// An array or object that is not closed yet. `count`: of elements that have begun.
    struct container {
        bool is_array = false;
        std::size_t count = 0;
        std::set<std::string> keys{};
        std::string last{};
    };

    void key(const std::string& name) {
        container& at = open_.back();
        at.last = name;
        if (at.keys.insert(name).second || found()) return;
        twice_ = name;
        for (std::size_t k = 0; k + 1 < open_.size(); ++k)
            path_ += open_[k].is_array ? fmt::format("/{}", open_[k].count - 1) : "/" + open_[k].last;
    }

    std::vector<container> open_;
    std::optional<std::string> twice_;  ///< the first such key
    std::string path_;
};

}  // namespace qwengpu::io
