// SPDX-License-Identifier: MIT
// Rules that hold for every file of the project that is written by hand: in sources a licence line first and at most
// 400 lines, in pages no link to a file that is not there.
#pragma once

#include <filesystem>
#include <fstream>
#include <regex>
#include <set>
#include <string>
#include <vector>

namespace qwengpu::test {

inline constexpr std::size_t longest_file = 400;  ///< lines

/// Whether this project writes files of that kind by hand, with a licence line in them.
inline bool is_source(const std::filesystem::path& path) {
    static const std::set<std::string> extensions{".hpp", ".cpp", ".cmake", ".sh", ".py"};
    return extensions.contains(path.extension().string()) || path.filename() == "CMakeLists.txt";
}

inline std::vector<std::string> read_lines(const std::filesystem::path& path) {
    std::ifstream file(path);
    std::vector<std::string> lines;
    for (std::string line; std::getline(file, line);) lines.push_back(line);
    return lines;
}

/// The licence line is the first one, or the second after a #! line.
inline bool has_licence(const std::vector<std::string>& lines) {
    const std::size_t at = !lines.empty() && lines[0].starts_with("#!") ? 1 : 0;
    return lines.size() > at &&
           (lines[at] == "// SPDX-License-Identifier: MIT" || lines[at] == "# SPDX-License-Identifier: MIT");
}

/// All violations in the sources under `root`, one line each: "file: why".
inline std::vector<std::string> house_violations(const std::filesystem::path& root) {
    std::set<std::string> violations;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(root)) {
        if (!entry.is_regular_file() || !is_source(entry.path())) continue;
        const auto name = entry.path().lexically_relative(root).generic_string();
        const auto lines = read_lines(entry.path());
        if (!has_licence(lines)) violations.insert(name + ": the licence line is missing");
        if (lines.size() > longest_file)
            violations.insert(name + ": " + std::to_string(lines.size()) + " lines, more than 400");
    }
    return {violations.begin(), violations.end()};
}

/// The targets of the links of a page that are files of the project, without what follows a #.
inline std::vector<std::string> links_of(const std::filesystem::path& page) {
    static const std::regex pattern(R"(\]\(([^)#\s]+)[^)]*\))");
    std::vector<std::string> targets;
    for (const auto& line : read_lines(page))
        for (std::sregex_iterator link(line.begin(), line.end(), pattern), end; link != end; ++link)
            if (const std::string target = (*link)[1]; target.find("://") == std::string::npos) targets.push_back(target);
    return targets;
}

/// The dead links of a page, one line each: "page: target".
inline std::vector<std::string> dead_links(const std::filesystem::path& page) {
    std::vector<std::string> dead;
    for (const auto& target : links_of(page))
        if (!std::filesystem::exists(page.parent_path() / target)) dead.push_back(page.filename().string() + ": " + target);
    return dead;
}

}  // namespace qwengpu::test
