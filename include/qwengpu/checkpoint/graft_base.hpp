// SPDX-License-Identifier: MIT
// What a base must be before anything is grafted before it: all tensors of a Qwen3.5 text model, in the shapes its config
// says, stored in F32 or BF16, and without a machine in it already.
#pragma once

#include <qwengpu/checkpoint/config.hpp>
#include <qwengpu/checkpoint/layer_tensors.hpp>
#include <qwengpu/checkpoint/tensor_source.hpp>

#include <cstdint>
#include <filesystem>
#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

namespace qwengpu::checkpoint {

/// A tensor's name, after its layer's prefix, and its shape.
using expected_tensor = std::pair<std::string, std::vector<std::uint64_t>>;

namespace detail {

inline std::vector<std::uint64_t> extents(std::initializer_list<int> of) { return {of.begin(), of.end()}; }

inline std::vector<expected_tensor> expected_mixer(const nn::shape& s, bool full_attention) {
    if (full_attention)
        return {{"self_attn.q_proj.weight", extents({2 * s.query_channels(), s.hidden})}, {"self_attn.k_proj.weight", extents({s.kv_channels(), s.hidden})},
                {"self_attn.v_proj.weight", extents({s.kv_channels(), s.hidden})}, {"self_attn.o_proj.weight", extents({s.hidden, s.query_channels()})},
                {"self_attn.q_norm.weight", extents({s.head_dim})}, {"self_attn.k_norm.weight", extents({s.head_dim})}};
    return {{"linear_attn.in_proj_qkv.weight", extents({s.qkv_channels(), s.hidden})}, {"linear_attn.in_proj_z.weight", extents({s.value_channels(), s.hidden})},
            {"linear_attn.in_proj_b.weight", extents({s.value_heads, s.hidden})}, {"linear_attn.in_proj_a.weight", extents({s.value_heads, s.hidden})},
            {"linear_attn.conv1d.weight", extents({s.qkv_channels(), 1, s.conv})}, {"linear_attn.dt_bias", extents({s.value_heads})},
            {"linear_attn.A_log", extents({s.value_heads})}, {"linear_attn.norm.weight", extents({s.value_dim})},
            {"linear_attn.out_proj.weight", extents({s.hidden, s.value_channels()})}};
}

}  // namespace detail

/// All tensors of a layer.
inline std::vector<expected_tensor> expected_layer(const nn::shape& s, bool full_attention) {
    auto all = detail::expected_mixer(s, full_attention);
    for (const auto* name : {"input_layernorm.weight", "post_attention_layernorm.weight"}) all.emplace_back(name, detail::extents({s.hidden}));
    all.emplace_back("mlp.gate_proj.weight", detail::extents({s.mlp, s.hidden}));
    all.emplace_back("mlp.up_proj.weight", detail::extents({s.mlp, s.hidden}));
    all.emplace_back("mlp.down_proj.weight", detail::extents({s.hidden, s.mlp}));
    return all;
}

/// @throws error "checkpoint.tensor" naming the tensor that is missing, or of another shape or type; "checkpoint.graft".
inline void check_base(const tensor_source& from, const model_config& c) {
    if (std::filesystem::exists(std::filesystem::path(from.folder()) / "qwengpu.json"))
        throw error("checkpoint.graft", "there is a machine in it already (qwengpu.json); graft before the checkpoint it was made from", place{from.folder(), 0, 0});
    const auto check = [&](const std::string& name, const std::vector<std::uint64_t>& shape) {
        const auto t = from.at(name);
        check_tensor(t, shape);
        if (t.type == element_type::f16) throw error("checkpoint.graft", "tensor \"" + name + "\" is F16, whose numbers do not reach far enough; convert the checkpoint to BF16 first", place{t.file.path(), 0, 0});
    };
    const auto rows = detail::extents({c.vocabulary, c.shape.hidden});
    check(c.prefix() + "embed_tokens.weight", rows);
    if (!c.tied) check("lm_head.weight", rows);
    for (int i = 0; i < c.layers(); ++i)
        for (const auto& [name, shape] : expected_layer(c.shape, c.full_attention[static_cast<std::size_t>(i)])) check(layer_prefix(c.prefix(), i) + name, shape);
    check(c.prefix() + "norm.weight", detail::extents({c.shape.hidden}));
}

}  // namespace qwengpu::checkpoint
