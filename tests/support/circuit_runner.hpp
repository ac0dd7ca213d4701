// SPDX-License-Identifier: MIT
// Circuits under test: inputs at fixed channels after the constants, the circuit's layers, named outputs, and an engine that
// runs it. An output that is not within a quarter of 0 or 1 is an error, whatever bit it would round to.
#pragma once

#include <qwengpu/circuit/allocate.hpp>
#include <qwengpu/circuit/assemble.hpp>
#include <qwengpu/circuit/network.hpp>
#include <qwengpu/nn/sparse_model.hpp>

#include "support/clear_bit.hpp"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace qwengpu::test {

/// A network under construction with its inputs and outputs.
class circuit_bench {
public:
    explicit circuit_bench(int layers, const nn::shape& shape = nn::qwen35_2b)
        : net(layers), shape_(shape), free_channel_(circuit::constant_channels(shape).count()) {}

    circuit::network net;

    /// Bits that every token's embedding sets.
    circuit::word input(const std::string& name, int bits) {
        circuit::word w;
        for (int i = 0; i < bits; ++i) w.push_back(net.input(name + "[" + std::to_string(i) + "]", free_channel_++));
        return w;
    }
    circuit::signal input(const std::string& name) { return net.input(name, free_channel_++); }

    /// Bits that the circuit makes and the test looks at. Those that nothing adds to read as 0.
    circuit::word output(const std::string& name, int bits) {
        const auto w = net.make_word(name, bits);
        looked_at_.insert(looked_at_.end(), w.begin(), w.end());
        return w;
    }
    circuit::signal output(const std::string& name) { return output(name, 1).front(); }
    circuit::signal look_at(circuit::signal s) { return looked_at_.emplace_back(s); }

    /// Leaves the circuit no more channels than these, of those that the shape has.
    void limit_channels(int count) { channel_limit_ = count; }

    /// Gives the signals channels and builds the layers; once, when the circuit is complete.
    [[nodiscard]] std::vector<circuit::assembler::layer_weights> compile() {
        for (const auto s : looked_at_)
            if (net.info(s).born != circuit::network::unborn) net.keep(s, net.layer_count() - 1);
        allocation_ = circuit::allocate(net, channel_limit_ > 0 ? channel_limit_ : shape_.hidden, free_channel_);
        return circuit::assembler(net, allocation_, shape_).layers();
    }

    [[nodiscard]] const nn::shape& shape() const { return shape_; }
    [[nodiscard]] const circuit::allocation& channels() const { return allocation_; }

private:
    nn::shape shape_;
    int free_channel_;
    int channel_limit_ = 0;
    std::vector<circuit::signal> looked_at_;
    circuit::allocation allocation_;
};

/// Runs a circuit with rounding R: many tokens at a time, whose inputs are set and whose outputs are read by column.
template <nn::rounding R>
class circuit_runner {
public:
    explicit circuit_runner(circuit_bench& bench, int columns = 1)
        : layers_(bench.compile()), model_(layers_, bench.shape()), state_(model_.new_state()), bench_(bench),
          empty_(nn::vector::Zero(bench.shape().hidden)), residuals_(bench.shape().hidden, columns) {
        circuit::constant_channels(bench.shape()).write(empty_);
        clear();
    }

    /// Sets every input to 0.
    void clear() { residuals_.colwise() = empty_; }

    void set(const circuit::word& w, std::uint64_t value, int column = 0) {
        for (std::size_t i = 0; i < w.size(); ++i) set(w[i], ((value >> i) & 1U) != 0, column);
    }
    void set(circuit::signal s, bool bit, int column = 0) { set_level(s, bit ? 1.0F : 0.0F, column); }
    /// An input that is not quite a bit, or a count.
    void set_level(circuit::signal s, float level, int column = 0) { residuals_(bench_.net.info(s).channel, column) = level; }

    /// Runs the tokens of all columns, in order.
    void run() {
        if (columns() > 1) return model_.forward(state_, residuals_);
        nn::vector only = residuals_.col(0);
        model_.step(state_, only);
        residuals_.col(0) = only;
    }

    [[nodiscard]] std::uint64_t get(const circuit::word& w, int column = 0) const {
        std::uint64_t value = 0;
        for (std::size_t i = 0; i < w.size(); ++i) value |= std::uint64_t{get(w[i], column)} << i;
        return value;
    }
    [[nodiscard]] bool get(circuit::signal s, int column = 0) const {
        return clear_bit(level(s, column), bench_.net.info(s).name);
    }
    /// What the channel holds; 0 for a signal that nothing makes.
    [[nodiscard]] float level(circuit::signal s, int column = 0) const {
        const int channel = bench_.net.info(s).channel;
        return channel < 0 ? 0.0F : residuals_(channel, column);
    }

    /// Whether a channel holds a number: exactly in bf16; in fp32 the norms leave a few millionths of it.
    [[nodiscard]] bool holds(circuit::signal s, float number, int column = 0) const {
        const float tolerance = std::is_same_v<R, nn::bf16> ? 0.0F : 1e-4F;
        return std::abs(level(s, column) - number) <= tolerance;
    }

    [[nodiscard]] int columns() const { return static_cast<int>(residuals_.cols()); }
    [[nodiscard]] const std::vector<circuit::assembler::layer_weights>& layers() const { return layers_; }

private:
    std::vector<circuit::assembler::layer_weights> layers_;
    nn::sparse_model<R> model_;
    nn::sparse_state state_;
    const circuit_bench& bench_;
    nn::vector empty_;
    nn::tokens residuals_;
};

}  // namespace qwengpu::test
