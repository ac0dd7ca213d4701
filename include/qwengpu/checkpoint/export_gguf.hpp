// SPDX-License-Identifier: MIT
// Front layers as a GGUF file of architecture qwen35, with the transforms of llama.cpp's converter: norms plus 1, A_log as
// -exp(A_log), the convolution squeezed; vectors are F32 whatever the file's type, and so is what F16 cannot hold.
#pragma once

#include <qwengpu/checkpoint/config.hpp>
#include <qwengpu/checkpoint/export_model.hpp>
#include <qwengpu/checkpoint/gguf_writer.hpp>

#include <cmath>
#include <string>
#include <utility>
#include <vector>

namespace qwengpu::checkpoint {

namespace detail {

class gguf_planner {
public:
    gguf_planner(const front_model& m, element_type type) : m_(m), type_(type) {}

    void layer(int which, int index, std::vector<planned_tensor>& out) const {
        const auto at = "blk." + std::to_string(index) + ".";
        if (which == pass_through) return identity_attention(at, out);
        if (which == absent) return linear(nn::zero_linear_layer(m_.shape), at, out);
        linear(m_.layers[static_cast<std::size_t>(which)], at, out);
    }

    [[nodiscard]] static planned_tensor vector(std::string name, const nn::vector& v) { return plan_vector(std::move(name), element_type::f32, v); }
    [[nodiscard]] static planned_tensor norm(std::string name, const nn::vector& w) { return vector(std::move(name), (w.array() + 1.0F).matrix()); }

private:
    /// F16 reaches to 65504. Whole matrices that hold more are F32 then; llama.cpp takes each tensor's type as it comes.
    [[nodiscard]] planned_tensor matrix(std::string name, const nn::sparse_matrix& w) const {
        bool fits = true;
        w.for_each([&fits](int, int, float value) { fits = fits && std::abs(value) <= 65504.0F; });
        return plan_sparse(std::move(name), type_ == element_type::f16 && !fits ? element_type::f32 : type_, w);
    }

    void mlp(const nn::swiglu_weights<nn::sparse_matrix>& w, const std::string& at, std::vector<planned_tensor>& out) const {
        out.push_back(matrix(at + "ffn_gate.weight", w.gate));
        out.push_back(matrix(at + "ffn_up.weight", w.up));
        out.push_back(matrix(at + "ffn_down.weight", w.down));
    }

    void linear(const nn::linear_layer_weights<nn::sparse_matrix>& w, const std::string& at, std::vector<planned_tensor>& out) const {
        const auto& x = w.mixer;
        out.push_back(norm(at + "attn_norm.weight", w.input_norm));
        out.push_back(norm(at + "post_attention_norm.weight", w.post_norm));
        out.push_back(matrix(at + "attn_qkv.weight", x.in_proj_qkv));
        out.push_back(matrix(at + "attn_gate.weight", x.in_proj_z));
        out.push_back(matrix(at + "ssm_beta.weight", x.in_proj_b));
        out.push_back(matrix(at + "ssm_alpha.weight", x.in_proj_a));
        auto taps = plan_taps(at + "ssm_conv1d.weight", element_type::f32, x.conv);
        taps.shape = {static_cast<std::uint64_t>(x.conv.rows()), static_cast<std::uint64_t>(x.conv.cols())};
        out.push_back(std::move(taps));
        out.push_back(vector(at + "ssm_dt.bias", x.dt_bias));
        out.push_back(vector(at + "ssm_a", -x.a_log.unaryExpr([](float a) { return std::exp(a); })));
        out.push_back(vector(at + "ssm_norm.weight", x.norm));
        out.push_back(matrix(at + "ssm_out.weight", x.out_proj));
        mlp(w.mlp, at, out);
    }

    void identity_attention(const std::string& at, std::vector<planned_tensor>& out) const {
        const auto& s = m_.shape;
        const auto zeros = [&](const char* name, int rows, int cols) { out.push_back(matrix(at + name, nn::sparse_matrix(rows, cols))); };
        const auto ones = [&](const char* name, int size) { out.push_back(vector(at + name, nn::vector::Ones(size))); };
        ones("attn_norm.weight", s.hidden);
        ones("post_attention_norm.weight", s.hidden);
        zeros("attn_q.weight", 2 * s.query_channels(), s.hidden);
        zeros("attn_k.weight", s.kv_channels(), s.hidden);
        zeros("attn_v.weight", s.kv_channels(), s.hidden);
        zeros("attn_output.weight", s.hidden, s.query_channels());
        ones("attn_q_norm.weight", s.head_dim);
        ones("attn_k_norm.weight", s.head_dim);
        zeros("ffn_gate.weight", s.mlp, s.hidden);
        zeros("ffn_up.weight", s.mlp, s.hidden);
        zeros("ffn_down.weight", s.hidden, s.mlp);
    }

