// SPDX-License-Identifier: MIT
// The compact container: a file made by hand from its description is what is written, and is read; models come back as they
// were; every broken rule is an error with the byte where it is, and so is a file cut off at any byte.
#include <qwengpu/checkpoint/disk_model.hpp>
#include <qwengpu/checkpoint/sparse_export.hpp>
#include <qwengpu/checkpoint/sparse_file_model.hpp>

#include "support/catch.hpp"
#include "support/checkpoint_files.hpp"
#include "support/scratch_folder.hpp"
#include "support/toy_front.hpp"

#include <bit>
#include <string>
#include <vector>

namespace {

using namespace qwengpu;
using namespace qwengpu::checkpoint;

using test::little;
std::string text(const std::string& s) {
    REQUIRE((s.size() >= 128 && s.size() < 16384));
    return std::string{static_cast<char>(s.size() % 128 + 128), static_cast<char>(s.size() / 128)} + s;
}
std::string bytes(std::initializer_list<int> numbers) {
    std::string text;
    for (const int n : numbers) text += static_cast<char>(n);
    return text;
}

const std::string config = test::good_config();
const std::string note = R"({"version":1,"first_token":0,"tokens":10,"layers":2})" + std::string(100, ' ');

std::string documents() { return text(config) + text(note); }
/// Two values, 1 and -2, and one tensor "m" of F32 [3, 200]: rows (), (2: 1, 150: -2), (2: 1, 150: 1).
std::string tensors(const std::string& rows = bytes({1, 4, 2, 1, 0x93, 1, 2, 0, 3, 0x96, 1, 1})) {
    return bytes({2}) + little(std::bit_cast<std::uint32_t>(1.0F), 4) + little(std::bit_cast<std::uint32_t>(-2.0F), 4) + bytes({1, 1, 'm', 0, 2, 3, 0xc8, 1, 2}) + rows;
}

planned_tensor by_hand() {
    return plan_rows("m", element_type::f32, 3, 200, [](int row, std::span<float> out) {
        if (row == 0) return;
        out[2] = 1.0F;
        out[150] = row == 1 ? -2.0F : 1.0F;
    });
}

/// The message with which a body under a right head is refused, or "" if it is not.
std::string refusal(const std::string& body) {
    try {
        (void)test::read_sparse_body(body);
    } catch (const error& e) {
        INFO(e.what());
        CHECK(e.id() == "checkpoint.sparse");
        return e.message();
    }
    return "";
}

bool refused_for(const std::string& body, const char* reason) {
    const auto message = refusal(body);
    INFO(message);
    return message.find(reason) != std::string::npos && message.find("at byte ") == 0;
}

bool file_refused_for(const std::string& file, const char* reason) {
    try {
        (void)test::read_sparse(file);
    } catch (const error& e) {
        INFO(e.what());
        return e.message().find(reason) != std::string::npos && e.message().find("at byte ") == 0;
    }
    return false;
}

std::string changed(std::string file, std::size_t at, const std::string& with) { return file.replace(at, with.size(), with); }

}  // namespace

TEST_CASE("a written compact file is the one made by hand") {
    const auto file = sparse_file_bytes(config, note, {by_hand()});
    const auto body = documents() + tensors();
    CHECK(file.substr(56) == body);
    CHECK(file.substr(0, 24) == "qwengpu\x1a" + little(1, 4) + little(0, 4) + little(body.size(), 8));
}

TEST_CASE("a compact file made by hand is read") {
    const auto contents = read_sparse_body("f", test::as_bytes(documents() + tensors()));
    REQUIRE(contents.tensors.size() == 1);
    const auto& m = contents.tensors.at("m");
    CHECK(m.shape == std::vector<std::uint64_t>{3, 200});
    REQUIRE(m.rows.size() == 2);
    CHECK(m.rows[0].index == 1);
    REQUIRE(m.of(m.rows[1]).size() == 2);
    CHECK(m.of(m.rows[0])[1].value == -2.0F);
    CHECK(m.of(m.rows[1])[0].column == 2);
    CHECK(m.of(m.rows[1])[0].value == 1.0F);
    CHECK(m.of(m.rows[1])[1].column == 150);
    CHECK(m.of(m.rows[1])[1].value == 1.0F);
    CHECK(contents.note.tokens == 10);
    CHECK(contents.config.vocabulary == 10);
}

