// SPDX-License-Identifier: MIT
// A front of three layers for tests of checkpoints: tokens `set:p` and `go:p` with p of 3 bits. `set:p` is remembered as m; the
// payload of the token after a `set` as n (0 before the first). After every token comes go:(p ^ m ^ n).
#pragma once

#include <qwengpu/checkpoint/front_model.hpp>
#include <qwengpu/circuit/allocate.hpp>
#include <qwengpu/circuit/assemble.hpp>
#include <qwengpu/circuit/memory.hpp>

#include <algorithm>
#include <array>
#include <span>
#include <string>
#include <vector>

namespace qwengpu::test {

inline constexpr nn::shape toy_shape{.hidden = 1024, .mlp = 64, .heads = 3, .value_heads = 3, .key_dim = 8, .value_dim = 32, .query_heads = 2, .kv_heads = 1, .head_dim = 16, .rotary_dims = 4};

namespace toy {

inline constexpr int one = 0, ballast = 1, set = 2, go = 3, bit = 4, zero = 7, end = 10, channels = 64, tokens = 16;

inline void write_row(int token, std::span<float> row) {
    row[one] = 1;
    row[ballast] = circuit::constant_channels::ballast_value;
    row[static_cast<std::size_t>(token < 8 ? set : go)] = 1;
    for (int i = 0; i < 3; ++i) row[static_cast<std::size_t>((token >> i & 1) != 0 ? bit + i : zero + i)] = 1;
}

struct code {
    circuit::signal set, go;
    circuit::word bit, zero;
};

inline code inputs(circuit::network& net) {
    code c{net.input("set", set), net.input("go", go), {}, {}};
    for (int i = 0; i < 3; ++i) c.bit.push_back(net.input("bit", bit + i)), c.zero.push_back(net.input("zero", zero + i));
    return c;
}

inline circuit::word remembered(circuit::network& net, int layer, const char* name, const code& c, int age) {
    circuit::memory head(name, toy_shape.key_dim, toy_shape.value_dim);
    const auto out = net.make_word(name, 3);
    head.write(0, c.set, age).read(0, circuit::linear(1.0));
    for (std::size_t i = 0; i < 3; ++i) head.bit(c.bit[i], 0, out[i]);
    head.place(net, layer);
    return out;
}

inline circuit::word exclusive_or(circuit::network& net, int layer, const circuit::word& a, const circuit::word& b) {
    circuit::word result;
    for (std::size_t i = 0; i < a.size(); ++i) result.push_back(net.one_of(layer, "xor", {circuit::all({a[i], circuit::no(b[i])}), circuit::all({circuit::no(a[i]), b[i]})}));
    return result;
}

inline void write_next(circuit::network& net, int layer, const code& c, const circuit::word& value) {
    for (const auto s : {c.set, c.go}) net.gate(layer, s, {{s, -1.0F}});
    net.gate(layer, circuit::linear(1.0), {{c.go, 64.0F}});
    for (std::size_t i = 0; i < 3; ++i) {
        for (const auto s : {c.bit[i], c.zero[i]}) net.gate(layer, s, {{s, -1.0F}});
        net.gate(layer, value[i], {{c.bit[i], 1.0F}});
        net.gate(layer, circuit::no(value[i]), {{c.zero[i], 1.0F}});
    }
}

}  // namespace toy

inline checkpoint::front_model toy_front() {
    circuit::network net(3);
    const auto c = toy::inputs(net);
    const auto m = toy::remembered(net, 0, "m", c, 0);
    const auto with_m = toy::exclusive_or(net, 0, c.bit, m);
    const auto n = toy::remembered(net, 1, "n", c, 1);
    toy::write_next(net, 2, c, toy::exclusive_or(net, 1, with_m, n));
    const auto places = circuit::allocate(net, toy::channels, toy::end);
    checkpoint::front_model f;
    f.shape = toy_shape;
    f.layers = circuit::assembler(net, places, toy_shape).layers();
    f.tokens = toy::tokens;
    f.write_row = toy::write_row;
    f.spell = [](int t) { return (t < 8 ? "set:" : "go:") + std::to_string(t % 8); };
    f.final_norm = nn::vector::Constant(toy_shape.hidden, -1.0F);
    f.final_norm.segment(toy::set, toy::end - toy::set).setConstant(circuit::constant_channels::norm_weight);
    f.code_weight = nn::vector::Zero(toy_shape.hidden);
    f.code_weight.segment(toy::set, toy::end - toy::set).setOnes();
    f.code_weight.segment(toy::set, 2).setConstant(64.0F);
    f.channels = places.channels;
    f.end_token = 8;
    return f;
}

/// What must follow each token of a sequence, by the rule.
inline std::vector<int> toy_answers(const std::vector<int>& tokens) {
    int m = 0, n = 0;
    bool after_set = false;
    std::vector<int> answers;
    for (const int t : tokens) {
        const int p = t % 8;
        if (after_set) n = p;
        after_set = t < 8;
        if (after_set) m = p;
        answers.push_back(8 + (p ^ m ^ n));
    }
    return answers;
}

}  // namespace qwengpu::test
