// SPDX-License-Identifier: MIT
// Random PTX programs: compiled and run on the emulator, against the tests' own interpreter of PTX; and some of them in the
// layers too. QWENGPU_SEED chooses other programs; what fails is made small and printed.
#include "support/catch.hpp"
#include "support/choices.hpp"
#include "support/compiled_machine.hpp"
#include "support/model_against_emulator.hpp"

#include <qwengpu/launch.hpp>

#include <cstdint>
#include <iostream>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "support/interpreter/request.hpp"
#include "support/random_ptx/generate.hpp"

using namespace qwengpu;
namespace rp = test::random_ptx;

namespace {

launch_request request_of(const rp::program& p) {
    test::choices random(p.input_seed);
    std::vector<std::uint32_t> given(rp::input_words);
    for (auto& w : given) w = random.interesting_word();
    launch_request r;
    r.grid = {p.blocks, 1, 1};
    r.block = {p.shape[0], p.shape[1], p.shape[2]};
    std::vector<argument> members;
    for (std::uint32_t k = 0; k < rp::struct_words; ++k) members.push_back(scalar(random.interesting_word()));
    r.args = {in("in", given), zeros<std::uint32_t>("out", std::size_t{rp::words_per_thread} * p.threads * p.blocks), zeros<std::uint32_t>("sum", rp::sum_words)};
    for (auto& a : r.args) a.array.align = 16;
    r.args.push_back(structure(std::move(members)));
    return r;
}

/// How a program went: nothing if both agree, else what differs. `refused` if it does not fit the machine.
struct verdict {
    std::optional<std::string> difference;
    bool refused = false;
};

std::string words_text(const std::vector<std::uint8_t>& b) {
    std::string text;
    for (std::size_t k = 0; k + 4 <= b.size(); k += 4) text += fmt::format(" {:08x}", test::interpreter::load_bytes(b, k, 4));
    return text;
}

/// Programs are compiled with little effort, but for every tenth.
ptx::compile_options effort_of(const rp::program& p) { return {p.input_seed % 10 == 0 ? ptx::compile_options{}.search_width : 1}; }

verdict compare(const rp::program& p, bool in_layers = false) {
    const std::string text = p.text();
    const launch_request request = request_of(p);
    const auto expected = test::interpreter::run(ptx::read(text, "random.ptx"), "k", request);
    if (expected.ended != test::interpreter::ending::finished) return {"the interpreter did not finish: " + expected.message};
    kernel k;
    try {
        k = kernel_from_ptx(text, "random.ptx", {}, effort_of(p));
    } catch (const error& e) {
        if (e.id() == "ptx.resources") return {std::nullopt, true};
        return {"refused: " + std::string(e.what())};
    }
    const launch_options options{.max_records = 200'000, .compare_stages = false, .progress = {}};
    launch_result found;
    try {
        found = in_layers ? launch(k.program, request, test::sparse_machine<nn::fp32>(), run_on::both, options) : launch(k.program, request, options);
    } catch (const error& e) {
        if (e.id() == "launch.memory") return {std::nullopt, true};
        throw;
    }
    if (found.difference) return {"the layers and the emulator differ: " + diff::to_string(*found.difference)};
    const side_result& side = found.best();
    if (side.ended != launch_ending::finished) return {fmt::format("ended {}, {}", static_cast<int>(side.ended), side.trap ? name_of(side.trap->kind) : "")};
    for (std::size_t b = 0; b < expected.buffers.size(); ++b)
        if (side.memory[b].bytes != expected.buffers[b])
            return {fmt::format("{}:\n expected{}\n found   {}", side.memory[b].name, words_text(expected.buffers[b]), words_text(side.memory[b].bytes))};
    return {};
}

/// Whether it fails in the same way, so that making it smaller does not wander to another fault.
bool fails_alike(const rp::program& p, const std::string& how, bool in_layers) {
    try {
        const verdict v = compare(p, in_layers);
        return v.difference && v.difference->substr(0, 7) == how.substr(0, 7);
    } catch (const std::exception&) {
        return false;
    }
}

struct tally {
    std::uint64_t agreed = 0, refused = 0;
};

void check_programs(std::uint64_t first, std::uint64_t count, tally& t, bool in_layers = false) {
    for (std::uint64_t seed = first; seed < first + count; ++seed) {
        const rp::program p = rp::any_program(seed);
        const verdict v = compare(p, in_layers);
        if (v.difference) {
            const rp::program least = rp::smallest(p, [&](const rp::program& q) { return fails_alike(q, *v.difference, in_layers); });
            FAIL("seed " << seed << ": " << *compare(least, in_layers).difference << "\n" << least.threads << " threads as " << least.shape[0] << " x " << least.shape[1] << " x " << least.shape[2] << ", " << least.blocks << " blocks, inputs of seed " << least.input_seed << "\n" << least.text());
        }
        ++(v.refused ? t.refused : t.agreed);
    }
}

}  // namespace

TEST_CASE("random PTX programs compute on the emulator what the interpreter says") {
    tally t;
    const auto seed = test::seed_or(1);
    check_programs(seed, 400, t);
    std::cout << "random PTX from seed " << seed << ": " << t.agreed << " agreed, " << t.refused << " did not fit\n";
    CHECK(t.agreed > 20 * t.refused);
}

TEST_CASE("random PTX programs that once found a fault of the compiler") {
    tally t;
    for (std::uint64_t seed : {17U, 10'025U, 10'387U, 10'423U, 22'247U, 23'417U, 24'943U, 25'182U, 1'009'287U, 300'324U}) check_programs(seed, 1, t);
    CHECK(t.agreed == 10);
}

TEST_CASE("100,000 random PTX programs compute on the emulator what the interpreter says", "[.heavy]") {
    tally t;
    const auto seed = test::seed_or(1'000'000);
    check_programs(seed, 100'000, t);
    std::cout << "random PTX from seed " << seed << ": " << t.agreed << " agreed, " << t.refused << " did not fit\n";
    CHECK(t.agreed > 20 * t.refused);
}

TEST_CASE("random PTX programs compute in the layers what the interpreter says") {
    tally t;
    const auto seed = test::seed_or(5'000'000);
    check_programs(seed, 12, t, true);
    CHECK(t.agreed > 6);
}

TEST_CASE("2,000 random PTX programs compute in the layers what the interpreter says", "[.heavy]") {
    tally t;
    const auto seed = test::seed_or(6'000'000);
    check_programs(seed, 2'000, t, true);
    std::cout << "random PTX in the layers from seed " << seed << ": " << t.agreed << " agreed, " << t.refused << " did not fit\n";
    CHECK(t.agreed > 20 * t.refused);
}
