// SPDX-License-Identifier: MIT
// A DeltaNet head as a memory: rows that are written, overwritten and read in random order against an array; values that come from
// tokens before; rails; rows read side by side; and what a head refuses.
#include <qwengpu/circuit/memory.hpp>

#include "support/catch.hpp"
#include "support/choices.hpp"
#include "support/circuit_runner.hpp"

#include <qwengpu/error.hpp>

#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <string>

using namespace qwengpu;
using namespace qwengpu::test;
using circuit::all;
using circuit::equals;
using circuit::linear;
using circuit::memory;
using circuit::no;
using circuit::word;

namespace {

std::string error_of(const std::function<void()>& f) {
    try {
        f();
    } catch (const error& e) {
        return e.id() + ": " + e.message();
    }
    return "no error";
}

/// A memory of 2^row_bits rows of some bits, with one write and one read a token.
struct memory_bench {
    circuit_bench bench{1};
    word write_row, read_row, value, out;
    circuit::signal writes, reads;

    memory_bench(int row_bits, int bits)
        : write_row(bench.input("write.row", row_bits)), read_row(bench.input("read.row", row_bits)), value(bench.input("value", bits)),
          out(bench.output("out", bits)), writes(bench.input("writes")), reads(bench.input("reads")) {
        memory head("memory", 128, 128);
        for (int row = 0; row < 1 << row_bits; ++row) {
            head.write(row, all({writes, equals(write_row, static_cast<unsigned>(row))}));
            head.read(row, all({reads, equals(read_row, static_cast<unsigned>(row))}));
        }
        for (std::size_t i = 0; i < value.size(); ++i) head.bit(value[i], 0, out[i]);
        head.place(bench.net, 0);
    }
};

/// Random writes and reads; the array on the host is written first and read then, as a token does.
template <class R>
void check_random_access(int row_bits, int bits, int tokens) {
    memory_bench m(row_bits, bits);
    circuit_runner<R> runner(m.bench);
    choices choose(static_cast<std::uint64_t>(row_bits * 100 + bits));
    std::map<int, std::uint64_t> rows;
    int wrong = 0;
    for (int t = 0; t < tokens; ++t) {
        const int to = choose.below(1 << row_bits), from = choose.percent(20) ? to : choose.below(1 << row_bits);
        const bool writes = choose.percent(60), reads = choose.percent(80);
        const std::uint64_t value = choose.percent(10) ? 0 : choose.word() & ((std::uint64_t{1} << bits) - 1);
        runner.clear();
        runner.set(m.write_row, static_cast<std::uint64_t>(to));
        runner.set(m.read_row, static_cast<std::uint64_t>(from));
        runner.set(m.value, value);
        runner.set(m.writes, writes);
        runner.set(m.reads, reads);
        runner.run();
        if (writes) rows[to] = value;
        wrong += runner.get(m.out) == (reads ? rows[from] : 0) ? 0 : 1;
    }
    CHECK(wrong == 0);
}

}  // namespace

TEMPLATE_TEST_CASE("rows are written, overwritten and read like an array's", "[circuit]", nn::fp32, nn::bf16) {
    check_random_access<TestType>(7, 32, 4000);
    check_random_access<TestType>(3, 5, 2000);
    check_random_access<TestType>(4, 31, 1000);
}

TEMPLATE_TEST_CASE("one row is overwritten ten thousand times without drift", "[circuit]", nn::fp32, nn::bf16) {
    memory_bench m(1, 32);
    circuit_runner<TestType> runner(m.bench);
    choices choose(9);
    int wrong = 0;
    for (int t = 0; t < 10000; ++t) {
        const std::uint64_t value = choose.word();
        runner.clear();
        runner.set(m.value, value);
        runner.set(m.writes, true);
        runner.set(m.reads, true);
        runner.run();
        wrong += runner.get(m.out) == value ? 0 : 1;
        for (std::size_t i = 0; i < 32; ++i) wrong += runner.holds(m.out[i], static_cast<float>((value >> i) & 1U)) ? 0 : 1;
    }
    CHECK(wrong == 0);
}

TEMPLATE_TEST_CASE("more than 32 bits make 128 units of energy", "[circuit]", nn::fp32, nn::bf16) {
    circuit_bench bench{1};
    const auto value = bench.input("value", 48), row = bench.input("row", 2);
    const auto out = bench.output("out", 48);
    memory head("wide", 128, 128);
    for (int r = 0; r < 4; ++r) head.write(r, equals(row, static_cast<unsigned>(r))).read(r, equals(row, static_cast<unsigned>(r)));
    for (std::size_t i = 0; i < 48; ++i) head.bit(value[i], 0, out[i]);
    head.place(bench.net, 0);
    circuit_runner<TestType> runner(bench);
    choices choose(10);
    for (int t = 0; t < 200; ++t) {
        const std::uint64_t v = (std::uint64_t{choose.word()} << 16) ^ choose.word();
        runner.clear();
        runner.set(value, v);
        runner.set(row, static_cast<std::uint64_t>(t % 4));
        runner.run();
        CHECK(runner.get(out) == (v & 0xffffffffffffULL));
    }
}

