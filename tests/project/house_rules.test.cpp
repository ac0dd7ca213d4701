// SPDX-License-Identifier: MIT
// Licence lines and the length of files, for the whole project; and the check itself on files made for it.
#include "support/house_rules.hpp"

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "support/catch.hpp"

namespace {

namespace fs = std::filesystem;
namespace test = qwengpu::test;

const fs::path tests = QWENGPU_TEST_DATA;

/// A folder of its own that is removed in the end.
struct scratch_folder {
    fs::path path = fs::temp_directory_path() / "qwengpu_house_rules";
    scratch_folder() { fs::create_directories(path); }
    scratch_folder(const scratch_folder&) = delete;
    scratch_folder& operator=(const scratch_folder&) = delete;
    ~scratch_folder() { fs::remove_all(path); }
};

void write_lines(const fs::path& path, std::size_t count) {
    std::ofstream file(path);
    file << "// SPDX-License-Identifier: MIT\n";
    for (std::size_t line = 1; line < count; ++line) file << "//\n";
}

}  // namespace

TEST_CASE("the library, its programs and its build files keep the house rules") {
    for (const auto* folder : {"include", "examples", "bench", "cmake"}) {
        INFO(folder);
        CHECK(test::house_violations(tests / ".." / folder) == std::vector<std::string>{});
    }
}

TEST_CASE("the tests keep the house rules") {
    auto violations = test::house_violations(tests);
    std::erase_if(violations, [](const std::string& line) { return line.starts_with("project/fixtures/"); });
    CHECK(violations == std::vector<std::string>{});
}

TEST_CASE("no page has a dead link") {
    auto dead = test::dead_links(tests / "../README.md");
    for (const auto& entry : fs::recursive_directory_iterator(tests / "../docs"))
        if (entry.path().extension() == ".md")
            for (const auto& link : test::dead_links(entry.path())) dead.push_back(link);
    CHECK(dead == std::vector<std::string>{});
}

TEST_CASE("a dead link is found, a good one is not") {
    const auto page = tests / "project/fixtures/bad_house/page.md";
    CHECK(test::links_of(page) == std::vector<std::string>{"no_licence.hpp", "good.sh", "missing.md"});
    CHECK(test::dead_links(page) == std::vector<std::string>{"page.md: missing.md"});
}

TEST_CASE("a missing licence line is found") {
    const std::vector<std::string> expected{"no_licence.hpp: the licence line is missing",
                                            "no_licence.sh: the licence line is missing"};
    CHECK(test::house_violations(tests / "project/fixtures/bad_house") == expected);
}

TEST_CASE("400 lines are allowed, 401 are not") {
    const scratch_folder folder;
    write_lines(folder.path / "long.cpp", 400);
    write_lines(folder.path / "longer.cpp", 401);
    CHECK(test::house_violations(folder.path) == std::vector<std::string>{"longer.cpp: 401 lines, more than 400"});
}