    const front_model& m_;
    element_type type_;
};

inline void add_hyperparameters(gguf_metadata& kv, const nn::shape& s, const std::vector<int>& layout, int period) {
    const auto u = [](int n) { return static_cast<std::uint32_t>(n); };
    kv.add("qwen35.block_count", static_cast<std::uint32_t>(layout.size()));
    kv.add("qwen35.context_length", std::uint32_t{262144});
    kv.add("qwen35.embedding_length", u(s.hidden));
    kv.add("qwen35.feed_forward_length", u(s.mlp));
    kv.add("qwen35.attention.head_count", u(s.query_heads));
    kv.add("qwen35.attention.head_count_kv", u(s.kv_heads));
    kv.add("qwen35.attention.key_length", u(s.head_dim));
    kv.add("qwen35.attention.value_length", u(s.head_dim));
    kv.add("qwen35.attention.layer_norm_rms_epsilon", s.eps());
    kv.add("qwen35.rope.freq_base", static_cast<float>(s.rope_theta));
    kv.add("qwen35.rope.dimension_count", u(s.rotary_dims));
    kv.add("qwen35.rope.dimension_sections", std::vector<std::int32_t>{11, 11, 10, 0});
    kv.add("qwen35.ssm.conv_kernel", u(s.conv));
    kv.add("qwen35.ssm.state_size", u(s.key_dim));
    kv.add("qwen35.ssm.group_count", u(s.heads));
    kv.add("qwen35.ssm.time_step_rank", u(s.value_heads));
    kv.add("qwen35.ssm.inner_size", u(s.value_channels()));
    kv.add("qwen35.full_attention_interval", u(period > 0 ? period : static_cast<int>(layout.size())));
    std::vector<bool> recurrent;
    for (const int which : layout) recurrent.push_back(which != pass_through);
    kv.add("qwen35.attention.recurrent_layers", recurrent);
}

/// The vocabulary as one of whole words. Programs that feed token ids need no more of it than its size and its end.
inline void add_vocabulary(gguf_metadata& kv, const front_model& m) {
    std::vector<std::string> words;
    for (int t = 0; t < m.tokens; ++t) words.push_back(m.spell(t));
    kv.add("tokenizer.ggml.model", "gpt2");
    kv.add("tokenizer.ggml.pre", "qwen35");
    kv.add("tokenizer.ggml.tokens", words);
    kv.add("tokenizer.ggml.token_type", std::vector<std::int32_t>(static_cast<std::size_t>(m.tokens), 4));  // user-defined
    kv.add("tokenizer.ggml.merges", std::vector<std::string>{});
    kv.add("tokenizer.ggml.eos_token_id", static_cast<std::uint32_t>(m.end_token));
    kv.add("tokenizer.ggml.padding_token_id", static_cast<std::uint32_t>(m.end_token));
    kv.add("tokenizer.ggml.add_bos_token", false);
}

}  // namespace detail

/// Writes one file. @throws error "checkpoint.write", "checkpoint.gguf" (heads that would have to be reordered).
inline void export_gguf(const std::string& path, const front_model& m, const export_options& options = {}) {
    const auto& s = m.shape;
    if (s.heads != s.value_heads) throw error("checkpoint.gguf", "key heads and value heads differ in number; their reordering is not written");
    const auto layout = alone_layout(static_cast<int>(m.layers.size()), options.period);
    gguf_metadata kv;
    kv.add("general.architecture", "qwen35");
    kv.add("general.name", "qwenGPU");
    kv.add("general.alignment", static_cast<std::uint32_t>(gguf_alignment));
    kv.add("general.file_type", options.type == element_type::f32 ? std::uint32_t{0} : options.type == element_type::f16 ? std::uint32_t{1} : std::uint32_t{32});
    detail::add_hyperparameters(kv, s, layout, options.period);
    detail::add_vocabulary(kv, m);
    const detail::gguf_planner planner(m, options.type);
    std::vector<planned_tensor> tensors{detail::plan_embedding(m, "token_embd.weight", options.type), planner.norm("output_norm.weight", m.final_norm)};
    for (std::size_t i = 0; i < layout.size(); ++i) planner.layer(layout[i], static_cast<int>(i), tensors);
    write_gguf(path, kv, tensors, options.progress);
}

}  // namespace qwengpu::checkpoint
