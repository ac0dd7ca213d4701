// SPDX-License-Identifier: MIT
// GGUF: a file computed by hand from the format is what is written, and is read; damaged files are refused.
#include <qwengpu/checkpoint/gguf_reader.hpp>
#include <qwengpu/checkpoint/gguf_writer.hpp>

#include "support/catch.hpp"
#include "support/checkpoint_files.hpp"
#include "support/scratch_folder.hpp"

#include <string>
#include <vector>

namespace {

using namespace qwengpu;
using namespace qwengpu::checkpoint;

using test::little;
std::string text(const std::string& s) { return little(s.size(), 8) + s; }

/// One key, one tensor of 2 rows of 4: 127 bytes, padded to 128, and 32 bytes of data.
std::string golden() {
    std::string head = "GGUF" + little(3, 4) + little(1, 8) + little(1, 8) + text("general.architecture") + little(8, 4) + text("qwen35");
    head += text("token_embd.weight") + little(2, 4) + little(4, 8) + little(2, 8) + little(0, 4) + little(0, 8);
    REQUIRE(head.size() == 127);
    const float numbers[] = {0, 1, 2, 3, 4, 5, 6, 7};
    return head + '\0' + std::string(reinterpret_cast<const char*>(numbers), sizeof numbers);
}

std::string refusal(const std::string& bytes) {
    try {
        (void)read_gguf("f", std::as_bytes(std::span(bytes)));
    } catch (const error& e) {
        CHECK(e.id() == "checkpoint.gguf");
        return e.message();
    }
    return "";
}

std::string changed(std::size_t at, const std::string& with) {
    auto bytes = golden();
    bytes.replace(at, with.size(), with);
    return bytes;
}

}  // namespace

TEST_CASE("a written file is the one computed by hand") {
    const test::scratch_folder folder;
    gguf_metadata kv;
    kv.add("general.architecture", "qwen35");
    const auto plan = plan_rows("token_embd.weight", element_type::f32, 2, 4, [](int r, std::span<float> out) { for (int c = 0; c < 4; ++c) out[static_cast<std::size_t>(c)] = static_cast<float>(4 * r + c); });
    write_gguf(folder.file("m.gguf"), kv, {plan});
    CHECK(folder.read("m.gguf") == golden());
    CHECK(golden().size() == 160);
}

TEST_CASE("a file is read") {
    const auto bytes = golden();
    const auto c = read_gguf("f", std::as_bytes(std::span(bytes)));
    CHECK(c.metadata == ordered_json{{"general.architecture", "qwen35"}});
    REQUIRE(c.tensors.size() == 1);
    CHECK(c.tensors[0].shape == std::vector<std::uint64_t>{2, 4});
    CHECK(c.data_begin == 128);
}

TEST_CASE("all kinds of values come back") {
    const test::scratch_folder folder;
    gguf_metadata kv;
    kv.add("a", std::uint32_t{7});
    kv.add("b", 0.5F);
    kv.add("c", true);
    kv.add("d", std::vector<std::string>{"x", "yz"});
    kv.add("e", std::vector<std::int32_t>{-1, 2});
    kv.add("f", std::vector<bool>{true, false});
    write_gguf(folder.file("m.gguf"), kv, {});
    const auto bytes = folder.read("m.gguf");
    CHECK(read_gguf("f", std::as_bytes(std::span(bytes))).metadata == ordered_json::parse(R"({"a":7,"b":0.5,"c":true,"d":["x","yz"],"e":[-1,2],"f":[true,false]})"));
}

TEST_CASE("a GGUF file cut off at any byte is refused") {
    for (std::size_t size = 0; size < golden().size(); ++size) CHECK_FALSE(refusal(golden().substr(0, size)).empty());
    CHECK(refusal(golden()).empty());
}

TEST_CASE("what is wrong in a GGUF file is named") {
    CHECK(refusal(changed(0, "GGML")).find("no GGUF file") != std::string::npos);
    CHECK(refusal(changed(4, little(2, 4))).find("version 2") != std::string::npos);
    CHECK(refusal(changed(8, little(1U << 30, 8))).find("tensors, more than") != std::string::npos);
    CHECK(refusal(changed(16, little(1U << 30, 8))).find("keys, more than") != std::string::npos);
    CHECK(refusal(changed(24, little(~0ULL, 8))).find("a text of") != std::string::npos);
    CHECK(refusal(changed(40, "\xff")).find("no UTF-8") != std::string::npos);
    CHECK(refusal(changed(64, "\xc0\x80")).find("no UTF-8") != std::string::npos);
    CHECK(refusal(changed(52, little(99, 4))).find("unknown type 99") != std::string::npos);
    CHECK(refusal(changed(95, little(5, 4))).find("5 extents") != std::string::npos);
    CHECK(refusal(changed(99, little(~0ULL, 8))).find("too large") != std::string::npos);
    CHECK(refusal(changed(115, little(2, 4))).find("a tensor of type 2") != std::string::npos);
    CHECK(refusal(changed(119, little(32, 8))).find("0 is where it must") != std::string::npos);
}
