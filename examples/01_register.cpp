// SPDX-License-Identifier: MIT
// A register in a DeltaNet state. One head of a Qwen3.5 decoder layer becomes four registers of eight bits: a key is one
// of four unit vectors, so a write (beta = 1, decay = 1) replaces exactly one row of the state, and a read returns it.
// Bits lie on two rails, b and 1 - b, so that every row has the same length and the head's norm divides by a constant.
#include <cstdio>

#include <qwengpu/nn/decoder_layer.hpp>

namespace nn = qwengpu::nn;

constexpr int bits = 8, rows = 4;
constexpr nn::shape shape{.hidden = 32, .mlp = 1, .heads = 1, .value_heads = 1, .key_dim = rows, .value_dim = 4 * bits};

// Channels of the residual stream. The ballast makes its rms 256, whatever the data.
constexpr int one = 0, ballast = 1, write_row = 3, read_row = write_row + rows, data = read_row + rows, out = data + bits;

nn::linear_layer_weights<nn::sparse_matrix> registers() {
    std::vector<nn::triplet> qkv, to_out;
    for (int row = 0; row < rows; ++row) {
        qkv.push_back({row, read_row + row, 128});                          // q
        qkv.push_back({shape.key_channels() + row, write_row + row, 128});  // k
    }
    for (int bit = 0, rail = 2 * shape.key_channels(); bit < bits; ++bit, rail += 2) {
        qkv.insert(qkv.end(), {{rail, data + bit, 128}, {rail + 1, one, 128}, {rail + 1, data + bit, -128}});  // v
        to_out.push_back({out + bit, 2 * bit, 1.0F / 64});  // 8 of 32 channels are on: the norm makes 2, the gate 32 times that
    }
    auto w = nn::zero_linear_layer(shape);
    w.input_norm.setConstant(255);              // 1 + 255 undoes the rms of 256 ...
    w.input_norm.segment(ballast, 2).setConstant(-1);  // ... and 1 - 1 kills the ballast
    w.mixer.in_proj_qkv = nn::sparse_matrix::from_triplets(shape.qkv_channels(), shape.hidden, qkv);
    w.mixer.in_proj_b = nn::sparse_matrix::from_triplets(1, shape.hidden, {{0, one, 128}});  // beta = sigmoid(128) = 1
    w.mixer.dt_bias.setConstant(-100);                                                       // decay = 1
    std::vector<nn::triplet> gate;
    for (int channel = 0; channel < shape.value_channels(); ++channel) gate.push_back({channel, one, 32});
    w.mixer.in_proj_z = nn::sparse_matrix::from_triplets(shape.value_channels(), shape.hidden, gate);
    w.mixer.conv.col(shape.conv - 1).setOnes();  // no look at tokens before
    w.mixer.norm.setOnes();
    w.mixer.out_proj = nn::sparse_matrix::from_triplets(shape.hidden, shape.value_channels(), to_out);
    return w;
}

// The embedding of "write `value` to a row, then read a row"; -1 is no row.
nn::tokens token(int to, int value, int from) {
    nn::tokens x = nn::tokens::Zero(shape.hidden, 1);
    x(one) = 1;
    x.middleRows(ballast, 2).setConstant(1024);
    if (to >= 0) x(write_row + to) = 1;
    if (from >= 0) x(read_row + from) = 1;
    for (int bit = 0; bit < bits; ++bit) x(data + bit) = static_cast<float>(value >> bit & 1);
    return x;
}

float value_at(const nn::tokens& x, int first) {
    float value = 0;
    for (int bit = 0; bit < bits; ++bit) value += x(first + bit) * static_cast<float>(1 << bit);
    return value;
}

template <nn::rounding R>
void run() {
    const auto layer = registers();
    nn::delta_net_state state(shape);
    const int steps[][3] = {{1, 42, -1}, {3, 200, -1}, {-1, 0, 1}, {-1, 0, 3}, {1, 7, 1}, {-1, 99, 3}, {-1, 0, 0}};
    for (const auto& [to, value, from] : steps) {
        nn::tokens x = token(to, value, from);
        nn::decoder_layer<R>(layer, shape, state, x, [](auto&&...) {});
        if (to >= 0) std::printf("%s: r%d <- %d\n", R::name, to, value);
        if (from >= 0) std::printf("%s: r%d reads %.3g\n", R::name, from, static_cast<double>(value_at(x, out)));
    }
    std::printf("%s: rails of r1 in the state:", R::name);
    for (int rail = 0; rail < 2 * bits; ++rail) std::printf(" %g", static_cast<double>(state.heads[0](1, rail)));
    std::printf("\n");
}

int main() {
    run<nn::fp32>();
    run<nn::bf16>();
}
