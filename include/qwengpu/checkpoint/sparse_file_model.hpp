// SPDX-License-Identifier: MIT
// A compact container as a language model on the sparse engine: every number comes from the file. It is read in well under
// a second, and needs memory for the non-zeros only.
#pragma once

#include <qwengpu/checkpoint/layer_tensors.hpp>
#include <qwengpu/checkpoint/mapped_file.hpp>
#include <qwengpu/checkpoint/sparse_reader.hpp>
#include <qwengpu/nn/head.hpp>
#include <qwengpu/nn/sparse_model.hpp>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

namespace qwengpu::checkpoint {

/// The tensors of a container as layer_reader wants them.
class sparse_source {
public:
    explicit sparse_source(const std::string& path) : path_(path) {
        const mapped_file file(path);
        contents_ = read_sparse_file(path, file.bytes());
    }

    [[nodiscard]] const model_config& config() const { return contents_.config; }
    [[nodiscard]] const machine_note& note() const { return contents_.note; }
    [[nodiscard]] const std::string& path() const { return path_; }

    /// @throws error "checkpoint.tensor" if there is none of this name, or it has another shape.
    [[nodiscard]] const sparse_tensor& at(const std::string& name, const std::vector<std::uint64_t>& shape) const {
        const auto found = contents_.tensors.find(name);
        if (found == contents_.tensors.end()) throw error("checkpoint.tensor", "there is no tensor \"" + name + "\"; write the file again", place{path_, 0, 0});
        if (found->second.shape != shape)
            throw error("checkpoint.tensor", "tensor \"" + name + "\" has the shape " + detail::shape_text(found->second.shape) + ", but the config asks for " + detail::shape_text(shape), place{path_, 0, 0});
        return found->second;
    }

private:
    std::string path_;
    sparse_contents contents_;
};

inline nn::vector read_vector(const sparse_source& from, const std::string& name, int size) {
    nn::vector v = nn::vector::Zero(size);
    for (const auto& e : from.at(name, {static_cast<std::uint64_t>(size)}).entries) v[e.column] = e.value;
    return v;
}

inline Eigen::MatrixXf read_taps(const sparse_source& from, const std::string& name, int rows, int taps) {
    Eigen::MatrixXf m = Eigen::MatrixXf::Zero(rows, taps);
    const auto& t = from.at(name, {static_cast<std::uint64_t>(rows), 1, static_cast<std::uint64_t>(taps)});
    for (const auto& row : t.rows)
        for (const auto& e : t.of(row)) m(row.index, e.column) = e.value;
    return m;
}

template <class Matrix>
Matrix read_matrix(const sparse_source& from, const std::string& name, int rows, int cols) {
    const auto& t = from.at(name, {static_cast<std::uint64_t>(rows), static_cast<std::uint64_t>(cols)});
    std::vector<nn::triplet> entries;
    entries.reserve(t.entries.size());
    for (const auto& row : t.rows)
        for (const auto& e : t.of(row)) entries.push_back({row.index, e.column, e.value});
    return Matrix::from_triplets(rows, cols, std::move(entries));
}

template <nn::rounding R>
class sparse_file_model {
public:
    struct state {
        nn::sparse_state layers;
        nn::vector residual;
    };

    /// @throws error "checkpoint.*" if the file is damaged, or something is missing or does not fit together.
    explicit sparse_file_model(const std::string& path) : sparse_file_model(sparse_source(path)) {}

    explicit sparse_file_model(const sparse_source& from)
        : config_(from.config()), embedding_(from.at(embedding_name(), {static_cast<std::uint64_t>(config_.vocabulary), static_cast<std::uint64_t>(config_.shape.hidden)})),
          head_(read_matrix<nn::sparse_matrix>(from, embedding_name(), config_.vocabulary, config_.shape.hidden)),
          norm_(read_vector(from, config_.prefix() + "norm.weight", config_.shape.hidden)), layers_(layers_of(from), config_.shape) {}

    [[nodiscard]] const model_config& config() const { return config_; }
    [[nodiscard]] state fresh() const { return {layers_.new_state(), nn::vector::Zero(config_.shape.hidden)}; }

    /// Runs a token through the layers; `s.residual` is their output then. Tokens below config().vocabulary only.
    void read(state& s, std::uint32_t token) const {
        s.residual.setZero();
        const auto row = std::lower_bound(embedding_.rows.begin(), embedding_.rows.end(), static_cast<int>(token), [](const auto& r, int t) { return r.index < t; });
        if (row != embedding_.rows.end() && row->index == static_cast<int>(token))
            for (const auto& e : embedding_.of(*row)) s.residual[e.column] = e.value;
        layers_.step(s.layers, s.residual);
    }

    [[nodiscard]] std::uint32_t next(state& s, std::uint32_t token) const {
        read(s, token);
        const nn::vector normed = nn::final_norm<R>(s.residual, norm_, config_.shape.eps());
        return static_cast<std::uint32_t>(nn::argmax(nn::logits<R>(head_, normed).col(0)));
    }

private:
    [[nodiscard]] std::string embedding_name() const { return config_.prefix() + "embed_tokens.weight"; }

    [[nodiscard]] std::vector<nn::linear_layer_weights<nn::sparse_matrix>> layers_of(const sparse_source& from) const {
        if (!config_.tied) throw error("checkpoint.sparse", "its head is not its embedding, which only whole folders can have; graft into a folder", place{from.path(), 0, 0});
        const layer_reader<nn::sparse_matrix, sparse_source> reader(from, config_.prefix(), config_.shape);
        std::vector<nn::linear_layer_weights<nn::sparse_matrix>> all;
        for (int i = 0; i < config_.layers(); ++i) {
            if (config_.full_attention[static_cast<std::size_t>(i)]) check_adds_nothing(from, i);
            else all.push_back(reader.linear(i));
        }
        return all;
    }

    /// Full attention is left out, which is right only if nothing comes out of the layer.
    void check_adds_nothing(const sparse_source& from, int layer) const {
        const auto& s = config_.shape;
        const auto at = layer_prefix(config_.prefix(), layer);
        const auto hidden = static_cast<std::uint64_t>(s.hidden);
        if (!from.at(at + "self_attn.o_proj.weight", {hidden, static_cast<std::uint64_t>(s.query_channels())}).rows.empty() ||
            !from.at(at + "mlp.down_proj.weight", {hidden, static_cast<std::uint64_t>(s.mlp)}).rows.empty())
            throw error("checkpoint.sparse", "layer " + std::to_string(layer) + " is one of full attention that adds something, which the sparse engine cannot run", place{from.path(), 0, 0});
    }

    model_config config_;
    sparse_tensor embedding_;
    nn::sparse_matrix head_;
    nn::vector norm_;
    nn::sparse_model<R> layers_;
};

}  // namespace qwengpu::checkpoint