TEMPLATE_TEST_CASE("values and rows of tokens before this one", "[circuit]", nn::fp32, nn::bf16) {
    // The row is written where `key` was three tokens ago, with bits of this token and of one, two and three before.
    circuit_bench bench{1};
    const auto key = bench.input("key"), bit = bench.input("bit");
    const auto out = bench.output("out", 4);
    memory head("ages", 128, 128);
    head.write(5, linear(key), 3).read(5, linear(1.0));
    for (int age = 0; age < 4; ++age) head.bit(bit, age, out[static_cast<std::size_t>(age)]);
    head.place(bench.net, 0);
    circuit_runner<TestType> runner(bench);
    choices choose(13);
    // The complement's rail of a token that never was is 0 too, so the first written row comes when there are four.
    std::array<bool, 4> keys{}, bits{};
    std::uint64_t held = 0;
    for (int t = 0; t < 600; ++t) {
        std::copy_backward(keys.begin(), keys.end() - 1, keys.end());
        std::copy_backward(bits.begin(), bits.end() - 1, bits.end());
        keys[0] = choose.percent(30);
        bits[0] = choose.percent(50);
        if (keys[3]) held = static_cast<std::uint64_t>(bits[0]) | static_cast<std::uint64_t>(bits[1]) << 1 | static_cast<std::uint64_t>(bits[2]) << 2 | static_cast<std::uint64_t>(bits[3]) << 3;
        runner.clear();
        runner.set(key, keys[0]);
        runner.set(bit, bits[0]);
        runner.run();
        CHECK(runner.get(out) == held);
    }
}

TEMPLATE_TEST_CASE("a bit on the rails of whoever brings it", "[circuit]", nn::fp32, nn::bf16) {
    // Either a token of kind `own` holds the bits itself, or they were in the token before. Both ways one rail per bit is 1.
    circuit_bench bench{1};
    const auto own = bench.input("own"), later = bench.input("later");
    const auto value = bench.input("value", 8), out = bench.output("out", 8);
    memory head("rails", 128, 128);
    head.write(0, linear(own) + linear(later)).read(0, linear(1.0));
    for (std::size_t i = 0; i < 8; ++i) {
        head.rails(all({own, value[i]}), all({own, no(value[i])}), 0, out[i]);
        head.rails(all({no(own), no(later), value[i]}), all({no(own), no(later), no(value[i])}), 1, out[i]);
    }
    head.holds(8).place(bench.net, 0);
    circuit_runner<TestType> runner(bench);
    choices choose(14);
    std::uint64_t before = 0, held = 0;
    for (int t = 0; t < 400; ++t) {
        // Kinds: 0 only brings bits; 1 `own`; 2 `later`, right after a token of kind 0 (as `hi` after `lo`).
        const int kind = t % 4 == 0 ? 0 : t % 4 == 1 ? 2 : 1;
        const std::uint64_t v = choose.word() & 255;
        runner.clear();
        runner.set(own, kind == 1);
        runner.set(later, kind == 2);
        runner.set(value, v);
        runner.run();
        if (kind == 1) held = v;
        if (kind == 2) held = before;
        before = v;
        CHECK(runner.get(out) == held);
    }
}

TEMPLATE_TEST_CASE("rows read side by side", "[circuit]", nn::fp32, nn::bf16) {
    // Four rows with 8 units of energy each, in channels of their own; all four are read at every token.
    circuit_bench bench{1};
    const auto row = bench.input("row", 2), out = bench.output("out", 4);
    const auto bit = bench.input("bit");
    memory head("side", 128, 128);
    for (unsigned r = 0; r < 4; ++r) {
        const linear mine = equals(row, r);
        head.write(static_cast<int>(r), mine).read(static_cast<int>(r), linear(1.0));
        head.rails(all({mine, bit}), all({mine, no(bit)}), 0, out[r]);
        for (int i = 1; i < 8; ++i) head.values().push_back({mine, 1.0F, 0, {}});
    }
    head.holds(8).place(bench.net, 0, 4);
    circuit_runner<TestType> runner(bench);
    choices choose(15);
    std::uint64_t held = 0;
    for (std::uint64_t t = 0; t < 200; ++t) {
        const auto r = t < 4 ? t : static_cast<std::uint64_t>(choose.below(4));
        const bool b = choose.percent(50);
        held = (held & ~(std::uint64_t{1} << r)) | (std::uint64_t{b} << r);
        runner.clear();
        runner.set(row, r);
        runner.set(bit, b);
        runner.run();
        if (t >= 3) CHECK(runner.get(out) == held);
    }
}

TEST_CASE("a head refuses what cannot be read exactly, and says by which name", "[circuit]") {
    circuit::network net(1);
    const auto bit = net.input("bit", 0);
    const auto out = net.make("out");
    CHECK(error_of([&] { memory("small", 16, 128).write(16, linear(1.0)); }).find("circuit.head: head 'small' has no row 16 of 16") == 0);
    CHECK(error_of([&] { memory("small", 16, 128).read(-1, linear(1.0)); }).find("circuit.head: head 'small' has no row -1") == 0);
    CHECK(error_of([&] {
              memory head("narrow", 16, 8);
              head.write(0, linear(1.0)).bit(bit, 0, out).place(net, 0);
          }) == "no error");
    CHECK(error_of([&] {
              memory head("narrow", 16, 8);
              for (int i = 0; i < 8; ++i) head.bit(bit, 0, out);
              head.place(net, 0);
          }).find("circuit.head: head 'narrow' needs 16 value channels of 8") == 0);
    CHECK(error_of([&] { memory("heavy", 16, 128).holds(129).place(net, 0); }).find("circuit.head: head 'heavy' reads 129 units of energy; make it 32 or 128") == 0);
    CHECK(error_of([&] { memory("uneven", 16, 128).holds(5).place(net, 0, 4); }).find("circuit.head: head 'uneven' reads 20 units of energy") == 0);
}
