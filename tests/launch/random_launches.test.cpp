// SPDX-License-Identifier: MIT
// The 45 layers against the emulator on random launches of the mission's machine: every token, and the signals of every
// pass. QWENGPU_SEED chooses other launches; what fails is made small and printed.
#include "support/catch.hpp"
#include "support/compiled_machine.hpp"
#include "support/launch_coverage.hpp"
#include "support/model_against_emulator.hpp"

#include <array>
#include <chrono>
#include <iostream>
#include <thread>

using namespace qwengpu;

namespace {

/// Launches of the seeds first, first + step, ..., `count` of them, up to the first that fails.
template <nn::rounding R>
test::random_run run_launches(std::uint64_t first, std::uint64_t count, std::uint64_t step = 1, test::launch_coverage* coverage = nullptr) {
    test::random_run total;
    for (std::uint64_t i = 0; i < count && !total.failed; ++i) {
        const auto image = test::any_launch(first + i * step);
        total.add(test::on_both(image, test::sparse_machine<R>()), first + i * step);
        if (coverage != nullptr) test::cover(*coverage, image, test::most_records);
    }
    return total;
}

template <nn::rounding R>
void report(const char* what, const test::random_run& total, std::uint64_t first) {
    std::cout << what << ", seeds from " << first << ": " << total.to_string() << "\n";
    if (total.failed) FAIL("seed " << *total.failed << "\n" << test::smallest_failure(test::any_launch(*total.failed), test::sparse_machine<R>()));
}

}  // namespace

TEST_CASE("random launches: the layers in fp32 write what the emulator writes", "[launch]") {
    const auto seed = test::seed_or(1);
    const auto total = run_launches<nn::fp32>(seed, 150);
    report<nn::fp32>("fp32", total, seed);
    CHECK(total.launches == 150);
    CHECK(total.passes > total.launches * 20);
}

TEST_CASE("random launches: the layers in bf16 write what the emulator writes", "[launch]") {
    const auto seed = test::seed_or(1'000'001);
    const auto total = run_launches<nn::bf16>(seed, 60);
    report<nn::bf16>("bf16", total, seed);
    CHECK(total.launches == 60);
}

TEST_CASE("20,000 random launches, and everything the machine has occurs in them", "[.heavy][launch]") {
    constexpr std::uint64_t count = 20'000, threads = 2;
    const auto seed = test::seed_or(2'000'001);
    std::array<test::random_run, threads> runs;
    std::array<test::launch_coverage, threads> coverage;
    const auto begin = std::chrono::steady_clock::now();
    std::vector<std::thread> workers;
    for (std::size_t t = 0; t < threads; ++t)
        workers.emplace_back([&, t] { runs[t] = run_launches<nn::fp32>(seed + t, count / threads, threads, &coverage[t]); });
    for (auto& worker : workers) worker.join();
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
    for (std::size_t t = 1; t < threads; ++t) runs[0] += runs[t], coverage[0] += coverage[t];
    std::cout << coverage[0].to_string() << seconds.count() << " s\n";
    report<nn::fp32>("fp32, two threads", runs[0], seed);
    CHECK(runs[0].launches == count);
    CHECK(coverage[0].missing() == std::vector<std::string>{});
}
