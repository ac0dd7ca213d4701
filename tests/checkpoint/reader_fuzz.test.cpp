// SPDX-License-Identifier: MIT
// Readers of safetensors, GGUF and JSON on damaged files: whatever the bytes, they are read or refused with our error. A moment
// by default; the heavy ones run ten minutes each (QWENGPU_FUZZ_SECONDS), best under sanitizers.
#include <qwengpu/checkpoint/config.hpp>
#include <qwengpu/checkpoint/gguf_reader.hpp>
#include <qwengpu/checkpoint/safetensors_header.hpp>
#include <qwengpu/checkpoint/safetensors_writer.hpp>

#include "support/catch.hpp"

#include <chrono>
#include <cstdlib>
#include <functional>
#include <random>
#include <string>
#include <vector>

namespace {

using namespace qwengpu;
using namespace qwengpu::checkpoint;
using reader = std::function<void(const std::string&)>;

std::span<const std::byte> as_bytes(const std::string& s) { return std::as_bytes(std::span(s)); }

void read_tensors(const std::string& bytes) {
    const auto header = read_safetensors_header("f", as_bytes(bytes));
    for (const auto& t : header.tensors) (void)as_bytes(bytes).subspan(static_cast<std::size_t>(header.data_begin + t.begin), static_cast<std::size_t>(t.end - t.begin)).size();
}
void read_gguf_file(const std::string& bytes) { (void)read_gguf("f", as_bytes(bytes)); }
void read_config_text(const std::string& bytes) { (void)parse_config(parse_strictly("checkpoint.config", "f", bytes), "f"); }

std::string good_tensors() {
    const auto plan = [](const char* name, std::vector<std::uint64_t> shape) { return planned_tensor{name, element_type::bf16, std::move(shape), {}}; };
    return safetensors_head({plan("model.norm.weight", {4}), plan("a", {2, 3}), plan("empty", {0, 5})}, {{"format", "pt"}}) + std::string(20, 'x');
}

std::string good_gguf() {
    gguf_metadata kv;
    kv.add("general.architecture", "qwen35");
    kv.add("tokens", std::vector<std::string>{"a", "bc"});
    kv.add("flags", std::vector<bool>{true, false});
    return gguf_head(kv, {{"token_embd.weight", element_type::f32, {2, 4}, {}}, {"b", element_type::bf16, {3}, {}}}) + std::string(64, '\0');
}

std::string good_config() {
    model_config c;
    c.vocabulary = 10;
    c.full_attention = {false, true};
    return text_config(c, "bfloat16", 1).dump();
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

void fuzz_all(const std::string& good, const reader& read, double seconds) {
    REQUIRE_NOTHROW(read(good));
    const auto t = fuzz(good, read, seconds, 1);
    WARN(t.read << " damaged files were read, " << t.refused << " refused");
    CHECK(t.refused > t.read / 10);
}

double long_time() {
    const char* seconds = std::getenv("QWENGPU_FUZZ_SECONDS");
    return seconds != nullptr ? std::atof(seconds) : 600;
}

}  // namespace

TEST_CASE("damaged files are read or refused") {
    for (const auto& [good, read] : {std::pair<std::string, reader>{good_tensors(), read_tensors}, {good_gguf(), read_gguf_file}, {good_config(), read_config_text}}) {
        REQUIRE_NOTHROW(read(good));
        const auto t = fuzz(good, read, 0.2, 7);
        CHECK(t.refused > t.read / 10);
    }
}

TEST_CASE("damaged safetensors files, for long", "[.heavy]") { fuzz_all(good_tensors(), read_tensors, long_time()); }
TEST_CASE("damaged GGUF files, for long", "[.heavy]") { fuzz_all(good_gguf(), read_gguf_file, long_time()); }
TEST_CASE("damaged config.json files, for long", "[.heavy]") { fuzz_all(good_config(), read_config_text, long_time()); }
