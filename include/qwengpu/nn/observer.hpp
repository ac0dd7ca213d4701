// SPDX-License-Identifier: MIT
// Observers see the residual stream between sublayers. They are called as observe(layer, point, residual), where residual
// is a const_tokens_ref: [hidden, tokens], one column per token of the call.
#pragma once

namespace qwengpu::nn {

/// Where in a layer the residual is seen.
enum class point { after_mixer, after_mlp };

/// Sees nothing, and costs nothing.
struct no_observer {
    template <class Residual>
    constexpr void operator()(int, point, const Residual&) const {}
};

}  // namespace qwengpu::nn
