// SPDX-License-Identifier: MIT
// Which room may include which. The emulator and the network may meet only in diff/ (and above it), or the comparison
// of the two would prove nothing; so reaching the emulator through another header counts as well.
#pragma once

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <string>
#include <vector>

namespace qwengpu::test {

/// What the headers of one room may include: other rooms, and libraries that are not ours.
struct room_rule {
    std::set<std::string> rooms;
    std::set<std::string> libraries;
};

/// The table. A room may always include itself, error.hpp, and the standard library.
inline const std::map<std::string, room_rule>& include_rules() {
    static const std::map<std::string, room_rule> rules{
        {"error", {{}, {"fmt"}}},
        {"machine", {{}, {}}},
        {"nn", {{}, {"Eigen", "fmt"}}},
        {"cuda", {{}, {"fmt"}}},
        {"ptx", {{"machine"}, {"fmt"}}},
        {"text", {{"machine"}, {"fmt"}}},
        {"circuit", {{"nn"}, {"Eigen", "fmt"}}},
        {"stage", {{"circuit", "nn", "text", "machine"}, {"Eigen", "fmt"}}},
        {"checkpoint", {{"nn"}, {"Eigen", "fmt", "nlohmann"}}},
        {"diff", {{"machine", "text"}, {"fmt"}}},
        {"view", {{"diff", "text", "machine"}, {"fmt", "nlohmann"}}},
        {"launch", {{"machine", "nn", "cuda", "ptx", "text", "circuit", "stage", "diff", "view"}, {"Eigen", "fmt"}}},
        {"io", {{"machine", "cuda", "ptx", "text", "diff", "view", "launch"}, {"fmt", "nlohmann"}}},
    };
    return rules;
}

/// Rooms from which no chain of includes may lead to the emulator.
inline const std::set<std::string>& rooms_without_emulator() {
    static const std::set<std::string> rooms{"nn", "cuda", "ptx", "text", "circuit", "stage", "checkpoint"};
    return rooms;
}

/// The headers that run a machine: the emulator and its parts.
inline bool is_emulator(const std::string& header) {
    static const std::set<std::string> parts{"machine/emulator.hpp", "machine/evaluation.hpp", "machine/scheduler.hpp"};
    return parts.contains(header);
}

/// Room of a header named relative to include/qwengpu; launch.hpp at the top belongs to the room launch.
inline std::string room_of(const std::string& header) { return header.substr(0, header.find_first_of("/.")); }

/// The name as it would be written in <>: a header beside `header` in the tree is named from the root.
inline std::string full_name(const std::filesystem::path& root, const std::string& header, const std::string& name) {
    const auto beside = (std::filesystem::path(header).parent_path() / name).lexically_normal();
    return std::filesystem::exists(root / beside) ? "qwengpu/" + beside.generic_string() : name;
}

/// For each header under `root`, named relative to it, the full names it includes.
inline std::map<std::string, std::vector<std::string>> read_includes(const std::filesystem::path& root) {
    static const std::regex pattern(R"(^\s*#\s*include\s*["<]([^">]+)[">])");
    std::map<std::string, std::vector<std::string>> includes;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(root)) {
        if (entry.path().extension() != ".hpp") continue;
        const auto header = entry.path().lexically_relative(root).generic_string();
        auto& names = includes[header];
        std::ifstream file(entry.path());
        std::smatch match;
        for (std::string line; std::getline(file, line);)
            if (std::regex_search(line, match, pattern)) names.push_back(full_name(root, header, match[1]));
    }
    return includes;
}

/// Why a header of `room` may not include `name`, or an empty string if it may.
inline std::string objection(const std::string& room, const std::string& name) {
    const auto rule = include_rules().find(room);
    if (rule == include_rules().end()) return "room " + room + " has no row in the table of include directions";
    if (name.starts_with("qwengpu/")) {
        const auto target = room_of(name.substr(8));
        const bool allowed = target == room || target == "error" || rule->second.rooms.contains(target);
        return allowed ? "" : room + " may not include " + target;
    }
    static const std::set<std::string> libraries{"Eigen", "fmt", "nlohmann", "CLI", "catch2", "rapidcheck"};
    const auto library = room_of(name);
    const bool allowed = !libraries.contains(library) || rule->second.libraries.contains(library);
    return allowed ? "" : room + " may not include the library " + library;
}

/// Every header reached from `header` through our own includes.
inline std::set<std::string> reached_from(const std::map<std::string, std::vector<std::string>>& includes,
                                          const std::string& header) {
    std::set<std::string> reached;
    std::vector<std::string> open{header};
    while (!open.empty()) {
        const auto current = open.back();
        open.pop_back();
        const auto names = includes.find(current);
        if (names == includes.end()) continue;
        for (const auto& name : names->second)
            if (name.starts_with("qwengpu/") && reached.insert(name.substr(8)).second) open.push_back(name.substr(8));
    }
    return reached;
}

/// All violations under `root`, one line each: "header: why".
inline std::vector<std::string> include_violations(const std::filesystem::path& root) {
    std::vector<std::string> violations;
    const auto includes = read_includes(root);
    for (const auto& [header, names] : includes) {
        const auto room = room_of(header);
        for (const auto& name : names)
            if (const auto why = objection(room, name); !why.empty())
                violations.push_back(header + ": " + why + " (" + name + ")");
        if (!rooms_without_emulator().contains(room)) continue;
        for (const auto& reached : reached_from(includes, header))
            if (is_emulator(reached)) violations.push_back(header + ": reaches the emulator (" + reached + ")");
    }
    return violations;
}

}  // namespace qwengpu::test
