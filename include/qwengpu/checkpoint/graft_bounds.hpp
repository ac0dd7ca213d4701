// SPDX-License-Identifier: MIT
// How far a base model's layers can move a residual at most, whatever it is: every sublayer begins with a norm, so what it
// adds is bounded by the norms of its weights alone.
#pragma once

#include <qwengpu/checkpoint/config.hpp>
#include <qwengpu/checkpoint/graft_base.hpp>
#include <qwengpu/checkpoint/layer_tensors.hpp>
#include <qwengpu/checkpoint/tensor_source.hpp>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

namespace qwengpu::checkpoint {

/// An upper bound of a matrix's operator norm: the smaller of its Frobenius norm and sqrt(|W|_1 |W|_inf).
inline double operator_bound(const tensor_view& t) {
    const auto rows = static_cast<std::size_t>(t.shape.at(0)), cols = static_cast<std::size_t>(t.shape.at(1));
    std::vector<float> line(cols);
    std::vector<double> of_column(cols);
    double squares = 0, widest = 0;
    for (std::size_t r = 0; r < rows; ++r) {
        read_row(t, r, line);
        double of_row = 0;
        for (std::size_t c = 0; c < cols; ++c) {
            const double x = std::abs(static_cast<double>(line[c]));
            of_row += x, of_column[c] += x, squares += x * x;
        }
        widest = std::max(widest, of_row);
    }
    t.file.forget(t.bytes);
    if (!std::isfinite(squares)) throw detail::not_finite("tensor \"" + t.name + "\"", t.file.path());
    const double tallest = of_column.empty() ? 0 : *std::max_element(of_column.begin(), of_column.end());
    return std::min(std::sqrt(squares), std::sqrt(widest * tallest));
}

/// A vector all of whose numbers are finite. @throws error "checkpoint.graft" if they are not.
inline nn::vector read_finite(const tensor_source& from, const std::string& name, int size) {
    auto w = read_vector(from, name, size);
    if (!w.allFinite()) throw detail::not_finite("tensor \"" + name + "\"", from.folder());
    return w;
}

/// Bounds of the length of what a base's layers add. `mixer` and `mlp` are per layer.
struct base_bounds {
    std::vector<double> mixer, mlp;
    [[nodiscard]] double total() const {
        double sum = 0;
        for (std::size_t i = 0; i < mixer.size(); ++i) sum += mixer[i] + mlp[i];
        return sum;
    }
};

namespace detail {

class bounds_reader {
public:
    bounds_reader(const tensor_source& from, const model_config& c) : from_(from), c_(c) {}

    [[nodiscard]] double mixer(int layer) const {
        const auto at = layer_prefix(c_.prefix(), layer);
        const double input = normed(at + "input_layernorm.weight");
        const auto& s = c_.shape;
        if (c_.full_attention[static_cast<std::size_t>(layer)])  // a mean of values, gates below 1, every kv head read by several query heads
            return norm(at + "self_attn.o_proj.weight") * std::sqrt(static_cast<double>(s.query_heads) / s.kv_heads) * norm(at + "self_attn.v_proj.weight") * input;
        const auto gains = read_finite(from_, at + "linear_attn.norm.weight", s.value_dim);
        return norm(at + "linear_attn.out_proj.weight") * std::sqrt(static_cast<double>(s.value_dim)) * static_cast<double>(gains.cwiseAbs().maxCoeff()) *
               norm(at + "linear_attn.in_proj_z.weight") * input;
    }
    [[nodiscard]] double mlp(int layer) const {
        const auto at = layer_prefix(c_.prefix(), layer);
        const double input = normed(at + "post_attention_layernorm.weight");
        return norm(at + "mlp.down_proj.weight") * norm(at + "mlp.gate_proj.weight") * norm(at + "mlp.up_proj.weight") * input * input;
    }

private:
    [[nodiscard]] double norm(const std::string& name) const { return operator_bound(from_.at(name)); }
    /// The longest that a normed vector can be.
    [[nodiscard]] double normed(const std::string& name) const {
        const auto w = read_finite(from_, name, c_.shape.hidden);
        return std::sqrt(static_cast<double>(c_.shape.hidden)) * static_cast<double>((w.array() + 1.0F).abs().maxCoeff());
    }

    const tensor_source& from_;
    const model_config& c_;
};

}  // namespace detail

inline base_bounds bound_base(const tensor_source& from, const model_config& c) {
    base_bounds b;
    const detail::bounds_reader reader(from, c);
    for (int i = 0; i < c.layers(); ++i) {
        b.mixer.push_back(reader.mixer(i));
        b.mlp.push_back(reader.mlp(i));
    }
    return b;
}

}  // namespace qwengpu::checkpoint
