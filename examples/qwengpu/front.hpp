// SPDX-License-Identifier: MIT
// The machine compiled into layers, as checkpoints take it.
#pragma once

#include <qwengpu/checkpoint/front_model.hpp>
#include <qwengpu/stage/compiled_layers.hpp>
#include <qwengpu/text/spelling.hpp>

#include <algorithm>
#include <memory>

namespace cli {

namespace detail {

/// What the last layer leaves per 1 in a token's row.
template <qwengpu::machine::sizes M>
qwengpu::nn::vector code_weight(const qwengpu::stage::compiled_layers<M>& compiled) {
    const auto& at = compiled.code().channels();
    qwengpu::nn::vector weight = qwengpu::nn::vector::Zero(compiled.shape().hidden);
    weight.segment(at.first_class, at.end - at.first_class).setOnes();
    weight.segment(at.first_class, qwengpu::text::token_class_count).setConstant(qwengpu::stage::class_weight);
    return weight;
}

}  // namespace detail

/// The layers on as few channels as they fit, in steps of 64 from `least` on: what is left tells ordinary text apart.
template <qwengpu::machine::sizes M = qwengpu::machine::mission>
std::shared_ptr<const qwengpu::stage::compiled_layers<M>> narrow_layers(const qwengpu::nn::shape& shape, int least) {
    for (int channels = least;; channels += 64) {
        try {
            return std::make_shared<const qwengpu::stage::compiled_layers<M>>(shape, channels);
        } catch (const qwengpu::error&) {
            if (channels >= shape.hidden) throw;
        }
    }
}

/// `compiled` is kept alive by the result.
template <qwengpu::machine::sizes M = qwengpu::machine::mission>
qwengpu::checkpoint::front_model front_of(std::shared_ptr<const qwengpu::stage::compiled_layers<M>> compiled) {
    namespace text = qwengpu::text;
    using vocabulary = text::vocabulary<M>;
    return {.shape = compiled->shape(),
            .layers = compiled->layers(),
            .tokens = static_cast<int>(vocabulary::size),
            .write_row = [compiled](int t, std::span<float> row) {
                const auto x = compiled->code().row(static_cast<text::token>(t));
                std::copy(x.data(), x.data() + x.size(), row.begin());
            },
            .spell = [](int t) { return text::spell<M>(static_cast<text::token>(t)); },
            .final_norm = compiled->code().final_norm(),
            .code_weight = detail::code_weight(*compiled),
            .channels = compiled->channels(),
            .end_token = static_cast<int>(vocabulary::encode(text::token_class::end))};
}

}  // namespace cli
