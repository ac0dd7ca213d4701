// SPDX-License-Identifier: MIT
// A hand-made network as tensors: every entry of a hidden unit, a head and a wipe where the formulas of the layer want it, and what
// does not fit a layer refused. (All 45 compiled layers are checked in stage/compiled_layers.)
#include <qwengpu/circuit/assemble.hpp>
#include <qwengpu/circuit/memory.hpp>

#include "support/catch.hpp"

#include <qwengpu/error.hpp>

#include <map>
#include <string>
#include <utility>

using namespace qwengpu;
using circuit::all;
using circuit::linear;
using circuit::no;

namespace {

using entries = std::map<std::pair<int, int>, float>;

entries entries_of(const nn::sparse_matrix& m) {
    entries result;
    for (const auto& t : m.triplets()) result[{t.row, t.col}] = t.value;
    return result;
}

constexpr nn::shape shape{.hidden = 1024, .mlp = 8, .heads = 2, .value_heads = 2, .key_dim = 4, .value_dim = 16};

/// Channel 0 is one, channel 1 ballast, channel 2 a second one; inputs from 3 on.
std::vector<circuit::assembler::layer_weights> assemble(circuit::network& net, int inputs, int channels = 1024) {
    const auto allocation = circuit::allocate(net, channels, 3 + inputs);
    return circuit::assembler(net, allocation, shape).layers();
}

std::string error_of(circuit::network& net) {
    try {
        (void)assemble(net, 1);
    } catch (const error& e) {
        return e.id() + ": " + e.message();
    }
    return "no error";
}

}  // namespace

TEST_CASE("the constants of a row make its mean square 65536 on every width", "[circuit]") {
    for (const int hidden : {1024, 2048, 4096}) {
        const circuit::constant_channels constants(nn::shape{.hidden = hidden});
        nn::vector row = nn::vector::Zero(hidden);
        constants.write(row);
        CHECK(constants.count() == 2 + hidden / 1024);
        CHECK(row[0] == 1.0F);
        CHECK(row[constants.count() - 1] == 1.0F);
        CHECK(row.tail(hidden - constants.count()).isZero(0.0F));
        double squares = 0;
        for (const float x : row) squares += static_cast<double>(x) * static_cast<double>(x);
        CHECK(squares == 65536.0 * hidden + 2);
    }
}

TEST_CASE("a hidden unit is a row of gate and up and a column of down", "[circuit]") {
    circuit::network net(2);
    const auto a = net.input("a", 3), b = net.input("b", 4), out = net.make("out"), more = net.make("more");
    net.gate(1, all({a, no(b)}), {{out, 1.0F}, {more, -2.0F}});
    net.add_unit(1, 3.0 * linear(a) - linear(2.0), linear(1.0) + b, {{more, 0.5F}});
    const auto layers = assemble(net, 2);
    REQUIRE(layers.size() == 2);
    CHECK(layers[0].mlp.gate.nonzeros() == 0);
    const auto& mlp = layers[1].mlp;
    // silu(128 (2 n - 1)) for n = a - b, in units of one.
    CHECK(entries_of(mlp.gate) == entries{{{0, 3}, 256.0F}, {{0, 4}, -256.0F}, {{0, 0}, -128.0F}, {{1, 3}, 384.0F}, {{1, 0}, -256.0F}});
    CHECK(entries_of(mlp.up) == entries{{{0, 0}, 1.0F}, {{1, 0}, 1.0F}, {{1, 4}, 1.0F}});
    CHECK(entries_of(mlp.down) == entries{{{5, 0}, 1.0F / 128}, {{6, 0}, -2.0F / 128}, {{6, 1}, 0.5F / 128}});
    for (const auto& w : layers) {
        for (int c = 0; c < shape.hidden; ++c) {
            CHECK(w.input_norm[c] == (c == 1 ? -1.0F : 255.0F));
            CHECK(w.post_norm[c] == (c == 1 ? -1.0F : 255.0F));
        }
    }
}

TEST_CASE("a constant that is no bf16 number is two weights that are", "[circuit]") {
    circuit::network net(1);
    const auto a = net.input("a", 3);
    net.add_unit(0, linear(a) - linear(257.0), linear(1.0), {{net.make("out"), 1.0F}});
    net.add_unit(0, linear(a) - linear(769.0), linear(1.0), {{net.make("out"), 1.0F}});
    net.add_unit(0, linear(a) - linear(256.0), linear(1.0), {{net.make("out"), 1.0F}});
    const auto layers = assemble(net, 1);
    // bf16 has eight bits: 257 lies between 256 and 258, of which the even mantissa is the nearer; 769 between 768 and 772.
    CHECK(entries_of(layers[0].mlp.gate) == entries{{{0, 3}, 128.0F}, {{0, 0}, -256.0F * 128}, {{0, 2}, -128.0F}, {{1, 3}, 128.0F}, {{1, 0}, -768.0F * 128},
                                                    {{1, 2}, -128.0F}, {{2, 3}, 128.0F}, {{2, 0}, -256.0F * 128}});
}

