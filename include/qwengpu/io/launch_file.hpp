// SPDX-License-Identifier: MIT
// Launch files: a JSON array of launches (or a single one), each with its source, kernel, shape, arguments and what is
// expected of it: the contents of every buffer afterwards, or the stage at which it must be refused (`expect_error`).
#pragma once

#include <qwengpu/launch/launch_case.hpp>
#include <qwengpu/io/element_json.hpp>

#include <array>
#include <optional>
#include <string>
#include <vector>

namespace qwengpu::io {

namespace detail {

/// No launch of any machine is larger; keeps a typo from asking for gigabytes.
inline constexpr std::int64_t most_elements = 1 << 20;

inline argument read_argument(const json_cursor& at);

inline argument read_pointer(const json_cursor& at) {
    at.allow_keys({"buffer", "type", "data", "zeros", "keep"});
    if (at.has("data") + at.has("zeros") + at.has("keep") != 1) throw at.complaint("a buffer has either \"data\" or \"zeros\", or in a session \"keep\"");
    argument a;
    a.what = argument::kind::pointer;
    const auto name = at.at("buffer").text();
    const auto type = read_element_type(at.at("type"));
    if (at.has("data")) {
        a.array = read_buffer(at.at("data"), name, type);
        return a;
    }
    a.keep = at.has("keep");
    const auto* const key = a.keep ? "keep" : "zeros";
    const auto count = at.at(key).integer();
    if (count < 0 || count > most_elements) throw at.at(key).complaint("the number of elements is out of range");
    a.array = {name, type, std::vector<std::uint8_t>(static_cast<std::size_t>(count * row(type).bytes)), 0};
    return a;
}

inline argument read_scalar(const json_cursor& at) {
    at.allow_keys({"scalar", "value"});
    argument a;
    a.type = read_element_type(at.at("scalar"));
    a.value = read_element(at.at("value"), a.type);
    return a;
}

inline argument read_structure(const json_cursor& at) {
    at.allow_keys({"struct"});
    std::vector<argument> members;
    for (const auto& item : at.at("struct").items()) members.push_back(read_argument(item));
    return structure(std::move(members));
}

inline argument read_argument(const json_cursor& at) {
    if (at.has("buffer")) return read_pointer(at);
    if (at.has("scalar")) return read_scalar(at);
    if (at.has("struct")) return read_structure(at);
    throw at.complaint("an argument is a \"buffer\", a \"scalar\" or a \"struct\"");
}

inline std::array<std::int64_t, 3> read_shape(const json_cursor& at) {
    const auto items = at.items();
    if (items.size() != 3) throw at.complaint("three numbers are wanted here: x, y and z");
    return {items[0].integer(), items[1].integer(), items[2].integer()};
}

/// Alignment that the tags `align8` and `align16` ask for.
inline int tagged_align(const std::vector<std::string>& tags) {
    int align = 0;
    for (const auto& tag : tags) align = std::max(align, tag == "align16" ? 16 : tag == "align8" ? 8 : 0);
    return align;
}

inline std::vector<buffer> read_expected(const json_cursor& at, const std::vector<const buffer*>& buffers) {
    for (const auto& [name, unused] : at.value().items())
        if (std::none_of(buffers.begin(), buffers.end(), [&n = name](const buffer* b) { return b->name == n; }))
            throw at.complaint(fmt::format("no argument is a buffer named \"{}\"", name));
    std::vector<buffer> expected;
    for (const auto* b : buffers) {
        const auto values = at.at(b->name.c_str());
        expected.push_back(read_buffer(values, b->name, b->type));
        expected.back().align = b->align;
        if (expected.back().size() != b->size())
            throw values.complaint(fmt::format("{} values are expected of a buffer of {}", expected.back().size(), b->size()));
    }
    return expected;
}

inline std::string read_stage(const json_cursor& at) {
    const auto stage = at.text();
    if (std::find(expectable_stages.begin(), expectable_stages.end(), stage) == expectable_stages.end())
        throw at.complaint(fmt::format("there is no stage \"{}\"; those that can be expected are {}", stage, fmt::join(expectable_stages, ", ")));
    return stage;
}

}  // namespace detail

/// One launch. Errors: "io.format" with file and path.
inline launch_case read_case(const json_cursor& at) {
    at.allow_keys({"name", "source", "kernel", "grid", "block", "dynamic_shared_bytes", "args", "expect", "expect_error", "answer", "report", "note",
                   "tags"});
    launch_case c;
    c.source = at.at("source").text();
    c.name = at.has("name") ? at.at("name").text() : c.source;
    if (at.has("kernel") && !at.at("kernel").value().is_null()) c.kernel = at.at("kernel").text();
    c.request.grid = detail::read_shape(at.at("grid"));
    c.request.block = detail::read_shape(at.at("block"));
    if (at.has("dynamic_shared_bytes")) c.request.dynamic_shared_bytes = at.at("dynamic_shared_bytes").integer();
    for (const auto& arg : at.at("args").items()) c.request.args.push_back(detail::read_argument(arg));
    if (at.has("tags"))
        for (const auto& tag : at.at("tags").items()) c.tags.push_back(tag.text());
    for (auto* b : buffers_of(c.request.args)) b->align = detail::tagged_align(c.tags);
    if (at.has("expect") && at.has("expect_error")) throw at.complaint("either \"expect\" or \"expect_error\", not both");
    if (at.has("expect")) c.expect = detail::read_expected(at.at("expect"), buffers_of(std::as_const(c.request.args)));
    if (at.has("expect_error")) c.expect_error = detail::read_stage(at.at("expect_error"));
    return c;
}

/// All launches of a document.
inline std::vector<launch_case> read_cases(const json& document, const std::string& file) {
    const json_cursor at(document, file);
    if (document.is_object()) return {read_case(at)};
    std::vector<launch_case> cases;
    for (const auto& item : at.items()) cases.push_back(read_case(item));
    return cases;
}

/// All launches of a file. Errors: "io.file", "io.format".
inline std::vector<launch_case> read_launch_file(const std::string& file) { return read_cases(read_json(file), file); }

}  // namespace qwengpu::io
