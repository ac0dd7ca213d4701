// SPDX-License-Identifier: MIT
// The safetensors format: files made by hand from its rules are read, written files are what those rules say byte by
// byte, and every rule that a file breaks is an error that names it.
#include <qwengpu/checkpoint/safetensors_reader.hpp>
#include <qwengpu/checkpoint/safetensors_writer.hpp>
#include <qwengpu/checkpoint/tensor_source.hpp>

#include "support/catch.hpp"
#include "support/scratch_folder.hpp"

#include <cstring>
#include <string>
#include <vector>

namespace {

using namespace qwengpu;
using namespace qwengpu::checkpoint;

/// A file of a header and data.
std::string file_of(const std::string& header, const std::string& data) {
    std::string bytes(8, '\0');
    const std::uint64_t size = header.size();
    std::memcpy(bytes.data(), &size, 8);
    return bytes + header + data;
}

std::span<const std::byte> as_bytes(const std::string& s) { return std::as_bytes(std::span(s)); }

/// The message with which a file is refused, or "" if it is not.
std::string refusal(const std::string& bytes) {
    try {
        (void)read_safetensors_header("f", as_bytes(bytes));
    } catch (const error& e) {
        CHECK(e.id() == "checkpoint.safetensors");
        return e.message();
    }
    return "";
}

bool refused_for(const std::string& header, const std::string& data, const char* reason) {
    const auto message = refusal(file_of(header, data));
    INFO(header << ": " << message);
    return message.find(reason) != std::string::npos && message.find("at byte ") == 0;
}

const std::string golden_header = R"({"__metadata__":{"format":"pt"},"w":{"dtype":"F32","shape":[2,2],"data_offsets":[0,16]}})";

std::string golden_data() {
    const float values[] = {1.0F, -2.0F, 0.5F, 3.0F};
    return {reinterpret_cast<const char*>(values), sizeof values};
}

}  // namespace

TEST_CASE("a file made by hand is read") {
    const auto bytes = file_of(golden_header, golden_data());
    REQUIRE(bytes.size() == 112);
    const test::scratch_folder folder;
    const safetensors_reader file(folder.write("model.safetensors", bytes));
    CHECK(file.header().metadata == std::map<std::string, std::string>{{"format", "pt"}});
    const auto w = file.at("w");
    CHECK(w.shape == std::vector<std::uint64_t>{2, 2});
    float values[4];
    to_floats(w.type, w.bytes, values);
    CHECK(values[1] == -2.0F);
    CHECK(values[3] == 3.0F);
    CHECK_THROWS_AS(file.at("v"), error);
}

TEST_CASE("a written file is the one made by hand") {
    const test::scratch_folder folder;
    const nn::dense_matrix w = (nn::dense_matrix(2, 2) << 1.0F, -2.0F, 0.5F, 3.0F).finished();
    const auto plan = plan_rows("w", element_type::f32, 2, 2, [w](int r, std::span<float> out) { out[0] = w(r, 0), out[1] = w(r, 1); });
    write_safetensors(folder.file("model.safetensors"), {plan});
    CHECK(folder.read("model.safetensors") == file_of(golden_header, golden_data()));
}

TEST_CASE("a file cut off at any byte is refused") {
    const auto bytes = file_of(golden_header, golden_data());
    for (std::size_t size = 0; size < bytes.size(); ++size) CHECK_FALSE(refusal(bytes.substr(0, size)).empty());
    CHECK(refusal(bytes).empty());
    CHECK(refusal(bytes + "x").find("the data are 17 bytes") != std::string::npos);
}

TEST_CASE("every broken rule is named") {
    const auto w = [](const char* what) { return std::string(R"({"w":{)") + what + "}}"; };
    const std::string data(16, 'x');
    CHECK(refused_for(" {}", "", "does not begin with {"));
    CHECK(refused_for("", "", "does not begin with {"));
    CHECK(refused_for("{]", "", "not valid JSON"));
    CHECK(refused_for("{\"\xff\":1}", "", "not valid JSON"));
    CHECK(refused_for(R"({"w":1})", "", "is no object"));
    CHECK(refused_for(R"({"__metadata__":[]})", "", "__metadata__ is no object"));
    CHECK(refused_for(R"({"__metadata__":{"a":1}})", "", "something other than text"));
    CHECK(refused_for(w(R"("shape":[4],"data_offsets":[0,16])"), data, "no dtype"));
    CHECK(refused_for(w(R"("dtype":"F33","shape":[4],"data_offsets":[0,16])"), data, "unknown dtype F33"));
    CHECK(refused_for(w(R"("dtype":"F32","data_offsets":[0,16])"), data, "no list shape"));
    CHECK(refused_for(w(R"("dtype":"F32","shape":[4])"), data, "no list data_offsets"));
    CHECK(refused_for(w(R"("dtype":"F32","shape":[-4],"data_offsets":[0,16])"), data, "no whole number"));
    CHECK(refused_for(w(R"("dtype":"F32","shape":[4.0],"data_offsets":[0,16])"), data, "no whole number"));
    CHECK(refused_for(w(R"("dtype":"F32","shape":[4],"data_offsets":[0,16,16])"), data, "a begin and an end"));
    CHECK(refused_for(w(R"("dtype":"F32","shape":[4],"data_offsets":[16,0])"), data, "a begin and an end"));
    CHECK(refused_for(w(R"("dtype":"F32","shape":[5],"data_offsets":[0,16])"), data, "its shape asks for 20"));
    CHECK(refused_for(w(R"("dtype":"F32","shape":[4],"data_offsets":[0,20])"), data, "ends at byte 20"));
    CHECK(refused_for(w(R"("dtype":"F32","shape":[4294967296,4294967296],"data_offsets":[0,16])"), data, "too large"));
    CHECK(refused_for(w(R"("dtype":"F32","shape":[4],"data_offsets":[0,16],"extra":1)"), data, "unknown key \"extra\""));
    CHECK(refused_for(w(R"("dtype":"F32","shape":[3],"data_offsets":[4,16])"), data, "0 is where it must"));
    CHECK(refused_for(R"({"a":{"dtype":"U8","shape":[8],"data_offsets":[0,8]},"b":{"dtype":"U8","shape":[7],"data_offsets":[9,16]}})", data, "8 is where it must"));
    CHECK(refused_for(R"({"a":{"dtype":"U8","shape":[9],"data_offsets":[0,9]},"b":{"dtype":"U8","shape":[8],"data_offsets":[8,16]}})", data, "9 is where it must"));
    CHECK(refused_for(R"({"a":{"dtype":"U8","shape":[8],"data_offsets":[0,8]}})", data, "the data are 16 bytes"));
    CHECK(refused_for(R"({"a":{"dtype":"U8","shape":[8],"data_offsets":[0,8]},"a":{"dtype":"U8","shape":[8],"data_offsets":[8,16]}})", data, "stands twice"));
    CHECK(refused_for(R"({"a":{"dtype":"U8","dtype":"U8","shape":[16],"data_offsets":[0,16]}})", data, "stands twice"));
}

