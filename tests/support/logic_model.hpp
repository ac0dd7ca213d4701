// SPDX-License-Identifier: MIT
// Random layers of the kind the sparse engine is for: signals that are small whole numbers, SwiGLU units that move them to
// other channels or combine them, and heads with one-hot keys and values on two rails. A channel `one` is 1, and code
// channels hold bits that stay. What is combined or read goes to scratch channels that the next layer wipes, so the share of
// signals stays.
// Ballast makes the mean of squares 2^24 and a bit: as long as the signals' squares sum to less than 2048, float32 rounds
// that to 2^24, and every norm is an exact multiplication by 1/16 (gain 256, rms 4096). So zeros stay zeros.
#pragma once

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>
#include <utility>
#include <vector>

#include "qwengpu/nn/weights.hpp"

namespace logic_model {

namespace nn = qwengpu::nn;

/// How much there is in a layer.
struct amounts {
    int moves = 500;    ///< units that move a signal to another channel
    int gates = 1000;   ///< units that are open when all of five signals are there
    int scratch = 260;  ///< channels that gates and heads write, and units that wipe them
    int heads = 4;      ///< in every third layer
    int key_bits = 6;   ///< of the code, which name the row that is written or read
    int values = 64;    ///< value channels of a head, two for a bit
};

inline constexpr int one = 0;
inline constexpr int first_code = 3;
inline constexpr int code_bits = 32;
inline constexpr int first_signal = first_code + code_bits;
inline constexpr float ballast_mean_square = 16777216.0F;
inline constexpr float gain = 256.0F;             ///< of the norms
inline constexpr float unit = 16.0F;              ///< weight that makes a normed 1 a 1 again

class builder {
public:
    builder(const nn::shape& s, const amounts& a, unsigned seed) : shape_(s), amounts_(a), random_(seed) {}

    std::vector<nn::linear_layer_weights<nn::sparse_matrix>> layers(int count) {
        std::vector<nn::linear_layer_weights<nn::sparse_matrix>> result;
        for (int i = 0; i < count; ++i) result.push_back(layer(i % 3 == 0));
        return result;
    }

    /// An embedding in which a share of the signals is 1, and half of the code.
    nn::vector embedding(double share) {
        nn::vector x = nn::vector::Zero(shape_.hidden);
        std::bernoulli_distribution on(share);
        for (int i = first_signal; i < first_scratch(); ++i) x(i) = on(random_) ? 1.0F : 0.0F;
        for (int i = 0; i < code_bits; ++i) x(first_code + i) = static_cast<float>(below(2));
        x(one) = 1;
        x(1) = x(2) = std::sqrt(ballast_mean_square * static_cast<float>(shape_.hidden) / 2);
        return x;
    }

private:
    int below(int n) { return std::uniform_int_distribution<int>(0, n - 1)(random_); }
    int first_scratch() const { return shape_.hidden - amounts_.scratch; }
    int signal() { return first_signal + below(first_scratch() - first_signal); }
    int scratch() { return first_scratch() + below(amounts_.scratch); }

    /// Different signals, in random order.
    std::vector<int> some_signals(int count) {
        std::vector<int> all(static_cast<std::size_t>(first_scratch() - first_signal));
        std::iota(all.begin(), all.end(), first_signal);
        std::shuffle(all.begin(), all.end(), random_);
        all.resize(static_cast<std::size_t>(count));
        return all;
    }

    nn::vector norm() const {
        nn::vector w = nn::vector::Constant(shape_.hidden, gain - 1);
        w(1) = w(2) = -1;
        return w;
    }

    nn::linear_layer_weights<nn::sparse_matrix> layer(bool with_heads) {
        auto w = nn::zero_linear_layer(shape_);
        w.input_norm = w.post_norm = norm();
        add_mlp(w.mlp);
        if (with_heads) add_heads(w.mixer);
        return w;
    }

    /// Row that is 128 if all of n signals are 1, and -128 or less otherwise.
    void add_all_of(std::vector<nn::triplet>& m, int row, int n) {
        for (int i = 0; i < n; ++i) m.push_back({row, signal(), 256 * unit});
        m.push_back({row, one, (128 - 256 * static_cast<float>(n)) * unit});
    }

