// SPDX-License-Identifier: MIT
// Random kernels, compiled and run on the emulator, against the host running the same tree directly.

#include <array>
#include <cstdint>
#include <random>
#include <string>

#include <qwengpu/error.hpp>

#include "support/catch.hpp"

#include "random_program.hpp"
#include "run_kernel.hpp"

namespace {

using namespace qwengpu;

constexpr std::uint32_t threads = 6;

/// Inputs of which half are small or corners, so that branches, divisors and shift amounts are not all alike.
test::words random_inputs(std::uint64_t seed) {
    std::mt19937_64 random(seed ^ 0x5bd1e995U);
    test::words in(4 * threads);
    for (auto& w : in) {
        const auto bits = static_cast<std::uint32_t>(random());
        w = (random() & 1U) ? bits : (random() & 1U) ? bits & 15U : 0U - (bits & 3U);
    }
    return in;
}

/// A machine like the mission's, whose programs run on that too, with so few registers that nearly all kernels need local memory.
constexpr machine::sizes few_registers{.registers = 8};

/// Whether the kernel fits the machine M; those that do not are no test of this. `spilled` counts those that use local memory.
template <machine::sizes M = machine::mission>
bool check(std::uint64_t seed, int statements, bool control_flow, int* spilled = nullptr) {
    const test::random_program program(seed, statements, control_flow);
    const std::string text = test::kernel_around(program.text());
    const test::words in = random_inputs(seed);
    INFO("seed " << seed << ", " << statements << " statements\n" << text);
    ptx::compiled_kernel kernel;
    try {
        kernel = ptx::compile_kernel<M>(ptx::read(text, "test.ptx"), "k");
    } catch (const error& e) {
        INFO(e.what());
        REQUIRE(e.id() == "ptx.resources");
        return false;
    }
    CHECK(kernel.registers < M.registers);
    if (spilled != nullptr && kernel.program.local_words > 0) ++*spilled;
    const auto run = test::run_program(kernel.program, {1, 1, 1}, {threads, 1, 1},
                                       {test::buffer_of(in), test::buffer_of(test::words(12 * threads))});
    REQUIRE(run.ended == machine::ending::finished);
    for (std::uint32_t t = 0; t < threads; ++t) {
        const auto expected = program.run({in[4 * t], in[4 * t + 1], in[4 * t + 2], in[4 * t + 3]}, t);
        for (std::size_t k = 0; k < expected.size(); ++k) {
            INFO("thread " << t << ", word " << k);
            REQUIRE(run.buffers[1][12 * t + k] == expected[k]);
        }
    }
    return true;
}

}  // namespace

TEST_CASE("random straight-line kernels compute what the host computes") {
    int fitted = 0;
    for (std::uint64_t seed = 1; seed <= 150; ++seed) fitted += check(seed, 1 + static_cast<int>(seed % 24), false) ? 1 : 0;
    CHECK(fitted > 100);
}

TEST_CASE("random kernels with branches and loops compute what the host computes") {
    int fitted = 0;
    for (std::uint64_t seed = 1; seed <= 150; ++seed) fitted += check(seed + 1000, 2 + static_cast<int>(seed % 12), true) ? 1 : 0;
    CHECK(fitted > 100);
}

TEST_CASE("random kernels with few registers keep values in local memory and compute what the host computes") {
    int fitted = 0, spilled = 0;
    for (std::uint64_t seed = 1; seed <= 25; ++seed) {
        fitted += check<few_registers>(seed + 2000, 1 + static_cast<int>(seed % 24), false, &spilled) ? 1 : 0;
        fitted += check<few_registers>(seed + 3000, 2 + static_cast<int>(seed % 12), true, &spilled) ? 1 : 0;
    }
    CHECK(fitted > 40);
    CHECK(spilled > 15);
}