TEST_CASE("headers that are too long are refused before they are read") {
    std::string bytes(16, '{');
    const std::uint64_t size = 100'000'001;
    std::memcpy(bytes.data(), &size, 8);
    CHECK(refusal(bytes).find("more than the format allows") != std::string::npos);
}

TEST_CASE("scalars, empty tensors, spaces after the header and odd places are read") {
    const auto bytes = file_of(R"({"s":{"dtype":"U8","shape":[],"data_offsets":[0,1]},"e":{"dtype":"F32","shape":[0,7],"data_offsets":[1,1]},"h":{"dtype":"F32","shape":[1],"data_offsets":[1,5]}}  )",
                               std::string("\x07\0\0\x80\x3f", 5));
    const test::scratch_folder folder;
    const safetensors_reader file(folder.write("odd.safetensors", bytes));
    CHECK(file.at("s").elements() == 1);
    CHECK(file.at("e").elements() == 0);
    float one = 0;
    to_floats(element_type::f32, file.at("h").bytes, &one);
    CHECK(one == 1.0F);
}

TEST_CASE("numbers of all three model types are read and written") {
    std::byte raw[4];
    float back = 0;
    from_floats(element_type::bf16, std::vector<float>{1.00390625F}, raw);  // 1 + 2^-8 lies between two bf16 numbers; the even one is 1
    to_floats(element_type::bf16, std::span(raw, 2), &back);
    CHECK(back == 1.0F);
    from_floats(element_type::f16, std::vector<float>{-0.333251953125F}, raw);
    CHECK(std::to_integer<int>(raw[0]) == 0x55);
    CHECK(std::to_integer<int>(raw[1]) == 0xb5);
    to_floats(element_type::f16, std::span(raw, 2), &back);
    CHECK(back == -0.333251953125F);
}

TEST_CASE("shards are written with an index, found again, and a missing one is told") {
    const test::scratch_folder folder;
    std::vector<planned_tensor> plan;
    for (int i = 0; i < 5; ++i) plan.push_back(plan_vector("t" + std::to_string(i), element_type::f32, nn::vector::Constant(8, static_cast<float>(i))));
    std::uint64_t told = 0;
    write_sharded(folder.path(), plan, 70, [&](std::uint64_t done, std::uint64_t total) { told = total == 160 ? done : 0; });
    CHECK(told == 160);
    CHECK(folder.read("model.safetensors.index.json").find(R"("t4": "model-00003-of-00003.safetensors")") != std::string::npos);
    const tensor_source source(folder.path());
    CHECK(source.names().size() == 5);
    CHECK(read_vector(source, "t3", 8)[7] == 3.0F);
    CHECK_THROWS_AS(read_vector(source, "t3", 7), error);

    std::filesystem::remove(folder.file("model-00002-of-00003.safetensors"));
    CHECK_THROWS_AS(tensor_source(folder.path()), error);
}

TEST_CASE("an index that is wrong is refused") {
    const test::scratch_folder folder;
    const auto refused = [&](const std::string& index, const char* reason) {
        folder.write("model.safetensors.index.json", index);
        try {
            const tensor_source source(folder.path());
        } catch (const error& e) {
            INFO(e.what());
            return std::string(e.what()).find(reason) != std::string::npos;
        }
        return false;
    };
    folder.write("a.safetensors", file_of(golden_header, golden_data()));
    CHECK(refused("[]", "no weight_map"));
    CHECK(refused(R"({"weight_map":{"w":3}})", "is no text"));
    CHECK(refused(R"({"weight_map":{"w":"../a.safetensors"}})", "no file of this folder"));
    CHECK(refused(R"({"weight_map":{"v":"a.safetensors"}})", "is not in a.safetensors"));
    CHECK(refused(R"({"weight_map":{"w":"a.safetensors","w":"a.safetensors"}})", "stands twice"));
}

TEST_CASE("a file that is not finished leaves nothing behind") {
    const test::scratch_folder folder;
    {
        atomic_file file(folder.file("x"));
        file.write("half");
    }
    CHECK(std::filesystem::is_empty(folder.path()));
    CHECK_THROWS_AS(atomic_file(folder.file("no/such/folder")), error);
}
