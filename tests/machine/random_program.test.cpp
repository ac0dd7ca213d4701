// SPDX-License-Identifier: MIT
// The random programs of the differential tests: they are legal, they end, they reach everything a program can do, and a
// failing one shrinks to what fails.
#include "support/random_program.hpp"

#include <array>
#include <cstdint>
#include <map>
#include <set>
#include <string>

#include <qwengpu/machine/emulator.hpp>

#include "support/catch.hpp"
#include "support/shrink_program.hpp"

namespace {

using namespace qwengpu::machine;
namespace test = qwengpu::test;

constexpr sizes small{.lanes = 2, .warps = 2, .registers = 4, .words = 8, .constants = 16, .blocks = 16};

/// Counts the kinds of events.
struct event_counter final : observer {
    std::map<std::string, int> seen{};

    void fair(int) override { ++seen["fair"]; }
    void mask(int, lane_mask) override { ++seen["mask"]; }
    void all() override { ++seen["all"]; }
    void branch(int, bool taken) override { ++seen[taken ? "taken" : "not taken"]; }
    void store(int, int, int, std::uint32_t) override { ++seen["store"]; }
    void skip(int) override { ++seen["skip"]; }
    void write(int, int stage, int, std::uint32_t) override { ++seen["write " + std::to_string(stage)]; }
    void trap(const qwengpu::machine::trap& t) override {
        ++seen[std::string(name_of(t.kind)) + (t.by_store ? " store" : "")];
    }
};

template <sizes M>
std::set<std::string> instructions_of(const launch_image<M>& image) {
    std::set<std::string> names;
    for (const machine_block& b : image.program.blocks)
        for (const alu_instruction* i : {&b.s1, &b.s3, &b.s4})
            if (i->op != alu_op::none) names.insert(std::string(find_instruction(i->op)->name));
    return names;
}

}  // namespace

TEMPLATE_TEST_CASE_SIG("random programs are legal, end, and do everything", "", ((sizes M), M), mission, small) {
    event_counter events;
    std::set<std::string> instructions;
    for (std::uint64_t seed = 0; seed < 1500; ++seed) {
        const auto image = test::random_launch<M>(seed);
        INFO("seed " << seed << "\n" << test::describe(image));
        REQUIRE(violations<M>(image.program) == std::vector<std::string>{});
        REQUIRE(emulate(image, events, 20'000).ended != ending::step_limit);
        instructions.merge(instructions_of(image));
    }
    CHECK(instructions.size() == 14);
    for (const std::string what : {"mask", "all", "taken", "not taken", "store", "skip", "write 1", "write 2", "write 3",
                                   "write 4", "out of bounds", "out of bounds store", "misaligned", "misaligned store",
                                   "illegal block"}) {
        INFO(what);
        CHECK(events.seen[what] > 0);
    }
    CHECK((M == small || events.seen["fair"] > 0));
}

TEST_CASE("a seed names one program") {
    const auto first = test::random_launch(7), again = test::random_launch(7), other = test::random_launch(8);
    CHECK(test::describe(first) == test::describe(again));
    CHECK(test::describe(first) != test::describe(other));
}

TEST_CASE("a failure shrinks to the instruction that makes it") {
    const auto multiplies = [](const launch_image<mission>& image) { return instructions_of(image).contains("mul"); };
    std::uint64_t seed = 0;
    while (!multiplies(test::random_launch(seed))) ++seed;
    const auto small_launch = test::shrink_launch(test::random_launch(seed), multiplies);
    CHECK(instructions_of(small_launch) == std::set<std::string>{"mul"});
    CHECK(small_launch.grid == extent{1, 1, 1});
    CHECK(small_launch.block == extent{1, 1, 1});
    int doing_something = 0;
    for (const machine_block& b : small_launch.program.blocks)
        doing_something += b.s1.op != alu_op::none || b.s3.op != alu_op::none || b.s4.op != alu_op::none || b.has_store;
    CHECK(doing_something == 1);
}
