// SPDX-License-Identifier: MIT
// A decoder layer on Eigen: r += mixer(norm(r)); r += swiglu(norm(r)). The residual r: [hidden, tokens] enters as the
// output of the layer before and leaves as this one's.
#pragma once

#include "qwengpu/nn/attention.hpp"
#include "qwengpu/nn/delta_net.hpp"
#include "qwengpu/nn/observer.hpp"
#include "qwengpu/nn/swiglu.hpp"

namespace qwengpu::nn {

/// The mixer of a layer, by its kind; `form` is that of a Gated DeltaNet.
template <rounding R, class Matrix>
tokens mix(const linear_layer_weights<Matrix>& w, const shape& s, delta_net_state& state, const const_tokens_ref& h, delta_form form) {
    return gated_delta_net<R>(w.mixer, s, state, h, form);
}

template <rounding R, class Matrix>
tokens mix(const full_layer_weights<Matrix>& w, const shape& s, attention_state& state, const const_tokens_ref& h, delta_form) {
    return gated_attention<R>(w.mixer, s, state, h);
}

/// `observe(point, residual)` is called after either sublayer.
template <rounding R, class Layer, class State, class Observe>
void decoder_layer(const Layer& w, const shape& s, State& state, tokens_ref residual, Observe&& observe,
                   delta_form form = delta_form::recurrent) {
    residual = rounded<R>(residual + mix<R>(w, s, state, rms_norm<R>(residual, w.input_norm, s.eps()), form));
    observe(point::after_mixer, const_tokens_ref(residual));
    residual = rounded<R>(residual + swiglu<R>(w.mlp, rms_norm<R>(residual, w.post_norm, s.eps())));
    observe(point::after_mlp, const_tokens_ref(residual));
}

}  // namespace qwengpu::nn
