// SPDX-License-Identifier: MIT
// The compiled layers as a language model for the host loop: embed, 45 layers on an engine, final norm, argmax. Built once,
// constant, shared by all launches and threads; each launch has a state of its own.
#pragma once

#include <qwengpu/diff/signals.hpp>
#include <qwengpu/nn/observer.hpp>
#include <qwengpu/nn/rms_norm.hpp>
#include <qwengpu/nn/rounding.hpp>
#include <qwengpu/nn/sparse_model.hpp>
#include <qwengpu/stage/compiled_layers.hpp>
#include <qwengpu/stage/probe.hpp>
#include <qwengpu/text/vocabulary.hpp>

#include <utility>

namespace qwengpu {

/// Compiled layers on an engine (`nn::sparse_model<R>`, or a dense one) with rounding R. A text::language_model and a
/// diff::probing_model. The compiled layers must outlive it.
template <machine::sizes M = machine::mission, nn::rounding R = nn::fp32, class Engine = nn::sparse_model<R>>
class machine_model {
public:
    struct state {
        typename Engine::state layers;
        nn::vector residual;
    };

    machine_model(const stage::compiled_layers<M>& compiled, Engine engine)
        : compiled_(compiled), engine_(std::move(engine)), probe_(compiled), final_norm_(compiled.code().final_norm()) {}

    [[nodiscard]] state fresh() const { return {engine_.new_state(), nn::vector::Zero(compiled_.shape().hidden)}; }

    void read(state& s, text::token t) const { pass(s, t, nn::no_observer{}); }

    [[nodiscard]] text::token next(state& s, text::token t) const {
        pass(s, t, nn::no_observer{});
        return head(s);
    }

    [[nodiscard]] text::token next(state& s, text::token t, diff::pass_signals& seen) const {
        stage::probed_signals raw;
        pass(s, t, probe_.into(raw));
        if (raw.lane >= 0) show(raw, seen);
        return head(s);
    }

    [[nodiscard]] diff::signal_layers signal_layers() const { return probe_.layers(); }
    [[nodiscard]] const Engine& engine() const { return engine_; }

private:
    static_assert(stage::probed_names == diff::signal_names, "the probe shows what the comparison compares");

    template <class Observe>
    void pass(state& s, text::token t, const Observe& observe) const {
        s.residual.setZero();
        compiled_.code().write(t, s.residual);
        engine_.step(s.layers, s.residual, observe);
    }

    [[nodiscard]] text::token head(const state& s) const {
        return compiled_.code().argmax(nn::rms_norm<R>(s.residual, final_norm_, compiled_.shape().eps()).col(0));
    }

    static void show(const stage::probed_signals& raw, diff::pass_signals& seen) {
        seen.lane = raw.lane;
        for (std::size_t i = 0; i < raw.values.size(); ++i) seen.values[i] = raw.values[i];
    }

    const stage::compiled_layers<M>& compiled_;
    Engine engine_;
    stage::probe probe_;
    nn::vector final_norm_;
};

/// The model on the sparse engine, whose cost follows the non-zeros.
template <nn::rounding R = nn::fp32, machine::sizes M>
machine_model<M, R> on_sparse_engine(const stage::compiled_layers<M>& compiled) {
    return {compiled, nn::sparse_model<R>(compiled.layers(), compiled.shape())};
}

}  // namespace qwengpu
