// SPDX-License-Identifier: MIT
// An adder in a SwiGLU. Bits are 0 or 1, and gate weights are multiples of 128: silu(128 n) is 128 n for whole n > 0 and 0
// for n <= 0, bit for bit, so a hidden unit is relu(n). With n = a + b as a weighted sum of bits, every bit of the sum is a
// function of a small whole number, and so a sum of relu(n - t), which all the bits share.
#include <cmath>
#include <cstdio>

#include <qwengpu/nn/rms_norm.hpp>
#include <qwengpu/nn/swiglu.hpp>

namespace nn = qwengpu::nn;

constexpr int bits = 4, largest = 2 * ((1 << bits) - 1);

// Channels of the residual stream: the constant 1, the ballast that makes the rms 256, a, b, and their sum.
constexpr int one = 0, ballast = 1, a = 3, b = a + bits, sum = b + bits, hidden = 32;

int bit_of(int n, int bit) { return n < 0 ? 0 : n >> bit & 1; }

nn::swiglu_weights<nn::sparse_matrix> adder() {
    std::vector<nn::triplet> gate, up, down;
    for (int t = 0; t < largest; ++t) {  // unit t is relu(a + b - t)
        for (int bit = 0; bit < bits; ++bit)
            for (const int operand : {a, b}) gate.push_back({t, operand + bit, static_cast<float>(128 << bit)});
        gate.push_back({t, one, static_cast<float>(-128 * t)});
        up.push_back({t, one, 1});
        // f(n) = sum of f's second differences at t, times relu(n - t)
        for (int bit = 0; bit <= bits; ++bit) {
            const int bend = bit_of(t + 1, bit) - 2 * bit_of(t, bit) + bit_of(t - 1, bit);
            down.push_back({sum + bit, t, static_cast<float>(bend) / 128});
        }
    }
    return {nn::sparse_matrix::from_triplets(largest, hidden, gate), nn::sparse_matrix::from_triplets(largest, hidden, up),
            nn::sparse_matrix::from_triplets(hidden, largest, down)};
}

nn::tokens operands(int x, int y) {
    nn::tokens r = nn::tokens::Zero(hidden, 1);
    r(one) = 1;
    r.middleRows(ballast, 2).setConstant(1024);
    for (int bit = 0; bit < bits; ++bit) {
        r(a + bit) = static_cast<float>(bit_of(x, bit));
        r(b + bit) = static_cast<float>(bit_of(y, bit));
    }
    return r;
}

// The bits of the sum as the layer leaves them, before anything rounds them.
template <nn::rounding R>
nn::tokens add(const nn::swiglu_weights<nn::sparse_matrix>& w, int x, int y) {
    nn::vector norm = nn::vector::Constant(hidden, 255);  // 1 + 255 undoes the rms of 256
    norm.segment(ballast, 2).setConstant(-1);
    return nn::swiglu<R>(w, nn::rms_norm<R>(operands(x, y), norm, 1e-6F)).middleRows(sum, bits + 1);
}

template <nn::rounding R>
void run() {
    const auto w = adder();
    int wrong = 0;
    for (int x = 0; x < 1 << bits; ++x)
        for (int y = 0; y < 1 << bits; ++y) {
            const nn::tokens s = add<R>(w, x, y);
            for (int bit = 0; bit <= bits; ++bit) wrong += std::abs(s(bit) - static_cast<float>(bit_of(x + y, bit))) > 0.001F;
        }
    const nn::tokens s = add<R>(w, 9, 8);
    std::printf("%s: 9 + 8 has the bits", R::name);
    for (int bit = bits; bit >= 0; --bit) std::printf(" %ld", std::lround(s(bit)));
    std::printf("; of all 256 sums, %d bits are off by more than 0.001\n", wrong);
}

int main() {
    const auto w = adder();
    std::printf("%d hidden units, %zu weights\n", w.gate.rows(), w.gate.nonzeros() + w.up.nonzeros() + w.down.nonzeros());
    run<nn::fp32>();
    run<nn::bf16>();
}
