// SPDX-License-Identifier: MIT
// Launch files: every kind of argument and type, the bytes they become, and what is refused with which words.
#include <qwengpu/io/launch_file.hpp>
#include <qwengpu/launch/expect.hpp>

#include "support/catch.hpp"

#include <filesystem>
#include <string>

using namespace qwengpu;
using io::json;

namespace {

launch_case read(const std::string& text) {
    const auto document = json::parse(text);
    return io::read_case(io::json_cursor(document, "t.json"));
}

/// A case with these arguments, and what else is given.
std::string with(const std::string& args, const std::string& more = "") {
    return R"({"name": "n", "source": "k.cu", "kernel": "k", "grid": [1,2,3], "block": [4,5,6], "args": [)" + args + "]" + more + "}";
}

std::string complaint(const std::string& text) {
    try {
        read(text);
    } catch (const error& e) {
        return e.what();
    }
    return "none";
}

std::vector<std::uint64_t> bits_of(const std::string& type, const std::string& data) {
    const auto c = read(with(R"({"buffer": "b", "type": ")" + type + R"(", "data": )" + data + "}"));
    std::vector<std::uint64_t> bits;
    for (std::size_t i = 0; i < c.request.args[0].array.size(); ++i) bits.push_back(c.request.args[0].array.bits(i));
    return bits;
}

using words = std::vector<std::uint64_t>;

}  // namespace

TEST_CASE("a case is read as it stands", "[io]") {
    const auto c = read(with(R"({"buffer": "a", "type": "i32", "data": [1, -2]}, {"scalar": "i32", "value": -5},
                               {"struct": [{"scalar": "i8", "value": -2}, {"buffer": "z", "type": "u8", "zeros": 5}]})",
                             R"(, "expect": {"a": [3, 4], "z": [0, 0, 0, 0, 255]}, "tags": ["int", "align16"], "dynamic_shared_bytes": 32)"));
    CHECK(c.name == "n");
    CHECK(c.source == "k.cu");
    CHECK(c.kernel == "k");
    CHECK(c.request.grid == std::array<std::int64_t, 3>{1, 2, 3});
    CHECK(c.request.block == std::array<std::int64_t, 3>{4, 5, 6});
    CHECK(c.request.dynamic_shared_bytes == 32);
    REQUIRE(c.request.args.size() == 3);
    CHECK(c.request.args[0].array.bytes == std::vector<std::uint8_t>{1, 0, 0, 0, 254, 255, 255, 255});
    CHECK(c.request.args[0].array.align == 16);
    CHECK(c.request.args[1].value == 0xfffffffb);
    CHECK(c.request.args[2].members[0].value == 0xfe);
    CHECK(c.request.args[2].members[1].array.words() == 2);
    REQUIRE(c.expect);
    CHECK(values_of<int>((*c.expect)[0]) == std::vector{3, 4});
    CHECK((*c.expect)[1].bytes.back() == 255);
}

TEST_CASE("every type of element", "[io]") {
    CHECK(bits_of("i8", "[-128, 127]") == words{0x80, 0x7f});
    CHECK(bits_of("u8", "[0, 255]") == words{0, 0xff});
    CHECK(bits_of("i16", "[-32768, 32767]") == words{0x8000, 0x7fff});
    CHECK(bits_of("u16", "[65535]") == words{0xffff});
    CHECK(bits_of("i32", "[-2147483648, 2147483647]") == words{0x80000000, 0x7fffffff});
    CHECK(bits_of("u32", "[4294967295]") == words{0xffffffff});
    CHECK(bits_of("i64", R"(["-9223372036854775808", "1", 5])") == words{0x8000000000000000, 1, 5});
    CHECK(bits_of("u64", R"(["18446744073709551615"])") == words{0xffffffffffffffff});
    CHECK(bits_of("f32", R"(["0x3f800000", "0x7fffffff", 1.5, -2])") == words{0x3f800000, 0x7fffffff, 0x3fc00000, 0xc0000000});
}