TEST_CASE("a memory is rows of q and k, channels of v and z, and columns of out_proj", "[circuit]") {
    circuit::network net(1);
    const auto bit = net.input("bit", 3), row = net.input("row", 4), out = net.make("out");
    circuit::head other;
    other.reads.push_back({0, linear(row), 0});
    net.add_head(0, other);
    circuit::memory head("memory", shape.key_dim, shape.value_dim);
    head.write(3, row, 2).read(1, no(row)).bit(bit, 1, out).decay(132.0 * linear(row), -2.0F).place(net, 0);
    const auto layers = assemble(net, 2);
    const auto& w = layers[0].mixer;
    // The second head: q of keys 4..7, k from 8 + 4, v from 16 + 16. One bit is 1 unit of energy; 3 more make a quarter of 16.
    const entries qkv{{{0, 4}, 256.0F},  {{0, 0}, -128.0F}, {{5, 4}, -256.0F}, {{5, 0}, 128.0F},  {{15, 4}, 256.0F}, {{15, 0}, -128.0F}, {{32, 3}, 256.0F},
                      {{32, 0}, -128.0F}, {{33, 3}, -256.0F}, {{33, 0}, 128.0F}, {{34, 0}, 128.0F}, {{35, 0}, 128.0F}, {{36, 0}, 128.0F}};
    CHECK(entries_of(w.in_proj_qkv) == qkv);
    CHECK(entries_of(w.in_proj_z) == entries{{{16, 0}, 32.0F}});
    CHECK(entries_of(w.in_proj_b) == entries{{{0, 0}, 128.0F}, {{1, 0}, 128.0F}});
    CHECK(entries_of(w.in_proj_a) == entries{{{1, 4}, 132.0F}});
    // v / rms = 1 / sqrt(4 / 16) = 2, times silu(32) = 32.
    CHECK(entries_of(w.out_proj) == entries{{{5, 16}, 1.0F / 64}});
    for (int c = 0; c < shape.qkv_channels(); ++c) {
        const int age = c == 15 ? 2 : c == 32 || c == 33 ? 1 : 0;
        for (int tap = 0; tap < 4; ++tap) CHECK(w.conv(c, tap) == (tap == 3 - age ? 1.0F : 0.0F));
    }
    CHECK(w.a_log[0] == 0.0F);
    CHECK(w.a_log[1] == -2.0F);
    CHECK((w.dt_bias.array() == -100.0F).all());
    CHECK((w.norm.array() == 1.0F).all());
}

TEST_CASE("a wipe is a hidden unit that takes away what its channel holds", "[circuit]") {
    circuit::network net(2);
    const auto in = net.input("in", 3), first = net.make("first"), second = net.make("second");
    net.gate(0, in, {{first, 1.0F}});
    net.gate(1, first, {{second, 1.0F}});
    net.keep(second, 1);
    const auto layers = assemble(net, 1, 5);
    CHECK(net.info(first).channel == 4);
    CHECK(net.info(second).channel == 4);
    CHECK(entries_of(layers[1].mlp.gate) == entries{{{0, 4}, 256.0F}, {{0, 0}, -128.0F}, {{1, 4}, 128.0F}});
    CHECK(entries_of(layers[1].mlp.up) == entries{{{0, 0}, 1.0F}, {{1, 0}, 1.0F}});
    CHECK(entries_of(layers[1].mlp.down) == entries{{{4, 0}, 1.0F / 128}, {{4, 1}, -1.0F / 128}});
}

TEST_CASE("a layer with too many units or heads is refused by number", "[circuit]") {
    circuit::network units(2);
    const auto in = units.input("in", 3);
    for (int i = 0; i < 8; ++i) units.gate(1, in, {{units.make("out"), 1.0F}});
    circuit::network more = units;
    CHECK(error_of(units) == "no error");
    more.gate(1, in, {{more.make("out"), 1.0F}});
    CHECK(error_of(more).find("circuit.layer: layer 1 needs 9 of 8 hidden units and 0 of 2 heads") == 0);
    circuit::network heads(1);
    for (int i = 0; i < 3; ++i) heads.add_head(0, {});
    CHECK(error_of(heads).find("circuit.layer: layer 0 needs 0 of 8 hidden units and 3 of 2 heads") == 0);
}
