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

/// Counts the kinds of events, and of blocks that run.
struct event_counter final : observer {
    std::map<std::string, int> seen{};
    const program* running = nullptr;

    void fair(int) override { ++seen["fair"]; }
    void mask(int, lane_mask) override { ++seen["mask"]; }
    void all() override { ++seen["all"]; }
    void release(int, int) override { ++seen["release"]; }
    void record(int, int id, lane_mask mask) override {
        const machine_block* b = find_block(*running, id);
        if (b == nullptr) return;
        ++seen[detail::memory_op_name(b->mem.op)];
        if (b->lane_major) ++seen[(mask & (mask - 1)) != 0 ? "lane-major, several lanes" : "lane-major"];
        if (b->mem.barrier) ++seen[b->mem.barrier_count == 0 ? "barrier" : "barrier with count"];
        if (b->has_store) ++seen["store of size " + std::to_string(static_cast<int>(b->mem.store_size))];
        if (static_cast<std::size_t>(id) > 500) ++seen["meeting block"];
    }
    void branch(int, bool taken) override { ++seen[taken ? "taken" : "not taken"]; }
    void store(int, int window, int, std::uint32_t) override {
        ++seen[window == address::local_window ? "store to local" : window == address::shared_window ? "store to shared" : "store"];
    }
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
        events.running = &image.program;
        REQUIRE(emulate(image, events, 20'000).ended != ending::step_limit);
        instructions.merge(instructions_of(image));
    }
    CHECK(instructions.size() == instruction_table.size() - 1);
    for (const std::string what : {"mask", "all", "taken", "not taken", "store", "skip", "write 1", "write 2", "write 3",
                                   "write 4", "out of bounds", "out of bounds store", "misaligned", "misaligned store",
                                   "illegal block", "deadlock", "release", "barrier", "barrier with count", "store to local",
                                   "store to shared", "store of size 1", "store of size 2", "lane-major",
                                   "lane-major, several lanes"}) {
        INFO(what);
        CHECK(events.seen[what] > 0);
    }
    for (const std::string_view op : memory_op_names) {
        INFO(op);
        CHECK(events.seen[std::string(op)] > 0);
    }
    CHECK((M == small || events.seen["fair"] > 0));
    CHECK((M == small || events.seen["meeting block"] > 0));
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
