// SPDX-License-Identifier: MIT
// Channels: fresh ones first, then those of signals nobody reads any more, which are wiped in time; random networks give the same
// results in few channels as in many, never two live signals on one; and an error when there are too few.
#include <qwengpu/circuit/allocate.hpp>

#include "support/catch.hpp"
#include "support/channel_use.hpp"
#include "support/choices.hpp"
#include "support/circuit_runner.hpp"

#include <qwengpu/error.hpp>

#include <map>
#include <string>
#include <utility>
#include <vector>

using namespace qwengpu;
using namespace qwengpu::test;
using circuit::all;
using circuit::linear;
using circuit::no;
using circuit::signal;

namespace {

std::string error_of(circuit::network& net, int channels, int reserved) {
    try {
        (void)circuit::allocate(net, channels, reserved);
    } catch (const error& e) {
        return e.id() + ": " + e.message();
    }
    return "no error";
}

/// A chain of copies, one a layer, after an input: each is read by the next only.
std::vector<signal> build_chain(circuit::network& net, int layers) {
    std::vector<signal> chain{net.input("in", 0)};
    for (int l = 0; l < layers; ++l) {
        chain.push_back(net.make("copy" + std::to_string(l)));
        net.gate(l, chain[static_cast<std::size_t>(l)], {{chain.back(), 1.0F}});
    }
    net.keep(chain.back(), layers - 1);
    return chain;
}

/// A random network of gates of up to three bits, layer by layer, and the same computed on the host.
class random_logic {
public:
    random_logic(std::uint64_t seed, int layers, int per_layer) : bench(layers), choose_(seed) {
        inputs = bench.input("in", 6);
        std::vector<signal> now;
        for (std::size_t i = 0; i < inputs.size(); ++i) now.push_back(inputs[i]);
        for (int l = 0; l < layers; ++l) {
            std::vector<signal> next;
            for (int k = 0; k < per_layer; ++k) next.push_back(build(l, now));
            // Most of the old signals die here; some live on.
            for (const auto n : now)
                if (choose_.percent(15)) next.push_back(n);
            now = next;
        }
        for (const auto n : now) outputs.push_back(bench.look_at(n));
    }

    circuit_bench bench;
    circuit::word inputs;
    std::vector<signal> outputs;

    /// Values of all signals for these inputs, by id.
    [[nodiscard]] std::map<int, bool> evaluate(std::uint64_t bits) const {
        std::map<int, bool> value;
        for (std::size_t i = 0; i < inputs.size(); ++i) value[inputs[i].id] = ((bits >> i) & 1U) != 0;
        for (const auto& g : gates_) {
            bool result = true;
            for (const auto& [s, negated] : g.terms) result = result && value.at(s.id) != negated;
            value[g.out.id] = result;
        }
        return value;
    }

private:
    struct gate {
        signal out;
        std::vector<std::pair<signal, bool>> terms;
    };

    signal build(int layer, const std::vector<signal>& now) {
        gate g{bench.net.make("n" + std::to_string(gates_.size())), {}};
        std::vector<linear> bits;
        const int count = choose_.between(1, 2);
        for (int i = 0; i < count; ++i) {
            const auto from = now[static_cast<std::size_t>(choose_.below(static_cast<int>(now.size())))];
            const bool negated = choose_.percent(50);
            bool repeated = false;
            for (const auto& t : g.terms) repeated = repeated || t.first == from;
            if (repeated) continue;
            g.terms.emplace_back(from, negated);
            bits.push_back(negated ? no(from) : linear(from));
        }
        bench.net.gate(layer, all(bits), {{g.out, 1.0F}});
        gates_.push_back(g);
        return g.out;
    }

    choices choose_;
    std::vector<gate> gates_;
};

}  // namespace

TEST_CASE("fresh channels first, in the order of birth, after the reserved ones", "[circuit]") {
    circuit::network net(3);
    const auto chain = build_chain(net, 3);
    const auto result = circuit::allocate(net, 20, 10);
    CHECK(net.info(chain[0]).channel == 0);
    for (int i = 1; i <= 3; ++i) CHECK(net.info(chain[static_cast<std::size_t>(i)]).channel == 9 + i);
    CHECK(result.channels == 13);
    CHECK(result.wipes.empty());
    // At the end of layer l the copy made there is born and still to be read, the last one by whoever it is kept for.
    CHECK(result.live == std::vector<int>{1, 1, 1});
}