TEST_CASE("elements are written as they are read", "[io]") {
    for (const auto& [type, data] : {std::pair{"i8", "[-128,127]"}, {"u16", "[65535]"}, {"i32", "[-5]"}, {"u32", "[4294967295]"},
                                     {"i64", R"(["-9223372036854775808"])"}, {"u64", R"(["18446744073709551615"])"},
                                     {"f32", R"(["0x7fffffff"])"}}) {
        const auto c = read(with(std::string(R"({"buffer": "b", "type": ")") + type + R"(", "data": )" + data + "}"));
        CHECK(io::buffer_json(c.request.args[0].array).dump() == data);
    }
}

TEST_CASE("what is refused, with file, path and remedy", "[io]") {
    CHECK(complaint(with("", R"(, "exepct": {})")).starts_with("t.json: at /: unknown key \"exepct\"; the keys here are name, source"));
    CHECK(complaint(R"({"name": "n"})").starts_with("t.json: at /: the key \"source\" is missing"));
    CHECK(complaint("[]") == "t.json: at /: an object is wanted here, not an array [io.format]");
    CHECK(complaint(with(R"({"buffer": "a", "type": "i33", "data": []})")) ==
          "t.json: at /args/0/type: unknown type \"i33\"; use i8, u8, i16, u16, i32, u32, i64, u64 or f32 [io.format]");
    CHECK(complaint(with(R"({"buffer": "a", "type": "i32"})")) == "t.json: at /args/0: a buffer has either \"data\" or \"zeros\", or in a session \"keep\" [io.format]");
    CHECK(complaint(with(R"({"buffer": "a", "type": "i32", "data": [], "zeros": 1})")).find("/args/0: a buffer has either") != std::string::npos);
    CHECK(complaint(with(R"({"buffer": "a", "type": "i32", "zeros": -1})")).find("/args/0/zeros: the number of elements") != std::string::npos);
    CHECK(complaint(with(R"({"buffer": "a", "type": "i32", "data": [1, 2147483648]})")) ==
          "t.json: at /args/0/data/1: 2147483648 is outside i32, which goes from -2147483648 to 2147483647 [io.format]");
    CHECK(complaint(with(R"({"buffer": "a", "type": "u8", "data": [-1]})")).find("outside u8, which goes from 0 to 255") != std::string::npos);
    CHECK(complaint(with(R"({"buffer": "a", "type": "i32", "data": [1.5]})")).find("/args/0/data/0: a whole number is wanted") != std::string::npos);
    CHECK(complaint(R"({"source": "k.cu", "grid": [4.5,1,1], "block": [1,1,1], "args": []})") == "t.json: at /grid/0: a whole number is wanted here, not 4.5 [io.format]");
    CHECK(complaint(R"({"source": "k.cu", "grid": [1,"4",1], "block": [1,1,1], "args": []})").find("/grid/1: a whole number is wanted here, not a string") != std::string::npos);
    CHECK(complaint(with("", R"(, "expect_error": "foo")")) ==
          "t.json: at /expect_error: there is no stage \"foo\"; those that can be expected are parse, type, link, unsupported, resources, compile, launch, run, "
          "accept-or-limit, run-or-answer [io.format]");
    CHECK(complaint(with(R"({"buffer": "a", "type": "u64", "data": ["-1"]})")).find("\"-1\" is no u64") != std::string::npos);
    CHECK(complaint(with(R"({"buffer": "a", "type": "f32", "data": ["1.0"]})")).find("is no f32; write its 32 bits") != std::string::npos);
    CHECK(complaint(with(R"({"skalar": "i32", "value": 1})")).find("/args/0: an argument is a \"buffer\"") != std::string::npos);
    CHECK(complaint(R"({"source": "k.cu", "grid": [1,1], "block": [1,1,1], "args": []})").find("/grid: three numbers") != std::string::npos);
    CHECK(complaint(with("", R"(, "expect": {}, "expect_error": "run")")).find("not both") != std::string::npos);
    const std::string a = R"({"buffer": "a", "type": "i32", "data": [1]})";
    CHECK(complaint(with(a, R"(, "expect": {})")).find("/expect: the key \"a\" is missing") != std::string::npos);
    CHECK(complaint(with(a, R"(, "expect": {"a": [1], "b": []})")).find("no argument is a buffer named \"b\"") != std::string::npos);
    CHECK(complaint(with(a, R"(, "expect": {"a": [1, 2]})")).find("/expect/a: 2 values are expected of a buffer of 1") != std::string::npos);
}

TEST_CASE("files that are not there or are no JSON", "[io]") {
    CHECK_THROWS_WITH(io::read_launch_file("no/such/file.json"), "no/such/file.json: the file cannot be read; does it exist? [io.file]");
    const auto path = std::filesystem::temp_directory_path() / "qwengpu_launch_file_test.json";
    std::ofstream(path) << "[\n {\"name\": }\n]";
    CHECK_THROWS_WITH(io::read_launch_file(path.string()), path.string() + ":2: this is not valid JSON here [io.format]");
    std::filesystem::remove(path);
}

TEST_CASE("a key that stands twice is refused, with the place of its object", "[io]") {
    const auto path = std::filesystem::temp_directory_path() / "qwengpu_launch_file_twice.json";
    const auto said = [&](const std::string& text) {
        std::ofstream(path) << text;
        try {
            io::read_json(path.string());
        } catch (const error& e) {
            return std::string(e.what());
        }
        return std::string("none");
    };
    const auto at = [&](const std::string& where, const std::string& key) {
        return path.string() + ": at " + where + ": the key \"" + key + "\" stands twice here; keep one of them [io.format]";
    };
    CHECK(said(R"({"block": [1], "grid": [[]], "block": [4]})") == at("/", "block"));
    CHECK(said(R"([{"a": 1}, {"args": [5, [6], {"a": {}}, {"x": 1, "y": 2, "x": 1}], "args": 1}])") == at("/1/args/3", "x"));
    CHECK(said(R"([[], {"e": {"": 1, "": 2}}])") == at("/1/e", ""));
    CHECK(said(R"([{"a": 1, "b": {"a": 2}}, {"a": 3, "c": [{"a": 1}, {"a": 1}]}])") == "none");
    std::filesystem::remove(path);
}

TEST_CASE("memory against what is expected", "[launch]") {
    const auto memory = [](auto... values) { return std::vector{values.array...}; };
    CHECK(mismatches(memory(in("a", std::vector{1, 2})), memory(in("a", std::vector{1, 2}))).empty());
    const auto wrong = mismatches(memory(in("a", std::vector{1, 2})), memory(in("a", std::vector{1, -2})));
    REQUIRE(wrong.size() == 1);
    CHECK(to_string(wrong[0]) == "a[1] is -2, 2 is expected");
    const auto floats = [](std::uint32_t bits) { return std::vector{std::bit_cast<float>(bits)}; };
    CHECK(mismatches(memory(in("f", floats(0x7fffffff))), memory(in("f", floats(0xffc00001)))).empty());
    CHECK(mismatches(memory(in("f", floats(0x80000000))), memory(in("f", floats(0)))).size() == 1);
}
