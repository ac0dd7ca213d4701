// SPDX-License-Identifier: MIT
// The shape of a Qwen3.5 text backbone. The defaults are Qwen3.5-2B's. All members are integers, so a shape can be a
// template argument too.
#pragma once

namespace qwengpu::nn {

/// Sizes that the tensors of a model follow from (config.json names in brackets).
struct shape {
    int hidden = 2048;  ///< width of the residual stream [hidden_size]
    int mlp = 6144;     ///< units of the SwiGLU [intermediate_size]

    int heads = 16;        ///< key heads of a Gated DeltaNet [linear_num_key_heads]
    int value_heads = 16;  ///< its value heads, a multiple of `heads` [linear_num_value_heads]
    int key_dim = 128;     ///< [linear_key_head_dim]
    int value_dim = 128;   ///< [linear_value_head_dim]
    int conv = 4;          ///< taps of the causal convolution [linear_conv_kernel_dim]

    int query_heads = 8;  ///< query heads of full attention [num_attention_heads]
    int kv_heads = 2;     ///< its key and value heads [num_key_value_heads]
    int head_dim = 256;
    int rotary_dims = 64;          ///< dimensions of a head that carry a position [head_dim * partial_rotary_factor]
    int rope_theta = 10'000'000;

    int inverse_eps = 1'000'000;  ///< 1 / rms_norm_eps

    [[nodiscard]] constexpr int key_channels() const { return heads * key_dim; }
    [[nodiscard]] constexpr int value_channels() const { return value_heads * value_dim; }
    /// Channels of q, k and v, in this order: the rows of in_proj_qkv and of the convolution.
    [[nodiscard]] constexpr int qkv_channels() const { return 2 * key_channels() + value_channels(); }
    [[nodiscard]] constexpr int query_channels() const { return query_heads * head_dim; }
    [[nodiscard]] constexpr int kv_channels() const { return kv_heads * head_dim; }
    [[nodiscard]] constexpr float eps() const { return 1.0F / static_cast<float>(inverse_eps); }

    friend constexpr bool operator==(const shape&, const shape&) = default;
};

/// Qwen3.5-2B.
inline constexpr shape qwen35_2b{};

}  // namespace qwengpu::nn
