// SPDX-License-Identifier: MIT
// The machine compiled into weights: 45 layers, the tied embedding's code, and where the named signals are.
// Building takes a fraction of a second; the result is constant and may be shared between threads.
#pragma once

#include <qwengpu/circuit/allocate.hpp>
#include <qwengpu/circuit/assemble.hpp>
#include <qwengpu/nn/shape.hpp>
#include <qwengpu/nn/weights.hpp>
#include <qwengpu/stage/check_sizes.hpp>
#include <qwengpu/stage/pipeline.hpp>
#include <qwengpu/stage/token_code.hpp>

#include <string>
#include <utility>
#include <vector>

namespace qwengpu::stage {

/// One layer in numbers.
struct layer_report {
    int live_channels = 0, hidden_units = 0, heads = 0;
    std::size_t nonzeros = 0;
    [[nodiscard]] bool passes_through() const { return hidden_units == 0 && heads == 0; }
    /// Levels of logic: the mixer decodes addresses, the MLP computes.
    [[nodiscard]] int levels() const { return (heads > 0 ? 1 : 0) + (hidden_units > 0 ? 1 : 0); }
};

template <machine::sizes M = machine::mission>
class compiled_layers {
public:
    using layer_weights = nn::linear_layer_weights<nn::sparse_matrix>;

    /// Uses channels [0, channels) of the residual only; 0: all there are.
    /// @throws error "stage.sizes", "circuit.channels" or "circuit.layer" if the machine does not fit the shape.
    explicit compiled_layers(const nn::shape& shape = nn::qwen35_2b, int channels = 0)
        : shape_(require_fit<M>(shape)), code_(shape), net_(plan::layers), signals_(build_pipeline<M>(net_, shape)) {
        const code_channels at(shape);
        allocation_ = circuit::allocate(net_, channels > 0 ? channels : shape.hidden, at.end);
        layers_ = circuit::assembler(net_, allocation_, shape).layers();
    }

    [[nodiscard]] const std::vector<layer_weights>& layers() const { return layers_; }
    [[nodiscard]] std::vector<layer_weights>& layers() { return layers_; }
    [[nodiscard]] const nn::shape& shape() const { return shape_; }
    [[nodiscard]] const token_code<M>& code() const { return code_; }
    [[nodiscard]] const signals& named() const { return signals_; }
    [[nodiscard]] const circuit::signal_info& info(signal s) const { return net_.info(s); }
    [[nodiscard]] const network& net() const { return net_; }
    /// Channels of the residual that are used, from 0 on.
    [[nodiscard]] int channels() const { return allocation_.channels; }

    [[nodiscard]] layer_report report(int layer) const {
        const auto& plan = net_.layers()[static_cast<std::size_t>(layer)];
        const auto& w = layers_[static_cast<std::size_t>(layer)];
        layer_report r;
        r.live_channels = allocation_.live[static_cast<std::size_t>(layer)];
        r.hidden_units = static_cast<int>(plan.units.size());
        for (const auto& wipe : allocation_.wipes) r.hidden_units += wipe.layer == layer ? 1 : 0;
        r.heads = static_cast<int>(plan.heads.size());
        for (const auto* m : {&w.mixer.in_proj_qkv, &w.mixer.in_proj_z, &w.mixer.in_proj_b, &w.mixer.in_proj_a, &w.mixer.out_proj, &w.mlp.gate, &w.mlp.up, &w.mlp.down})
            r.nonzeros += m->nonzeros();
        return r;
    }

private:
    nn::shape shape_;
    token_code<M> code_;
    network net_;
    signals signals_;
    circuit::allocation allocation_;
    std::vector<layer_weights> layers_;
};

}  // namespace qwengpu::stage
