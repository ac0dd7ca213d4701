// SPDX-License-Identifier: MIT
// A launch of the corpus (tests/kernels/README.md) as words: what the compiler's tests need of it, 32-bit buffers and numbers.
#pragma once

#include <cstdint>
#include <fstream>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "run_kernel.hpp"

namespace qwengpu::test {

struct corpus_case {
    std::string name, source, kernel;
    machine::extent grid{}, block{};
    std::vector<kernel_argument> arguments;
    std::vector<words> expected;  ///< of the buffers, in the order of the arguments
};

inline std::uint32_t word_of(const nlohmann::json& value) {
    if (value.is_string()) return static_cast<std::uint32_t>(std::stoll(value.get<std::string>(), nullptr, 0));
    return static_cast<std::uint32_t>(value.get<std::int64_t>());
}

inline words words_of(const nlohmann::json& values) {
    words all;
    for (const auto& v : values) all.push_back(word_of(v));
    return all;
}

inline corpus_case case_of(const nlohmann::json& from) {
    const auto extent_of = [](const nlohmann::json& e) {
        return machine::extent{e[0].get<std::uint32_t>(), e[1].get<std::uint32_t>(), e[2].get<std::uint32_t>()};
    };
    corpus_case c{from["name"], from["source"], from["kernel"], extent_of(from["grid"]), extent_of(from["block"]), {}, {}};
    for (const auto& a : from["args"]) {
        if (!a.contains("buffer")) {
            c.arguments.push_back(number(word_of(a["value"])));
            continue;
        }
        c.arguments.push_back(buffer_of(a.contains("zeros") ? words(a["zeros"].get<std::size_t>()) : words_of(a["data"])));
        c.expected.push_back(words_of(from["expect"][a["buffer"].get<std::string>()]));
    }
    return c;
}

/// The cases of a file under tests/kernels/cases that launch this kernel.
inline std::vector<corpus_case> cases_of(const std::string& file, const std::string& kernel) {
    std::ifstream in(std::string(QWENGPU_TEST_DATA) + "/kernels/cases/" + file + ".json");
    std::vector<corpus_case> found;
    for (const auto& c : nlohmann::json::parse(in))
        if (c["kernel"] == kernel) found.push_back(case_of(c));
    return found;
}

}  // namespace qwengpu::test