    void add_mlp(nn::swiglu_weights<nn::sparse_matrix>& w) {
        std::vector<nn::triplet> gate, up, down;
        int count = 0;
        const auto wipe = [&](int channel) {
            gate.push_back({count, channel, 128 * unit});
            down.push_back({channel, count, -1.0F / 128});
        };
        for (const int from : some_signals(amounts_.moves)) {
            wipe(from);
            down.push_back({signal(), count++, 1.0F / 128});
        }
        for (int i = 0; i < amounts_.scratch; ++i, ++count) wipe(first_scratch() + i);
        for (int i = 0; i < amounts_.gates; ++i) {
            add_all_of(gate, count, 5);
            down.push_back({scratch(), count++, 1.0F / 128});
        }
        for (int i = 0; i < count; ++i) up.push_back({i, one, unit});
        w.gate = nn::sparse_matrix::from_triplets(shape_.mlp, shape_.hidden, std::move(gate));
        w.up = nn::sparse_matrix::from_triplets(shape_.mlp, shape_.hidden, std::move(up));
        w.down = nn::sparse_matrix::from_triplets(shape_.hidden, shape_.mlp, std::move(down));
    }

    /// Row that is 128 if the code's bits from `first` on hold `value`, and -128 or less otherwise.
    void add_equals(std::vector<nn::triplet>& m, int row, int first, int value) {
        int ones = 0;
        for (int i = 0; i < amounts_.key_bits; ++i) {
            const bool bit = (value >> i & 1) != 0;
            m.push_back({row, first_code + first + i, (bit ? 256 : -256) * unit});
            ones += bit ? 1 : 0;
        }
        m.push_back({row, one, (128 - 256 * static_cast<float>(ones)) * unit});
    }

    /// Values 2 i and 2 i + 1 of a head: bit i of the code and its complement, 128 or at most -128.
    void add_rail(std::vector<nn::triplet>& m, int row, int value) {
        const float sign = value % 2 == 0 ? unit : -unit;
        m.push_back({row, first_code + value / 2 % code_bits, 256 * sign});
        m.push_back({row, one, -128 * sign});
    }

    void add_heads(nn::delta_net_weights<nn::sparse_matrix>& w) {
        std::vector<nn::triplet> qkv, z, b, out;
        w.conv.col(shape_.conv - 1).setOnes();
        w.norm.setOnes();
        w.dt_bias.setConstant(-100);
        for (int head = 0; head < amounts_.heads; ++head) {
            const int values = head * shape_.value_dim, q = head * shape_.key_dim;
            for (int key = 0; key < 1 << amounts_.key_bits; ++key) {
                add_equals(qkv, q + key, 0, key);
                add_equals(qkv, shape_.key_channels() + q + key, amounts_.key_bits, key);
            }
            for (int value = 0; value < amounts_.values; ++value) {
                add_rail(qkv, 2 * shape_.key_channels() + values + value, value);
                z.push_back({values + value, one, 32 * unit});
                out.push_back({first_scratch() + (head * amounts_.values + value) % amounts_.scratch, values + value, 1.0F / 64});
            }
            b.push_back({head, one, 128 * unit});
        }
        w.in_proj_qkv = nn::sparse_matrix::from_triplets(shape_.qkv_channels(), shape_.hidden, std::move(qkv));
        w.in_proj_z = nn::sparse_matrix::from_triplets(shape_.value_channels(), shape_.hidden, std::move(z));
        w.in_proj_b = nn::sparse_matrix::from_triplets(shape_.value_heads, shape_.hidden, std::move(b));
        w.out_proj = nn::sparse_matrix::from_triplets(shape_.hidden, shape_.value_channels(), std::move(out));
    }

    nn::shape shape_;
    amounts amounts_;
    std::mt19937 random_;
};

/// All weights of the layers that are not zero.
inline std::size_t nonzeros(const std::vector<nn::linear_layer_weights<nn::sparse_matrix>>& layers) {
    std::size_t count = 0;
    for (const auto& w : layers)
        for (const auto* m : {&w.mixer.in_proj_qkv, &w.mixer.in_proj_z, &w.mixer.in_proj_b, &w.mixer.in_proj_a,
                              &w.mixer.out_proj, &w.mlp.gate, &w.mlp.up, &w.mlp.down})
            count += m->nonzeros();
    return count;
}

}  // namespace logic_model
