// SPDX-License-Identifier: MIT
// Front layers as GGUF: llama.cpp's names and transforms, and what an F16 file cannot hold.
#include <qwengpu/checkpoint/export_gguf.hpp>
#include <qwengpu/checkpoint/gguf_reader.hpp>

#include "support/catch.hpp"
#include "support/scratch_folder.hpp"
#include "support/toy_front.hpp"

#include <cmath>
#include <map>
#include <string>
#include <vector>

namespace {

using namespace qwengpu;
using namespace qwengpu::checkpoint;

/// A written file: its tensors by name.
struct written {
    std::string bytes;
    gguf_contents contents;
    std::map<std::string, tensor_entry> tensors;

    written(const front_model& front, element_type type) {
        const test::scratch_folder folder;
        export_gguf(folder.file("m.gguf"), front, {.type = type});
        bytes = folder.read("m.gguf");
        contents = read_gguf("m.gguf", std::as_bytes(std::span(bytes)));
        for (const auto& t : contents.tensors) tensors.emplace(t.name, t);
    }
    [[nodiscard]] float number(const std::string& name, std::size_t index) const {
        float value;
        std::memcpy(&value, bytes.data() + contents.data_begin + tensors.at(name).begin + 4 * index, 4);
        return value;
    }
};

}  // namespace

TEST_CASE("a GGUF file has llama.cpp's tensors of each kind of layer") {
    auto front = test::toy_front();
    front.layers[1].mixer.a_log[2] = 1.5F;
    front.layers[1].input_norm[3] = 0.25F;
    front.layers[1].mixer.norm[4] = 0.75F;
    const written file(front, element_type::f32);
    CHECK(file.contents.metadata["qwen35.attention.recurrent_layers"] == ordered_json{true, true, true, false});
    CHECK(file.contents.metadata["qwen35.block_count"] == 4);
    CHECK(file.contents.metadata["tokenizer.ggml.tokens"].size() == 16);
    CHECK(file.tensors.size() == 2 + 3 * 14 + 11);
    CHECK(std::abs(file.number("blk.1.ssm_a", 2) + 4.48168907F) < 1e-6F);
    CHECK(file.number("blk.1.attn_norm.weight", 3) == 1.25F);
    CHECK(file.number("blk.1.ssm_norm.weight", 4) == 0.75F);
    CHECK(file.number("blk.3.attn_q_norm.weight", 0) == 1.0F);
    CHECK(file.tensors.at("blk.0.ssm_conv1d.weight").shape == std::vector<std::uint64_t>{144, 4});
    CHECK(file.tensors.at("blk.3.attn_q.weight").shape == std::vector<std::uint64_t>{64, 1024});
}

TEST_CASE("what F16 cannot hold stays F32 in an F16 file") {
    auto front = test::toy_front();
    auto& gate = front.layers[1].mlp.gate;
    gate = nn::sparse_matrix::from_triplets(gate.rows(), gate.cols(), {{2, 5, -65536.0F}, {3, 5, 1.0F}});
    auto& up = front.layers[1].mlp.up;
    up = nn::sparse_matrix::from_triplets(up.rows(), up.cols(), {{2, 5, -65504.0F}});
    const written file(front, element_type::f16);
    CHECK(file.tensors.at("blk.1.ffn_gate.weight").type == element_type::f32);
    CHECK(file.number("blk.1.ffn_gate.weight", 2 * 1024 + 5) == -65536.0F);
    CHECK(file.tensors.at("blk.1.ffn_up.weight").type == element_type::f16);
    CHECK(file.tensors.at("blk.0.ffn_gate.weight").type == element_type::f16);
    CHECK(file.tensors.at("blk.0.attn_norm.weight").type == element_type::f32);
    CHECK(file.tensors.at("token_embd.weight").type == element_type::f16);
}
