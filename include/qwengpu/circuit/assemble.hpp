// SPDX-License-Identifier: MIT
// Turns a network whose signals have channels into the tensors of Qwen3.5 linear-attention layers, every one of them:
// norms, in_proj_qkv/z/b/a, conv1d, dt_bias, A_log, norm, out_proj, gate/up/down_proj.
#pragma once

#include <qwengpu/circuit/allocate.hpp>
#include <qwengpu/circuit/network.hpp>
#include <qwengpu/nn/bf16.hpp>
#include <qwengpu/nn/weights.hpp>

#include <qwengpu/error.hpp>

#include <string>
#include <vector>

namespace qwengpu::circuit {

/// Channels of every embedding row that are constants of the network: `one`, a ballast that makes the rms 256 whatever
/// the data are (hidden / 1024 channels of 8192 each; their norm weights are -1, so no layer sees them), and a second
/// one, for what a constant weight leaves when it is cut to a bf16 number.
struct constant_channels {
    int one = 0;
    int first_ballast = 1;
    int second_one = 0;
    static constexpr float ballast_value = 8192.0F;
    static constexpr float norm_weight = 255.0F;  ///< 1 + w = 256 undoes the rms

    explicit constant_channels(const nn::shape& shape) : second_one(first_ballast + ballast_count(shape)) {}

    [[nodiscard]] static int ballast_count(const nn::shape& shape) { return shape.hidden / 1024; }
    /// Into a row of an embedding, [hidden].
    template <class Row>
    void write(Row& x) const {
        x[one] = x[second_one] = 1.0F;
        for (int i = first_ballast; i < second_one; ++i) x[i] = ballast_value;
    }
    /// How many there are, from channel 0 on.
    [[nodiscard]] int count() const { return second_one + 1; }
};

class assembler {
public:
    using layer_weights = nn::linear_layer_weights<nn::sparse_matrix>;

    assembler(const network& net, const allocation& channels, const nn::shape& shape)
        : net_(net), channels_(channels), shape_(shape), constants_(shape) {}

    [[nodiscard]] std::vector<layer_weights> layers() const {
        std::vector<layer_weights> result;
        for (int layer = 0; layer < net_.layer_count(); ++layer) result.push_back(build(layer));
        return result;
    }

    /// Value of the norms' weights: (1 + w) / 256 of every channel but the ballast, which is killed.
    [[nodiscard]] Eigen::VectorXf norm() const {
        Eigen::VectorXf w = Eigen::VectorXf::Constant(shape_.hidden, constant_channels::norm_weight);
        for (int i = constants_.first_ballast; i < constants_.second_one; ++i) w[i] = -1.0F;
        return w;
    }

private:
    using entries = std::vector<nn::triplet>;

    layer_weights build(int layer) const {
        const auto& plan = net_.layers()[static_cast<std::size_t>(layer)];
        check(layer, plan);
        auto w = nn::zero_linear_layer(shape_);
        w.input_norm = norm();
        w.post_norm = norm();
        w.mixer.norm.setOnes();
        w.mixer.dt_bias.setConstant(-100.0F);
        w.mixer.conv.col(shape_.conv - 1).setOnes();
        build_mixer(plan, w.mixer);
        build_mlp(layer, plan, w.mlp);
        return w;
    }

    void check(int layer, const layer_plan& plan) const {
        const auto units = static_cast<int>(plan.units.size()) + wipes(layer);
        if (units > shape_.mlp || static_cast<int>(plan.heads.size()) > shape_.heads)
            throw error("circuit.layer", "layer " + std::to_string(layer) + " needs " + std::to_string(units) + " of " + std::to_string(shape_.mlp) +
                                             " hidden units and " + std::to_string(plan.heads.size()) + " of " + std::to_string(shape_.heads) + " heads");
    }
    int wipes(int layer) const {
        int count = 0;
        for (const auto& wipe : channels_.wipes) count += wipe.layer == layer ? 1 : 0;
        return count;
    }

    int channel(signal s) const { return net_.info(s).channel; }