TEST_CASE("a channel is used again after the last reader, and wiped once in between", "[circuit]") {
    circuit::network net(12);
    const auto chain = build_chain(net, 12);
    const auto result = circuit::allocate(net, 5, 1);
    CHECK(result.channels == 5);
    CHECK(channel_violations(net, result, 5, 1).empty());
    CHECK(result.wipes.size() == 8);
    // copy0 is born in MLP 0 and read in MLP 1; that MLP can wipe it, and copy4 of MLP 4 takes its channel.
    CHECK(net.info(chain[5]).channel == net.info(chain[1]).channel);
    CHECK(result.wipes[0].old == chain[1]);
    CHECK(result.wipes[0].layer == 1);
}

TEST_CASE("too few channels are an error that names the signal and its layer", "[circuit]") {
    // Two layers of a pair: in layer 1 the second pair is born while the first is read, in whose channels it can stand.
    circuit::network net(3);
    const auto in = net.input("in", 0);
    std::vector<signal> pair{in, in};
    for (int l = 0; l < 3; ++l) {
        std::vector<signal> next;
        for (int i = 0; i < 2; ++i) {
            next.push_back(net.make("pair" + std::to_string(l) + std::to_string(i)));
            net.gate(l, all({pair[0], pair[1]}), {{next.back(), 1.0F}});
        }
        pair = next;
    }
    for (const auto s : pair) net.keep(s, 2);
    circuit::network enough = net;
    CHECK(error_of(enough, 3, 1) == "no error");
    CHECK(error_of(net, 2, 1) == "circuit.channels: no residual channel of 2 is free for 'pair01' in layer 0");
}

TEST_CASE("a signal that is read but never made is an error", "[circuit]") {
    circuit::network net(1);
    net.gate(0, net.make("ghost"), {{net.make("out"), 1.0F}});
    CHECK(error_of(net, 100, 1) == "circuit.signal: signal 'ghost' is read but nothing makes it");
}

TEST_CASE("signals that nothing makes or reads take no channel", "[circuit]") {
    circuit::network net(1);
    const auto idle = net.make("idle");
    CHECK(circuit::allocate(net, 10, 3).channels == 3);
    CHECK(net.info(idle).channel == -1);
}

TEMPLATE_TEST_CASE("random networks give in few channels what they give in many", "[circuit]", nn::fp32, nn::bf16) {
    int reused = 0;
    for (std::uint64_t seed = 0; seed < 12; ++seed) {
        for (const int limit : {0, 34}) {
            random_logic logic(seed, 8, 9);
            if (limit > 0) logic.bench.limit_channels(limit);
            circuit_runner<TestType> runner(logic.bench, 64);
            CAPTURE(seed, limit);
            CHECK(channel_violations(logic.bench.net, logic.bench.channels(), limit > 0 ? limit : 2048, 9).empty());
            reused += static_cast<int>(logic.bench.channels().wipes.size());
            for (int bits = 0; bits < 64; ++bits) runner.set(logic.inputs, static_cast<std::uint64_t>(bits), bits);
            runner.run();
            int wrong = 0;
            for (int bits = 0; bits < 64; ++bits) {
                const auto expected = logic.evaluate(static_cast<std::uint64_t>(bits));
                for (const auto s : logic.outputs) wrong += runner.get(s, bits) == expected.at(s.id) ? 0 : 1;
            }
            CHECK(wrong == 0);
        }
    }
    CHECK(reused > 100);
}

TEST_CASE("the check of channels finds what is wrong", "[circuit]") {
    circuit::network net(12);
    const auto chain = build_chain(net, 12);
    auto result = circuit::allocate(net, 5, 1);
    auto late = result;
    late.wipes[0].layer = 5;
    CHECK_FALSE(channel_violations(net, late, 5, 1).empty());
    auto missing = result;
    missing.wipes.pop_back();
    CHECK_FALSE(channel_violations(net, missing, 5, 1).empty());
    net.signals()[static_cast<std::size_t>(chain[2].id)].last_use = 9;
    CHECK_FALSE(channel_violations(net, result, 5, 1).empty());
}
