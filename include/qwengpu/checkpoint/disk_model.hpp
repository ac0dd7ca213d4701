// SPDX-License-Identifier: MIT
// A checkpoint folder as a language model on the engines of nn/: every number comes from the files. Runs of Gated DeltaNet
// layers with few non-zeros go to the sparse engine, all others to the dense one; layers that add nothing are left out.
#pragma once

#include <qwengpu/checkpoint/config.hpp>
#include <qwengpu/checkpoint/head_rows.hpp>
#include <qwengpu/checkpoint/layer_tensors.hpp>
#include <qwengpu/nn/dense_model.hpp>
#include <qwengpu/nn/head.hpp>
#include <qwengpu/nn/sparse_model.hpp>

#include <cstdint>
#include <functional>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

namespace qwengpu::checkpoint {

/// Called with the number of layers that have been read, and of all.
using read_progress = std::function<void(int done, int total)>;

template <nn::rounding R>
class disk_model {
public:
    using dense_weights = std::conditional_t<std::is_same_v<R, nn::bf16>, nn::bf16_matrix, nn::dense_matrix>;
    using sparse_part = nn::sparse_model<R>;
    using dense_part = nn::dense_model<R, dense_weights>;

    struct state {
        std::vector<std::variant<typename sparse_part::state, typename dense_part::state>> parts;
        nn::vector residual;
    };

    /// @throws error "checkpoint.*" if something is missing or does not fit together.
    explicit disk_model(const std::string& folder, const read_progress& progress = {})
        : config_(read_config(folder)), source_(folder), embedding_(source_.at(config_.prefix() + "embed_tokens.weight"), config_.vocabulary, config_.shape.hidden) {
        if (!config_.tied) untied_.emplace_back(source_.at("lm_head.weight"), config_.vocabulary, config_.shape.hidden);
        norm_ = read_vector(source_, config_.prefix() + "norm.weight", config_.shape.hidden);
        std::vector<nn::linear_layer_weights<nn::sparse_matrix>> sparse;
        std::vector<nn::layer_weights<dense_weights>> dense;
        for (int i = 0; i < config_.layers(); ++i) {
            if (is_thin(i)) {
                close(dense);
                add_sparse(i, sparse);
            } else {
                close(sparse);
                dense.push_back(layer_reader<dense_weights>(source_, config_.prefix(), config_.shape).layer(i, is_full(i)));
            }
            if (progress) progress(i + 1, config_.layers());
        }
        close(sparse);
        close(dense);
    }

    [[nodiscard]] const model_config& config() const { return config_; }
    [[nodiscard]] const head_rows& head() const { return untied_.empty() ? embedding_ : untied_.front(); }
    [[nodiscard]] const head_rows& embedding() const { return embedding_; }

    [[nodiscard]] state fresh() const {
        state s;
        for (const auto& part : parts_) std::visit([&](const auto& p) { s.parts.emplace_back(p.new_state()); }, part);
        s.residual = nn::vector::Zero(config_.shape.hidden);
        return s;
    }

    /// Runs a token through the layers; `s.residual` is their output then. Tokens below config().vocabulary only.
    void read(state& s, std::uint32_t token) const {
        embedding_.read(static_cast<int>(token), s.residual);
        for (std::size_t i = 0; i < parts_.size(); ++i)
            std::visit([&](const auto& p) { p.step(std::get<typename std::decay_t<decltype(p)>::state>(s.parts[i]), s.residual); }, parts_[i]);
    }

    [[nodiscard]] std::uint32_t next(state& s, std::uint32_t token) const {
        read(s, token);
        return static_cast<std::uint32_t>(head().template argmax<R>(normed(s)));
    }

    /// The residual after the final norm.
    [[nodiscard]] nn::vector normed(const state& s) const { return nn::final_norm<R>(s.residual, norm_, config_.shape.eps()); }

private:
    [[nodiscard]] bool is_full(int layer) const { return config_.full_attention[static_cast<std::size_t>(layer)]; }

    /// Few non-zeros, as far as every 64th row of down_proj tells; and full attention only if it adds nothing.
    [[nodiscard]] bool is_thin(int layer) const {
        const auto at = layer_prefix(config_.prefix(), layer);
        const auto down = source_.at(at + "mlp.down_proj.weight");
        check_tensor(down, {static_cast<std::uint64_t>(config_.shape.hidden), static_cast<std::uint64_t>(config_.shape.mlp)});
        return is_full(layer) ? adds_nothing(down) && adds_nothing(source_.at(at + "self_attn.o_proj.weight")) : share_of_nonzeros(down, 64) < 0.2;
    }

    [[nodiscard]] static double share_of_nonzeros(const tensor_view& t, std::size_t stride) {
        std::vector<float> line(static_cast<std::size_t>(t.shape.at(1)));
        std::size_t nonzeros = 0, seen = 0;
        for (std::size_t r = 0; r < t.shape[0]; r += stride) {
            read_row(t, r, line);
            nonzeros += static_cast<std::size_t>(std::count_if(line.begin(), line.end(), [](float x) { return x != 0; }));
            seen += line.size();
        }
        return static_cast<double>(nonzeros) / static_cast<double>(seen);
    }
    [[nodiscard]] static bool adds_nothing(const tensor_view& t) { return share_of_nonzeros(t, 1) == 0; }

    void add_sparse(int layer, std::vector<nn::linear_layer_weights<nn::sparse_matrix>>& run) const {
        if (is_full(layer)) return;
        auto w = layer_reader<nn::sparse_matrix>(source_, config_.prefix(), config_.shape).linear(layer);
        if (w.mixer.out_proj.nonzeros() + w.mlp.down.nonzeros() > 0) run.push_back(std::move(w));
    }

    void close(std::vector<nn::linear_layer_weights<nn::sparse_matrix>>& run) {
        if (!run.empty()) parts_.emplace_back(sparse_part(run, config_.shape));
        run.clear();
    }
    void close(std::vector<nn::layer_weights<dense_weights>>& run) {
        if (!run.empty()) parts_.emplace_back(dense_part(std::move(run), config_.shape));
        run.clear();
    }

    model_config config_;
    tensor_source source_;
    head_rows embedding_;
    std::vector<head_rows> untied_;  ///< the head if it is not the embedding
    nn::vector norm_;
    std::vector<std::variant<sparse_part, dense_part>> parts_;
};

}  // namespace qwengpu::checkpoint
