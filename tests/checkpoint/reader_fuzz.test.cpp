// SPDX-License-Identifier: MIT
// Readers of safetensors, GGUF, JSON and compact files on damaged files: whatever the bytes, they are read or refused with our
// error. A moment each; tests/fuzz has the long runs.
#include <qwengpu/error.hpp>

#include "support/catch.hpp"
#include "support/checkpoint_files.hpp"

#include <chrono>
#include <cstdint>
#include <functional>
#include <random>
#include <string>
#include <vector>

namespace {

using namespace qwengpu;
using reader = std::function<std::uint64_t(const std::string&)>;

struct format {
    const char* name;
    std::string good;
    reader read;
};

std::vector<format> formats() {
    return {{"safetensors", test::good_tensors(), test::read_tensors}, {"GGUF", test::good_gguf(), test::read_gguf_file},
            {"config.json", test::good_config(), test::read_config_text}, {"index", test::good_index(), test::read_index_text},
            {"qwengpu.json", test::good_note(), test::read_note_text}, {"tokenizer.json", test::good_tokenizer(), test::read_tokenizer_text},
            {"compact file", test::good_sparse(), test::read_sparse}, {"body of a compact file", test::good_sparse_body(), test::read_sparse_body}};
}

/// A few changes of the kinds files suffer, and of those that a parser's bugs like.
std::string damaged(std::string bytes, std::mt19937& random) {
    const auto below = [&](std::size_t n) { return static_cast<std::size_t>(random()) % n; };
    for (auto changes = 1 + below(4); changes > 0 && !bytes.empty(); --changes) {
        const auto at = below(bytes.size());
        switch (below(7)) {
            case 0: bytes[at] = static_cast<char>(random()); break;
            case 1: bytes[at] = static_cast<char>(bytes[at] ^ (1 << below(8))); break;
            case 2: bytes.resize(at); break;
            case 3: bytes.insert(at, bytes.substr(below(bytes.size()), below(20))); break;
            case 4: bytes.erase(at, 1 + below(8)); break;
            case 5: bytes.replace(at, std::min<std::size_t>(8, bytes.size() - at), std::string(8, below(2) == 0 ? '\xff' : '\0')); break;
            default: bytes[at] = "{}[]\",:0129-e."[below(14)]; break;
        }
    }
    return bytes;
}

struct tally {
    std::size_t read = 0, refused = 0;
};

tally fuzz(const std::string& good, const reader& read, double seconds, unsigned seed) {
    std::mt19937 random(seed);
    tally t;
    const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds);
    do {
        for (int i = 0; i < 200; ++i) {
            try {
                read(damaged(good, random));
                ++t.read;
            } catch (const error&) {
                ++t.refused;
            }
        }
    } while (std::chrono::steady_clock::now() < end);
    return t;
}

}  // namespace

TEST_CASE("damaged files are read or refused") {
    for (const auto& f : formats()) {
        INFO(f.name);
        REQUIRE_NOTHROW(f.read(f.good));
        const auto t = fuzz(f.good, f.read, 0.05, 7);
        CHECK(t.refused > t.read / 10);
    }
}

TEST_CASE("files cut off at any byte are refused") {
    for (const auto& f : formats()) {
        INFO(f.name);
        const auto whole = f.good.find_last_not_of(" \n") + 1;
        const bool is_text = f.good.front() == '{';
        for (std::size_t size = 0; size < (is_text ? whole : f.good.size()); ++size) {
            INFO(size);
            CHECK_THROWS_AS(f.read(f.good.substr(0, size)), error);
        }
    }
}

TEST_CASE("JSON nested without end is refused, not copied until the stack is full") {
    std::string deep = R"({"x":)" + std::string(100'000, '[') + std::string(100'000, ']') + "}";
    CHECK_THROWS_AS(test::read_config_text(deep), error);
    CHECK_THROWS_AS(test::read_tokenizer_text(deep), error);
    CHECK_THROWS_AS(test::read_config_text(deep.substr(0, 50'000)), error);
}
