// SPDX-License-Identifier: MIT
// The compiled layers as a language model: embed, 45 layers, final norm, argmax. It knows tokens and a state, nothing else.
// `next` with signals shows what the stages made, for the comparison; it computes nothing in another way.
#pragma once

#include <qwengpu/diff/signals.hpp>
#include <qwengpu/nn/head.hpp>
#include <qwengpu/nn/rounding.hpp>
#include <qwengpu/nn/sparse_model.hpp>
#include <qwengpu/stage/compiled_layers.hpp>
#include <qwengpu/stage/probe.hpp>

#include <memory>
#include <utility>

namespace qwengpu {

/// @tparam Engine  nn::sparse_model<R> or another engine with `state`, `new_state`, `step`
template <machine::sizes M, nn::rounding R, class Engine = nn::sparse_model<R>>
class compiled_model {
public:
    using state = typename Engine::state;

    compiled_model(std::shared_ptr<const stage::compiled_layers<M>> compiled, Engine engine)
        : compiled_(std::move(compiled)), engine_(std::move(engine)), final_norm_(compiled_->code().final_norm()), probe_(*compiled_) {}

    [[nodiscard]] state fresh() const { return engine_.new_state(); }

    void read(state& s, text::token t) const { pass(s, t, nn::no_observer{}); }

    [[nodiscard]] text::token next(state& s, text::token t) const { return answer(pass(s, t, nn::no_observer{})); }

    [[nodiscard]] text::token next(state& s, text::token t, diff::pass_signals& seen) const {
        stage::probed_signals probed;
        const auto made = answer(pass(s, t, probe_.into(probed)));
        if (probed.lane >= 0) seen.lane = probed.lane;
        for (std::size_t i = 0; i < probed.values.size(); ++i) seen.values[i] = probed.values[i];
        return made;
    }

    [[nodiscard]] diff::signal_layers signal_layers() const { return probe_.layers(); }
    [[nodiscard]] const Engine& engine() const { return engine_; }
    [[nodiscard]] const stage::compiled_layers<M>& compiled() const { return *compiled_; }

private:
    template <class Observe>
    nn::vector pass(state& s, text::token t, const Observe& observe) const {
        nn::vector residual = compiled_->code().row(t);
        engine_.step(s, residual, observe);
        return residual;
    }
    [[nodiscard]] text::token answer(const nn::vector& residual) const {
        return compiled_->code().argmax(nn::final_norm<R>(residual, final_norm_, compiled_->shape().eps()).col(0));
    }

    std::shared_ptr<const stage::compiled_layers<M>> compiled_;
    Engine engine_;
    nn::vector final_norm_;
    stage::probe probe_;
};

/// The model on the sparse engine.
template <machine::sizes M = machine::mission, nn::rounding R = nn::bf16>
compiled_model<M, R> make_model(const nn::shape& shape = nn::qwen35_2b) {
    auto compiled = std::make_shared<const stage::compiled_layers<M>>(shape);
    nn::sparse_model<R> engine(compiled->layers(), shape);
    return {std::move(compiled), std::move(engine)};
}

}  // namespace qwengpu