TEST_CASE("the head is checked before anything else") {
    const auto good = test::good_sparse();
    CHECK(test::read_sparse(good) > 0);
    CHECK(file_refused_for(changed(good, 0, "Q"), "no file of qwengpu export --sparse"));
    CHECK(file_refused_for(changed(good, 8, little(2, 4)), "version 2"));
    CHECK(file_refused_for(changed(good, 12, little(1, 4)), "must be zero"));
    CHECK(file_refused_for(changed(good, 16, little(~0ULL, 8)), "is it complete?"));
    CHECK(file_refused_for(good + "x", "is it complete?"));
    for (std::size_t at = 24; at < good.size(); ++at) CHECK(file_refused_for(changed(good, at, std::string(1, static_cast<char>(good[at] ^ 1))), "the checksum"));
}

TEST_CASE("a compact file cut off at any byte is refused, with a right head as well") {
    const auto good = test::good_sparse(), body = test::good_sparse_body();
    for (std::size_t size = 0; size < good.size(); ++size) CHECK(file_refused_for(good.substr(0, size), ""));
    for (std::size_t size = 0; size < body.size(); ++size) CHECK_FALSE(refusal(body.substr(0, size)).empty());
}

TEST_CASE("every broken rule of a body is named with its byte") {
    const auto with = [](const std::string& rows) { return documents() + tensors(rows); };
    CHECK(refusal(documents() + tensors()).empty());
    CHECK(refused_for("", "the data end"));
    CHECK(refused_for("\x05[]", "at most 3 is possible"));
    CHECK(refused_for(bytes({0x82, 0}) + "{}", "more bytes than it needs"));
    CHECK(refused_for(std::string(10, '\xff'), "does not end"));
    CHECK(refused_for("\x02{]", "not valid JSON"));
    CHECK(refused_for("\x02\xff\xff", "no UTF-8"));
    CHECK(refused_for(documents() + tensors() + "x", "1 bytes follow"));
    CHECK(refused_for(documents() + bytes({1}) + little(0, 4), "zero or not finite"));
    CHECK(refused_for(documents() + bytes({1}) + little(0x7f800000, 4), "zero or not finite"));
    CHECK(refused_for(documents() + bytes({1, 0, 0}), "the number of values is 1"));
    CHECK(refused_for(documents() + bytes({0, 2, 1, 'a', 0, 1, 4, 0, 1, 'a', 0, 1, 4, 0}), "stands twice"));
    CHECK(refused_for(documents() + bytes({0, 1, 0, 0, 1, 4, 0}), "is empty"));
    CHECK(refused_for(documents() + bytes({0, 1, 1, 'a', 2, 1, 4, 0}), "of type 2"));
    CHECK(refused_for(documents() + bytes({0, 1, 1, 'a', 0, 5, 1, 1, 1, 1, 1, 0}), "rank is 5"));
    CHECK(refused_for(documents() + bytes({0, 1, 1, 'a', 0, 3, 0x80, 0x80, 0x80, 0x80, 4, 2, 1, 0}), "too many rows"));
    CHECK(refused_for(documents() + bytes({0, 1, 1, 'a', 0, 2, 2, 5, 3}), "the number of rows is 3"));
    CHECK(refused_for(with(bytes({3, 4, 2, 1, 9, 2, 0, 2, 1, 1})), "beyond the tensor's last"));
    CHECK(refused_for(with(bytes({0, 3, 2, 1, 0, 2, 1, 1})), "changes against one before"));
    CHECK(refused_for(with(bytes({0, 2, 0xc8, 1, 1, 0, 2, 1, 1})), "beyond the last column"));
    CHECK(refused_for(with(bytes({0, 2, 5, 3, 0, 2, 1, 1})), "a value's number is 3"));
    CHECK(refused_for(with(bytes({0, 2, 5, 0, 0, 2, 1, 1})), "an entry of zero"));
    CHECK(refused_for(with(bytes({0, 2, 5, 1, 0, 3, 5, 1})), "changes nothing"));
    CHECK(refused_for(with(bytes({0, 2, 5, 1, 0, 3, 4, 0})), "changes nothing"));
    CHECK(refused_for(with(bytes({0, 2, 5, 1, 0, 3, 5, 0})), "a row without entries"));
    CHECK(refused_for(with(bytes({0, 0, 0, 2, 1, 1})), "a row without entries"));
    CHECK(refused_for(documents() + bytes({1}) + little(std::bit_cast<std::uint32_t>(1.001F), 4) + bytes({1, 1, 'a', 1, 1, 4, 1, 0, 2, 0, 1}), "no bf16 number"));
}

