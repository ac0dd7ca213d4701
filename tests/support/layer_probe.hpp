// SPDX-License-Identifier: MIT
// Reads named signals of the compiled layers while tokens of the test's choice go through them, each right after the sublayer that
// completes it. Only the layers up to the last signal are run. A signal that is no clear bit is an error.
#pragma once

#include <qwengpu/nn/observer.hpp>
#include <qwengpu/nn/sparse_model.hpp>
#include <qwengpu/stage/compiled_layers.hpp>
#include <qwengpu/text/vocabulary.hpp>

#include "support/clear_bit.hpp"
#include "support/token_reader.hpp"

#include <algorithm>
#include <cstdint>
#include <map>
#include <vector>

namespace qwengpu::test {

template <nn::rounding R, machine::sizes M = machine::mission>
class layer_probe : public token_reader<layer_probe<R, M>, M> {
public:
    using token_reader<layer_probe<R, M>, M>::read;

    layer_probe(const stage::compiled_layers<M>& compiled, const std::vector<circuit::word>& watched)
        : compiled_(compiled), model_(layers_up_to(compiled, last_layer(compiled, watched)), compiled.shape()), state_(model_.new_state()),
          residual_(nn::vector::Zero(compiled.shape().hidden)) {
        for (const auto& word : watched)
            for (const auto s : word) watched_[compiled.info(s).ready].push_back(s);
    }

    void read(text::token t) {
        residual_.setZero();
        compiled_.code().write(t, residual_);
        model_.step(state_, residual_, [&](int layer, nn::point point, const auto& residual) {
            const auto at = watched_.find(2 * layer + (point == nn::point::after_mlp ? 1 : 0));
            if (at == watched_.end()) return;
            for (const auto s : at->second) levels_[s.id] = residual(compiled_.info(s).channel, 0);
        });
    }

    [[nodiscard]] bool get(circuit::signal s) const {
        return clear_bit(levels_.at(s.id), compiled_.info(s).name);
    }
    [[nodiscard]] std::uint64_t get(const circuit::word& w) const {
        std::uint64_t value = 0;
        for (std::size_t i = 0; i < w.size(); ++i) value |= std::uint64_t{get(w[i])} << i;
        return value;
    }

    /// Back to before the first token.
    void restart() { state_ = model_.new_state(); }

private:
    static int last_layer(const stage::compiled_layers<M>& compiled, const std::vector<circuit::word>& watched) {
        int last = 0;
        for (const auto& word : watched)
            for (const auto s : word) last = std::max(last, compiled.info(s).ready / 2);
        return last;
    }
    static auto layers_up_to(const stage::compiled_layers<M>& compiled, int last) {
        return std::vector(compiled.layers().begin(), compiled.layers().begin() + last + 1);
    }

    const stage::compiled_layers<M>& compiled_;
    nn::sparse_model<R> model_;
    nn::sparse_state state_;
    nn::vector residual_;
    std::map<int, std::vector<circuit::signal>> watched_;  ///< by the moment that completes them
    std::map<int, float> levels_;
};

}  // namespace qwengpu::test
