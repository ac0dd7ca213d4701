// SPDX-License-Identifier: MIT
// Rounding policies: what becomes of a float wherever the reference implementation stores a tensor in the model's dtype.
// Between two such places all arithmetic is fp32, with both policies.
#pragma once

#include <concepts>

#include "qwengpu/nn/bf16.hpp"
#include "qwengpu/nn/matrix.hpp"

namespace qwengpu::nn {

/// A model in float32: nothing is rounded further.
struct fp32 {
    static constexpr const char* name = "fp32";
    static constexpr float round(float x) { return x; }
};

/// A model in bfloat16.
struct bf16 {
    static constexpr const char* name = "bf16";
    static constexpr float round(float x) { return round_to_bf16(x); }
};

template <class R>
concept rounding = requires(float x) {
    { R::round(x) } -> std::same_as<float>;
};

/// Every element rounded, as an Eigen expression.
template <rounding R, class Expression>
auto rounded(const Eigen::DenseBase<Expression>& x) {
    return x.derived().unaryExpr([](float element) { return R::round(element); });
}

}  // namespace qwengpu::nn