TEST_CASE("rows that repeat the one before cannot ask for any amount of memory") {
    // 64 entries of a row, then two million rows that change one of them.
    std::string rows = bytes({0, 0x80, 1});
    for (int i = 0; i < 64; ++i) rows += bytes({0, 1});
    for (int i = 0; i < 1'000'000; ++i) rows += bytes({0, 3, 0, 1 + (i + 1) % 2});
    const auto body = documents() + bytes({2}) + little(std::bit_cast<std::uint32_t>(1.0F), 4) + little(std::bit_cast<std::uint32_t>(-2.0F), 4) + bytes({1, 1, 'm', 0, 2, 0xc1, 0x84, 0x3d, 64, 0xc1, 0x84, 0x3d}) + rows;
    CHECK(refused_for(body, "entries"));
}

namespace {

std::vector<int> tokens_of_toy() {
    std::vector<int> tokens{11, 2, 5};
    for (int i = 0; i < 60; ++i) tokens.push_back((tokens[static_cast<std::size_t>(i)] * 7 + i) % 16);
    return tokens;
}

template <class Model>
std::vector<int> answers(const Model& model, const std::vector<int>& tokens) {
    auto state = model.fresh();
    std::vector<int> all;
    for (const int t : tokens) all.push_back(static_cast<int>(model.next(state, static_cast<std::uint32_t>(t))));
    return all;
}

}  // namespace

TEST_CASE("a front answers from a compact file as its rule says, with identity layers between as well") {
    const test::scratch_folder folder;
    const auto file = folder.file("toy.qwengpu");
    for (const int period : {0, 4}) {
        export_sparse(file, test::toy_front(), {.type = element_type::f32, .period = period});
        CHECK(answers(sparse_file_model<nn::fp32>(file), tokens_of_toy()) == test::toy_answers(tokens_of_toy()));
        export_sparse(file, test::toy_front(), {.type = element_type::bf16, .period = period});
        CHECK(answers(sparse_file_model<nn::bf16>(file), tokens_of_toy()) == test::toy_answers(tokens_of_toy()));
    }
    CHECK(std::filesystem::file_size(file) < 25'000);
}

TEST_CASE("what a compact file holds is what a folder holds, number by number") {
    const test::scratch_folder folder;
    const auto file = folder.file("toy.qwengpu");
    export_sparse(file, test::toy_front(), {.type = element_type::bf16});
    export_model(folder.path(), test::toy_front(), {.type = element_type::bf16});
    const auto contents = read_sparse_file(file, mapped_file(file).bytes());
    const tensor_source source(folder.path());
    CHECK(contents.tensors.size() == source.names().size() - 11);  // but for the layer of full attention
    for (const auto& [name, t] : contents.tensors) {
        INFO(name);
        const auto view = source.at(name);
        REQUIRE(view.shape == t.shape);
        std::vector<float> dense(view.elements()), sparse(view.elements());
        to_floats(view.type, view.bytes, dense.data());
        for (const auto& row : t.rows)
            for (const auto& e : t.of(row)) sparse[static_cast<std::size_t>(row.index) * t.shape.back() + static_cast<std::size_t>(e.column)] = e.value;
        CHECK(dense == sparse);
    }
}

TEST_CASE("a compact file whose parts do not fit is refused with the tensor's name") {
    const auto front = test::toy_front();
    const test::scratch_folder folder;
    const auto refused = [&](const std::string& what, const std::string& reason, const char* id, auto&& change) {
        auto layout = front_layout(3, 4);
        auto c = json(text_config(config_of(front, layout), "float32", 8));
        auto plan = plan_model(front, layout, element_type::f32);
        change(c, plan);
        const auto file = folder.write("x", sparse_file_bytes(c.dump(), note, plan));
        INFO(what);
        try {
            const sparse_file_model<nn::fp32> model(file);
        } catch (const error& e) {
            INFO(e.what());
            return e.id() == id && e.message().find(reason) != std::string::npos;
        }
        return false;
    };
    CHECK(refused("another shape", "model.layers.0.mlp.gate_proj.weight", "checkpoint.tensor", [](json& c, auto&) { c["intermediate_size"] = 65; }));
    CHECK(refused("a tensor is missing", "\"model.norm.weight\"", "checkpoint.tensor", [](json&, auto& plan) { plan.pop_back(); }));
    CHECK(refused("a head apart", "head is not its embedding", "checkpoint.sparse", [](json& c, auto&) { c["tie_word_embeddings"] = false; }));
    CHECK(refused("attention that adds", "layer 3", "checkpoint.sparse", [](json&, auto& plan) {
        for (auto& t : plan)
            if (t.name == "model.layers.3.self_attn.o_proj.weight") t = plan_rows(t.name, t.type, static_cast<int>(t.shape[0]), static_cast<int>(t.shape[1]), [](int, std::span<float> out) { out[0] = 1; });
    }));
}
