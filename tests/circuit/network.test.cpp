// SPDX-License-Identifier: MIT
// What one level can do: gates, steps, thresholds, sums of exclusive bits, general units; over all inputs, and with inputs that are
// not quite bits. And the times at which signals are born, complete and read.
#include <qwengpu/circuit/network.hpp>

#include "support/catch.hpp"
#include "support/circuit_runner.hpp"

#include <bit>
#include <cmath>
#include <stdexcept>

using namespace qwengpu;
using namespace qwengpu::test;
using circuit::all;
using circuit::linear;
using circuit::no;
using circuit::sum;

TEMPLATE_TEST_CASE("gates, steps and their short forms over all values of five bits", "[circuit]", nn::fp32, nn::bf16) {
    circuit_bench bench{1};
    const auto in = bench.input("in", 5);
    auto& net = bench.net;
    const auto gated = bench.output("gated"), weighted = bench.output("weighted");
    net.gate(0, all({in[0], no(in[1]), in[2]}), {{gated, 1.0F}});
    net.gate(0, in[0], {{weighted, 3.0F}});
    net.gate(0, in[1], {{weighted, -1.0F}});
    circuit::word at_least;
    for (int t = 0; t <= 6; ++t) at_least.push_back(bench.look_at(net.threshold(0, "at_least", sum(in), t)));
    const auto every = bench.look_at(net.all_of(0, "every", {in[0], in[1], in[2], in[3], in[4]}));
    const auto any = bench.look_at(net.any_of(0, "any", {in[0], in[1], in[2], in[3], in[4]}));
    const auto one = bench.look_at(net.one_of(0, "one", {all({in[0], in[1]}), all({no(in[0]), in[2]})}));
    circuit_runner<TestType> runner(bench, 32);
    for (unsigned bits = 0; bits < 32; ++bits) runner.set(in, bits, static_cast<int>(bits));
    runner.run();
    for (unsigned bits = 0; bits < 32; ++bits) {
        CAPTURE(bits);
        const int column = static_cast<int>(bits), ones = std::popcount(bits);
        CHECK(runner.get(gated, column) == ((bits & 7U) == 5));
        CHECK(runner.holds(weighted, static_cast<float>(3 * (bits & 1U)) - static_cast<float>(bits >> 1 & 1U), column));
        for (int t = 0; t <= 6; ++t) CHECK(runner.get(at_least[static_cast<std::size_t>(t)], column) == (ones >= t));
        CHECK(runner.get(every, column) == (bits == 31));
        CHECK(runner.get(any, column) == (bits != 0));
        CHECK(runner.get(one, column) == ((bits & 3U) == 3 || (bits & 5U) == 4));
    }
}

TEMPLATE_TEST_CASE("a step tells every count up to 63 above its threshold, and any below", "[circuit]", nn::fp32, nn::bf16) {
    circuit_bench bench{1};
    const auto count = bench.input("count");
    const auto out = bench.look_at(bench.net.threshold(0, "out", linear(count), 2));
    circuit_runner<TestType> runner(bench, 130);
    for (int n = -64; n < 66; ++n) runner.set_level(count, static_cast<float>(n), n + 64);
    runner.run();
    for (int n = -64; n < 66; ++n) {
        CAPTURE(n);
        CHECK(runner.holds(out, n >= 2 ? 1.0F : 0.0F, n + 64));
    }
}

TEST_CASE("a step wipes out the errors of its inputs; a gate doubles them", "[circuit]") {
    circuit_bench bench{1};
    const auto a = bench.input("a"), b = bench.input("b");
    const auto stepped = bench.look_at(bench.net.all_of(0, "stepped", {a, b}));
    const auto gated = bench.output("gated");
    bench.net.gate(0, all({a, b}), {{gated, 1.0F}});
    circuit_runner<nn::fp32> runner(bench);
    for (const float error : {-0.1F, -0.05F, 0.0F, 0.05F, 0.1F}) {
        CAPTURE(error);
        for (unsigned bits = 0; bits < 4; ++bits) {
            runner.clear();
            runner.set_level(a, static_cast<float>(bits & 1U) + error, 0);
            runner.set_level(b, static_cast<float>(bits >> 1) + error, 0);
            runner.run();
            CHECK(runner.holds(stepped, bits == 3 ? 1.0F : 0.0F));
            if (bits == 3) CHECK(std::abs(runner.level(gated) - (1.0F + 2 * 2 * error)) < 1e-3F);
        }
    }
}

TEMPLATE_TEST_CASE("a general unit multiplies a gate with a sum", "[circuit]", nn::fp32, nn::bf16) {
    // relu(x) * (1 + y): 0 where the gate is closed.
    circuit_bench bench{1};
    const auto x = bench.input("x"), y = bench.input("y"), out = bench.output("out");
    bench.net.add_unit(0, x, linear(1.0) + y, {{out, 1.0F}});
    circuit_runner<TestType> runner(bench);
    for (int gate = -2; gate <= 3; ++gate) {
        for (int factor = 0; factor <= 3; ++factor) {
            runner.clear();
            runner.set_level(x, static_cast<float>(gate));
            runner.set_level(y, static_cast<float>(factor));
            runner.run();
            CHECK(runner.holds(out, static_cast<float>((gate > 0 ? gate : 0) * (1 + factor))));
        }
    }
}

TEST_CASE("signals know when they are born, complete, and last read", "[circuit]") {
    circuit::network net(4);
    const auto in = net.input("in", 7), made = net.make("made"), idle = net.make("idle");
    CHECK(net.info(in).channel == 7);
    CHECK(net.info(in).born == -1);
    CHECK(net.info(made).born == circuit::network::unborn);
    net.gate(2, in, {{made, 1.0F}});
    net.gate(1, in, {{made, 1.0F}});
    CHECK(net.info(made).born == 3);
    CHECK(net.info(made).ready == 5);
    CHECK(net.info(in).last_use == 5);
    CHECK(net.info(made).last_use == -1);
    net.step(3, made, 1, {{net.make("later"), 1.0F}});
    CHECK(net.info(made).last_use == 7);
    circuit::head head;
    head.reads.push_back({0, linear(in), 0});
    head.values.push_back({linear(in), 1.0F, 0, {{idle, 1.0F}}});
    net.add_head(0, head);
    CHECK(net.info(idle).born == 0);
    net.keep(idle, 2);
    CHECK(net.info(idle).last_use == 6);
    CHECK(net.layers()[2].units.size() == 1);
    CHECK(net.layers()[3].units.size() == 2);
    CHECK(net.layers()[0].heads.size() == 1);
    CHECK(net.layer_count() == 4);
}

TEST_CASE("a layer that is not there is an error", "[circuit]") {
    circuit::network net(2);
    CHECK_THROWS_AS(net.gate(2, linear(1.0), {{net.make("out"), 1.0F}}), std::out_of_range);
}
