// SPDX-License-Identifier: MIT
// A DeltaNet head as an exact memory of rows: one-hot keys, overwrite (beta = 1), dual-rail bits, and enough constant
// padding that the gated RMSNorm divides by a power of two (docs/layers.md, "State").
// Invariant: whatever rows a token reads, value_dim / 4 or value_dim units of energy come out (32 or 128), or none at all.
#pragma once

#include <qwengpu/circuit/network.hpp>

#include <qwengpu/error.hpp>

#include <string>
#include <utility>

namespace qwengpu::circuit {

class memory {
public:
    memory(std::string name, int key_dim, int value_dim) : key_dim_(key_dim), value_dim_(value_dim) { head_.name = std::move(name); }

    /// At a token where `match` is 1 (age tokens ago), this token's values go to the row.
    memory& write(int row, const linear& match, int age = 0) {
        head_.writes.push_back({checked(row), match, age});
        return *this;
    }
    /// At a token where `match` is 1, the row is read (after the write).
    memory& read(int row, const linear& match) {
        head_.reads.push_back({checked(row), match, 0});
        return *this;
    }
    /// A bit on two rails, which when read is added to `out`. The rails are given apart: both 0 means that
    /// this token has no such bit. `energy` is counted by the caller where rails exclude each other.
    memory& rails(const linear& one_rail, const linear& zero_rail, int age, signal out) {
        head_.values.push_back({one_rail, 1.0F, age, out.valid() ? outputs{{out, 1.0F}} : outputs{}});
        head_.values.push_back({zero_rail, 1.0F, age, {}});
        return *this;
    }
    memory& bit(const linear& b, int age, signal out) {
        ++energy_;
        return rails(b, no(b), age, out);
    }
    /// Units of energy of rails that the caller has added by hand.
    memory& holds(int energy) {
        energy_ += energy;
        return *this;
    }
    /// A constant channel, so that it counts magnitude^2 units of energy; written along with every row.
    memory& constant(float magnitude, int count = 1) {
        for (int i = 0; i < count; ++i) head_.values.push_back({linear(1.0), magnitude, 0, {}});
        energy_ += static_cast<int>(magnitude * magnitude) * count;
        return *this;
    }
    memory& decay(const linear& a, float a_log) {
        head_.decay = a;
        head_.a_log = a_log;
        return *this;
    }
    [[nodiscard]] std::vector<value_channel>& values() { return head_.values; }

    /// Adds the head to the layer. The energy that a token reads, of `rows` rows at once, must be a quarter of value_dim
    /// or all of it: heads that read one row are padded up to that, others are padded by whoever fills their segments.
    void place(network& net, int layer, int rows = 1) {
        const int quarter = value_dim_ / 4, target = energy_ * rows <= quarter ? quarter : value_dim_;
        if (const int missing = target - energy_; rows == 1 && missing > 0) {
            constant(2.0F, missing / 4);
            constant(1.0F, missing % 4);
        }
        check(target, rows);
        const float gain = (target == quarter ? 2.0F : 1.0F) * silu_of_z;
        for (auto& value : head_.values) {
            for (auto& output : value.outputs) output.second /= gain;
        }
        net.add_head(layer, std::move(head_));
    }

    static constexpr float silu_of_z = 32.0F;  ///< z is 32 where a value channel is read

private:
    using outputs = std::vector<std::pair<signal, float>>;
    void check(int target, int rows) const {
        if (energy_ * rows != target)
            throw error("circuit.head", "head '" + head_.name + "' reads " + std::to_string(energy_ * rows) + " units of energy; make it " + std::to_string(value_dim_ / 4) + " or " +
                                            std::to_string(value_dim_));
        if (static_cast<int>(head_.values.size()) > value_dim_)
            throw error("circuit.head", "head '" + head_.name + "' needs " + std::to_string(head_.values.size()) + " value channels of " +
                                            std::to_string(value_dim_));
    }
    [[nodiscard]] int checked(int row) const {
        if (row < 0 || row >= key_dim_)
            throw error("circuit.head", "head '" + head_.name + "' has no row " + std::to_string(row) + " of " + std::to_string(key_dim_));
        return row;
    }

    head head_;
    int key_dim_, value_dim_;
    int energy_ = 0;
};

}  // namespace qwengpu::circuit