    void put(entries& m, int row, const linear& sum, float factor) const {
        for (const auto& [s, weight] : sum.terms()) m.push_back({row, channel(s), factor * weight});
        const float constant = factor * sum.constant(), most = nn::round_to_bf16(constant);
        if (most != 0.0F) m.push_back({row, constants_.one, most});
        if (constant != most) m.push_back({row, constants_.second_one, constant - most});
    }

    void build_mlp(int layer, const layer_plan& plan, nn::swiglu_weights<nn::sparse_matrix>& w) const {
        entries gate, up, down;
        int unit = 0;
        for (const auto& u : plan.units) {
            put(gate, unit, u.gate, 128.0F);
            put(up, unit, u.up, 1.0F);
            for (const auto& [s, weight] : u.outputs) down.push_back({channel(s), unit, weight});
            ++unit;
        }
        for (const auto& wipe : channels_.wipes) {
            if (wipe.layer != layer) continue;
            put(gate, unit, linear(wipe.old), 128.0F);
            put(up, unit, linear(1.0), 1.0F);
            down.push_back({channel(wipe.old), unit++, -1.0F / 128.0F});
        }
        w.gate = nn::sparse_matrix::from_triplets(shape_.mlp, shape_.hidden, std::move(gate));
        w.up = nn::sparse_matrix::from_triplets(shape_.mlp, shape_.hidden, std::move(up));
        w.down = nn::sparse_matrix::from_triplets(shape_.hidden, shape_.mlp, std::move(down));
    }

    struct mixer_entries {
        entries qkv, z, b, a, out;
    };

    void build_mixer(const layer_plan& plan, nn::delta_net_weights<nn::sparse_matrix>& w) const {
        mixer_entries m;
        int index = 0;
        for (const auto& h : plan.heads) build_head(h, index++, m, w);
        w.in_proj_qkv = nn::sparse_matrix::from_triplets(shape_.qkv_channels(), shape_.hidden, std::move(m.qkv));
        w.in_proj_z = nn::sparse_matrix::from_triplets(shape_.value_channels(), shape_.hidden, std::move(m.z));
        w.in_proj_b = nn::sparse_matrix::from_triplets(shape_.value_heads, shape_.hidden, std::move(m.b));
        w.in_proj_a = nn::sparse_matrix::from_triplets(shape_.value_heads, shape_.hidden, std::move(m.a));
        w.out_proj = nn::sparse_matrix::from_triplets(shape_.hidden, shape_.value_channels(), std::move(m.out));
    }

    void build_head(const head& h, int index, mixer_entries& m, nn::delta_net_weights<nn::sparse_matrix>& w) const {
        const int q = index * shape_.key_dim;
        const int k = shape_.key_channels() + q;
        const int first_value = index * shape_.value_dim;
        const int v = 2 * shape_.key_channels() + first_value;
        for (const auto& key : h.reads) put(m.qkv, q + key.row, 2.0 * key.match - linear(1.0), 128.0F);
        for (const auto& key : h.writes) {
            put(m.qkv, k + key.row, 2.0 * key.match - linear(1.0), 128.0F);
            set_tap(w.conv, k + key.row, key.age);
        }
        int i = 0;
        for (const auto& value : h.values) {
            put(m.qkv, v + i, 2.0 * value.value - linear(1.0), 128.0F * value.magnitude);
            set_tap(w.conv, v + i, value.age);
            if (!value.outputs.empty()) m.z.push_back({first_value + i, constants_.one, z_of_read});
            for (const auto& [s, weight] : value.outputs) m.out.push_back({channel(s), first_value + i, weight});
            ++i;
        }
        m.b.push_back({index, constants_.one, 128.0F});
        put(m.a, index, h.decay, 1.0F);
        w.a_log[index] = h.a_log;
    }

    void set_tap(Eigen::MatrixXf& conv, int row, int age) const {
        conv.row(row).setZero();
        conv(row, shape_.conv - 1 - age) = 1.0F;
    }

    static constexpr float z_of_read = 32.0F;

    const network& net_;
    const allocation& channels_;
    nn::shape shape_;
    constant_channels constants_;
};

}  // namespace qwengpu::circuit
